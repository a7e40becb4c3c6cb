"""Grow one symmetric tree level by level, with the question that gains most over all leaves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._threads import count_jobs, map_threads
from argrank._types import Floats, Integers
from argrank.rankers.boosted.symmetric._level import add_answers, best_questions, split_rows, sum_bins
from argrank.rankers.boosted.symmetric.bins import WIDTH, Bins, Bytes

BITS = 62  # of an int64 that holds the sums of gradients and curvatures
CURVATURE_BITS = 30  # of them, where curvatures differ
TINY = 1e-12  # least l2, in units of the mean curvature: a leaf without rows divides by it
SMALL_CELLS = 1 << 21  # number of values for which one thread is as fast as several
LEAST_GAIN = 1e-10  # share of the score that a level must gain; less is rounding


class Question(NamedTuple):
    """The split of a level: column and bin, the answer of rows without a value, and the gain."""

    column: int  # of those that have bins
    beyond: int
    missing: bool
    gain: float


class Packed(NamedTuple):
    """Gradients and curvatures as integers, packed into one, and their units."""

    values: Integers
    shift: int
    units: Floats

    @classmethod
    def of(cls, gradient: Floats, curvature: Floats) -> Packed:
        """Round to units (powers of two) for which no sum overflows; equal curvatures count rows."""
        greatest = float(curvature.max())
        if float(curvature.min()) == greatest:
            unit, whole = greatest, np.ones(len(curvature), np.int64)
        else:
            unit = _power(float(curvature.sum()), CURVATURE_BITS)
            whole = np.rint(curvature / unit).astype(np.int64)
            np.maximum(whole, (curvature > 0) | (gradient != 0), out=whole)
        shift = int(whole.sum()).bit_length()
        step = _power(float(np.abs(gradient).sum()), BITS - shift)
        return cls((np.rint(gradient / step).astype(np.int64) << shift) + whole, shift, np.array([step, unit]))

    def sums(self, borders: Integers) -> tuple[Floats, Floats]:
        """Return the sums of gradients and of curvatures of the rows between borders."""
        totals = np.concatenate(([0], np.cumsum(self.values)))[borders]
        found = np.diff(totals)
        return (found >> self.shift) * self.units[0], (found & ((1 << self.shift) - 1)) * self.units[1]


def _power(total: float, bits: int) -> float:
    """Return the power of two of which a total is at most 2 ** bits."""
    return float(2.0 ** (int(np.frexp(total)[1]) - bits)) if total > 0 else 1.0


class Grown(NamedTuple):
    """A tree: its questions, the values of its leaves, and the leaf of every training row."""

    questions: list[Question]
    values: Floats
    leaf: NDArray[np.uint16]


class Part(NamedTuple):
    """The columns that a tree may ask of one block, and what is summed and found of them."""

    block: Bytes
    chosen: NDArray[np.uint8]  # columns of the block
    columns: Integers  # the same, of all that have bins
    sums: Integers  # by column and bin, of one leaf
    totals: Integers  # by column, leaf and bin
    scores: Floats  # by answer of missing values, and bin
    found: Floats  # by column: score, bin, answer of missing values


class Grower:
    """Grows symmetric trees on binned rows. Bit-identical for any number of threads, because sums are of integers."""

    def __init__(self, bins: Bins, blocks: list[Bytes], depth: int, signs: Floats, n_jobs: int | None) -> None:
        self._blocks, self._depth, self._signs, self._n_bins = blocks, depth, signs[bins.columns], bins.n_bins
        self._has_missing = np.concatenate([*(block.min(axis=0) == 0 for block in blocks), np.empty(0, bool)])
        self._n_jobs = count_jobs(n_jobs)

    def grow(
        self, gradient: Floats, curvature: Floats, l2: float, rows: NDArray[np.int32], columns: Integers
    ) -> Grown | None:
        """Grow a tree on some rows, asking some of the columns; None if no question gains anything."""
        own = gradient[rows], curvature[rows]
        if not len(rows) or not own[1].max() > 0 or not np.isfinite(own[0]).all():
            return None
        packed, by_leaf = Packed.of(*own), rows.copy()
        values, spare = packed.values, (np.empty_like(rows), np.empty_like(packed.values))
        l2 = max(l2, TINY * float(own[1].mean()))
        borders, bounds = np.array([0, len(rows)]), np.array([[-np.inf, np.inf]])
        parts, questions, leaf = self._parts(columns), list[Question](), leaves(self._blocks, [])
        (all_g,), (all_h,) = packed.sums(borders)
        score = all_g * all_g / (all_h + l2)
        for _ in range(self._depth):
            question = self._best(parts, by_leaf, packed, borders, bounds, l2)
            if question.gain - score <= LEAST_GAIN * abs(score):
                break
            after = np.empty(2 * len(borders) - 1, np.int64)
            answer(self._blocks, question, leaf)
            split_rows(leaf, borders, by_leaf, values, *spare, after)
            sign = self._signs[question.column]
            bounds = np.repeat(bounds, 2, axis=0) if sign == 0 else narrowed(bounds, sign, *packed.sums(after), l2)
            questions.append(question._replace(gain=question.gain - score))
            borders, score = after, question.gain
        if not questions:
            return None
        own_leaf = leaf[rows]
        sums = [np.bincount(own_leaf, one, len(borders) - 1) for one in own]
        found = np.where(np.diff(borders) > 0, -sums[0] / (sums[1] + l2), 0.0)
        return Grown(questions, np.clip(found, bounds[:, 0], bounds[:, 1]), leaf)  # bounds hold without rows, too

    def _parts(self, columns: Integers) -> list[Part]:
        width, n_leaves, parts = 1 + int(self._n_bins.max()), 1 << (self._depth - 1), []
        for number, block in enumerate(self._blocks):
            own = columns[columns // WIDTH == number]
            if len(own):
                sums, totals = np.empty((len(own), width), np.int64), np.empty((len(own), n_leaves, width), np.int64)
                chosen = (own % WIDTH).astype(np.uint8)
                parts.append(Part(block, chosen, own, sums, totals, np.empty((2, width)), np.empty((len(own), 3))))
        return parts

    def _best(
        self, parts: list[Part], rows: NDArray[np.int32], packed: Packed, borders: Integers, bounds: Floats, l2: float
    ) -> Question:
        """Return the question of the greatest score, which is stored as its gain; of equal ones the first column."""

        def look(part: Part) -> None:
            sum_bins(part.block, part.chosen, rows, packed.values, borders, part.sums, part.totals)
            kinds = (one[part.columns] for one in (self._n_bins, self._has_missing, self._signs))
            best_questions(
                part.totals, len(borders) - 1, *kinds, bounds, packed.shift, packed.units, l2, part.scores, part.found
            )

        map_threads(look, parts, 1 if len(rows) * len(self._n_bins) < SMALL_CELLS else self._n_jobs)
        found = np.concatenate([part.found for part in parts])
        best = int(np.argmax(found[:, 0]))
        column = int(np.concatenate([part.columns for part in parts])[best])
        return Question(column, int(found[best, 1]), bool(found[best, 2]), float(found[best, 0]))


def narrowed(bounds: Floats, sign: float, gradient: Floats, curvature: Floats, l2: float) -> Floats:
    """Return the bounds of the leaves after a level that asks a column with a sign, given the sums of the leaves.

    The values of two siblings, and of all leaves below them, lie on either side of the mean of their best values, or
    of their common best value where these go against the sign.
    """
    low, high = bounds[:, :1], bounds[:, 1:]
    pairs = gradient.reshape(-1, 2), curvature.reshape(-1, 2)
    own = np.clip(-pairs[0] / (pairs[1] + l2), low, high)
    both = np.clip(-pairs[0].sum(axis=1, keepdims=True) / (pairs[1].sum(axis=1, keepdims=True) + l2), low, high)
    middle = np.where(sign * (own[:, 1] - own[:, 0]) < 0, both[:, 0], own.mean(axis=1))
    after = np.repeat(bounds, 2, axis=0)
    lower, upper = (0, 1) if sign > 0 else (1, 0)
    after[lower::2, 1] = middle
    after[upper::2, 0] = middle
    return after


def leaves(blocks: list[Bytes], questions: list[Question]) -> NDArray[np.uint16]:
    """Return the leaf of every row: its answers are the bits of the number."""
    leaf = np.zeros(len(blocks[0]), np.uint16)
    for question in questions:
        answer(blocks, question, leaf)
    return leaf


def answer(blocks: list[Bytes], question: Question, leaf: NDArray[np.uint16]) -> None:
    """Append the answer of every row to its leaf."""
    block, column = blocks[question.column // WIDTH], question.column % WIDTH
    add_answers(block, column, question.beyond, question.missing, leaf)
