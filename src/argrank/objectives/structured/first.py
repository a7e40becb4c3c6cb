"""Reciprocal rank on the first map: only the topmost good document and the bads above it count. No sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import helper, query_kernel
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives.objective import Kernels, Prepared
from argrank.objectives.structured.hinge import StructuredHinge

SORTED_FROM = 32  # cut-offs from here on find the top bad documents by sorting, smaller ones by insertion


@query_kernel
def first_good(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the worst rank r of the first good document; constants: weight of the map, k (KDD 2008, Fact 3.5).

    The map is the sum over the bads above the topmost good of (x_bad - x_good), so for every r the worst ranking has
    the r highest bads above the *lowest* good. r = 0 … k - 1 loses 1 - 1/(1+r); at k and beyond 1, where all bads that
    score above the good may join. Without a sort (empty order) the k highest bads are found by insertion: O(n).
    """
    weight, k = constants[0], int(constants[1])
    lowest, n_bad = find_lowest_good(scores, gains, gradient)
    if lowest < 0 or n_bad == 0:
        return 0.0
    top = np.empty(min(k, n_bad), np.int64)
    higher, higher_sum = find_top_bads(scores, order, gains, scores[lowest], top)
    best, chosen, total = 0.0, 0, 0.0
    for r in range(1, len(top) + 1):
        total += scores[top[r - 1]] - scores[lowest]
        if r < k:
            value = weight * total + 1.0 - 1.0 / (1.0 + r)
        else:
            value = weight * (higher_sum if higher > k else total) + 1.0
        if value > best:
            best, chosen = value, r
    if chosen == k and higher > k:
        raise_higher_bads(scores, gains, scores[lowest], weight, gradient)
        chosen = higher
    else:
        for spot in range(chosen):
            gradient[top[spot]] = weight
    gradient[lowest] = -weight * chosen
    return best


@helper
def find_lowest_good(scores: Floats, gains: Floats, gradient: Floats) -> Any:
    """Return the good document of the lowest score, -1 where there is none, and the bads; clear the gradient."""
    lowest, n_bad = -1, 0
    for row in range(len(scores)):
        gradient[row] = 0.0
        if gains[row] <= 0.0:
            n_bad += 1
        elif lowest < 0 or scores[row] < scores[lowest]:
            lowest = row
    return lowest, n_bad


@helper
def find_top_bads(scores: Floats, order: Integers, gains: Floats, border: float, top: Integers) -> Any:
    """Fill in the bads of the highest scores; return how many bads score above a border, and by how much in all."""
    filled, higher, higher_sum = 0, 0, 0.0
    least = -np.inf  # of the top bads, once all are filled in
    for place in range(len(scores)):
        row = order[place] if len(order) > 0 else place
        if gains[row] > 0.0:
            continue
        score = scores[row]
        higher += score > border
        higher_sum += max(score - border, 0.0)
        if score <= least:
            continue
        filled = min(filled + 1, len(top))
        spot = filled - 1
        while spot > 0 and scores[top[spot - 1]] < score:
            top[spot] = top[spot - 1]
            spot -= 1
        top[spot] = row
        if filled == len(top):
            least = scores[top[filled - 1]]
    return higher, higher_sum


@helper
def raise_higher_bads(scores: Floats, gains: Floats, border: float, weight: float, gradient: Floats) -> Any:
    """Give every bad above a border the weight; return how many there are, and by how much they exceed it in all."""
    higher, total = 0, 0.0
    for row in range(len(scores)):
        if gains[row] <= 0.0 and scores[row] > border:
            gradient[row] = weight
            higher += 1
            total += scores[row] - border
    return higher, total


@query_kernel
def first_good_reference(scores: Floats, order: Integers, gains: Floats, constants: Floats, gradient: Floats) -> float:
    """Find the greatest w · phi: all bads that score above the lowest good are above it. Constants: weight, k."""
    lowest, _ = find_lowest_good(scores, gains, gradient)
    if lowest < 0:
        return 0.0
    higher, total = raise_higher_bads(scores, gains, scores[lowest], constants[0], gradient)
    gradient[lowest] = -constants[0] * higher
    return float(constants[0] * total)


def _constants(hinge: StructuredHinge, data: Dataset) -> Floats:
    longest = float(data.longest)
    if hinge.scale == "cutoff" and hinge.k is None:
        raise OptionError(f"{hinge.name}: scale='cutoff' divides by k, and there is none")
    weight = 1.0 / hinge.k if hinge.scale == "cutoff" and hinge.k is not None else 1.0
    return np.array([weight, longest if hinge.k is None else min(float(hinge.k), longest)])


def prepare(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare; for deep cut-offs the risk sorts."""
    constants = _constants(hinge, data)
    return Kernels(data.indptr, hinge.relevance(data), constants, first_good, ranks=constants[1] >= SORTED_FROM)


def prepare_reference(hinge: StructuredHinge, data: Dataset) -> Prepared:
    """Prepare what the tight bound subtracts; unlike for the ranking by score, its value along a line is convex."""
    return Kernels(data.indptr, hinge.relevance(data), _constants(hinge, data), first_good_reference, ranks=False)
