"""Kernels of a level of symmetric trees: sums by leaf and bin, the question that gains most, and rows by its answer.

A row's gradient and curvature are whole numbers in one int64, ``gradient << shift | curvature``: one addition sums
both, sums are exact in any order, and a leaf's sibling is its parent minus the leaf. Bin 0 holds missing values; bins
from 1 up hold values in ascending order. A question is a bin, and the answer whether a row's bin is beyond it; rows
without a value have a separate answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, kernel
from argrank._types import Filled, FilledCube, FilledMatrix, Floats, Integers, Matrix

AHEAD = 64  # rows that the memory fetches side by side


@kernel()
def sum_bins(
    block: Matrix[np.uint8],
    chosen: NDArray[np.uint8],
    rows: NDArray[np.int32],
    packed: Integers,
    borders: Integers,
    part: FilledMatrix[np.int64],
    totals: FilledCube[np.int64],
) -> int:
    """Fill ``totals[column, leaf, bin]``, the sums of chosen columns of a block.

    Rows lie leaf by leaf, between ``borders``. At the root they are summed; below it ``totals`` holds the sums of the
    level above, and of two siblings only the smaller one is summed. The result is that of ``add_rows``.
    """
    n_leaves = len(borders) - 1
    if n_leaves == 1:
        seen = add_rows(block, chosen, rows, packed, borders[0], borders[1], part)
        for column in range(len(chosen)):
            for number in range(part.shape[1]):
                totals[column, 0, number] = part[column, number]
        return seen
    seen = 0
    for parent in range(n_leaves // 2 - 1, -1, -1):  # from the last one: a parent's slot is reused for a child
        begin, middle, end = borders[2 * parent], borders[2 * parent + 1], borders[2 * parent + 2]
        right = end - middle < middle - begin
        smaller, larger = 2 * parent + right, 2 * parent + 1 - right
        seen += add_rows(block, chosen, rows, packed, middle if right else begin, end if right else middle, part)
        for column in range(len(chosen)):
            for number in range(part.shape[1]):
                own = part[column, number]
                rest = totals[column, parent, number] - own
                totals[column, smaller, number] = own
                totals[column, larger, number] = rest
    return seen


@helper
def add_rows(block: Any, chosen: Any, rows: Any, packed: Any, begin: int, end: int, part: Any) -> int:
    """Sum the rows from ``begin`` to ``end`` by bin.

    A leaf's rows lie far apart, and waiting for each took most of the time: a byte of each of the next rows is read
    first. The sum of these bytes is returned only so that the compiler does not leave the reading out.
    """
    for column in range(len(chosen)):
        for number in range(part.shape[1]):
            part[column, number] = 0
    seen = np.int64(0)
    for first in range(begin, end, AHEAD):
        last = min(first + AHEAD, end)
        for place in range(first, last):
            seen += np.int64(block[rows[place], 0])
        if len(chosen) == block.shape[1]:  # all columns: a quarter of the time is looking them up
            for place in range(first, last):
                row, own = rows[place], packed[place]
                for column in range(block.shape[1]):
                    part[column, block[row, column]] += own
        else:
            for place in range(first, last):
                row, own = rows[place], packed[place]
                for column in range(len(chosen)):
                    part[column, block[row, chosen[column]]] += own
    return int(seen)


@kernel()
def best_questions(
    totals: FilledCube[np.int64],
    n_leaves: int,
    n_bins: Integers,
    has_missing: NDArray[np.bool_],
    signs: Floats,
    bounds: Matrix[np.float64],
    shift: int,
    units: Floats,
    l2: float,
    scores: FilledMatrix[np.float64],
    found: FilledMatrix[np.float64],
) -> None:
    """Fill for every column the greatest score of a question, its bin, and the answer of missing values.

    The score is the sum over all leaves and both answers of the gain of their best values: ``G² / (H + l2)``, or less
    if ``bounds`` limit the values. ``units`` are those of gradient and curvature. Equal scores: the first bin, and
    missing values answer no.
    """
    bounded, sums = False, np.empty(totals.shape[2], np.int64)
    for leaf in range(n_leaves):
        bounded = bounded or bounds[leaf, 0] > -np.inf or bounds[leaf, 1] < np.inf
    for column in range(len(n_bins)):
        last = n_bins[column]
        n_sides = 2 if has_missing[column] else 1
        for side in range(n_sides):
            for number in range(last + 1):
                scores[side, number] = 0.0
        for leaf in range(n_leaves):
            missing, total = totals[column, leaf, 0], np.int64(0)
            for number in range(last + 1):
                total += totals[column, leaf, number]
            if total == 0:
                continue
            for side in range(n_sides):
                if signs[column] != 0.0 or bounded:
                    add_bounded(
                        totals[column, leaf], last, total, missing if side == 0 else np.int64(0), signs[column],
                        bounds[leaf], shift, units, l2, scores[side],
                    )  # fmt: skip
                else:
                    add_free(
                        totals[column, leaf], last, total, missing if side == 0 else np.int64(0), shift, units, l2,
                        sums, scores[side],
                    )  # fmt: skip
        found[column, 0], found[column, 1], found[column, 2] = -1.0, 0.0, 0.0
        for side in range(n_sides):
            for number in range(1, last + side):  # beyond the last bin there are only missing values
                if scores[side, number] > found[column, 0]:
                    found[column, 0], found[column, 1], found[column, 2] = scores[side, number], number, side


@helper
def add_free(
    totals: Any, last: int, total: Any, below: Any, shift: int, units: Any, l2: float, sums: Any, scores: Any
) -> None:
    """Add a leaf's gain to the score of every bin; ``below`` is the sum of rows that answer no anyway.

    The second loop uses vector instructions, as ``np.divide`` does not stop at a division by zero.
    """
    mask = (np.int64(1) << shift) - np.int64(1)
    unit, square = units[1], units[0] * units[0]
    all_g, all_h = float(total >> shift), float(total & mask)
    for number in range(1, last + 1):
        below += totals[number]
        sums[number] = below
    for number in range(1, last + 1):
        left_g, left_h = float(sums[number] >> shift), float(sums[number] & mask)
        right_g, right_h = all_g - left_g, all_h - left_h
        gain = np.divide(left_g * left_g, left_h * unit + l2) + np.divide(right_g * right_g, right_h * unit + l2)
        scores[number] += square * gain


@helper
def add_bounded(
    totals: Any, last: int, total: Any, below: Any, sign: float, bounds: Any, shift: int, units: Any, l2: float,
    scores: Any,
) -> None:  # fmt: skip
    """Add the same with bounded values; a leaf whose answers would violate the sign gets one value."""
    mask = (np.int64(1) << shift) - np.int64(1)
    all_g, all_h = float(total >> shift) * units[0], float(total & mask) * units[1] + l2
    whole = min(max(-all_g / all_h, bounds[0]), bounds[1])
    for number in range(1, last + 1):
        below += totals[number]
        left_g, left_h = float(below >> shift) * units[0], float(below & mask) * units[1] + l2
        right_g, right_h = all_g - left_g, all_h - left_h + l2
        left = min(max(-left_g / left_h, bounds[0]), bounds[1])
        right = min(max(-right_g / right_h, bounds[0]), bounds[1])
        if sign * (right - left) < 0.0:
            left, right = whole, whole
        scores[number] -= left * (2.0 * left_g + left * left_h) + right * (2.0 * right_g + right * right_h)


@kernel()
def split_rows(
    leaf: NDArray[np.uint16],
    borders: Integers,
    rows: Filled[np.int32],
    packed: Filled[np.int64],
    spare_rows: Filled[np.int32],
    spare_packed: Filled[np.int64],
    after: Filled[np.int64],
) -> None:
    """Put the rows of every leaf that answered no before those that answered yes, and fill the borders; orders remain.

    A row is written to both places, and the wrong one is overwritten, because a branch would often be mispredicted.
    """
    for number in range(len(borders) - 1):
        place, others = borders[number], np.int64(0)
        after[2 * number] = place
        for i in range(borders[number], borders[number + 1]):
            row, own = rows[i], packed[i]
            yes = np.int64(leaf[row] & 1)
            rows[place], packed[place] = row, own
            spare_rows[others], spare_packed[others] = row, own
            place += 1 - yes
            others += yes
        after[2 * number + 1] = place
        for i in range(others):
            rows[place + i], packed[place + i] = spare_rows[i], spare_packed[i]
    after[2 * (len(borders) - 1)] = borders[len(borders) - 1]


@kernel()
def add_answers(block: Matrix[np.uint8], column: int, beyond: int, missing: bool, leaf: Filled[np.uint16]) -> None:
    """Append a digit to the leaf number of every row: its answer to a question."""
    for row in range(len(leaf)):
        own = block[row, column]
        leaf[row] = 2 * leaf[row] + (own > beyond or (own == 0 and missing))


@kernel()
def fill_bins(
    values: Matrix[np.float64],
    first_row: int,
    cuts: Floats,
    borders: Integers,
    block: FilledMatrix[np.uint8],
) -> None:
    """Fill some rows of a block with the bins of values, which lie column by column; NaN has bin 0.

    The bin is 1 and the number of cuts below the value. All rows take a step of the search together, which needs no
    branch and uses vector instructions.
    """
    n_rows = values.shape[1]
    place = np.empty(n_rows, np.int32)
    for column in range(values.shape[0]):
        begin, left = borders[column], borders[column + 1] - borders[column]
        for row in range(n_rows):
            place[row] = begin
        while left > 1:
            half = left >> 1
            for row in range(n_rows):
                place[row] += half if cuts[place[row] + half - 1] < values[column, row] else 0
            left -= half
        for row in range(n_rows):
            x = values[column, row]
            below = place[row] - begin + (left > 0 and cuts[place[row]] < x)
            block[first_row + row, column] = 0 if x != x else below + 1
