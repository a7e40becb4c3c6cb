from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argrank.report.scale import Scale, tick_text

numbers = st.floats(-1e9, 1e9).filter(lambda value: value == 0 or abs(value) > 1e-9)


@given(st.lists(numbers, min_size=1, max_size=5), st.booleans())
def test_every_value_and_tick_lies_inside(values, zero):
    scale = Scale.of(values, 0, 100, zero=zero)
    assert all(-1e-6 <= scale(value) <= 100 + 1e-6 for value in values)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 12
    assert all(-1e-6 <= scale(tick) <= 100 + 1e-6 for tick in ticks)


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=5))
def test_logarithmic_scales_too(values):
    scale = Scale.of(values, 300, 10, log=True)
    assert all(10 - 1e-6 <= scale(value) <= 300 + 1e-6 for value in values)
    assert scale.ticks()


def test_what_has_no_place_is_not_shown():
    scale = Scale.of([1.0, math.nan, math.inf, 10.0], 0, 1, log=True)
    assert not scale.shows(0.0)
    assert not scale.shows(math.nan)
    assert scale.shows(3.0)


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (-2.5, "\N{MINUS SIGN}2.5"), (1e6, "1e6"), (1e-5, "1e\N{MINUS SIGN}5")]
)
def test_ticks_are_short(value, text):
    assert tick_text(value) == text
