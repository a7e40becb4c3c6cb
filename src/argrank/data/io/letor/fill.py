"""The second pass over LETOR text: read rows into the final arrays, and refuse what is wrong.

The kernel walks over a buffer of whole lines, the last byte of which is a line end; so no loop over bytes needs to look
for the end of the buffer. It accepts exactly what ``letor_row.parse_row`` accepts.

Decimal to binary is exact. A mantissa up to 2^53 and a power of ten up to 22 are both exact in float64, so one
multiplication or division rounds once, correctly. Else, the mantissa is multiplied with the leading 128 bits of the
power of ten; the product is known up to a small error, and unless the middle between two neighbouring float64 lies
within that error, it rounds to the right one. The few undecided numbers are left to Python.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._types import Floats, Integers

# places in the state, which is how it goes on where it stopped
POSITION, ROW, LINE, ENTRY, RUN, COMMENT, PATCH, QID_BEGIN, QID_END, STATE = range(10)
# columns of a patch: a number that Python must convert
PATCH_ROW, PATCH_COLUMN, PATCH_BEGIN, PATCH_END, PATCH_LINE, PATCH_START, PATCH_FIELDS = range(7)
# how a call ends
DONE, REFUSED, FULL = range(3)

LOWEST_POWER, HIGHEST_POWER = -342, 308  # below: 0 for every 18-digit mantissa; above: infinity
ROOM = 10**17  # a mantissa below takes one more digit


@functools.cache
def power_table() -> tuple[Floats, NDArray[np.uint64], Integers]:
    """Return 10^0 to 10^22, and 5^q = T 2^e for every q: T's leading 128 bits as four words, lowest first, and e."""
    words, exponents = [], []
    for power in range(LOWEST_POWER, HIGHEST_POWER + 1):
        whole = 5 ** abs(power)
        if power >= 0:
            shift = whole.bit_length() - 128
            leading = whole >> shift if shift >= 0 else whole << -shift
        else:
            shift = -whole.bit_length() - 127
            leading = (1 << -shift) // whole
        exponents.append(shift)
        words.append([leading >> 32 * place & 0xFFFFFFFF for place in range(4)])
    tens = np.array([float(10**power) for power in range(23)])
    return tens, np.array(words, np.uint64), np.array(exponents, np.int64)


def _fill_signature(types: Any, real: Any) -> Any:
    read = types.Array(types.uint8, 1, "C", readonly=True)
    tables = types.float64[::1], types.uint64[:, ::1], types.int64[::1]
    return types.int64(
        read, *tables, types.boolean, types.int64, types.int64, types.float64,  # the text and the limits
        types.boolean, real[:, ::1], types.int64[::1], types.int32[::1], real[::1], types.float64[::1],  # the rows
        types.int64[:, ::1], types.uint8[::1], types.uint8[::1],  # runs, comments
        types.int64[::1], types.float64[::1], types.uint64[::1], types.int64[:, ::1], types.int64[::1],  # private
    )  # fmt: skip


def _fill(
    buffer: Any, tens: Any, words: Any, exponents: Any, with_qid: bool, base: int, last_id: int, largest: float,
    dense: bool, X: Any, indptr: Any, indices: Any, data: Any, y: Any,
    runs: Any, comments: Any, has_comment: Any,
    columns: Any, values: Any, product: Any, patches: Any, state: Any,
) -> int:  # fmt: skip
    """Read the rows of a buffer into X or (indptr, indices, data), y, the runs and the joined comments.

    ``columns`` and ``values`` hold one row. A row is stored only when it is in order throughout, so that on REFUSED the
    state points to the first bad line. FULL means that the patches are to be done before going on.
    """
    pos, end, row, line, entry = state[POSITION], buffer.size, state[ROW], state[LINE], state[ENTRY]
    run, comment, patch = state[RUN], state[COMMENT], state[PATCH]
    qid_begin, qid_end = state[QID_BEGIN], state[QID_END]
    low_word, half_word = np.uint64(0xFFFFFFFF), np.uint64(32)
    status = DONE
    while pos < end:
        start = pos
        c = buffer[pos]
        while c == 32 or c == 9 or 11 <= c <= 13:
            pos += 1
            c = buffer[pos]
        if c == 10 or c == 35:
            while c != 10 and c != 0:
                pos += 1
                c = buffer[pos]
            if c == 0:
                pos, status = start, REFUSED
                break
            pos += 1
            line += 1
            continue
        if patch + columns.size + 1 > patches.shape[0]:
            pos, status = start, FULL
            break

        bad = False
        ascending = True
        width = -1  # the label is read like a value, before the features
        label = 0.0
        new_run = False
        column = np.int64(-1)
        while True:
            if width >= 0:
                number = np.int64(0)
                begin = pos
                while 48 <= c <= 57:
                    if number <= last_id:
                        number = number * 10 + (np.int64(c) - 48)
                    pos += 1
                    c = buffer[pos]
                if c != 58 or pos == begin or number > last_id or number < base:
                    bad = True
                    break
                pos += 1
                c = buffer[pos]
                if number - base <= column:
                    ascending = False
                column = number - base

            # a number: mantissa * 10^exponent, of which digits behind the 18th may be cut off
            token = pos
            negative = c == 45
            signed = negative or c == 43
            if signed:
                pos += 1
                c = buffer[pos]
            begin = pos
            mantissa, exponent, cut = np.int64(0), np.int64(0), False
            while 48 <= c <= 57:
                if mantissa < ROOM:
                    mantissa = mantissa * 10 + (np.int64(c) - 48)
                else:
                    exponent += 1
                    cut = cut or c != 48
                pos += 1
                c = buffer[pos]
            digits = pos - begin
            if c == 46:
                pos += 1
                c = buffer[pos]
                begin = pos
                while 48 <= c <= 57:
                    if mantissa < ROOM:
                        mantissa = mantissa * 10 + (np.int64(c) - 48)
                        exponent -= 1
                    else:
                        cut = cut or c != 48
                    pos += 1
                    c = buffer[pos]
                digits += pos - begin
            value = 0.0
            undecided: Any = False
            if digits > 0:
                if c == 101 or c == 69:
                    pos += 1
                    c = buffer[pos]
                    downward = c == 45
                    if downward or c == 43:
                        pos += 1
                        c = buffer[pos]
                    begin = pos
                    power = np.int64(0)
                    while 48 <= c <= 57:
                        if power < 1000000000000000:
                            power = power * 10 + (np.int64(c) - 48)
                        pos += 1
                        c = buffer[pos]
                    if pos == begin:
                        bad = True
                        break
                    exponent += -power if downward else power
                if mantissa == 0:
                    value = 0.0
                elif -22 <= exponent <= 22 and mantissa <= 9007199254740992 and not cut:
                    value = mantissa / tens[-exponent] if exponent < 0 else mantissa * tens[exponent]
                elif exponent > HIGHEST_POWER:
                    value = np.inf
                elif exponent >= LOWEST_POWER:
                    # mantissa, shifted to 64 bits, times T; the upper 128 of the 192 bits are `high`, `low`
                    shifted = np.uint64(mantissa)
                    shift = np.int64(0)
                    while shifted < np.uint64(0x8000000000000000):
                        shifted = shifted << np.uint64(1)
                        shift += 1
                    first, second = shifted & low_word, shifted >> half_word
                    carry = np.uint64(0)
                    for place in range(4):
                        term = first * words[exponent - LOWEST_POWER, place] + carry
                        product[place] = term & low_word
                        carry = term >> half_word
                    product[4] = carry
                    carry = np.uint64(0)
                    for place in range(4):
                        term = second * words[exponent - LOWEST_POWER, place] + product[place + 1] + carry
                        product[place + 1] = term & low_word
                        carry = term >> half_word
                    high = carry << half_word | product[4]
                    low = product[3] << half_word | product[2]
                    # value = mantissa53 * 2^binary after dropping `drop` bits of `high` and all of `low`
                    drop = np.int64(11) if high >= np.uint64(0x8000000000000000) else np.int64(10)
                    binary = 128 - shift + exponents[exponent - LOWEST_POWER] + exponent + drop
                    if binary < -1074:  # a subnormal number has fewer bits
                        drop += -1074 - binary
                        binary = np.int64(-1074)
                    if drop < 64:
                        kept = high >> np.uint64(drop)
                        rest = high & ((np.uint64(1) << np.uint64(drop)) - np.uint64(1))
                        middle = np.uint64(1) << np.uint64(drop - 1)
                        # the true product is at least this one and less than this one plus 2 units of `low`; where
                        # digits were cut off, plus 2^shift units of `high`
                        if rest == middle:
                            undecided = low == np.uint64(0)
                        elif cut:
                            error = (np.uint64(1) << np.uint64(shift)) + np.uint64(1)
                            undecided = rest < middle and middle - rest <= error
                        else:
                            undecided = rest + np.uint64(1) == middle and low >= np.uint64(0xFFFFFFFFFFFFFFFE)
                        if rest >= middle:
                            kept += np.uint64(1)
                        overflow = binary > 971 or (binary == 971 and kept == np.uint64(9007199254740992))
                        value = np.inf if overflow else np.ldexp(np.float64(kept), binary)
                    else:
                        undecided = drop < 66  # around half of the smallest number; below, it is 0
                if negative:
                    value = -value
            elif width < 0 or pos > token + signed:
                bad = True
                break
            elif c | 32 == 110 and buffer[pos + 1] | 32 == 97 and buffer[pos + 2] | 32 == 110:  # nan
                value = np.nan
                pos += 3
                c = buffer[pos]
            elif (
                not signed and c | 32 == 110 and buffer[pos + 1] | 32 == 117 and buffer[pos + 2] | 32 == 108
                and buffer[pos + 3] | 32 == 108
            ):  # fmt: skip # null
                value = np.nan
                pos += 4
                c = buffer[pos]
            else:
                bad = True
                break
            if not (c == 32 or 9 <= c <= 13 or c == 35):
                bad = True
                break
            if undecided:
                patches[patch, 0], patches[patch, 1], patches[patch, 2] = row, column, token
                patches[patch, 3], patches[patch, 4], patches[patch, 5] = pos, line, start
                patch += 1
                value = np.nan  # so that it is not taken for a zero

            while c == 32 or c == 9 or 11 <= c <= 13:
                pos += 1
                c = buffer[pos]
            if width >= 0:
                if value >= largest or value <= -largest:
                    bad = True
                    break
                columns[width] = column
                values[width] = value
                width += 1
            else:
                label = value
                if label < 0 or label == np.inf:
                    bad = True
                    break
                width = 0
                found = c == 113 and buffer[pos + 1] == 105 and buffer[pos + 2] == 100 and buffer[pos + 3] == 58
                if found != with_qid:
                    bad = True
                    break
                if found:
                    pos += 4
                    begin = pos
                    c = buffer[pos]
                    while not (c <= 32 and (c == 32 or 9 <= c <= 13 or c == 0)) and c != 35:
                        pos += 1
                        c = buffer[pos]
                    if c == 0 or pos == begin:
                        bad = True
                        break
                    new_run = run == 0 or pos - begin != qid_end - qid_begin
                    if not new_run:
                        for offset in range(pos - begin):
                            if buffer[begin + offset] != buffer[qid_begin + offset]:
                                new_run = True
                                break
                    qid_begin, qid_end = begin, pos
                    while c == 32 or c == 9 or 11 <= c <= 13:
                        pos += 1
                        c = buffer[pos]
            if c == 10 or c == 35:
                break

        comment_begin = comment_end = pos
        if not bad and c == 35:
            pos += 1
            comment_begin = pos
            c = buffer[pos]
            while c != 10 and c != 0:
                pos += 1
                c = buffer[pos]
            bad = c == 0
            comment_end = pos
            while comment_end > comment_begin and buffer[comment_end - 1] == 13:
                comment_end -= 1
        if not bad and not ascending:  # Shell's sort; rows are short
            gap = 1
            while gap < width // 3:
                gap = 3 * gap + 1
            while gap > 0:
                for i in range(gap, width):
                    column, value = columns[i], values[i]
                    j = i
                    while j >= gap and columns[j - gap] > column:
                        columns[j], values[j] = columns[j - gap], values[j - gap]
                        j -= gap
                    columns[j], values[j] = column, value
                gap //= 3
            for i in range(1, width):
                bad = bad or columns[i] == columns[i - 1]
        if bad:
            pos, status = start, REFUSED
            break

        y[row] = label
        if new_run:
            runs[run, 0], runs[run, 1], runs[run, 2] = qid_begin, qid_end, row
            run += 1
        if comments.size > 0:
            has_comment[row] = comment_begin > start and buffer[comment_begin - 1] == 35
            for i in range(comment_begin, comment_end):
                comments[comment] = buffer[i]
                comment += 1
            comments[comment] = 10
            comment += 1
        if dense:
            for i in range(width):
                X[row, columns[i]] = values[i]
        else:
            for i in range(width):
                data[entry] = values[i]
                if data[entry] != 0:
                    indices[entry] = columns[i]
                    entry += 1
            indptr[row] = entry
        row += 1
        line += 1
        pos += 1
    state[POSITION], state[ROW], state[LINE], state[ENTRY], state[RUN] = pos, row, line, entry, run
    state[COMMENT], state[PATCH], state[QID_BEGIN], state[QID_END] = comment, patch, qid_begin, qid_end
    return status


fill_double = kernel(lambda types: _fill_signature(types, types.float64))(_fill)
fill_single = kernel(lambda types: _fill_signature(types, types.float32))(_fill)
