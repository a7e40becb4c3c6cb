"""Members of a blend on a cluster: they train on the workers; held-out scores, 8 bytes per document, are fetched."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.engines import DistributedDataset
from argrank.errors import ArgrankWarning
from argrank.models.model import Model
from argrank.models.sum import SumModel
from argrank.models.trees import TreesModel
from argrank.rankers.boosted.trees.gradient_boosted_ranker import GradientBoostedRanker
from argrank.rankers.boosted.trees.linear_start import joined
from argrank.rankers.registry import RANKERS
from argrank.trials.auto.members import PATIENCE, Folding, Member, Named, TreeMember

MOST_TREES = 320  # of a member: LightGBM grows all of them at once there, and the best number is chosen afterwards

Given = list[Named]


class Held(NamedTuple):
    """Rows of data on a cluster that a fold holds out."""

    data: DistributedDataset
    rows: Integers


def folding(data: DistributedDataset, n_folds: int, random_state: int) -> Folding:
    """Split by query as on one machine; labels are fetched, and workers copy the rows of a fold."""
    labels = np.concatenate(data.map_blocks(attrgetter("y")))
    nothing = np.zeros((data.n_documents, 1), np.float32)  # features stay on the workers
    judged = Dataset(nothing, labels, group=data.sizes, query_weight=data.query_weight)
    here = Folding.of(judged, n_folds, random_state)
    rows = [np.flatnonzero(np.isin(judged.query_of_row, part.query_ids)) for part in here.held]
    trains, held = [data.select(part.query_ids) for part in here.train], [Held(data, one) for one in rows]
    return here._replace(train=cast("list[Dataset]", trains), held=cast("list[Dataset]", held))


def able(given: Given, data: DistributedDataset) -> Given:
    """Return the members, on data with weights the linear ones."""
    linear = [one for one in given if RANKERS[one[0]].family != "trees"]
    if data.query_weight is None or len(linear) in (0, len(given)):
        return given
    warnings.warn("auto: linear members alone; trees on a cluster take no weights", ArgrankWarning, stacklevel=2)
    return linear


def extent(data: DistributedDataset) -> tuple[bool, float]:
    """Tell whether values are missing, and the greatest absolute value of a feature."""
    found = data.over_features(_extent)
    return any(one[0] for one in found), max(one[1] for one in found)


def member_of(name: str, ranker: Any, folding: Folding, scoring: Any, numbers: Sequence[int]) -> Member:
    """Return the member of a ranker."""
    if isinstance(ranker, GradientBoostedRanker) and ranker.early_stopping is None:
        few = [number for number in numbers if number <= MOST_TREES]
        return ClusterTrees(name, ranker, folding, scoring, numbers=few or [MOST_TREES])
    return ClusterMember(name, ranker, folding, scoring)


class ClusterMember(Member):
    """A ranker whose fits take one stage."""

    def _scores(self, model: Model, part: Any) -> Floats:
        """Return the scores of rows, computed on the workers."""
        if isinstance(part, Held):
            return part.data.predict(model).compute()[part.rows]
        return np.asarray(part.predict(model).compute())


class ClusterTrees(ClusterMember, TreeMember):
    """Boosted trees, of which the stages are taken when all have been grown."""

    def advance(self) -> bool:
        """Grow all trees in every fold and take one stage after the other until they stop gaining."""
        begin = time.perf_counter()
        grown = [self._fitted(train, n_trees=self.numbers[-1], n_seeds=1).model_ for train in self.folding.train]
        scores, before = np.zeros(self.folding.pool.n_documents), 0
        for number in self.numbers:
            for model, held, rows in zip(grown, self.folding.held, self.folding.rows, strict=True):
                some = _slice(model, before, number)
                scores[rows] += 0.0 if some is None else self._scores(some, held)
            self.stages.append(self._stage(scores.copy(), number, begin))
            before, begin = number, time.perf_counter()
            if len(self.stages) - 1 - self.best >= PATIENCE:
                break
        self.models = [cast(Model, _slice(model, 0, self.numbers[self.best])) for model in grown]
        return False


def _slice(model: Model, first: int, last: int) -> Model | None:
    """Return some of a model's trees, with its linear part if they are the first; None if there are none."""
    start, forest = (None, model) if not isinstance(model, SumModel) else model.members
    trees = cast(TreesModel, forest).trees[first:last]
    return joined(start if first == 0 else None, trees, model.n_features) if trees else None


# ---- on the workers ---------------------------------------------------------------------------------------------


def _extent(X: Any) -> tuple[bool, float]:
    stored = X if isinstance(X, np.ndarray) else X.data
    return bool(has_missing(X)), float(np.nanmax(np.abs(stored), initial=0.0))
