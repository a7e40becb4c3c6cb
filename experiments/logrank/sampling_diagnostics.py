"""LogRank's questions about its sampler (section 5.3), answered as data: one dict per row.

How accuracy grows with the sample, what its skew changes, which losses a walk meets, how the sampled objective moves
beside the exact one, and how soon ``w · phi`` outgrows the loss. ``sampler_plots`` draws the rows; ``resampling`` shows
what redrawing the sample does to an optimiser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import make_risk
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate
from argrank.objectives.conditional.likelihoods import ConvexLoss
from argrank.objectives.conditional.sampling import queries_of
from argrank.objectives.conditional.valid_rankings import diverse_states
from argrank.objectives.objective import Objective, Prepared
from argrank.rankers import make_ranker
from argrank.rankers import objective as objective_of
from argrank.solvers import minimise

Rows = list[dict[str, Any]]
SHOWN = 10  # queries, and rankings of each, in the comparison of w · phi with the loss


def accuracy(
    parameter: str,
    values: Sequence[Any],
    train: Dataset,
    test: Dataset,
    measures: Any,
    *,
    seeds: Sequence[int] = (0,),
    convention: Any = "default",
    **parameters: Any,
) -> Rows:
    """Return the measures on test data of ``log-convex``, trained with each value of a parameter and each seed.

    ``accuracy("n_samples", [10, 30, 100, 300], …)`` is Figure 4, ``accuracy("skew", ["best", "mixed", "worst"],
    …)`` Figure 5, ``accuracy("skew", [-10.0, -3.0, 0.0, 3.0, 10.0], …)`` Figure 6.
    """
    rows = []
    for value in values:
        for seed in seeds:
            ranker = make_ranker("log-convex", **{parameter: value, "random_state": seed, "verbose": -1, **parameters})
            scores = ranker.fit(train).predict(test)
            rows.append(
                {parameter: value, "seed": seed, **evaluate(scores, test, measures, convention=convention).means}
            )
    return rows


def smear(
    data: Dataset,
    measure: Any = "ndcg@10",
    *,
    wanted: Sequence[float] = (0.0, 0.5, 1.0),
    n_moves: int = 10,
    seed: int = 0,
) -> Rows:
    """Return the losses that walks of single moves meet, by the loss of the ranking they start from (Figure 7).

    Of every query, walks start at the rankings whose losses are nearest to those ``wanted``.
    """
    loss = objective_of("log-convex", measure=measure).loss
    generator = np.random.default_rng(seed)
    rows: Rows = []
    for number, query in enumerate(queries_of(data, loss, data.y)):
        if query.n_pairs == 0:
            continue
        states = np.concatenate((query.best_and_worst, diverse_states(query, generator)))
        losses = loss(query.levels[states], query.labels)
        for target in wanted:
            start = int(np.argmin(np.abs(losses - target)))
            restart, moves = np.full(n_moves + 1, -1), np.ones(n_moves + 1, np.int64)
            restart[:2], moves[0] = (0, start), 0  # the best ranking comes first: losses are relative to it
            ranked = query.walk(states, restart, moves, generator.random(3 * n_moves)).ranked
            met = loss(ranked, query.labels)[1:]
            rows.append({"query": number, "wanted": target, "start": float(losses[start]), "losses": met})
    return rows


def objective_dynamics(data: Dataset, *, C: float = 1.0, max_iter: int = 50, **parameters: Any) -> Rows:
    """Return, at w = 0 and for every iteration on the sampled ConvexLoss for AUC, that and the exact one (5.3.4).

    AUC is the measure whose exact sum, over all y, is known; the two are sums over different sets.
    """
    closed = objective_of("log-convex", measure="auc", **parameters)
    exact, sampled = make_risk(data, closed), make_risk(data, _Sampled(closed))
    zero = np.zeros(data.n_features)
    rows: Rows = []

    def note(w: Floats, facts: Mapping[str, float]) -> None:
        value = exact.value_and_gradient(w)[0] + float(w @ w) / (2 * C)
        rows.append({"iteration": len(rows), "sampled": facts["objective"], "exact": value})

    note(zero, {"objective": sampled.value_and_gradient(zero)[0]})
    minimise(sampled, "l-bfgs", C=C, tol=1e-6, max_iter=max_iter, callback=note)
    return rows


def scores_against_losses(
    data: Dataset, measure: Any = "ndcg@10", *, C: float = 1.0, n_iter: int = 10, seed: int = 0, **parameters: Any
) -> Rows:
    """Return w · phi of sampled rankings over the first iterations beside their fixed losses (Figure 8).

    For ten random queries and ten rankings of each: ``w_phi`` is w · phi(best) - w · phi(y), one value per iteration,
    the first at w = 0.
    """
    objective = objective_of("log-convex", measure=measure, **parameters)
    if objective.loss.is_of_pairs:
        raise InputError("scores_against_losses: expected a measure that is sampled, got auc")
    risk = make_risk(data, objective)
    path = [np.zeros(data.n_features)]

    def note(w: Floats, _: Mapping[str, float]) -> bool:
        path.append(w.copy())
        return len(path) > n_iter

    minimise(risk, "l-bfgs", C=C, tol=1e-12, max_iter=10 * n_iter, callback=note)
    generator = np.random.default_rng(seed)
    sample = risk.prepared.sample  # type: ignore[attr-defined]  # no closed form, so it has one
    rows: Rows = []
    for query in generator.permutation(data.n_queries)[:SHOWN].tolist():
        coefficients, losses = sample.of(query)
        scores = [data.X[data.indptr[query] : data.indptr[query + 1]] @ w for w in path]
        factor = 2.0 / max(1.0, sample.n_pairs[query]) if objective.scale == "pairs" else 2.0
        for chosen in generator.permutation(len(losses))[:SHOWN].tolist():
            along = np.array([factor * float(coefficients[chosen] @ part) for part in scores])
            rows.append({"query": query, "loss": float(losses[chosen]), "w_phi": along})
    return rows


@dataclass(frozen=True)
class _Sampled(Objective):
    """A conditional model that is summed over a sample even though it has a closed form."""

    name: ClassVar[str] = "sampled"
    mean_over: ClassVar[str] = "pairs"
    smooth: ClassVar[bool] = True

    model: ConvexLoss

    def prepare(self, data: Dataset) -> Prepared:
        return self.model.sampled(data)
