"""Members of a blend: rankers that score held-out queries, stage by stage where trees grow."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.folds import QueryKFold
from argrank.errors import ArgrankWarning
from argrank.evaluation.evaluate import evaluate
from argrank.models.model import Model
from argrank.models.sum import SumModel
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.boosted.trees.gradient_boosted_ranker import GradientBoostedRanker
from argrank.rankers.checkpoint import model_from, model_state
from argrank.solvers.problem import Stop
from argrank.trials.compress import centred

STAGES = (40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280)
PATIENCE = 2  # stages without a gain after which a member is finished
FAMILY_OF = {"linear": "linear", "stumps": "trees", "symmetric-trees": "trees", "trees": "trees"}
HOLDOUT_ROWS = 20_000  # above, one holdout instead of folds
HOLDOUT_PARTS = 4  # a holdout of a quarter
HOLDOUT_QUERIES = 100  # with fewer held-out queries, members and numbers of trees cannot be compared
SEEDED_TREES = 720  # most trees of all seeds of a member, on data so large that refitting takes minutes

#: The members by family, with parameters that differ from the ranker's own defaults, as measured.
MEMBERS: dict[str, dict[str, dict[str, Any]]] = {
    "linear": {"listnet": {}, "rank-svm": {"C": 10.0}},
    "trees": {
        "query-mart": {"start": None, "n_seeds": 1},
        "mart": {},
        "xendcg-mart": {"start": None, "l2": 0.0},
        "symmetric-mart": {"start": None},
        "lambda-mart": {},
    },
}
Named = tuple[str, dict[str, Any]]
QUERY: Named = ("query-mart", MEMBERS["trees"]["query-mart"])
LAMBDAS: Named = ("lambda-mart", MEMBERS["trees"]["lambda-mart"])
#: Symmetric trees on the squared error, on the losses of pairs and of NDCG, and on the latter from a linear start.
SQUARED: Named = ("symmetric-mart", MEMBERS["trees"]["symmetric-mart"])
PAIRS: Named = ("symmetric-mart", {"start": None, "objective": "pair-mart"})
XENDCG: Named = ("symmetric-mart", {"start": None, "objective": "xendcg-mart"})
STARTED: Named = ("symmetric-mart", {"objective": "xendcg-mart"})


class Effort(NamedTuple):
    """The settings of an effort: tree members, folds, and seeds of every tree member when it is refitted."""

    small: tuple[Named, ...]  # trees on data of several folds
    large: tuple[Named, ...]  # trees on data of one holdout
    there: tuple[Named, ...]  # trees on a cluster, where symmetric ones do not grow
    n_folds: int
    seeds: int


EFFORTS = {
    "fast": Effort((SQUARED,), (PAIRS,), (LAMBDAS,), 4, 1),
    "default": Effort((QUERY, SQUARED, PAIRS), (PAIRS, XENDCG, STARTED), (QUERY, LAMBDAS), 4, 3),
    "best": Effort((QUERY, SQUARED, PAIRS, XENDCG), (PAIRS, XENDCG, STARTED), (QUERY, LAMBDAS), 8, 5),
}


class Folding(NamedTuple):
    """Training parts with the queries that each holds out, and all held-out queries together."""

    train: list[Dataset]
    held: list[Dataset]
    pool: Dataset
    rows: list[Integers]  # of each held-out part in the pool
    queries: list[Integers]  # the same, for an unbiased estimate; for a single holdout, parts of it

    @classmethod
    def of(cls, data: Dataset, n_folds: int, random_state: int) -> Folding:
        """Split by query: folds of small data, one holdout of large data; a single query is also evaluated on."""
        if data.n_queries < 2:
            return cls([data], [data], data, [np.arange(data.n_documents)], [])
        if is_large(data):
            train, held = next(QueryKFold(HOLDOUT_PARTS, random_state=random_state).split(data))
            pool = data.select(held)
            parts = [test for _, test in QueryKFold(min(n_folds, len(held)), random_state=random_state).split(pool)]
            return cls([data.select(train)], [pool], pool, [np.arange(pool.n_documents)], parts)
        splits = list(QueryKFold(min(n_folds, data.n_queries), random_state=random_state).split(data))
        rows = [np.flatnonzero(np.isin(data.query_of_row, held)) for _, held in splits]
        trains, tests = [data.select(train) for train, _ in splits], [data.select(held) for _, held in splits]
        return cls(trains, tests, data, rows, [held for _, held in splits])


def is_large(data: Any) -> bool:
    """Tell whether data has one holdout instead of folds."""
    return bool(data.n_documents > HOLDOUT_ROWS and data.n_queries >= HOLDOUT_PARTS * HOLDOUT_QUERIES)


@dataclass(frozen=True, eq=False)
class Stage:
    """Held-out scores of all folds, their measure query by query, the trees that were grown for them, and seconds."""

    scores: Floats
    values: Floats
    n_trees: int | None = None
    seconds: float = 0.0  # since the stage before

    @property
    def mean(self) -> float:
        """The mean over the queries for which the measure is defined."""
        return mean_value(self.values)


def mean_value(values: Floats) -> float:
    """Return the mean over the queries for which a measure is defined, NaN where there is none."""
    return float(np.nanmean(values)) if not np.isnan(values).all() else np.nan


@dataclass(eq=False)
class Member:
    """A ranker whose fits take one stage: linear models and others without trees."""

    name: str
    ranker: Any
    folding: Folding
    scoring: Any
    stages: list[Stage] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)  # of the folds
    notes: list[str] = field(default_factory=list)

    def advance(self) -> bool:
        """Run the next stage; tell whether there is another one."""
        begin = time.perf_counter()
        scores = np.empty(self.folding.pool.n_documents)
        models = []
        for train, held, rows in zip(self.folding.train, self.folding.held, self.folding.rows, strict=True):
            models.append(self._fitted(train).model_)
            scores[rows] = self._scores(models[-1], held)
        self.models = models
        self.stages.append(self._stage(scores, None, begin))
        return False

    @property
    def seconds(self) -> float:
        """The time of all stages."""
        return sum(stage.seconds for stage in self.stages)

    @property
    def next_seconds(self) -> float:
        """Approximate time of the next stage."""
        return self.stages[-1].seconds

    @property
    def family(self) -> str:
        """The kind of its models: "linear", "trees", or "all" for others."""
        return FAMILY_OF.get(self.models[0].kind, "all")

    @property
    def best(self) -> int:
        """The stage with the best mean; the earliest of equals."""
        return best_stage([stage.values for stage in self.stages])

    def best_without(self, queries: Integers) -> int:
        """Return the stage that is best for the other held-out queries."""
        others = np.setdiff1d(np.arange(self.folding.pool.n_queries), queries)
        return best_stage([stage.values[others] for stage in self.stages])

    @property
    def value(self) -> float:
        """The mean over the held-out queries, the stage of each part chosen by the others, as for the blend."""
        values = self.stages[self.best].values.copy()
        for queries in self.folding.queries:
            values[queries] = self.stages[self.best_without(queries)].values[queries]
        return mean_value(values)

    def within(self, max_trees: int) -> Member:
        """Return the member as if it had stopped at a number of trees."""
        stages = [stage for stage in self.stages if stage.n_trees is None or stage.n_trees <= max_trees]
        return replace(self, stages=stages)

    def state(self) -> dict[str, Any]:
        """Return the state from which another process can continue."""
        return {
            "stages": [vars(stage) for stage in self.stages],
            "models": [model_state(model) for model in self.models],
            "notes": list(self.notes),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another process."""
        self.stages = [Stage(**stage) for stage in state["stages"]]
        self.models = [model_from(one) for one in state["models"]]
        self.notes = list(state["notes"])

    def seeds(self, most: int) -> int:
        """Return the number of seeds of the refitted model."""
        return 1

    def cost(self, n_seeds: int) -> float:
        """Return the approximate seconds of refitting it."""
        return self.seeds(n_seeds) * self.again(sum(stage.seconds for stage in self.stages[: self.best + 1]))

    def again(self, seconds: float) -> float:
        """Return the approximate time of one fit on all data, from the seconds of all folds."""
        train, held = self.folding.train, self.folding.rows[0]
        return seconds / len(train) * (1.0 + len(held) / train[0].n_documents)

    def refit(self, data: Dataset, n_seeds: int) -> Model:
        """Return the model of all data."""
        return self._fitted(data).model_

    def folds_model(self, most: int | None = None) -> Model:
        """Return the mean of the folds' models, for fits without time to refit."""
        models = self.models[:most]
        return models[0] if len(models) == 1 else SumModel(tuple(models), np.full(len(models), 1.0 / len(models)))

    def deviation(self, model: Model, data: Dataset, held_out: float) -> float:
        """Return the divisor of the refitted model's scores: their own deviation within queries."""
        return float(np.sqrt(np.mean(centred(self._scores(model, data), data) ** 2)))

    def _scores(self, model: Model, part: Dataset) -> Floats:
        return model.scores(part.X, part.indptr)

    def _fitted(self, data: Dataset, **parameters: Any) -> BaseRanker:
        """Return a fitted clone; a fit interrupted by Ctrl-C does not count."""
        ranker: BaseRanker = clone(self.ranker).set_params(**parameters)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ArgrankWarning)
            ranker.fit(data)
        for one in caught:
            if (text := str(one.message)) not in self.notes:
                self.notes.append(text)
        if ranker.stop_ is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        return ranker

    def _stage(self, scores: Floats, n_trees: int | None, begin: float) -> Stage:
        pool = self.folding.pool
        (values,) = evaluate(pool.to_caller(scores), pool, self.scoring).values.values()
        return Stage(scores, np.asarray(values), n_trees, time.perf_counter() - begin)


@dataclass(eq=False)
class TreeMember(Member):
    """Boosted trees, grown in all folds side by side from stage to stage."""

    numbers: Sequence[int] = STAGES
    _growing: list[Any] = field(default_factory=list)

    def advance(self) -> bool:
        """Grow all folds to the next number of trees."""
        begin = time.perf_counter()
        if not self._growing:
            self._growing = self._boosters([None] * len(self.folding.train))
        target = self.numbers[len(self.stages)]
        scores = np.empty(self.folding.pool.n_documents)
        grown = [False] * len(self._growing)
        for number, (boosters, loss, *_) in enumerate(self._growing):
            while max(boosters.sizes) < target and boosters.grow():
                grown[number] = True
            scores[self.folding.rows[number]] = loss.score(boosters.scores()[0])
        self.stages.append(self._stage(scores, target, begin))
        after = len(self.stages) - 1 - self.best
        if after == 0:
            self.models = [
                self.ranker.finished_model(boosters, boosters.sizes, start, offset, train)
                for boosters, _, start, offset, train in self._growing
            ]
        alone = not self.folding.queries  # a query evaluated by itself would never stop
        more = len(self.stages) < len(self.numbers) and after < PATIENCE and any(grown) and not alone
        if not more:
            self._growing = []
        return more

    @property
    def next_seconds(self) -> float:
        """Approximate time of the next stage, by the number of trees."""
        before, now, after = (0, *self.numbers, self.numbers[-1])[len(self.stages) - 1 :][:3]
        return self.stages[-1].seconds * (after - now) / (now - before)

    def _boosters(self, states: Sequence[Any]) -> list[Any]:
        parts = zip(self.folding.train, self.folding.held, states, strict=True)
        return [(*self.ranker.boosters(train, [held], kept), train) for train, held, kept in parts]

    def state(self) -> dict[str, Any]:
        """Return the state from which another process can continue."""
        return {**super().state(), "growing": [boosters.state() for boosters, *_ in self._growing]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of another process."""
        super().restore(state)
        self._growing = self._boosters(state["growing"]) if state["growing"] else []

    def seeds(self, most: int) -> int:
        """Return how many seeds the model of all data has; fewer for many trees on large data."""
        has_folds, n_trees = len(self.folding.train) > 1, self.stages[self.best].n_trees
        return most if has_folds or n_trees is None else max(1, min(most, SEEDED_TREES // n_trees))

    def refit(self, data: Dataset, n_seeds: int) -> Model:
        """Return the model of all data with the number of trees that was best out of fold."""
        return self._fitted(data, n_trees=self.stages[self.best].n_trees, n_seeds=n_seeds).model_

    def deviation(self, model: Model, data: Dataset, held_out: float) -> float:
        """Return the deviation of the held-out scores: on their own training data trees spread more."""
        return held_out


def best_stage(values: Sequence[Floats]) -> int:
    """Return the stage with the best mean, the earliest of equals; the first where no mean is defined."""
    means = np.array([mean_value(one) for one in values])
    return 0 if np.isnan(means).all() else int(np.nanargmax(means))


def member_of(name: str, ranker: Any, folding: Folding, scoring: Any, numbers: Sequence[int]) -> Member:
    """Return the member that a ranker makes."""
    if isinstance(ranker, GradientBoostedRanker) and ranker.early_stopping is None:
        return TreeMember(name, ranker, folding, scoring, numbers=numbers)
    return Member(name, ranker, folding, scoring)
