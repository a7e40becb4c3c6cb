"""What every measure promises, as checks that take any measure; none knows a measure by name.

``SMALL`` holds lists short enough that all orders of tied documents can be gone through one by one. A label of NaN is a
document without a judgement, in some lists; every list has a judged one.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

import argrank as ar
from argrank.data.grouping import offsets
from argrank.data.unjudged import JUDGED, OUTSIDE
from argrank.evaluation.evaluate import evaluate_lists
from argrank.evaluation.ranking_blocks import Judgements
from argrank.evaluation.systems import Lists
from argrank.measures.conventions import make_convention
from argrank.measures.measure import Measure


def small_lists() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (labels, scores) of lists of 1 to 6 documents, many with ties, some without a relevant document."""
    random = np.random.default_rng(3)
    lists = [
        (
            (random.integers(0, 4, n) * (random.random() < 0.85)).astype(float),
            random.integers(0, levels, n).astype(float),
        )
        for n in range(1, 7)
        for levels in (1, 2, 3, 9)
        for _ in range(6)
    ]
    for labels, _ in lists[::3]:
        labels[:-1][random.random(len(labels) - 1) < 0.4] = np.nan
    return lists


def by_label(labels: np.ndarray) -> np.ndarray:
    """Return labels that put documents without a judgement below all others."""
    return np.where(np.isnan(labels), -1.0, labels)


SMALL = small_lists()


def variants(measure: Measure) -> list[Measure]:
    """Return a measure without and with cut-offs."""
    if not any(part.name == "k" for part in dataclasses.fields(measure)):
        return [measure]
    return [dataclasses.replace(measure, k=k) for k in (None, 1, 2, 3, 4)]


def values(measure: Measure, lists: list[tuple[np.ndarray, np.ndarray]], **how: object) -> np.ndarray:
    """Return the measure of every list."""
    labels, scores = (np.concatenate(column) for column in zip(*lists, strict=True))
    unknown, sizes = np.isnan(labels), np.array([len(one) for one, _ in lists])
    data = ar.Dataset(np.zeros((len(labels), 1)), np.where(unknown, 0.0, labels), group=sizes)
    query = np.repeat(np.arange(len(sizes)), sizes)
    n_judged = np.bincount(query[~unknown], minlength=len(sizes))
    judged = Judgements(labels[~unknown], offsets(n_judged), np.where(unknown, OUTSIDE, JUDGED).astype(np.int8))
    system = Lists(data, scores, judged if unknown.any() else None)
    (found,) = evaluate_lists(system, [("it", measure)], make_convention(**how)).values.values()
    return found


def in_order(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a list whose scores rank the labels as they stand."""
    return labels, -np.arange(len(labels), dtype=float)


def orders(scores: np.ndarray) -> list[list[int]]:
    """Return every order (positions, best first) that sorts the scores."""
    groups = [np.flatnonzero(scores == level).tolist() for level in sorted(set(scores.tolist()), reverse=True)]
    return [list(itertools.chain(*choice)) for choice in itertools.product(*map(itertools.permutations, groups))]


def check_ties(measure: Measure) -> None:
    """The value over tied scores is the mean over all orders of the tied documents."""
    if not measure.averages_ties:
        return
    ordered = [in_order(labels[order]) for labels, scores in SMALL for order in orders(scores)]
    ends = np.cumsum([len(orders(scores)) for _, scores in SMALL])
    for one in variants(measure):
        each = np.split(values(one, ordered), ends[:-1])
        means = np.array([part.mean() for part in each])
        np.testing.assert_allclose(values(one, SMALL), means, rtol=0, atol=1e-12, err_msg=str(one))


def check_row_order(measure: Measure) -> None:
    """Rows may come in any order, with ties and with cut-offs."""
    random = np.random.default_rng(1)
    for one in variants(measure):
        mixed = [(labels[mix], scores[mix]) for labels, scores in SMALL for mix in [random.permutation(len(labels))]]
        np.testing.assert_allclose(values(one, mixed), values(one, SMALL), rtol=0, atol=1e-13, err_msg=str(one))


def check_cutoff(measure: Measure) -> None:
    """Below rank k the order does not count, and rank k itself does: a better document there is never worse."""
    random = np.random.default_rng(2)
    lists = [
        random.integers(0, 4, n) * (random.random(n) < share).astype(float)
        for n in (3, 4, 5, 6, 7)
        for share in (0.3, 1.0)
        for _ in range(20)
    ]
    for labels in lists[::4]:
        labels[:-1][random.random(len(labels) - 1) < 0.4] = np.nan
    for one in variants(measure):
        k = getattr(one, "k", None)
        if k is None:
            continue
        whole = values(one, [in_order(labels) for labels in lists])
        below = [np.concatenate([labels[:k], random.permutation(labels[k:])]) for labels in lists]
        moved = values(one, [in_order(labels) for labels in below])
        np.testing.assert_allclose(moved, whole, rtol=0, atol=1e-13, err_msg=f"{one}: the order below rank {k}")
        longer = [labels for labels in lists if len(labels) > k]
        swap = [np.concatenate([one[: k - 1], one[[k, k - 1]], one[k + 1 :]]) for one in longer]
        ranks = [(by_label(early)[k - 1], by_label(late)[k - 1]) for early, late in zip(longer, swap, strict=True)]
        before, after = (values(one, [in_order(labels) for labels in part]) for part in (longer, swap))
        better = np.array([late > early for early, late in ranks])
        defined = ~np.isnan(before) & ~np.isnan(after)
        assert (after[better & defined] >= before[better & defined] - 1e-13).all(), f"{one}: a better document at {k}"
        assert (after[better & defined] > before[better & defined] + 1e-13).any(), f"{one}: rank {k} does not count"


def check_best(measure: Measure) -> None:
    """No order beats that by label."""
    lists = [labels for labels, _ in SMALL if len(labels) <= 5]
    ordered = [[in_order(np.array(order)) for order in itertools.permutations(labels)] for labels in lists]
    ends = np.cumsum([len(part) for part in ordered])
    for one in variants(measure):
        best = values(one, [in_order(labels[np.argsort(-by_label(labels))]) for labels in lists])
        each = np.split(values(one, list(itertools.chain(*ordered))), ends[:-1])
        for labels, most, found in zip(lists, best, each, strict=True):
            assert np.isnan(most) or (found <= most + 1e-12).all(), f"{one}: {labels}"


CHECKS = (check_ties, check_row_order, check_cutoff, check_best)
