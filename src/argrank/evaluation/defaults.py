"""How systems are compared unless told otherwise; the command line shows these before anything heavy is loaded."""

from __future__ import annotations

TEST = "t"
CORRECTION = "holm"
LEVEL = 0.05  # what counts as significant; intervals cover the rest
N_RESAMPLES = 10_000

# of a value on a click log, below which it is refused
MIN_COVERAGE = 0.9
MIN_CLICKS = 100.0
