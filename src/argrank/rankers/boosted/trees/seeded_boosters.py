"""LightGBM's boosters of several seeds, grown side by side on gradients that we compute.

LightGBM holds the binned features, draws rows and features, grows, and keeps the scores of training and validation
rows; a loss turns scores into gradients. All boosters share one set of bins. A round grows one tree for every booster
and output, so that the mean over the seeds is known after every round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError
from argrank.models.formats.lightgbm import read
from argrank.models.tree import Tree
from argrank.models.trees import tree_sums
from argrank.rankers.boosted.trees.boosting import Boosters, Draw, Loss, Starts, State
from argrank.rankers.boosted.trees.lightgbm import (
    FRUITLESS,
    SHARES,
    can_split,
    check_bins,
    load_lightgbm,
    rounded,
    rows_of,
    said,
    seed_of,
    shown_scores,
)


class LightGBMBoosters(Boosters):
    """One booster for every seed, with the rows of the training data and of further parts."""

    def __init__(
        self,
        data: Dataset,
        parts: Sequence[Dataset],
        parameters: Mapping[str, Any],
        categorical: Sequence[int],
        seeds: Sequence[int],
        loss: Loss,
        starts: Starts = None,
        kept: State = None,
    ) -> None:
        lightgbm = load_lightgbm()
        check_bins(data)
        self._loss, self._seeds, self._n_parts = loss, seeds, len(parts)
        self.draws = any(parameters[name] < 1 for name in SHARES)
        self.draws |= bool(parameters["extra_trees"])
        self._refusal = lightgbm.basic.LightGBMError
        common = {**parameters, "num_class": loss.n_outputs, "seed": seeds[0]}
        begins = [None] * (1 + len(parts)) if starts is None else starts

        def binned(part: Dataset, begin: Floats | None, **more: Any) -> Any:
            rows = rows_of(part.X)
            return lightgbm.Dataset(rows, np.zeros(part.n_documents), init_score=begin, params=common, **more)

        train = binned(data, begins[0], categorical_feature=list(categorical) or "auto")
        held = [binned(part, begin, reference=train) for part, begin in zip(parts, begins[1:], strict=True)]
        self._parameters, self._n_rows = parameters, data.n_documents
        scores = [None for _ in seeds] if kept is None else kept["scores"]
        try:
            self.boosters = [
                self._booster({**common, "seed": seed}, train, held, own)
                for seed, own in zip(seeds, scores, strict=True)
            ]
            self._can_split = can_split(train, data.n_features)
        except lightgbm.basic.LightGBMError as error:
            if "config" in str(error):  # where LightGBM checks its parameters
                raise OptionError(f"lightgbm_params: LightGBM says: {said(error)}") from error
            raise InputError(f"X: expected features that trees can split, but LightGBM says: {said(error)}") from error
        self._number = 0
        self._texts: list[list[str]] = [[] for _ in seeds]  # scores of trees from another process
        self._idle = [0 for _ in seeds]  # idle trees at the start of a booster
        if kept is not None:
            self._number, self._texts = kept["number"], [list(texts) for texts in kept["texts"]]
            self._idle = [self._begin(booster) if self._can_split else 0 for booster in self.boosters]
        self._before = [[read(text).trees for text in texts] for texts in self._texts]

    def _booster(self, parameters: Mapping[str, Any], train: Any, held: Sequence[Any], scores: Any) -> Any:
        """Return one booster; ``scores`` are those of the rows so far, if another process has started."""
        if scores is not None:
            for rows, own in zip((train, *held), scores, strict=True):
                rows.set_init_score(own[:, 0] if self.n_outputs == 1 else own)
        booster = load_lightgbm().Booster(dict(parameters), train)
        for number, rows in enumerate(held):
            booster.add_valid(rows, str(number))
        return booster

    @property
    def n_outputs(self) -> int:
        """Number of sums of trees."""
        return self._loss.n_outputs

    @property
    def sizes(self) -> list[int]:
        """How many rounds each booster has grown trees in."""
        return [
            sum(map(len, before)) // self.n_outputs + booster.current_iteration() - idle
            for booster, before, idle in zip(self.boosters, self._before, self._idle, strict=True)
        ]

    def state(self) -> dict[str, Any]:
        """Return the state from which another process can grow the same next round."""
        texts = [
            [*before, booster.model_to_string(start_iteration=idle)] if booster.current_iteration() > idle else before
            for booster, before, idle in zip(self.boosters, self._texts, self._idle, strict=True)
        ]
        return {"number": self._number, "texts": texts, "scores": [self._all_scores(one) for one in self.boosters]}

    def _all_scores(self, booster: Any) -> list[Floats]:
        """Return one booster's scores of the training rows and of every part."""
        held = shown_scores(booster.eval_valid) if self._n_parts else []
        return [self._columns(scores) for scores in (*shown_scores(booster.eval_train), *held)]

    def _begin(self, booster: Any) -> int:
        """Make an idle round in a resumed booster; return its trees so far, which are 0.

        The first round of a booster draws features differently from later rounds.
        """
        shape = (self._n_rows * self.n_outputs,) if self.n_outputs == 1 else (self._n_rows, self.n_outputs)
        booster.update(fobj=lambda scores, data: (np.zeros(shape), np.ones(shape)))
        return int(booster.current_iteration())

    def _seed(self, booster: Any, seed: int) -> None:
        """Make random draws depend only on seed and round: LightGBM's own generators cannot be restored."""
        number = seed_of(seed, self._number)
        share = self._parameters["bagging_fraction"]
        seeds = {"bagging_seed": number, "feature_fraction_seed": number, "extra_seed": number}
        if share < 1:  # LightGBM reads the seed only if the share changes
            booster.reset_parameter({"bagging_fraction": 0.999 * share})
        booster.reset_parameter({"bagging_fraction": share, **seeds})

    def grow(self) -> bool:
        """Grow a round; tell whether any booster found a split. With random draws, a few more are tried."""
        if not self._can_split:
            return False
        for _ in range(FRUITLESS if self.draws else 1):
            self._number += 1
            finished = [self._grow(booster, seed) for booster, seed in zip(self.boosters, self._seeds, strict=True)]
            if not all(finished):
                return True
        return False

    def _grow(self, booster: Any, seed: int) -> bool:
        """Grow a round of one booster; tell whether it found no split."""

        def slopes(scores: Floats, data: object) -> tuple[Floats, Floats]:
            gradient, curvature = self._loss.slopes(self._columns(scores), Draw(seed, self._number))
            return rounded(gradient).reshape(scores.shape), rounded(curvature).reshape(scores.shape)

        size = booster.current_iteration()
        try:
            if self.draws:
                self._seed(booster, seed)
            finished = booster.update(fobj=slopes)
        except self._refusal as error:
            if "num_data" not in str(error):
                raise InputError(
                    f"X: expected features that trees can split, but LightGBM says: {said(error)}"
                ) from error
            return True  # too few rows were drawn
        if finished and booster.current_iteration() > size:  # a first tree without a split, which LightGBM keeps
            booster.rollback_one_iter()
        return bool(finished)

    def training_scores(self) -> Floats:
        """Return the outputs for the training rows, the mean over the seeds."""
        return self._mean("eval_train")[0]

    def scores(self) -> list[Floats]:
        """Return the outputs for the rows of every part, the mean over the seeds."""
        return self._mean("eval_valid") if self._n_parts else []

    def outputs(self, sizes: Sequence[int], data: Dataset) -> Floats:
        """Return the sum of the first rounds' trees for some rows."""
        return tree_sums(self.trees(sizes), data.X, self.n_outputs)

    def trees(self, sizes: Sequence[int]) -> list[Tree]:
        """Return the trees of the first rounds of each booster; their sum is the mean over the seeds."""
        found = []
        for position, (booster, size) in enumerate(zip(self.boosters, sizes, strict=True)):
            trees = [tree for part in self._before[position] for tree in part]
            more = size - len(trees) // self.n_outputs
            if more > 0:
                trees += read(booster.model_to_string(more, self._idle[position])).trees
            trees = trees[: size * self.n_outputs]
            found += [tree.with_values(tree.value / len(self._seeds)) for tree in trees]
        return found

    def _mean(self, show: str) -> list[Floats]:
        """Return the mean over the boosters of the scores that their method ``show`` shows."""
        totals: list[Floats] = []
        for number, booster in enumerate(self.boosters):
            seen = [self._columns(scores) for scores in shown_scores(getattr(booster, show))]
            totals = seen if number == 0 else [total + one for total, one in zip(totals, seen, strict=True)]
        return [total / len(self.boosters) for total in totals] if len(self.boosters) > 1 else totals

    def _columns(self, scores: Floats) -> Floats:
        return np.ascontiguousarray(scores.reshape(-1, self._loss.n_outputs))
