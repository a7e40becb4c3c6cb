"""Defaults of comparisons; in a module of their own so that the command line can show them without slow imports."""

from __future__ import annotations

TEST = "t"
CORRECTION = "holm"
LEVEL = 0.05  # significance level; intervals cover 1 - LEVEL
N_RESAMPLES = 10_000

# of a value on a click log; below this it is an error
MIN_COVERAGE = 0.9
MIN_CLICKS = 100.0
