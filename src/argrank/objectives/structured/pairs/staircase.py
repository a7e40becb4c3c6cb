"""Any loss that is a sum over good documents of f(index among the goods, rank): the full table of P x (N + 1) cells."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.checks import as_array
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge, Terms


@query_kernel
def staircase(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the most violated ranking in O(P N) (KDD 2008, Figure 2, with the column b = N that it leaves out).

    Inside a level the worst ranking is sorted by score, so it is given by the number b_g of bads above each good g,
    which never falls with g: the best value of the goods up to g at or before column b is a running maximum.

    Constants: scaled; the number of weights of the bads and these weights (none: all 1); the number m of sizes P; m
    offsets and m widths of the tables of loss terms, one table for each P; the tables, row g, column b. The gains of
    the two levels differ by the factor that the terms are multiplied with.
    """
    low, high, mean = look_at_levels(scores, gains, gradient)
    n_good = np.int64(0)
    for row in range(len(scores)):
        n_good += gains[row] > low
    n_bad = len(scores) - n_good
    if n_good == 0 or high <= 0.0:
        return 0.0
    n_weights = int(constants[1])
    n_sizes = int(constants[2 + n_weights])
    offset = int(constants[3 + n_weights + n_good])
    width = int(constants[3 + n_weights + n_sizes + n_good])
    good = np.empty(n_good)
    weight_sum, bad_sum = np.empty(n_bad + 1), np.empty(n_bad + 1)
    add_up_bads(scores, order, gains, low, mean, constants[2 : 2 + n_weights], good, weight_sum, bad_sum)
    weight = 2.0 / (n_good * weight_sum[n_bad]) if constants[0] == 1.0 else 2.0
    best = np.zeros(n_bad + 1)
    where = np.empty((n_good, n_bad + 1), np.int32)
    fill_table(constants[offset:], width, high - low, weight, good, weight_sum, bad_sum, best, where)
    above = np.empty(n_good, np.int64)
    b = n_bad
    for g in range(n_good - 1, -1, -1):
        b = where[g, b]
        above[g] = b
    fill_gradient(order, gains, low, weight, weight_sum, above, gradient)
    return float(best[n_bad])


@helper
def look_at_levels(scores: Floats, gains: Floats, gradient: Floats) -> Any:
    """Return the lowest and highest gain and the mean score; clear the gradient."""
    n = len(scores)
    low, high, mean = gains[0], gains[0], 0.0
    for row in range(n):
        gradient[row] = 0.0
        mean += scores[row] / n
        low, high = min(low, gains[row]), max(high, gains[row])
    return low, high, mean


@helper
def add_up_bads(
    scores: Floats,
    order: Integers,
    gains: Floats,
    low: float,
    mean: float,
    weights: Floats,
    good: Floats,
    weight_sum: Floats,
    bad_sum: Floats,
) -> None:
    """Fill the scores of the goods, and the sums of weights and weighted scores of the first b bads; mean score 0."""
    weight_sum[0] = bad_sum[0] = 0.0
    g = b = 0
    for row in order:
        score = scores[row] - mean
        if gains[row] > low:
            good[g] = score
            g += 1
        else:
            share = 1.0
            if len(weights) > 0:
                share = weights[b] if b < len(weights) else 0.0
            weight_sum[b + 1] = weight_sum[b] + share
            bad_sum[b + 1] = bad_sum[b] + share * score
            b += 1


@helper
def fill_table(
    terms: Floats,
    width: int,
    factor: float,
    weight: float,
    good: Floats,
    weight_sum: Floats,
    bad_sum: Floats,
    best: Floats,
    where: NDArray[np.int32],
) -> None:
    """Fill the best value of all goods with at most b bads above them, and which b the last of each has there."""
    for g in range(len(good)):
        champion, chosen = -np.inf, 0
        for b in range(len(best)):
            cell = factor * terms[g * width + b] + weight * (bad_sum[b] - weight_sum[b] * good[g])
            if best[b] + cell > champion:
                champion, chosen = best[b] + cell, b
            best[b] = champion
            where[g, b] = chosen


@helper
def fill_gradient(
    order: Integers, gains: Floats, low: float, weight: float, weight_sum: Floats, above: Integers, gradient: Floats
) -> None:
    """Fill the gradient, given how many bads the worst ranking has above each good."""
    g = b = below = 0
    for row in order:
        if gains[row] > low:
            gradient[row] = -weight * weight_sum[above[g]]
            g += 1
        else:
            while below < len(above) and above[below] <= b:
                below += 1
            gradient[row] = weight * (weight_sum[b + 1] - weight_sum[b]) * (len(above) - below)
            b += 1


def loss_terms(hinge: StructuredHinge, index: Integers, rank: Integers, n_goods: int) -> Floats:
    """Return the loss terms of goods at ranks; their sum is the ideal ranking's value minus the ranking's."""
    structure = hinge.structure
    if structure is None:  # given terms
        given = cast(Terms, hinge.measure)
        found = given(index.astype(np.float64), rank.astype(np.float64), n_goods)
        terms: Floats = as_array(found, f"{hinge.name}: loss terms", np.float64)
        if terms.shape != rank.shape or not np.isfinite(terms).all():
            raise InputError(
                f"{hinge.name}: expected loss terms f(index, rank, n_goods) that are finite and of shape "
                f"{rank.shape}, got shape {terms.shape}"
            )
        return terms
    lost = structure.good_terms(index, index) - structure.good_terms(index, rank)
    if structure.kind == "additive":  # the gains carry the normalisation
        return lost
    return np.asarray(lost / structure.good_terms(index[:, 0], index[:, 0]).sum())


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare the full table for two levels of documents."""
    return tabulate(hinge, data.indptr, two_levels(hinge, data))


def two_levels(hinge: StructuredHinge, data: Dataset) -> Floats:
    """Return gains whose two values differ by the factor of the loss terms."""
    if hinge.kind != "additive":
        return hinge.relevance(data)
    levels = hinge.levels(data)
    if levels.max() > 1:
        raise InputError(
            f"{hinge.name}: expected two levels of gain per query on the map {hinge.feature_map!r}, got "
            f"{levels.max() + 1:.0f}; set gain='binary'"
        )
    return hinge.gains(data)


def tabulate(hinge: StructuredHinge, indptr: Integers, gains: Floats, weights: Floats | None = None) -> Prepared:
    """Tabulate the loss terms for every number of goods; ``weights`` are those of the bads by their rank among bads."""
    sizes = np.diff(indptr)
    lowest = np.minimum.reduceat(gains, indptr[:-1])
    n_goods = np.add.reduceat((gains > np.repeat(lowest, sizes)).astype(np.int64), indptr[:-1])
    n_bads = sizes - n_goods
    n_sizes = int(n_goods.max()) + 1
    offsets, widths = np.zeros(n_sizes), np.zeros(n_sizes)
    tables = []
    weights = np.empty(0) if weights is None else weights
    start = 3 + len(weights) + 2 * n_sizes
    for size in np.unique(n_goods[n_goods > 0]).tolist():
        width = int(n_bads[n_goods == size].max()) + 1
        index = np.repeat(np.arange(size)[:, None], width, axis=1)
        table = loss_terms(hinge, index, index + np.arange(width), size)
        offsets[size], widths[size] = start, width
        start += table.size
        tables.append(table.ravel())
    head = ([hinge.mean_of_pairs, float(len(weights))], weights, [float(n_sizes)], offsets, widths)
    return Kernels(indptr, gains, np.concatenate((*head, *tables)), staircase)
