"""The compiled passes over TREC files: ``split`` finds the words of lines, ``look_up`` the documents of a run.

Both give up on unusual input without a message: the reader in plain Python then reads it, or reports the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, kernel
from argrank._types import Filled, Integers

REFUSED = -1
LINE_END = 10
WIDEST_NUMBER = 32  # bytes; longer ones are left to Python


@helper
def _byte(buffer: NDArray[np.uint8], pos: int) -> Any:
    """Return a byte. With an unsigned position numba need not check for negative indices in every loop."""
    return buffer[np.uint64(pos)]


@helper
def _is_blank(c: int) -> bool:
    """Tell whether a byte is whitespace for ``str.split``."""
    return c <= 32 and (c == 32 or 9 <= c <= 13 or 28 <= c <= 31)


@helper
def _same(
    buffer: NDArray[np.uint8], begin: int, end: int, other: NDArray[np.uint8], other_begin: int, other_end: int
) -> bool:
    """Tell whether two words are the same."""
    offset, length = 0, end - begin
    same_length = other_end - other_begin == length
    while same_length and offset < length and _byte(buffer, begin + offset) == _byte(other, other_begin + offset):
        offset += 1
    return same_length and offset == length


@kernel()
def split(
    buffer: NDArray[np.uint8],
    pos: int,
    n_fields: int,
    number_field: int,
    qids: Filled[np.int64],
    documents: Filled[np.int64],
    first_qid: Filled[np.bool_],
    digits: Filled[np.uint8],
    offsets: Filled[np.int32],
    state: Filled[np.int64],
) -> int:
    """Find the words of as many lines as fit into the arrays, and return their number.

    The buffer ends with a line end. For every line, ``qids`` and ``documents`` get the start and end of the words,
    ``first_qid`` whether the query differs from the line before, and ``digits`` the text of the number. ``state`` holds
    the position after the last line, and the start and end of its query.
    """
    n_lines, n_digits, end = 0, 0, buffer.size
    while pos < end and n_lines < len(first_qid):
        field, number_begin, number_end = 0, 0, 0
        while True:
            c = _byte(buffer, pos)
            while c != LINE_END and _is_blank(c):
                pos += 1
                c = _byte(buffer, pos)
            if c == LINE_END:
                break
            begin = pos
            while not _is_blank(c):
                pos += 1
                c = _byte(buffer, pos)
            if field == 0:
                qids[2 * n_lines], qids[2 * n_lines + 1] = begin, pos
            elif field == 2:
                documents[2 * n_lines], documents[2 * n_lines + 1] = begin, pos
            elif field == number_field:
                number_begin, number_end = begin, pos
            field += 1
        pos += 1
        if field == 0:
            continue
        if field != n_fields or number_end - number_begin > WIDEST_NUMBER:
            return REFUSED
        for place in range(number_begin, number_end):
            digits[n_digits] = _byte(buffer, place)
            n_digits += 1
        begin, after = qids[2 * n_lines], qids[2 * n_lines + 1]
        first_qid[n_lines] = not _same(buffer, begin, after, buffer, state[1], state[2])
        state[1], state[2] = begin, after
        n_lines += 1
        offsets[n_lines] = n_digits
    state[0] = pos
    return n_lines


@helper
def _find(
    table: NDArray[np.int64],
    mask: int,
    buffer: NDArray[np.uint8],
    begin: int,
    end: int,
    first: int,
    judged: NDArray[np.uint8],
    judged_words: NDArray[np.int64],
    run_words: NDArray[np.int64],
    run: NDArray[np.uint8],
) -> Any:
    """Return the slot of a word in a hash table, or the empty slot where it belongs.

    The table holds -1 where it is empty, 0 or more for a judged document, and -2 or less for one of the run.
    """
    value = np.uint64(14695981039346656037)
    for place in range(begin, end):
        value = (value ^ np.uint64(_byte(buffer, place))) * np.uint64(1099511628211)
    slot = np.int64((value ^ (value >> np.uint64(29))) & np.uint64(mask))
    while table[slot] != -1:
        number = table[slot]
        if number >= 0:
            row = first + number
            if _same(buffer, begin, end, judged, judged_words[2 * row], judged_words[2 * row + 1]):
                break
        else:
            row = -2 - number
            if _same(buffer, begin, end, run, run_words[2 * row], run_words[2 * row + 1]):
                break
        slot = (slot + 1) & mask
    return slot


@kernel()
def look_up(
    judged: NDArray[np.uint8],
    judged_words: Integers,
    judged_indptr: Integers,
    run: NDArray[np.uint8],
    run_words: Integers,
    run_indptr: Integers,
    table: Filled[np.int64],
    found: Filled[np.int64],
) -> bool:
    """Find for every document of a run its row among the judged ones of its query, -1 for none.

    Words are start and end in the buffers, query by query. The size of ``table`` is a power of two, at least twice the
    largest query. Returns False if a query has a document twice.
    """
    for query in range(len(judged_indptr) - 1):
        first, last = judged_indptr[query], judged_indptr[query + 1]
        start, end = run_indptr[query], run_indptr[query + 1]
        size = 2
        while size < 2 * (last - first + end - start):
            size *= 2
        mask = size - 1
        for slot in range(size):
            table[slot] = -1
        for row in range(first, last):
            a, b = judged_words[2 * row], judged_words[2 * row + 1]
            slot = _find(table, mask, judged, a, b, first, judged, judged_words, run_words, run)
            if table[slot] != -1:
                return False
            table[slot] = row - first
        for row in range(start, end):
            a, b = run_words[2 * row], run_words[2 * row + 1]
            slot = _find(table, mask, run, a, b, first, judged, judged_words, run_words, run)
            number = table[slot]
            if number < -1:
                return False
            found[row] = -1 if number == -1 else first + number
            table[slot] = -2 - row  # so that a repeated word of the run is detected
    return True
