"""The compiled conversion of decimals is Python's, bit for bit."""

from __future__ import annotations

import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argrank.data.io.letor.format import Options
from argrank.data.io.letor.kernels import (
    HIGHEST_POWER,
    LOWEST_POWER,
    count,
    fill_double,
    fill_single,
    power_table,
)
from argrank.data.io.letor.reader import read_text
from argrank.errors import FormatError


def compiled(tokens: list[str], dtype: str = "float64") -> np.ndarray:
    text = "".join(f"0 qid:1 1:{token}\n" for token in tokens).encode()
    data = read_text(text, "numbers", Options.checked(dtype, False, None, None), small=False)
    return data.X[:, 0]


def assert_python(tokens: list[str]) -> None:
    expected = np.array([float(token) for token in tokens])
    different = np.flatnonzero(compiled(tokens).view(np.int64) != expected.view(np.int64))
    assert [tokens[i] for i in different] == []


def float_of_bits(bits: int) -> float:
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def test_shortest_forms_of_random_floats() -> None:
    bits = np.random.default_rng(0).integers(0, 0x7FF0_0000_0000_0000, 20_000, dtype=np.uint64)
    values = bits.view(np.float64) * np.random.default_rng(1).choice([1, -1], len(bits))
    assert_python([repr(value) for value in values.tolist()])


def test_random_digits_of_all_lengths_and_powers() -> None:
    random = np.random.default_rng(2)
    tokens = []
    for length in range(1, 41):
        for power in random.integers(-345 - length, 309 - length, 150):
            digits = "".join(map(str, random.integers(0, 10, length)))
            point = random.integers(0, length + 1)
            tokens.append(f"{digits[:point]}.{digits[point:]}e{power + length - point}")
    assert_python([token for token in tokens if abs(float(token)) != np.inf])


def test_exact_middles_between_neighbours_and_their_vicinity() -> None:
    """Midpoints are the hardest numbers: a digit far to the right decides the rounding."""
    from decimal import Decimal, localcontext

    random = np.random.default_rng(3)
    bits = np.concatenate((random.integers(1, 0x7FE0_0000_0000_0000, 150), np.arange(150), [0x000F_FFFF_FFFF_FFFF]))
    tokens = []
    with localcontext() as context:
        context.prec = 1200
        for low in bits.tolist():
            middle = (Decimal(float_of_bits(low)) + Decimal(float_of_bits(low + 1))) / 2
            text = f"{middle:e}"
            mantissa, power = text.split("e")
            tokens += [text, f"{mantissa}{'' if '.' in mantissa else '.'}00001e{power}"]
            tokens += [f"{mantissa[:cut]}e{power}" for cut in (18, 19, 20, 21, 25) if len(mantissa) > cut]
            below = f"{context.next_minus(middle):.60e}"
            tokens.append(below)
    assert_python(tokens)


@pytest.mark.parametrize(
    "token",
    [
        "0", "-0", "+0.0", "1.", ".5", "-.5e-0", "1e22", "1e23", "9007199254740992", "9007199254740993",
        "9007199254740991e22", "123456789012345678", "1234567890123456789", "18446744073709551616", "5e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "2.47032822920623272e-324", "1e-400", "-1e-400", "0e999",
        "1.7976931348623157e308", "1.7976931348623158e308", "179769313486231580793e288", "2.2250738585072011e-308",
        "2.2250738585072014e-308", "0." + "0" * 400 + "1e400", "1" + "0" * 400 + "e-400", "1e-99999999999999999999",
        "0.3000000000000000166533453693773481063544750213623046875", "00000000000000000000000000000001.5",
    ],
)  # fmt: skip
def test_known_difficult_numbers(token: str) -> None:
    assert_python([token])


@pytest.mark.parametrize("token", ["1e309", "-1.7976931348623159e308", "1e99999999999999999999", "9" * 400])
def test_overflow_is_refused(token: str) -> None:
    with pytest.raises(FormatError, match=r"numbers:1: expected a finite value, got '1:"):
        compiled([token])


@settings(max_examples=200)
@given(st.lists(st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True)))
def test_any_decimal(tokens: list[str]) -> None:
    assert_python([token for token in tokens if abs(float(token)) != np.inf] + ["1"])


def test_float32_is_the_rounded_float64() -> None:
    random = np.random.default_rng(4)
    tokens = [f"{m:.12g}e{p}" for m, p in zip(random.random(2000), random.integers(-46, 38, 2000), strict=True)]
    tokens += ["3.4028235677973362e38", "1e-46", "1.4e-45", "7.006492321624085e-46", "7.006492321624086e-46"]
    expected = np.array([float(token) for token in tokens]).astype(np.float32)
    assert np.array_equal(compiled(tokens, "float32").view(np.int32), expected.view(np.int32))
    with pytest.raises(FormatError, match="numbers:1: expected a finite value of float32"):
        compiled(["3.4028235677973366e38"], "float32")


def test_power_table_holds_the_leading_bits() -> None:
    _, leading_bits, exponents = power_table()
    for place, power in enumerate(range(LOWEST_POWER, HIGHEST_POWER + 1)):
        leading = int(leading_bits[place, 0]) << 64 | int(leading_bits[place, 1])
        assert leading.bit_length() == 128
        shift = int(exponents[place])
        numerator, denominator = (5**power, 1) if power >= 0 else (1, 5**-power)
        scaled, unit = (numerator << -shift, denominator) if shift < 0 else (numerator, denominator << shift)
        assert leading * unit <= scaled < (leading + 1) * unit


def test_without_compilation_the_kernels_give_the_same() -> None:
    script = """
import sys
import numpy as np
from argrank.data.io.letor.reader import read_text
from argrank.data.io.letor.format import Options

text = b"2 qid:10 1:0.03 4:0.5 #docid = GX\\n#c\\n\\n0 qid:10 2:1e-310 1:NULL #docid = b\\r\\n"
text += b"1 qid:x 3:-1234567890123456789.25e3 #docid = d\\n"
text += b"0 qid:10 1:2.47032822920623272e-324 2:17.000000000000000001 3:9007199254740993\\n"
for dtype in ("float64", "float32"):
    for sparse in (True, False):
        options = Options.checked(dtype, sparse, None, None)
        a, b = (read_text(text, "text", options, small=small) for small in (True, False))
        X, Z = (data.X.toarray() if sparse else data.X for data in (a, b))
        assert X.tobytes() == Z.tobytes()
        assert a.comments.tolist() == b.comments.tolist() and a.query_ids.tolist() == b.query_ids.tolist()
        assert a.y.tolist() == b.y.tolist() and a.rows.tolist() == b.rows.tolist()
print("numba" in sys.modules and sys.modules["numba"].config.DISABLE_JIT)
"""
    for disable in ("1", "0"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == disable


def test_a_new_process_finds_the_machine_code_on_disk() -> None:
    script = """
from argrank.data.io.letor.reader import read_text

from argrank.data.io.letor.kernels import count, fill_double, fill_single
from argrank.data.io.letor.format import Options

for dtype in ("float64", "float32"):
    print(read_text(b"1 qid:1 1:0.1 2:3", "text", Options.checked(dtype, False, None, None), small=False).X.tolist())
print([sum(kernel.compiled.stats.cache_hits.values()) for kernel in (count, fill_double, fill_single)])
"""
    for kernel in (count, fill_double, fill_single):
        assert kernel.compiled.stats.cache_path  # this process has left its machine code there
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[[0.1, 3.0]]", "[[0.10000000149011612, 3.0]]", "[1, 1, 1]"], done.stderr
