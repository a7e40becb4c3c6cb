"""Rankings that do not repeat a source, and their evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._declared import Count, checked
from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.document_sources import check_diverse, diverse_rankings
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import make_convention
from argrank.measures.names import measure_list


@checked
def diversify(scores: Any, data: Dataset, k: Count | None = 10, at_most: Count | bool = 1) -> Floats:
    """Return scores, in the caller's row order, that rank at most ``at_most`` documents of a source among the first k.

    The first k are chosen by score; the others follow, by score. With fewer sources, k is smaller.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[0.0]] * 4, [0, 0, 0, 0], group=[4], sources=["a", "a", "b", "a"])
    >>> ar.diversify([4.0, 3.0, 2.0, 1.0], data, k=2).tolist()
    [4.0, 2.0, 3.0, 1.0]
    """
    at_most = check_diverse(at_most, k)
    stored = data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score"))
    result = np.empty(data.n_documents)
    for ranking in diverse_rankings(stored, data, k, at_most):
        result[ranking] = np.arange(len(ranking), 0.0, -1.0)
    return data.to_caller(result)


@checked
def evaluate_diverse(
    scores: Any, data: Dataset, measures: Any, k: Count | None = 10, at_most: Count | bool = 1, **options: Any
) -> Evaluation:
    """Evaluate rankings that do not repeat a source, as shares of the best such ranking.

    The measure of ``diversify(scores, …)`` is divided by that of the labels, diversified in the same way, so that 1 is
    the best possible under the constraint. Queries whose best ranking has value 0 are undefined. ``options`` are those
    of ``evaluate``.
    """
    if not data.is_judged:
        raise InputError("data: expected labels, got data without judgements")
    shown = evaluate(diversify(scores, data, k, at_most), data, measures, **options)
    best = evaluate(diversify(data.to_caller(data.y), data, k, at_most), data, measures, **options)
    shares = []
    for name in shown.values:
        share = np.full(data.n_queries, np.nan)
        np.divide(shown.values[name], best.values[name], out=share, where=best.values[name] > 0)
        shares.append(share)
    switches = {key: value for key, value in options.items() if key not in ("judgements", "explain", "n_jobs")}
    rules = make_convention(switches.pop("convention", "default"), **switches)
    return Evaluation.of(measure_list(measures), shares, np.zeros(data.n_queries, bool), data, rules)
