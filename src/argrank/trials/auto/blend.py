"""The blend of members: its weights, and an estimate of its quality on queries that did not influence them.

The weights maximise a listwise likelihood of held-out scores, with a penalty on unequal ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.intervals import TOO_FEW, mean_interval
from argrank.measures.gains import row_targets
from argrank.models.model import Model
from argrank.models.sum import SumModel
from argrank.objectives.objective import query_shares
from argrank.trials.auto.members import Folding, Member, mean_value
from argrank.trials.compress import centred, follow


class Estimate(NamedTuple):
    """The mean of a measure over queries that influenced no choice, and a 95 % interval."""

    measure: str
    value: float
    low: float
    high: float
    n_queries: int

    def __str__(self) -> str:
        interval = TOO_FEW if np.isnan(self.low) else f"{self.low:.4f}, {self.high:.4f}"
        return f"{self.measure} {self.value:.4f} [{interval}] out of fold, {self.n_queries} queries"


@dataclass(frozen=True, eq=False)
class Blend:
    """Members with the weights of their standardised scores, their deviations, and the blend's estimate."""

    members: list[Member]
    weights: Floats
    deviations: Floats
    estimate: Estimate

    @classmethod
    def of(cls, members: Sequence[Member], folding: Folding, scoring: Any) -> Blend:
        """Weight members by all held-out queries."""
        chosen = [member.stages[member.best].scores for member in members]
        Z, deviations = standardised(chosen, folding.pool)
        return cls(list(members), blend_weights(Z, folding.pool), deviations, _estimate(members, folding, scoring))

    @property
    def shares(self) -> Floats:
        """The weights, as shares; 0 for members that give every document the same score."""
        useful = np.where(self.deviations > 0, self.weights, 0.0)
        return useful / useful.sum() if useful.any() else np.full(len(useful), 1.0 / len(useful))

    @property
    def chosen(self) -> list[Member]:
        """The members with a weight, which are fitted again."""
        return [member for member, share in zip(self.members, self.shares.tolist(), strict=True) if share > 0]

    def n_trees(self, n_seeds: int) -> int:
        """Return how many trees it has when its members are fitted again."""
        return sum(member.seeds(n_seeds) * (member.stages[member.best].n_trees or 0) for member in self.chosen)

    def served(self, models: Sequence[Model], data: Dataset) -> SumModel:
        """Return the sum of the members' models, each divided by the deviation of its scores."""
        parts: list[tuple[Model, float]] = []
        for member, model, share, held_out in zip(self.members, models, self.shares, self.deviations, strict=True):
            deviation = member.deviation(model, data, float(held_out)) if share > 0 else 0.0
            if deviation > 0:
                parts.append((model, float(share) / deviation))
        if not parts:  # all scores are constant
            parts = [(models[0], 1.0)]
        return summed([model for model, _ in parts], [weight for _, weight in parts])

    def without(self, queries: Integers, folding: Folding) -> Blend:
        """Return the same members, weighted without a part of the held-out queries."""
        others = np.setdiff1d(np.arange(folding.pool.n_queries), queries)
        theirs = np.isin(folding.pool.query_of_row, others)
        chosen = [member.stages[member.best].scores[theirs] for member in self.members]
        rest = folding.pool.select(others)
        Z, deviations = standardised(chosen, rest)
        return replace(self, weights=blend_weights(Z, rest), deviations=deviations)


def _estimate(members: Sequence[Member], folding: Folding, scoring: Any) -> Estimate:
    """For every part of the held-out queries, choose trees and weights without it, and evaluate the blend on it."""
    pool = folding.pool
    if not folding.queries:
        return Estimate(str(scoring), np.nan, np.nan, np.nan, 0)
    scores = np.empty(pool.n_documents)
    for queries in folding.queries:
        others = np.setdiff1d(np.arange(pool.n_queries), queries)
        mine, theirs = np.isin(pool.query_of_row, queries), np.isin(pool.query_of_row, others)
        columns = [member.stages[member.best_without(queries)].scores for member in members]
        rest = pool.select(others)
        Z, deviations = standardised([column[theirs] for column in columns], rest)
        weights = blend_weights(Z, rest) / np.where(deviations > 0, deviations, 1.0)
        scores[mine] = np.stack([column[mine] for column in columns], axis=1) @ weights
    return estimate_of(scores, pool, scoring)


def estimate_of(scores: Floats, pool: Dataset, scoring: Any) -> Estimate:
    """Return the estimate, given the scores of held-out documents."""
    found = evaluate(pool.to_caller(scores), pool, scoring)
    ((name, values),) = found.values.items()
    interval = mean_interval(values, found.bounds[name])
    return Estimate(str(scoring), mean_value(values), *interval, int(np.count_nonzero(~np.isnan(values))))


def summed(models: Sequence[Model], weights: Sequence[float]) -> SumModel:
    """Return the weighted sum of models; members that are sums are flattened."""
    members: list[Model] = []
    factors: list[float] = []
    for model, weight in zip(models, weights, strict=True):
        # the sum has the names; a member needs them only if its normaliser must skip text columns
        names = model.feature_names if model.categories else None
        parts = (model.members, model.weights.tolist()) if isinstance(model, SumModel) else ((model,), (1.0,))
        for part, inner in zip(*parts, strict=True):
            normaliser = model.normaliser if part.normaliser is None else part.normaliser
            preparation = model.preparation if part.preparation is None else part.preparation
            known: dict[str, Any] = {"feature_names": names, "categories": model.categories, "training": {}}
            known |= {"preparation": preparation, "dates": None}
            members.append(replace(part, normaliser=normaliser, **known))
            factors.append(weight * inner)
    return SumModel(tuple(members), np.array(factors))


def compressed_estimate(
    blend: Blend, folding: Folding, scoring: Any, max_trees: int, n_jobs: int | None, late: Callable[[float], bool]
) -> Estimate | None:
    """Compress the blend of every fold's models, weighted without its queries, and evaluate it there.

    None if it would be too late after some seconds: those of the parts that are left, and of all data.
    """
    pool, begin = folding.pool, time.perf_counter()
    scores = np.empty(pool.n_documents)
    for number, queries in enumerate(folding.queries):
        seconds = (time.perf_counter() - begin) / max(1, number)
        if late(seconds * (len(folding.queries) - number + 1)):
            return None
        fold = number if len(folding.train) > 1 else 0
        models, train = [member.models[fold] for member in blend.members], folding.train[fold]
        small = follow(blend.without(queries, folding).served(models, train), train, max_trees, n_jobs)
        part = pool.select(queries)
        scores[np.isin(pool.query_of_row, queries)] = small.scores(part.X, part.indptr)
    return estimate_of(scores, pool, scoring)


PULL = 3.0  # penalty on unequal weights, on the scale of a sum over queries: it matters less the more there are
STEPS = 100
CONVERGED = 1e-10


@dataclass(frozen=True, eq=False)
class Likelihood:
    """``-sum over queries, documents of p log softmax(Z w) + PULL sum (w - mean w)²``, p proportional to 2^y - 1."""

    Z: Floats
    data: Dataset
    p: Floats
    heavy: Floats  # the sum of p of every query: its weight, or 0 if nothing is relevant; for row gains their sum

    @classmethod
    def of(cls, Z: Floats, data: Dataset) -> Likelihood:
        """Prepare from the data's labels; query weights are 1 on average."""
        gains = np.maximum(row_targets(data, "exp2"), 0.0)
        totals = np.add.reduceat(gains, data.indptr[:-1])
        heavy = query_shares(data) * data.n_queries * (totals > 0 if data.gains is None else totals)
        p = gains * np.repeat(heavy / np.where(totals > 0, totals, 1.0), data.sizes)
        return cls(Z, data, p, heavy)

    def value(self, w: Floats) -> float:
        """Return the objective."""
        scores = self.Z @ w
        top = np.maximum.reduceat(scores, self.data.indptr[:-1])
        powers = np.exp(scores - np.repeat(top, self.data.sizes))
        logs = np.log(np.add.reduceat(powers, self.data.indptr[:-1])) + top
        return float((self.heavy * logs).sum() - self.p @ scores + PULL * ((w - w.mean()) ** 2).sum())

    def slopes(self, w: Floats) -> tuple[Floats, Floats]:
        """Return gradient and Hessian."""
        scores, begin, sizes = self.Z @ w, self.data.indptr[:-1], self.data.sizes
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begin), sizes))
        chances = powers / np.repeat(np.add.reduceat(powers, begin), sizes)
        means = np.add.reduceat(chances[:, None] * self.Z, begin, axis=0)
        centre = 2.0 * PULL * (np.eye(len(w)) - 1.0 / len(w))
        gradient = self.heavy @ means - self.p @ self.Z + centre @ w
        weighed = np.repeat(self.heavy, sizes) * chances
        hessian = self.Z.T @ (weighed[:, None] * self.Z) - means.T @ (self.heavy[:, None] * means) + centre
        return gradient, hessian


def blend_weights(Z: Floats, data: Dataset) -> Floats:
    """Return the weights >= 0 of the columns of Z, one for each member; equal ones if nothing can be learned.

    Newton's steps on the free weights, shortened until the convex objective falls.
    """
    problem, n = Likelihood.of(Z, data), Z.shape[1]
    w = np.ones(n)
    value = problem.value(w)
    for _ in range(STEPS):
        gradient, hessian = problem.slopes(w)
        free = (w > 0) | (gradient < 0)
        if not free.any() or np.abs(np.where(w > 0, gradient, np.minimum(gradient, 0.0))).max() < 1e-9:
            break
        step = np.zeros(n)
        ridge = 1e-10 * max(1.0, float(np.trace(hessian)))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)] + ridge * np.eye(int(free.sum())), -gradient[free])
        length, before = 1.0, value
        while length > 1e-10:
            moved = np.maximum(w + length * step, 0.0)
            value = problem.value(moved)
            if value < before:
                break
            length *= 0.5
        if not value < before - CONVERGED * abs(before):
            w = moved if value < before else w
            break
        w = moved
    return w if w.any() else np.ones(n)


def standardised(columns: Sequence[Floats], data: Dataset) -> tuple[Floats, Floats]:
    """Return scores centred within queries and divided by their deviation, as columns, and the deviations."""
    apart = [centred(column, data) for column in columns]
    deviations = np.array([float(np.sqrt(np.mean(column**2))) for column in apart])
    scaled = [column / (deviation or 1.0) for column, deviation in zip(apart, deviations, strict=True)]
    return np.stack(scaled, axis=1), deviations
