"""The compiled passes over LETOR text: ``count`` sizes the final arrays, ``fill`` reads the rows into them.

Both scan a buffer of whole lines. Its last byte is a line end, so no loop has to check for the end of the buffer.
``count`` is lenient; errors are found by ``fill``, which accepts exactly what ``format.parse_row`` accepts.

Decimals are converted exactly. A mantissa up to 2^53 and a power of ten up to 10^22 are both exact in float64, so one
multiplication or division rounds once, correctly. Other mantissas are multiplied by the leading 128 bits of the power
of ten. The error of that product is known and small, so the product rounds to the right float64 unless the midpoint of
two neighbouring ones lies within the error. The few undecided numbers are left to Python.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._jit import helper, kernel
from argrank._types import Filled, Floats, Integers

# where `count` puts its results
ROWS, LINES, ENTRIES, HIGHEST, HAS_ZERO, WIDEST, RUNS, COMMENT_ROWS, COMMENT_BYTES, COUNTS = range(10)
# the state of `fill`, with which it resumes where it stopped
POSITION, ROW, LINE, ENTRY, RUN, COMMENT, PATCH, QID_BEGIN, QID_END, STATE = range(10)
# the columns of a patch: a number that Python has to convert
PATCH_ROW, PATCH_COLUMN, PATCH_BEGIN, PATCH_END, PATCH_LINE, PATCH_START, PATCH_FIELDS = range(7)
# how a call of `fill` ends; OVERFLOW means more text than was counted: the file has changed in between
DONE, REFUSED, FULL, OVERFLOW = range(4)

NUL, LINE_END, HASH, PLUS, MINUS, POINT, COLON = 0, 10, 35, 43, 45, 46, 58
NOWHERE = -1  # returned as position if something was not found

LOWEST_POWER, HIGHEST_POWER = -342, 308  # below, every 18-digit mantissa gives 0; above, infinity
ROOM = 10**17  # a mantissa below this can take one more digit
LONGEST_EXPONENT = 10**15  # larger powers of ten are all the same: zero or infinity
EXACT_MANTISSA, EXACT_POWER = 2**53, 22
LOWEST_BINARY, HIGHEST_BINARY = -1074, 971  # the exponents of a 53-bit mantissa in float64

_LOW_HALF, _HALF, _ONE, _ZERO = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1), np.uint64(0)
_TOP_BIT, _ALL_BITS = np.uint64(1 << 63), np.uint64((1 << 64) - 1)


@functools.cache
def power_table() -> tuple[Floats, NDArray[np.uint64], Integers]:
    """Return 10^0 to 10^22, and 5^q = T 2^e for every q: the leading 128 bits T as (high, low), and e."""
    leading_bits, exponents = [], []
    for power in range(LOWEST_POWER, HIGHEST_POWER + 1):
        whole = 5 ** abs(power)
        if power >= 0:
            shift = whole.bit_length() - 128
            leading = whole >> shift if shift >= 0 else whole << -shift
        else:
            shift = -whole.bit_length() - 127
            leading = (1 << -shift) // whole
        exponents.append(shift)
        leading_bits.append([leading >> 64, leading & (1 << 64) - 1])
    tens = np.array([float(10**power) for power in range(EXACT_POWER + 1)])
    return tens, np.array(leading_bits, np.uint64), np.array(exponents, np.int64)


# ---- tokens -------------------------------------------------------------------------------------------------------


@helper
def _byte(buffer: NDArray[np.uint8], pos: int) -> Any:
    """Return a byte. With an unsigned position numba need not check for negative indices in every loop."""
    return buffer[np.uint64(pos)]


@helper
def _skip_blanks(buffer: NDArray[np.uint8], pos: int) -> int:
    c = _byte(buffer, pos)
    while c == 32 or c == 9 or 11 <= c <= 13:
        pos += 1
        c = _byte(buffer, pos)
    return pos


@helper
def _ends_token(c: int) -> bool:
    """Tell whether a byte is a blank, a line end or the beginning of a comment."""
    return c <= 35 and (c == 32 or c == 35 or 9 <= c <= 13)


@helper
def _skip_token(buffer: NDArray[np.uint8], pos: int) -> int:
    while not _ends_token(_byte(buffer, pos)):
        pos += 1
    return pos


@helper
def _skip_line(buffer: NDArray[np.uint8], pos: int) -> int:
    """Return the position of the line end, or of a NUL byte before it."""
    c = _byte(buffer, pos)
    while c != LINE_END and c != NUL:
        pos += 1
        c = _byte(buffer, pos)
    return pos


@helper
def _starts_qid(buffer: NDArray[np.uint8], pos: int) -> Any:
    return (
        _byte(buffer, pos) == 113
        and _byte(buffer, pos + 1) == 105
        and _byte(buffer, pos + 2) == 100
        and _byte(buffer, pos + 3) == COLON
    )


@helper
def _same_qid(buffer: NDArray[np.uint8], begin: int, end: int, other_begin: int, other_end: int) -> bool:
    offset, length = 0, end - begin
    same_length = other_end - other_begin == length
    while same_length and offset < length and _byte(buffer, begin + offset) == _byte(buffer, other_begin + offset):
        offset += 1
    return same_length and offset == length


@helper
def _read_whole(buffer: NDArray[np.uint8], pos: int, limit: int) -> Any:
    """Read digits as (whole number, position after them); a number above the limit is only known to be above it."""
    number = np.int64(0)
    c = _byte(buffer, pos)
    while 48 <= c <= 57:
        if number <= limit:
            number = number * 10 + (np.int64(c) - 48)
        pos += 1
        c = _byte(buffer, pos)
    return number, pos


# ---- the first pass -----------------------------------------------------------------------------------------------


@helper
def _count_features(buffer: NDArray[np.uint8], pos: int, max_id: int, highest: int) -> Any:
    """Return the number of features up to the end of the row, the highest id, whether there is an id 0, the end."""
    width, has_zero = 0, False
    pos = _skip_blanks(buffer, pos)
    while _byte(buffer, pos) != LINE_END and _byte(buffer, pos) != HASH:
        number, end = _read_whole(buffer, pos, max_id)
        if _byte(buffer, end) == COLON and end > pos:
            width += 1
            if number == 0:
                has_zero = True
            elif highest < number <= max_id:
                highest = number
        pos = _skip_blanks(buffer, _skip_token(buffer, end))
    return width, highest, has_zero, pos


@kernel()
def count(buffer: NDArray[np.uint8], max_id: int, counts: Filled[np.int64]) -> None:
    """Count rows, lines, entries, runs of a qid and bytes of comments, and find the highest feature."""
    pos, end = 0, buffer.size
    rows = lines = entries = widest = runs = comment_rows = comment_bytes = 0
    has_zero = False
    highest: Any = np.int64(0)
    qid_begin = qid_end = 0
    while pos < end:
        lines += 1
        pos = _skip_blanks(buffer, pos)
        if _byte(buffer, pos) != LINE_END and _byte(buffer, pos) != HASH:
            rows += 1
            pos = _skip_blanks(buffer, _skip_token(buffer, pos))  # the label
            if _starts_qid(buffer, pos):
                begin = pos + 4
                pos = _skip_token(buffer, begin)
                if runs == 0 or not _same_qid(buffer, begin, pos, qid_begin, qid_end):
                    runs += 1
                qid_begin, qid_end = begin, pos
            width, highest, zero, pos = _count_features(buffer, pos, max_id, highest)
            entries += width
            widest = max(widest, width)
            has_zero = has_zero or zero
            if _byte(buffer, pos) == HASH:
                comment_rows += 1
                comment_bytes -= pos + 1
                while _byte(buffer, pos) != LINE_END:
                    pos += 1
                comment_bytes += pos
        while _byte(buffer, pos) != LINE_END:
            pos += 1
        pos += 1
    counts[ROWS], counts[LINES], counts[ENTRIES], counts[HIGHEST] = rows, lines, entries, highest
    counts[HAS_ZERO], counts[WIDEST], counts[RUNS] = has_zero, widest, runs
    counts[COMMENT_ROWS], counts[COMMENT_BYTES] = comment_rows, comment_bytes


# ---- decimal to binary --------------------------------------------------------------------------------------------


@helper
def _take_digits(buffer: NDArray[np.uint8], pos: int, mantissa: Any) -> Any:
    """Append digits to a mantissa: (mantissa, end, digits that had no room, whether any of those was not 0)."""
    skipped: Any = np.int64(0)
    lost = False
    c = _byte(buffer, pos)
    while 48 <= c <= 57:
        if mantissa < ROOM:
            mantissa = mantissa * 10 + (np.int64(c) - 48)
        else:
            skipped += 1
            lost = lost or c != 48
        pos += 1
        c = _byte(buffer, pos)
    return mantissa, pos, skipped, lost


@helper
def _read_exponent(buffer: Any, pos: int) -> Any:
    """Read what follows the letter e as (power, end)."""
    downward = _byte(buffer, pos) == MINUS
    if downward or _byte(buffer, pos) == PLUS:
        pos += 1
    power, end = _read_whole(buffer, pos, LONGEST_EXPONENT - 1)
    return (-power if downward else power), (end if end > pos else NOWHERE)


@helper
def _multiply(a: Any, b: Any) -> Any:
    """Return the 128 bits of a product as (high, low), by halves so that no step overflows."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW_HALF, b >> _HALF, b & _LOW_HALF
    lowest, first, second = a_low * b_low, a_low * b_high, a_high * b_low
    middle = (lowest >> _HALF) + (first & _LOW_HALF) + (second & _LOW_HALF)
    high = a_high * b_high + (first >> _HALF) + (second >> _HALF) + (middle >> _HALF)
    return high, (middle & _LOW_HALF) << _HALF | lowest & _LOW_HALF


@helper
def _add(a: Any, b: Any) -> Any:
    """Return a sum modulo 2^64 and its carry."""
    room = _ALL_BITS - b
    return (a - room - _ONE, _ONE) if a > room else (a + b, _ZERO)


@helper
def _round_product(mantissa: int, exponent: int, lost: bool, powers: Any, exponents: Any) -> Any:
    """Return mantissa * 10^exponent as (float64, whether the rounding is undecided)."""
    # the mantissa, shifted to 64 bits, times T; the upper 128 of the 192 bits are `high` and `low`
    shifted, shift = np.uint64(mantissa), np.int64(0)
    while shifted < _TOP_BIT:
        shifted = shifted << _ONE
        shift += 1
    high, low = _multiply(shifted, powers[exponent - LOWEST_POWER, 0])
    low, carry = _add(low, _multiply(shifted, powers[exponent - LOWEST_POWER, 1])[0])
    high += carry
    # the value is kept * 2^binary, after dropping `drop` bits of `high` and all of `low`
    drop = np.int64(11) if high >= _TOP_BIT else np.int64(10)
    binary = 128 - shift + exponents[exponent - LOWEST_POWER] + exponent + drop
    if binary < LOWEST_BINARY:  # a subnormal number has fewer bits
        drop += LOWEST_BINARY - binary
        binary = np.int64(LOWEST_BINARY)
    if drop >= 64:
        return 0.0, drop < 66  # around half of the smallest number; below, it is 0
    kept = high >> np.uint64(drop)
    rest = high & ((_ONE << np.uint64(drop)) - _ONE)
    middle = _ONE << np.uint64(drop - 1)
    undecided = _is_undecided(rest, middle, low, lost, shift)
    if rest >= middle:
        kept += _ONE
    overflow = binary > HIGHEST_BINARY or (binary == HIGHEST_BINARY and kept == np.uint64(EXACT_MANTISSA))
    return (np.inf if overflow else np.ldexp(np.float64(kept), binary)), undecided


@helper
def _is_undecided(rest: Any, middle: Any, low: Any, lost: bool, shift: Any) -> bool:
    """Tell whether the true product may lie on the other side of the middle between two float64.

    It is at least the computed one and less than 2 units of ``low`` above it, or 2^shift units of ``high`` if digits
    were lost.
    """
    if rest == middle:
        return bool(low == _ZERO)
    if lost:
        error = (_ONE << np.uint64(shift)) + _ONE
        return bool(rest < middle and middle - rest <= error)
    return bool(rest + _ONE == middle and low >= _ALL_BITS - _ONE)


@helper
def _scale(
    mantissa: int, exponent: int, lost: bool, tens: Floats, powers: NDArray[np.uint64], exponents: Integers
) -> Any:
    """Return mantissa * 10^exponent as (float64, whether the rounding is undecided); NaN while it is."""
    value, undecided = 0.0, False
    if -EXACT_POWER <= exponent <= EXACT_POWER and mantissa <= EXACT_MANTISSA and not lost:
        value = mantissa / tens[-exponent] if exponent < 0 else mantissa * tens[exponent]
    elif mantissa > 0 and exponent > HIGHEST_POWER:
        value = np.inf
    elif mantissa > 0 and exponent >= LOWEST_POWER:
        value, undecided = _round_product(mantissa, exponent, lost, powers, exponents)
    return (np.nan if undecided else value), undecided


@helper
def _read_number(
    buffer: NDArray[np.uint8], pos: int, tens: Floats, powers: NDArray[np.uint64], exponents: Integers
) -> Any:
    """Read a decimal number as (value, whether its rounding is undecided, end); NaN while it is."""
    negative = _byte(buffer, pos) == MINUS
    if negative or _byte(buffer, pos) == PLUS:
        pos += 1
    begin = pos
    mantissa, pos, exponent, lost = _take_digits(buffer, pos, np.int64(0))
    digits = pos - begin
    if _byte(buffer, pos) == POINT:
        begin = pos + 1
        mantissa, pos, skipped, lost_behind = _take_digits(buffer, begin, mantissa)
        exponent -= pos - begin - skipped
        digits += pos - begin
        lost = lost or lost_behind
    if digits > 0 and _byte(buffer, pos) | 32 == 101:  # e or E
        power, pos = _read_exponent(buffer, pos + 1)
        exponent += power
    value, undecided = _scale(mantissa, exponent, lost, tens, powers, exponents)
    return (-value if negative else value), undecided, (pos if digits > 0 else NOWHERE)


@helper
def _skip_missing(buffer: Any, pos: int) -> int:
    """Return the position after ``NaN``, with or without a sign, or ``NULL``, in any case."""
    signed = _byte(buffer, pos) == MINUS or _byte(buffer, pos) == PLUS
    pos += signed
    end = NOWHERE
    if _byte(buffer, pos) | 32 == 110:  # n
        if _byte(buffer, pos + 1) | 32 == 97 and _byte(buffer, pos + 2) | 32 == 110:  # an
            end = pos + 3
        elif (
            not signed
            and _byte(buffer, pos + 1) | 32 == 117
            and _byte(buffer, pos + 2) | 32 == 108
            and _byte(buffer, pos + 3) | 32 == 108
        ):
            end = pos + 4  # ull
    return end


# ---- the second pass ----------------------------------------------------------------------------------------------


@helper
def _leave_to_python(
    patches: Any, patch: int, row: int, column: int, begin: int, end: int, line: int, start: int
) -> None:
    patches[patch, PATCH_ROW], patches[patch, PATCH_COLUMN] = row, column
    patches[patch, PATCH_BEGIN], patches[patch, PATCH_END] = begin, end
    patches[patch, PATCH_LINE], patches[patch, PATCH_START] = line, start


@helper
def _read_qid(buffer: NDArray[np.uint8], pos: int, with_qid: bool) -> Any:
    """Read the query id, if the rows have one, as (begin, end)."""
    found = _starts_qid(buffer, pos)
    begin = pos + 4 if found else pos
    end = begin
    while found and not _ends_token(_byte(buffer, end)) and _byte(buffer, end) != NUL:
        end += 1
    valid = found == with_qid and not (found and (end == begin or _byte(buffer, end) == NUL))
    return begin, (end if valid else NOWHERE)


@helper
def _read_head(
    buffer: NDArray[np.uint8], pos: int, tens: Floats, powers: NDArray[np.uint64], exponents: Integers, with_qid: bool
) -> Any:
    """Read (label, whether it is undecided, its end, begin and end of the query id)."""
    label, undecided, label_end = _read_number(buffer, pos, tens, powers, exponents)
    begin = end = np.int64(NOWHERE)
    if label_end >= 0 and _ends_token(_byte(buffer, label_end)) and not (label < 0 or label == np.inf):
        begin, end = _read_qid(buffer, _skip_blanks(buffer, label_end), with_qid)
    return label, undecided, label_end, begin, end


@helper
def _read_features(
    buffer: NDArray[np.uint8], pos: int, tens: Floats, powers: NDArray[np.uint64], exponents: Integers, base: int,
    last_id: int, largest: float, columns: Integers, values: Floats, patches: Integers, patch: int, row: int, line: int,
    start: int,
) -> Any:  # fmt: skip
    """Read features up to the end of the row: (how many, whether they ascend, patches so far, end).

    If a row has more features than fit, reading stops at the first that does not fit.
    """
    width, ascending, column = 0, True, np.int64(-1)
    pos = _skip_blanks(buffer, pos) if pos >= 0 else NOWHERE
    while pos >= 0 and width < columns.size and _byte(buffer, pos) != LINE_END and _byte(buffer, pos) != HASH:
        number, colon = _read_whole(buffer, pos, last_id)
        valid = _byte(buffer, colon) == COLON and colon > pos and base <= number <= last_id
        ascending = ascending and number - base > column
        column = number - base
        begin = colon + valid  # an invalid id may end at the last byte of the buffer
        value, undecided, pos = _read_number(buffer, begin, tens, powers, exponents)
        if pos < 0:
            value, pos = np.nan, _skip_missing(buffer, begin)
        if undecided:
            _leave_to_python(patches, patch, row, column, begin, pos, line, start)
            patch += 1
        if not valid or pos < 0 or not _ends_token(_byte(buffer, pos)) or value >= largest or value <= -largest:
            pos = NOWHERE
        else:
            columns[width], values[width] = column, value
            width += 1
            pos = _skip_blanks(buffer, pos)
    return width, ascending, patch, pos


@helper
def _sort_row(columns: Any, values: Any, width: int) -> bool:
    """Sort a row by column (Shell's sort, since rows are short) and tell whether all columns are different."""
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
    different = True
    for i in range(1, width):
        different = different and columns[i] != columns[i - 1]
    return different


@helper
def _copy_comment(buffer: NDArray[np.uint8], begin: int, end: int, comments: NDArray[np.uint8], comment: int) -> int:
    """Append a comment, without the carriage returns at its end, and a line end; return the new end."""
    while end > begin and _byte(buffer, end - 1) == 13:
        end -= 1
    for i in range(begin, end):
        comments[comment] = _byte(buffer, i)
        comment += 1
    comments[comment] = LINE_END
    return comment + 1


@helper
def _has_room(
    columns: Integers, width: int, dense: bool, X: Floats, indices: NDArray[np.int32], entry: int, y: Floats, row: int,
    runs: Integers, run: int, comments: NDArray[np.uint8], comment: int, comment_bytes: int,
) -> bool:  # fmt: skip
    """Tell whether a row fits into the counted sizes: a file may change between the two passes."""
    return bool(
        row < y.size
        and run <= runs.shape[0]
        and (width == 0 or columns[width - 1] < X.shape[1])
        and (dense or entry + width <= indices.size)
        and (comments.size == 0 or comment + comment_bytes + 1 <= comments.size)
    )


@helper
def _store_sparse(columns: Any, values: Any, width: int, indices: Any, data: Any, entry: int) -> int:
    """Append the values of a row that are not 0; return the new end."""
    for i in range(width):
        data[entry] = values[i]
        if data[entry] != 0:
            indices[entry] = columns[i]
            entry += 1
    return entry


def _fill_signature(types: ModuleType, real: Any) -> Any:
    read = types.Array(types.uint8, 1, "C", readonly=True)
    tables = types.float64[::1], types.uint64[:, ::1], types.int64[::1]
    return types.int64(
        read, *tables, types.boolean, types.int64, types.int64, types.float64,  # the text and the limits
        types.boolean, real[:, ::1], types.int64[::1], types.int32[::1], real[::1], types.float64[::1],  # the rows
        types.int64[:, ::1], types.uint8[::1], types.uint8[::1],  # runs, comments
        types.int64[::1], types.float64[::1], types.int64[:, ::1], types.int64[::1],  # private
    )  # fmt: skip


def _fill(
    buffer: Any, tens: Any, powers: Any, exponents: Any, with_qid: bool, base: int, last_id: int, largest: float,
    dense: bool, X: Any, indptr: Any, indices: Any, data: Any, y: Any,
    runs: Any, comments: Any, has_comment: Any,
    columns: Any, values: Any, patches: Any, state: Any,
) -> int:  # fmt: skip
    """Read the rows of a buffer into X or (indptr, indices, data), y, the runs and the joined comments.

    ``columns`` and ``values`` hold one row. A row is stored only if all of it is valid, so on REFUSED the state points
    to the first bad line. FULL means that the patches must be applied before continuing, OVERFLOW that the buffer is
    not the one that was counted.
    """
    pos, end, row, line, entry = state[POSITION], buffer.size, state[ROW], state[LINE], state[ENTRY]
    run, comment, patch = state[RUN], state[COMMENT], state[PATCH]
    qid_begin, qid_end = state[QID_BEGIN], state[QID_END]
    status = DONE
    while pos < end:
        start = pos
        pos = _skip_blanks(buffer, pos)
        if _byte(buffer, pos) == LINE_END or _byte(buffer, pos) == HASH:
            pos = _skip_line(buffer, pos)
            if _byte(buffer, pos) == NUL:
                pos, status = start, REFUSED
                break
            pos += 1
            line += 1
            continue
        if patch + columns.size + 1 > patches.shape[0]:
            pos, status = start, FULL
            break

        label, undecided, label_end, begin, qid_stop = _read_head(buffer, pos, tens, powers, exponents, with_qid)
        if undecided:
            _leave_to_python(patches, patch, row, -1, pos, label_end, line, start)
            patch += 1
        width, ascending, patch, pos = _read_features(
            buffer, qid_stop, tens, powers, exponents, base, last_id, largest,
            columns, values, patches, patch, row, line, start,
        )  # fmt: skip
        stop = _skip_line(buffer, pos) if pos >= 0 else start
        if pos >= 0 and _byte(buffer, pos) != LINE_END and _byte(buffer, pos) != HASH:
            status = OVERFLOW
            break
        if pos < 0 or _byte(buffer, stop) == NUL or not (ascending or _sort_row(columns, values, width)):
            pos, status = start, REFUSED
            break

        new_run = with_qid and (run == 0 or not _same_qid(buffer, begin, qid_stop, qid_begin, qid_end))
        remark = min(pos + 1, stop)  # behind the hash
        if not _has_room(
            columns, width, dense, X, indices, entry, y, row, runs, run + new_run, comments, comment, stop - remark
        ):
            status = OVERFLOW
            break
        y[row] = label
        if with_qid:
            if new_run:
                runs[run, 0], runs[run, 1], runs[run, 2] = begin, qid_stop, row
                run += 1
            qid_begin, qid_end = begin, qid_stop
        if comments.size > 0:
            has_comment[row] = _byte(buffer, pos) == HASH
            comment = _copy_comment(buffer, remark, stop, comments, comment)
        if dense:
            for i in range(width):
                X[row, columns[i]] = values[i]
        else:
            entry = _store_sparse(columns, values, width, indices, data, entry)
            indptr[row] = entry
        row += 1
        line += 1
        pos = stop + 1
    state[POSITION], state[ROW], state[LINE], state[ENTRY], state[RUN] = pos, row, line, entry, run
    state[COMMENT], state[PATCH], state[QID_BEGIN], state[QID_END] = comment, patch, qid_begin, qid_end
    return status


fill_double = kernel(lambda types: _fill_signature(types, types.float64))(_fill)
fill_single = kernel(lambda types: _fill_signature(types, types.float32))(_fill)
