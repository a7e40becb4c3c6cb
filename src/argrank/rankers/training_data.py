"""The training data of a fit, in any of the supported forms, and its checks.

Raises if a ranker cannot use it, if nothing can be learned from its labels, and if the fit would exceed the memory
limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.base import clone

from argrank._memory import check_memory
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.columns.roles import label_hint
from argrank.data.mapped import is_mapped
from argrank.data.prepare.impute import refuse_missing, refuse_texts
from argrank.engines import Data, DistributedDataset, over_features
from argrank.errors import InputError, InputTypeError, OptionError, shown
from argrank.measures.conventions import make_convention
from argrank.measures.names import measure as parse_measure
from argrank.measures.structure import refused_gains
from argrank.rankers.optimised import aimed, measure_or_none
from argrank.rankers.registry import RANKERS, ranker_class, registered_name

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker


def training_data(X: Any, y: Any, qid: Any, group: Any, sample_weight: Any, query_weight: Any) -> Dataset:
    """Return the arguments of ``fit`` as a Dataset."""
    if not isinstance(X, Dataset | DistributedDataset):
        if y is None and not is_frame(X):
            raise InputError("requires y to be passed, but the target y is None")
        if type(X) is np.ndarray:  # a Dataset does not copy a read-only view, which is used only during the fit
            X = X.view()
            X.flags.writeable = False
        return Dataset(X, y, qid, group=group, sample_weight=sample_weight, query_weight=query_weight)
    given = {"y": y, "qid": qid, "group": group, "sample_weight": sample_weight, "query_weight": query_weight}
    twice = [name for name, value in given.items() if value is not None]
    if twice:
        raise InputError(f"expected a Dataset alone, got {twice[0]} as well; put it into the Dataset")
    return cast(Dataset, X)


def eval_parts(eval_set: Any, eval_qid: Any, eval_group: Any) -> list[Dataset]:
    """Return the validation sets, given in the forms of LightGBM, XGBoost and PyTerrier."""
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
    """Raise for data from which a ranker cannot learn."""
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
    if isinstance(data, DistributedDataset):  # on a cluster, missing values are found in the first pass
        if data.has_row_weights and not ranker.uses_row_weights:
            raise InputError(f"sample_weight: {type(ranker).__name__} does not support weights per row")
        return
    if takes_numbers:
        refuse_missing(data)
    weight = data.sample_weight
    if weight is not None and not ranker.uses_row_weights and (weight != weight[0]).any():
        raise InputError(f"sample_weight: {type(ranker).__name__} does not support weights per row; see query_weight")


def check_cluster(ranker: BaseRanker, checkpoint: Any) -> None:
    """Raise for what does not work on a cluster, and name what does."""
    name = registered_name(ranker)
    if name in RANKERS and not RANKERS[name].distributed:
        able = ", ".join(one for one, line in RANKERS.items() if line.distributed)
        raise OptionError(
            f"{name}: expected data on one machine, got a DistributedDataset; load the pack itself, which may be "
            f"larger than memory (ar.load), or use a ranker that works on a cluster: {able}"
        )
    if checkpoint is not None and name in RANKERS and RANKERS[name].family == "trees":
        raise OptionError(
            f"checkpoint: expected None for {name} on a cluster, where LightGBM grows all trees by itself, got a "
            "path; a linear ranker keeps one"
        )


VECTORS = 10  # least number of weight vectors in a fit: the last ones, gradients, planes


class Work(NamedTuple):
    """Bytes that a fit needs in addition to its data, as measured (see the page on reliability): maxima, not means."""

    per_value: float  # of X: copies, bins
    per_row: float  # scores, gradients, orders
    copies: bool = False  # also features on disk, for instance as folds


LINEAR = Work(0.0, 300.0)
LEAST_SQUARES = Work(17.0, 100.0)
TREES = Work(26.0, 600.0)
FORESTS = Work(40.0, 3000.0)  # trees for every label, or with line-searched weights
BLEND = Work(50.0, 1000.0, copies=True)


def working_memory(ranker: BaseRanker, data: Data) -> float:
    """Return the approximate bytes that a fit needs in addition to its data, without features on a cluster.

    Features on disk do not count either, unless the ranker copies them.
    """
    if isinstance(data, DistributedDataset) or (is_mapped(data.X) and not ranker.work.copies):
        return 0.0
    n_values = float(data.X.nnz) if data.is_sparse else float(data.n_documents) * data.n_features
    scaled = 0.0 if ranker.normalise is None else data.X.dtype.itemsize
    return n_values * (ranker.work.per_value + scaled) + data.n_documents * ranker.work.per_row


def check_working_memory(ranker: BaseRanker, data: Data) -> None:
    """Raise if the weights, or the work of a fit, would exceed the memory limit."""
    check_memory("X", VECTORS * 8.0 * data.n_features, "number the features from 1 up without gaps")
    single = "a single ranker that trains from a pack, such as listnet or lambda-mart"
    advice = f"take a part of the queries, or {single if ranker.work.copies else 'pack the data (ar.pack)'}"
    check_memory(f"{type(ranker).__name__}: a fit", working_memory(ranker, data), advice)


RULES = ("gain", "discount", "relevant_at")  # parameters about gains of labels


def nothing_to_learn(ranker: BaseRanker, data: Dataset | DistributedDataset) -> str | None:
    """Return why nothing can be learned from the labels; None if a ranker can learn something.

    Labels must differ within a query, also in the gains of the optimised measure; for rankers that fit the labels
    themselves, anywhere in the data. Labels on a cluster are not checked.
    """
    if isinstance(data, DistributedDataset) or (data.gains is None and not data.is_judged):
        return None
    if data.gains is not None:
        return None if _tells_apart(ranker, data, data.gains) else "no query has rows of different gain"
    if not _tells_apart(ranker, data, data.y):
        if ranker.fits_labels or data.y.min() == data.y.max():
            return f"all labels are {data.y[0]:g}"
        return "no query has two documents" if data.longest == 1 else "no query has two different labels"
    parameters = ranker.get_params(deep=False)
    levels = _levels(parameters, data.y)
    if not levels or any(_tells_apart(ranker, data, one) for one in levels):
        return None
    least = parameters.get("relevant_at", 1.0)
    if data.y.max() < least:
        return f"no label reaches relevant_at={least:g}; the largest is {data.y.max():.3g}"
    if data.y.min() >= least:
        return f"no label is below relevant_at={least:g}; the least is {data.y.min():.3g}"
    return "no query has two labels that the measure distinguishes"


def _tells_apart(ranker: BaseRanker, data: Dataset, values: Floats) -> bool:
    """Tell whether values differ within a query with positive weight, or anywhere for rankers that fit them."""
    if ranker.fits_labels:
        return bool((values != values[0]).any())
    starts = data.indptr[:-1]
    differ = np.maximum.reduceat(values, starts) > np.minimum.reduceat(values, starts)
    return bool((differ if data.query_weight is None else differ & (data.query_weight > 0)).any())


def _levels(parameters: Mapping[str, Any], y: Floats) -> list[Floats]:
    """Return the levels of labels for each measure of a ranker; empty if gains are given as a table."""
    if parameters.get("b") is not None:  # gains given as a table
        return []
    given = parameters.get("measures", parameters.get("measure"))
    if given is None and not set(parameters) & set(RULES):
        return []
    names = (
        given if isinstance(given, Sequence) and not isinstance(given, str) else ["ndcg" if given is None else given]
    )
    try:
        rules = make_convention("default", **{name: parameters[name] for name in RULES if name in parameters})
        return [parse_measure(name).levels(y, rules) for name in names]
    except OptionError:  # the ranker reports this itself
        return []


USUAL = "dcg@10"  # optimised and reported by default if rows have gains
Ranker = TypeVar("Ranker", bound="BaseRanker")


def for_gains(ranker: Ranker, data: Any) -> Ranker:
    """Return the ranker, or for rows with gains one that optimises and reports dcg@10 unless another is set."""
    if not isinstance(data, Dataset) or data.gains is None:
        return ranker
    found: Ranker = aimed(clone(ranker), USUAL, data, scored=True)
    names = ("measure", "scoring")
    before, after = (one.get_params(deep=False) for one in (ranker, found))
    return ranker if all(before.get(name) == after.get(name) for name in names) else found


def check_gains(ranker: BaseRanker) -> None:
    """Raise for rows with gains if a ranker needs labels, and name the rankers that support them."""
    if not ranker.takes_gains:
        able = ", ".join(name for name in RANKERS if takes_gains(name))
        raise InputError(
            f"{registered_name(ranker)}: expected labels, got row gains (ar.from_clicks), which it does not support; "
            f"use one of {able}, or judgements from clicks (ar.judgements)"
        )
    measure = measure_or_none(ranker.scoring if ranker.chooses_by_scoring else ranker._optimised)
    if measure is None:
        return
    structure = measure.structure(make_convention("default"))
    if structure is None or not structure.takes_gains:
        raise refused_gains(measure.name)


def takes_gains(name: str) -> bool:
    """Tell whether a registered ranker learns from rows with gains."""
    return RANKERS[name].takes == "ranking" and ranker_class(name).takes_gains


WILD = 1e6  # ratio of the largest to the smallest range of a feature; the doctor warns earlier
TINY = 1e-6  # the largest range of a feature, below which weights of ordinary size make no difference
LONG = 1024  # values of rows processed at a time


def notes_of_scales(data: Dataset, n_jobs: int | None, penalised: bool = True) -> list[str]:
    """Return a note if the ranges of features differ greatly, or are all tiny and weights are penalised.

    Differences make solvers slow and favour features of large scale; for tiny features the penalty outweighs any gain.
    """
    ranges = over_features(data, _range, n_jobs)
    low, high = np.min([one[0] for one in ranges], axis=0), np.max([one[1] for one in ranges], axis=0)
    with np.errstate(over="ignore"):
        extent = high - low
    usable = np.flatnonzero(extent > 0)
    if not len(usable):
        return []
    small, large = usable[np.argmin(extent[usable])], usable[np.argmax(extent[usable])]
    names = data.feature_names
    named = [str(number) if names is None else repr(names[number]) for number in (large, small)]
    if penalised and extent[large] < TINY:
        return [
            f"the features are tiny: none ranges over more than {extent[large]:.3g} (feature {named[0]}), so the "
            f"penalty on the weights outweighs any gain; normalise='standard' helps"
        ]
    if not extent[large] > WILD * extent[small]:
        return []
    return [
        f"the scales of the features differ greatly: feature {named[0]} ranges over {extent[large]:.3g}, feature "
        f"{named[1]} over {extent[small]:.3g}. A linear fit is then slow and favours features of large scale; "
        f"normalise='standard' helps"
    ]


def _range(X: Any) -> tuple[Floats, Floats]:
    if sparse.issparse(X):
        return X.min(axis=0).toarray()[0], X.max(axis=0).toarray()[0]
    X = np.asarray(X)
    together = max(1, min(len(X), LONG // X.shape[1]))  # NumPy is several times faster on long rows
    whole = len(X) - len(X) % together
    long = X[:whole].reshape(-1, together * X.shape[1])
    least, most = (reduce(long, axis=0).reshape(together, -1) for reduce in (np.min, np.max))
    return np.vstack([least, X[whole:]]).min(axis=0), np.vstack([most, X[whole:]]).max(axis=0)
