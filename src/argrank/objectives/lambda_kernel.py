"""The kernel of LambdaRank's gradients, see ``argrank.objectives.lambdas``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers

#: The kernel's number for every kind of measure whose change by a swap it knows.
KINDS = {"additive": 0, "precision": 1, "first": 2, "cascade": 3}
SMALLEST = 1e-200  # power of a score from which quotients are exact to rounding


class Ranked(NamedTuple):
    """The documents of a query by rank."""

    score: Any
    gain: Any
    weight: Any  # of the row, 1 unless given
    power: Any  # exp of the sigmoid times the score, from the first document on
    push: Any  # the gradient
    curve: Any  # the curvature
    best_first: Any  # the ranks themselves, by falling gain
    top_first: Any  # the same, of the ranks above the truncation alone


class Groups(NamedTuple):
    """For every rank, what its group of equal scores has in common; for products."""

    last: Any  # end of the group
    above: Any  # share of its ranks above the truncation
    mean: Any  # mean discount of all its ranks
    mean_above: Any  # sum of the discounts above the truncation, over all its ranks
    inside: Any  # mean difference of two discounts


class Sums(NamedTuple):
    """Sums over the ranks above every rank; for other measures."""

    hits: Any  # relevant documents
    reached: Any  # the chance to get there
    terms: Any  # of the measure


@helper
def group_equal_scores(s: Floats, discounts: Floats, truncation: int, groups: Groups) -> None:
    """Fill in for every rank what its group of equal scores has in common."""
    last, above, mean, mean_above, inside = groups
    n = len(s)
    first = 0
    while first < n:
        end = first + 1
        while end < n and s[end] == s[first]:
            end += 1
        m, total, counted, kept, spread = end - first, 0.0, 0.0, 0.0, 0.0
        for rank in range(end - 1, first - 1, -1):
            if rank < truncation:
                counted += 1.0
                kept += discounts[rank]
                spread += discounts[rank] * (end - 1 - rank) - total
            total += discounts[rank]
        for rank in range(first, end):
            last[rank], above[rank], mean[rank], mean_above[rank] = end, counted / m, total / m, kept / m
            inside[rank] = 2.0 * spread / (m * (m - 1.0)) if m > 1 else 0.0
        first = end


@helper
def add_down_the_ranking(y: Floats, discounts: Floats, kind: int, sums: Sums) -> Any:
    """Fill the sums over the ranks above; return the ranks of the first two relevant documents."""
    hits, reached, terms = sums
    hits[0], reached[0], terms[0] = 0.0, 1.0, 0.0
    n = len(y)
    leader, second = n, n
    for rank in range(n):
        hits[rank + 1] = hits[rank] + (1.0 if y[rank] > 0.0 else 0.0)
        if kind == 1:
            terms[rank + 1] = terms[rank] + (discounts[rank] if y[rank] > 0.0 else 0.0)
        elif kind == 3:
            reached[rank + 1] = reached[rank] * (1.0 - y[rank])
            terms[rank + 1] = terms[rank] + discounts[rank] * y[rank] * reached[rank]
        if y[rank] > 0.0 and second == n:
            leader, second = (rank, n) if leader == n else (leader, rank)
    return leader, second


@helper
def change_of_swap(
    y: Floats, discounts: Floats, kind: int, sums: Sums, leader: int, second: int, i: int, j: int
) -> float:
    """Return the change of average precision (kind 1), reciprocal rank (2) or ERR (3) when ranks i < j are swapped."""
    hits, reached, terms = sums
    delta = 0.0
    if kind == 1:
        between = terms[j] - terms[i + 1]
        if y[i] > 0.0:
            delta = discounts[i] * hits[i + 1] + between - discounts[j] * hits[j + 1]
        else:
            delta = discounts[i] * (hits[i + 1] + 1.0) + between - discounts[j] * hits[j + 1]
    elif kind == 2:
        if y[i] > 0.0 and i == leader:
            delta = discounts[i] - discounts[min(j, second)]
        elif y[i] == 0.0 and i < leader:
            delta = discounts[i] - (discounts[leader] if leader < len(y) else 0.0)
    else:
        keep = (1.0 - y[j]) / (1.0 - y[i])
        past = reached[j] / (1.0 - y[i])
        delta = discounts[i] * reached[i] * (y[j] - y[i]) + (terms[j] - terms[i + 1]) * (keep - 1.0)
        delta += discounts[j] * past * ((1.0 - y[j]) * y[i] - (1.0 - y[i]) * y[j])
    return delta


@kernel()
def lambda_gradients(
    scores: Floats,
    order: Integers,
    by_gain: Integers,
    gains: Floats,
    weights: Floats,
    scale: Floats,
    indptr: Integers,
    discounts: Floats,
    kind: int,
    truncation: int,
    sigmoid: float,
    normalised: int,
    gradient: Filled[np.float64],
    hessian: Filled[np.float64],
    losses: Filled[np.float64],
) -> None:
    """Fill gradient and curvature by the scores of the queries of a block, whose rows alone the arrays hold.

    ``order`` and ``by_gain`` have the rows of every query by falling score and by falling gain.
    A pair counts the product of the ``weights`` of its documents, which are 1 where there are none.
    ``losses``, where it is not empty, is filled with the sums over the pairs of delta * log(1 + exp(-s * difference)),
    of which the gradients are those as long as the ranking stays.
    """
    start, widest = indptr[0], 0
    for query in range(len(indptr) - 1):
        widest = max(widest, indptr[query + 1] - indptr[query])
    valued, weighted = len(losses) > 0, len(weights) > 0
    room = np.empty((13, widest + 1))  # one allocation for all queries: each costs as much as many pairs
    places = np.empty((4, widest), np.int64)
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - start, indptr[query + 1] - start
        n = b - a
        gradient[a:b] = 0.0
        hessian[a:b] = 0.0
        if valued:
            losses[query] = 0.0
        if scale[query] == 0.0:
            continue
        ranked = Ranked(
            room[0, :n], room[1, :n], room[12, :n], room[2, :n], room[3, :n], room[4, :n], places[1, :n], places[3, :n]
        )
        groups = Groups(places[0, :n], room[5, :n], room[6, :n], room[7, :n], room[8, :n])
        sums = Sums(room[9, : n + 1], room[10, : n + 1], room[11, : n + 1])
        rank_documents(scores[a:b], gains[a:b], order[a:b], by_gain[a:b], sigmoid, ranked, places[2, :n])
        if weighted:
            for rank in range(n):
                ranked.weight[rank] = weights[a + order[a + rank]]
        total, loss = push_pairs(
            ranked, groups, sums, discounts, kind, truncation, scale[query], sigmoid, normalised, valued, weighted
        )
        if valued:
            losses[query] = loss
        factor = 1.0
        if normalised != 0 and total > 0.0:
            factor = np.log2(1.0 + total) / total
        for rank in range(n):
            gradient[a + order[a + rank]] = factor * ranked.push[rank]
            hessian[a + order[a + rank]] = factor * ranked.curve[rank]


@helper
def rank_documents(
    scores: Floats, gains: Floats, order: Integers, by_gain: Integers, sigmoid: float, ranked: Ranked, rank_of: Integers
) -> None:
    """Fill in scores and gains by rank, and the ranks by gain; nothing pushes yet."""
    for rank in range(len(scores)):
        ranked.score[rank], ranked.gain[rank] = scores[order[rank]], gains[order[rank]]
        ranked.power[rank] = np.exp(sigmoid * (ranked.score[rank] - ranked.score[0]))
        ranked.push[rank] = ranked.curve[rank] = 0.0
        rank_of[order[rank]] = rank
    for place in range(len(scores)):
        ranked.best_first[place] = rank_of[by_gain[place]]


@helper
def push_pairs(
    ranked: Ranked, groups: Groups, sums: Sums, discounts: Floats, kind: int, truncation: int, scale: float,
    sigmoid: float, normalised: int, valued: bool, weighted: bool,
) -> Any:  # fmt: skip
    """Add the gradients of all pairs; return the sum of their absolute values, and the loss if requested."""
    s, y = ranked.score, ranked.gain
    last, above, mean, mean_above, inside = groups
    n, top = len(s), min(truncation, len(s))
    soften = normalised != 0 and s[0] != s[n - 1]
    leader, second = n, n
    if kind == 0:
        group_equal_scores(s, discounts, truncation, groups)
        top = last[top - 1] if top > 0 else 0
    else:
        leader, second = add_down_the_ranking(y, discounts, kind, sums)
    power, pushes, curves, ranks, tops = ranked.power, ranked.push, ranked.curve, ranked.best_first, ranked.top_first
    n_tops = 0
    for place in range(n):
        if ranks[place] < top:
            tops[n_tops] = ranks[place]
            n_tops += 1
    total, loss, worse, worse_top = 0.0, 0.0, 0, 0
    for place in range(n):
        good = ranks[place]
        while worse < n and y[ranks[worse]] == y[good]:
            worse += 1
        while worse_top < n_tops and y[tops[worse_top]] >= y[good]:
            worse_top += 1
        others, first, end = (ranks, worse, n) if good < top else (tops, worse_top, n_tops)
        own_push, own_curve = pushes[good], curves[good]
        for other in range(first, end):
            bad = others[other]
            i, j = min(good, bad), max(good, bad)
            if kind == 0:
                delta = inside[i] if last[i] == last[j] else mean_above[i] - above[i] * mean[j]
                delta *= y[good] - y[bad]
            else:
                delta = change_of_swap(y, discounts, kind, sums, leader, second, i, j)
            delta = abs(delta) * scale
            if weighted:
                delta *= ranked.weight[good] * ranked.weight[bad]
            if delta == 0.0:
                continue
            ahead, both = s[good] - s[bad], power[good] + power[bad]
            if soften:
                delta /= 0.01 + abs(ahead)
            if valued:
                loss += delta * (max(-sigmoid * ahead, 0.0) + np.log1p(np.exp(-abs(sigmoid * ahead))))
            # too far below the first document the quotient of powers is not exact
            rho = power[bad] / both if both > SMALLEST else 1.0 / (1.0 + np.exp(sigmoid * ahead))
            push, curve = sigmoid * rho * delta, sigmoid * sigmoid * rho * (1.0 - rho) * delta
            own_push -= push
            own_curve += curve
            pushes[bad] += push
            curves[bad] += curve
            total += 2.0 * push
        pushes[good], curves[good] = own_push, own_curve
    return total, loss
