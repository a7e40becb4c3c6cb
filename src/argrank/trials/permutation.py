"""Permutation importance by query: the loss of a measure if a feature's values are shuffled within queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from argrank._declared import Count, Seed, checked
from argrank._tables import Table, table, to_html, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.foreign_models import scores as scores_of
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.intervals import difference_intervals, difference_text
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import Convention
from argrank.measures.names import measure as parse_measure
from argrank.models.importance import label, reordered, shuffled

SHOWN = 20


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """The loss of a measure's mean for each feature, with standard errors over queries.

    ``intervals`` has the ends of the 95 % interval of each loss, computed like those of differences in ``ar.compare``.
    ``by_query`` has one row for each query and one column for each feature: the loss there, mean over the shuffles.
    """

    measure: str
    value: float
    features: tuple[str, ...]
    losses: Floats
    errors: Floats
    by_query: Floats
    intervals: Floats

    @property
    def largest(self) -> list[tuple[str, float, float]]:
        """Features with loss and standard error, the largest loss first."""
        order = np.argsort(-self.losses, kind="stable")
        return [(self.features[i], float(self.losses[i]), float(self.errors[i])) for i in order]

    def _table(self) -> Table:
        rows = [
            (self.features[i], f"{self.losses[i]:+.4f}", difference_text(*self.intervals[i]))
            for i in np.argsort(-self.losses, kind="stable")[:SHOWN]
        ]
        return table(("feature", f"loss of {self.measure}", "95 % interval"), rows)

    def _note(self) -> str:
        more = f"; the first {SHOWN} of {len(self.features)} features" if len(self.features) > SHOWN else ""
        return f"{self.measure} is {self.value:.4f} with unshuffled features{more}."

    def __repr__(self) -> str:
        return to_text([self._table()], [self._note()])

    def _repr_html_(self) -> str:
        return to_html([self._table()], [self._note()])


@checked
def permutation_importance(
    ranker: Any,
    data: Dataset,
    measure: Any = "ndcg@10",
    *,
    n_repeats: Count = 5,
    random_state: Seed = 0,
    convention: str | Convention = "default",
) -> PermutationImportance:
    """Return the loss of a measure when a feature's values are shuffled among the documents of a query.

    It works for any model, on any judged data. A feature that another one can replace loses little: shuffling shows how
    much the model relies on a feature, not how informative the feature is.

    Parameters
    ----------
    ranker : fitted ranker, model, or anything that ``ar.evaluate`` takes for a model
    data : Dataset
        Judged data; use queries that were not used in training.
    measure : str or Measure
        What you report.
    n_repeats : int
        Shuffles of every feature, 1 or more.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(30, 20, 3, random_state=0)
    >>> found = ar.permutation_importance(ar.make_ranker("regression").fit(data), data, "ndcg@10")
    >>> len(found.losses), found.by_query.shape
    (3, (30, 3))
    """
    parse_measure(measure)

    def evaluated(part: Dataset) -> Evaluation:
        return evaluate(scores_of(ranker, part, "ranker"), part, measure, convention=convention)

    found = evaluated(data)
    ((name, own),), ((low, high),) = found.values.items(), found.bounds.values()
    losses = np.zeros((data.n_queries, data.n_features))
    orders = [shuffled(data.indptr, np.random.default_rng((random_state, repeat))) for repeat in range(n_repeats)]
    for column in range(data.n_features):
        for order in orders:
            losses[:, column] += (own - evaluated(reordered(data, column, order)).values[name]) / n_repeats
    defined = ~np.isnan(own)
    n = max(1, int(defined.sum()))
    errors = losses[defined].std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(data.n_features, np.nan)
    names = tuple(label(data, column) for column in range(data.n_features))
    return PermutationImportance(
        name, float(own[defined].mean()) if defined.any() else np.nan, names,
        losses[defined].mean(axis=0) if defined.any() else np.full(data.n_features, np.nan), errors, losses,
        difference_intervals(losses[defined], reach=high - low),
    )  # fmt: skip
