"""The first pass over LETOR text: count what the final arrays must hold.

The kernel walks over a buffer of whole lines, the last byte of which is a line end; so no loop over bytes needs to look
for the end of the buffer. It is lenient: all refusals are left to the second pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from argrank._jit import kernel

# places in the result
ROWS, LINES, ENTRIES, HIGHEST, HAS_ZERO, WIDEST, RUNS, COMMENT_ROWS, COMMENT_BYTES, COUNTS = range(10)


def _count_signature(types: Any) -> Any:
    return types.void(types.Array(types.uint8, 1, "C", readonly=True), types.int64, types.int64[::1])


@kernel(_count_signature)
def count(buffer: Any, max_id: int, counts: Any) -> None:
    """Count rows, lines, entries, runs of a qid and bytes of comments, and find the highest feature."""
    pos, end = 0, buffer.size
    rows = lines = entries = has_zero = widest = runs = comment_rows = comment_bytes = 0
    highest: Any = np.int64(0)
    qid_begin = qid_end = 0
    while pos < end:
        lines += 1
        c = buffer[pos]
        while c == 32 or c == 9 or 11 <= c <= 13:
            pos += 1
            c = buffer[pos]
        if c != 10 and c != 35:
            rows += 1
            while not (c <= 32 and (c == 32 or 9 <= c <= 13)) and c != 35:  # the label
                pos += 1
                c = buffer[pos]
            while c == 32 or c == 9 or 11 <= c <= 13:
                pos += 1
                c = buffer[pos]
            if c == 113 and buffer[pos + 1] == 105 and buffer[pos + 2] == 100 and buffer[pos + 3] == 58:  # qid:
                pos += 4
                begin = pos
                c = buffer[pos]
                while not (c <= 32 and (c == 32 or 9 <= c <= 13)) and c != 35:
                    pos += 1
                    c = buffer[pos]
                same = runs > 0 and pos - begin == qid_end - qid_begin
                if same:
                    for offset in range(pos - begin):
                        if buffer[begin + offset] != buffer[qid_begin + offset]:
                            same = False
                            break
                if not same:
                    runs += 1
                qid_begin, qid_end = begin, pos
            width = 0
            while True:
                while c == 32 or c == 9 or 11 <= c <= 13:
                    pos += 1
                    c = buffer[pos]
                if c == 10 or c == 35:
                    break
                number = np.int64(0)
                begin = pos
                while 48 <= c <= 57:
                    if number <= max_id:
                        number = number * 10 + (np.int64(c) - 48)
                    pos += 1
                    c = buffer[pos]
                if c == 58 and pos > begin:
                    width += 1
                    if number == 0:
                        has_zero = 1
                    elif highest < number <= max_id:
                        highest = number
                while not (c <= 32 and (c == 32 or 9 <= c <= 13)) and c != 35:
                    pos += 1
                    c = buffer[pos]
            entries += width
            widest = max(widest, width)
            if c == 35:
                comment_rows += 1
                begin = pos + 1
                while c != 10:
                    pos += 1
                    c = buffer[pos]
                comment_bytes += pos - begin
        while c != 10:
            pos += 1
            c = buffer[pos]
        pos += 1
    counts[ROWS], counts[LINES], counts[ENTRIES], counts[HIGHEST], counts[HAS_ZERO] = (
        rows,
        lines,
        entries,
        highest,
        has_zero,
    )
    counts[WIDEST], counts[RUNS], counts[COMMENT_ROWS], counts[COMMENT_BYTES] = (
        widest,
        runs,
        comment_rows,
        comment_bytes,
    )
