"""The data that a fit is given: in any of the forms that callers have, and refused where a ranker cannot use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.columns.roles import label_hint
from argrank.data.prepare.impute import refuse_missing, refuse_texts
from argrank.engines import DistributedDataset
from argrank.errors import InputError, InputTypeError, OptionError, shown
from argrank.rankers.registry import RANKERS, registered_name
from argrank.rankers.row_gains import check_gains

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker


def training_data(X: Any, y: Any, qid: Any, group: Any, sample_weight: Any, query_weight: Any) -> Dataset:
    """Return what ``fit`` was given as a Dataset, or as it is where it is one."""
    if not isinstance(X, Dataset | DistributedDataset):
        if y is None and not is_frame(X):
            raise InputError("requires y to be passed, but the target y is None")
        X = _shared(X)
        return Dataset(X, y, qid, group=group, sample_weight=sample_weight, query_weight=query_weight)
    given = {"y": y, "qid": qid, "group": group, "sample_weight": sample_weight, "query_weight": query_weight}
    twice = [name for name, value in given.items() if value is not None]
    if twice:
        raise InputError(f"expected a Dataset alone, got {twice[0]} as well; put it into the Dataset")
    return cast(Dataset, X)


def _shared(X: Any) -> Any:
    """Return an array as a read-only view, which a Dataset does not copy: this one lives no longer than the fit."""
    if type(X) is not np.ndarray:
        return X
    view = X.view()
    view.flags.writeable = False
    return view


def eval_parts(eval_set: Any, eval_qid: Any, eval_group: Any) -> list[Dataset]:
    """Return the validation sets, given as users of LightGBM, XGBoost and PyTerrier give them."""
    if eval_set is None:
        return []
    if isinstance(eval_set, Dataset | DistributedDataset):
        return [cast(Dataset, eval_set)]
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], Dataset | tuple):
        eval_set = [eval_set]
        eval_qid = None if eval_qid is None else [eval_qid]
        eval_group = None if eval_group is None else [eval_group]
    if not isinstance(eval_set, list | tuple):
        raise InputTypeError(f"eval_set: expected a Dataset, a pair (X, y) or a list of them, got {shown(eval_set)}")
    for name, given in (("eval_qid", eval_qid), ("eval_group", eval_group)):
        if given is not None and (not isinstance(given, list | tuple) or len(given) != len(eval_set)):
            raise InputError(f"{name}: expected a list with one for each of {len(eval_set)} sets, got {shown(given)}")
    parts: list[Dataset] = []
    for number, part in enumerate(eval_set):
        if isinstance(part, Dataset | DistributedDataset):
            parts.append(cast(Dataset, part))
            continue
        if not isinstance(part, list | tuple) or len(part) != 2:
            raise InputTypeError(f"eval_set: expected a Dataset or a pair (X, y), got {shown(part)}")
        qid = None if eval_qid is None else eval_qid[number]
        group = None if eval_group is None else eval_group[number]
        parts.append(Dataset(part[0], part[1], qid, group=group))
    return parts


def check_training(ranker: BaseRanker, data: Dataset | DistributedDataset) -> None:
    """Refuse data from which a ranker cannot learn."""
    if isinstance(data, Dataset) and data.gains is not None:
        check_gains(ranker)
    elif not data.is_judged and not (ranker.takes_preferences and data.preferences is not None):
        raise InputError(
            f"expected judged data for training, got a Dataset without labels; {label_hint(data.feature_names)}"
        )
    there = isinstance(data, DistributedDataset)
    takes_numbers = not ranker.takes_missing and (there or ranker.prepare is None)
    if takes_numbers:
        refuse_texts(cast(Dataset, data), type(ranker).__name__)
    if isinstance(data, DistributedDataset):  # workers find missing values in the first pass
        if data.has_row_weights and not ranker.uses_row_weights:
            raise InputError(f"sample_weight: {type(ranker).__name__} has no use for weights per row")
        return
    if takes_numbers:
        refuse_missing(data)
    weight = data.sample_weight
    if weight is not None and not ranker.uses_row_weights and (weight != weight[0]).any():
        raise InputError(f"sample_weight: {type(ranker).__name__} has no use for weights per row; see query_weight")


def check_cluster(ranker: BaseRanker, checkpoint: Any) -> None:
    """Refuse what does not work on a cluster, and say what does."""
    name = registered_name(ranker)
    if name in RANKERS and not RANKERS[name].distributed:
        able = ", ".join(one for one, line in RANKERS.items() if line.distributed)
        raise OptionError(
            f"{name}: expected data on one machine, got a DistributedDataset; load the pack itself, which may be "
            f"larger than memory (ar.load), or take a ranker that works on a cluster: {able}"
        )
    if checkpoint is not None and name in RANKERS and RANKERS[name].family == "trees":
        raise OptionError(
            f"checkpoint: expected None for {name} on a cluster, where LightGBM grows all trees by itself, got a "
            "path; a linear ranker keeps one"
        )
