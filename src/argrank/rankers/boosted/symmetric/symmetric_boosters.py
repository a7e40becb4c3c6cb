"""Boosters of symmetric trees, one for every seed, that share one set of bins.

Categories are encoded as numbers: the mean gradient step of their documents, estimated on held-out queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.models.symmetric import MOST_CODES, SymmetricTrees
from argrank.rankers.boosted.symmetric.bins import dense, find_bins
from argrank.rankers.boosted.symmetric.grower import Grower, Question, leaves
from argrank.rankers.boosted.trees.boosted_ranker import row_weights
from argrank.rankers.boosted.trees.boosting import Boosters, Draw, Loss, Starts, State
from argrank.rankers.boosted.trees.lightgbm import FRUITLESS, feature_columns

if TYPE_CHECKING:
    from argrank.rankers.boosted.symmetric.symmetric_mart import SymmetricMART


class Tree(NamedTuple):
    """A tree that was grown: its questions, the values of its leaves, rate included, and their training rows."""

    questions: list[Question]
    values: Floats
    counts: Integers


class Forest(NamedTuple):
    """The trees of one seed, and the scores with them of the training rows and of every further part."""

    trees: tuple[Tree, ...]
    scores: tuple[Floats, ...]


class SymmetricBoosters(Boosters):
    """Symmetric trees of several seeds, grown side by side on the gradients of a loss.

    Random draws depend only on seed and round.
    """

    def __init__(
        self,
        data: Dataset,
        parts: Sequence[Dataset],
        ranker: SymmetricMART,
        loss: Loss,
        starts: Starts,
        kept: State,
    ) -> None:
        self._data, self._ranker, self._loss, self._number = data, ranker, loss, 0
        self._seeds = ranker._seeds()
        begin = tuple(np.zeros(one.n_documents) for one in (data, *parts)) if starts is None else tuple(starts)
        categorical = feature_columns("categorical_features", ranker.categorical_features, data)
        weight = row_weights(data)
        self._weight = float(weight.sum()) or 1.0
        encoded = Encoded.of(data, categorical, *self._slopes(begin[0], 0), weight)
        self._codes = encoded.codes
        self._bins = find_bins(data.X, ranker.n_bins, encoded.numbers, weight, ranker.n_jobs)
        self._blocks = [self._bins.blocks(data.X, encoded.numbers, ranker.n_jobs)]
        self._blocks += [self._bins.blocks(one.X, encoded.served(one), ranker.n_jobs) for one in parts]
        self._grower = Grower(self._bins, self._blocks[0], ranker.depth, ranker._signs(data), ranker.n_jobs)
        self._forests = [Forest((), begin) for _ in self._seeds]
        if kept is not None:
            self._number = kept["number"]
            self._forests = [_restored(one) for one in kept["forests"]]

    @property
    def sizes(self) -> list[int]:
        """How many trees each booster has."""
        return [len(forest.trees) for forest in self._forests]

    def state(self) -> dict[str, Any]:
        """Return the state from which another process can grow the same next round."""
        return {"number": self._number, "forests": [_state(forest) for forest in self._forests]}

    def grow(self) -> bool:
        """Grow a tree for every seed; tell whether one has a split. With random draws, a few more are tried."""
        draws = min(self._ranker.bagging_fraction, self._ranker.feature_fraction) < 1
        for _ in range(FRUITLESS if draws else 1) if len(self._bins.columns) else ():
            self._number += 1
            grown = [self._grow(number) for number in range(len(self._forests))]
            if any(grown):
                return True
        return False

    def _grow(self, number: int) -> bool:
        """Grow a tree for one seed; tell whether it has a split."""
        forest, ranker = self._forests[number], self._ranker
        rng = np.random.default_rng([self._seeds[number], self._number])
        rows = self._drawn_rows(rng)
        n_columns = len(self._bins.columns)
        n_asked = max(1, round(float(ranker.feature_fraction) * n_columns))
        columns = np.sort(rng.permutation(n_columns)[:n_asked])
        gradient, curvature = self._slopes(forest.scores[0], number)
        l2 = float(ranker.l2) * float(curvature.sum()) / self._weight  # in units of a row's curvature
        grown = self._grower.grow(gradient, curvature, l2, rows, columns)
        if grown is None:
            return False
        values = float(ranker.learning_rate) * grown.values
        found = [grown.leaf, *(leaves(blocks, grown.questions) for blocks in self._blocks[1:])]
        tree = Tree(grown.questions, values, np.bincount(grown.leaf, minlength=len(values)))
        scores = tuple(before + values[leaf] for before, leaf in zip(forest.scores, found, strict=True))
        self._forests[number] = Forest((*forest.trees, tree), scores)  # both at once: Ctrl-C may come in between
        return True

    def settle(self, passes: int, pull: float) -> None:
        """Improve the values of all trees, one tree after another, each given its questions and the other trees.

        ``pull`` is a penalty on how far a leaf's value moves from that with which it was grown, as a number of
        documents.
        """
        for number, grown in enumerate(self._forests):
            for _ in range(passes):
                for place, first in enumerate(grown.trees):
                    self._settle(number, place, first.values, pull)

    def _settle(self, number: int, place: int, first: Floats, pull: float) -> None:
        """Move the values of one tree of a seed by Newton's step, towards their first values by the penalty."""
        forest = self._forests[number]
        tree = forest.trees[place]
        found = [leaves(blocks, tree.questions) for blocks in self._blocks]
        slopes = self._slopes(forest.scores[0], number)
        gradient, curvature = (np.bincount(found[0], one, len(first)) for one in slopes)
        weight = pull * float(slopes[1].sum()) / self._weight
        step = -(gradient + weight * (tree.values - first)) / (curvature + weight)
        scores = tuple(before + step[leaf] for before, leaf in zip(forest.scores, found, strict=True))
        trees = (*forest.trees[:place], tree._replace(values=tree.values + step), *forest.trees[place + 1 :])
        self._forests[number] = Forest(trees, scores)

    def _drawn_rows(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return the rows of the queries that are drawn for a tree."""
        data, share = self._data, float(self._ranker.bagging_fraction)
        if share == 1:
            return np.arange(data.n_documents, dtype=np.int32)
        drawn = np.zeros(data.n_queries, bool)
        drawn[rng.permutation(data.n_queries)[: max(1, round(share * data.n_queries))]] = True
        return np.flatnonzero(np.repeat(drawn, data.sizes)).astype(np.int32)

    def _slopes(self, scores: Floats, number: int) -> tuple[Floats, Floats]:
        draw = Draw(self._seeds[number], self._number)
        gradient, curvature = self._loss.slopes(scores[:, None], draw)
        return np.ascontiguousarray(gradient).ravel(), np.ascontiguousarray(curvature).ravel()

    def training_scores(self) -> Floats:
        """Return the scores of the training rows, the mean over the seeds."""
        return self._mean(0)

    def scores(self) -> list[Floats]:
        """Return the scores of every part, the mean over the seeds."""
        return [self._mean(number) for number in range(1, len(self._blocks))]

    def _mean(self, part: int) -> Floats:
        mean: Floats = np.mean([forest.scores[part] for forest in self._forests], axis=0)
        return mean[:, None]

    def outputs(self, sizes: Sequence[int], data: Dataset) -> Floats:
        """Return the sum of the first trees of every seed for the training rows."""
        total = np.zeros(data.n_documents)
        for forest, size in zip(self._forests, sizes, strict=True):
            for tree in forest.trees[:size]:
                total += tree.values[leaves(self._blocks[0], tree.questions)]
        return total[:, None] / len(self._forests)

    def model(self, sizes: Sequence[int], offset: float) -> SymmetricTrees:
        """Return the first trees of every seed, whose mean is the model, with a constant in the first one."""
        chosen = [tree for forest, size in zip(self._forests, sizes, strict=True) for tree in forest.trees[:size]]
        chosen = chosen or [Tree([], np.zeros(1), np.array([self._data.n_documents]))]
        shape, n_leaves = (len(chosen), self._ranker.depth), 1 << self._ranker.depth
        features, cuts = np.zeros(shape, np.int32), np.full(shape, np.inf)
        missing, gains = np.zeros(shape, bool), np.zeros(shape)
        values, counts = np.zeros((len(chosen), n_leaves)), np.zeros((len(chosen), n_leaves), np.int64)
        for number, tree in enumerate(chosen):
            first = shape[1] - len(tree.questions)  # levels without a question come first, and answer 0
            for level, (column, beyond, yes, gain) in enumerate(tree.questions, first):
                features[number, level] = self._bins.columns[column]
                cuts[number, level] = self._bins.cut(column, beyond)
                missing[number, level], gains[number, level] = yes, gain
            values[number, : len(tree.values)] = tree.values / len(self._forests)
            counts[number, : len(tree.counts)] = tree.counts
        values[0] += offset
        return SymmetricTrees(
            features, cuts, missing, values, gains, counts, n_columns=self._data.n_features, codes=self._codes
        )


def _state(forest: Forest) -> dict[str, Any]:
    """Return a forest as plain data."""
    trees = [
        {"questions": [list(question) for question in tree.questions], "values": tree.values, "counts": tree.counts}
        for tree in forest.trees
    ]
    return {"trees": trees, "scores": list(forest.scores)}


def _restored(state: Mapping[str, Any]) -> Forest:
    trees = (
        Tree([Question(*question) for question in one["questions"]], one["values"], one["counts"])
        for one in state["trees"]
    )
    return Forest(tuple(trees), tuple(state["scores"]))


FOLDS = 5
PRIOR = 10.0  # prior: documents of mean curvature with gradient 0 added to every category


class Encoded(NamedTuple):
    """The numbers of categories: of each code as they are served, and of each training row.

    A category's number is Newton's step for its documents, ``-G / (H + prior)``, at the start of the training. A
    training row gets the number computed from other queries, because otherwise rare categories would leak the row's own
    label; if no other query has the category, the number is missing.
    """

    codes: dict[int, Floats]
    numbers: dict[int, Floats]

    @classmethod
    def of(cls, data: Dataset, columns: Sequence[int], gradient: Floats, curvature: Floats, weight: Floats) -> Encoded:
        """Learn the numbers of some columns, given gradients and curvatures by the scores at the start."""
        prior = PRIOR * float(curvature.sum()) / (float(weight.sum()) or 1.0)
        fold = np.repeat(np.arange(data.n_queries) % FOLDS, data.sizes)
        codes, numbers = {}, {}
        for column in columns:
            own = _codes_of(column_of(data.X, column))
            size = int(own.max(initial=0)) + 1
            if size > MOST_CODES:
                raise InputError(
                    f"categorical_features: expected codes below {MOST_CODES:,} in column {column}, got {size - 1:,}"
                )
            known, place = np.unique(own, return_inverse=True)
            place = fold * len(known) + place
            summed = (np.bincount(place, one, FOLDS * len(known)) for one in (gradient, curvature, weight > 0))
            sums = np.stack([one.reshape(FOLDS, len(known)) for one in summed])
            there = known >= 0
            codes[column] = np.full(size, np.nan)
            codes[column][known[there]] = _steps(sums.sum(axis=1), prior)[there]
            # not the difference from the sum of all, whose rounding would tell the own label
            others = np.stack(
                [_steps(sums.sum(axis=1, where=other[:, None]), prior) for other in ~np.eye(FOLDS, dtype=bool)]
            )
            numbers[column] = np.where(there, others, np.nan).ravel()[place]
        return cls(codes, numbers)

    def served(self, data: Dataset) -> Mapping[int, Floats]:
        """Return the numbers of rows that are not trained on."""
        found = {}
        for column, codes in self.codes.items():
            own = _codes_of(column_of(data.X, column))
            known = (own >= 0) & (own < len(codes))
            found[column] = np.where(known, codes[np.where(known, own, 0)], np.nan)
        return found


def _steps(sums: Floats, prior: float) -> Floats:
    """Return Newton's steps from sums of gradients, curvatures and rows; NaN where there are no rows."""
    gradient, curvature, count = sums
    return np.where(count > 0, -gradient / np.maximum(curvature + prior, 1e-300), np.nan)


def _codes_of(values: Floats) -> Any:
    """Return whole parts, and -1 for what is missing or below 0."""
    return np.where(values > -1, np.minimum(np.trunc(values), 2.0**62), -1).astype(np.int64)


def column_of(X: Any, column: int) -> Floats:
    """Return one column as an array."""
    return dense(X[:, [column]])[:, 0].astype(np.float64)
