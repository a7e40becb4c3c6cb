"""The problems that an engine poses: one for each of its ways, in its own arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from argrank.deploy.hybrid.engine import Engine
from argrank.errors import OptionError, shown
from argrank.measures.measure import Measure
from argrank.trials.fusion.climb import Limits, Problem
from argrank.trials.fusion.inputs import Systems, seen_by


def engine_problems(
    engine: Engine, normalise: Any, window: int, systems: Systems, measure: Measure, limits: Limits, n_jobs: int | None
) -> dict[str, Problem]:
    """Return the problems by name: documents are those of the engine's lists, their features what it adds up."""
    if normalise is not None and not isinstance(normalise, str):
        raise OptionError(f"normalise: expected one name for all systems with engine, got {shown(normalise)}")
    if measure.cutoff is not None and measure.cutoff > window:
        raise OptionError(f"window: expected at least the cut-off of {measure.name}, got {window}")
    if engine.most_systems is not None and len(systems.names) > engine.most_systems:
        raise OptionError(f"{engine.name}: expected at most {engine.most_systems} systems, got {len(systems.names)}")
    if not engine.takes_negative:
        if (limits.high < 0).any() or (np.nan_to_num(limits.fixed) < 0).any():
            raise OptionError(f"bounds: expected weights from 0 up, as {engine.name} takes no others")
        limits = replace(limits, low=np.maximum(limits.low, 0.0))
    problems = {}
    for name, fusion in engine.fusions(normalise or "auto", window).items():
        seen = seen_by(systems, fusion)
        ready = fusion.prepare(seen.raw, seen.data.indptr)
        problems[name] = Problem(seen.data.with_features(ready.T), measure, limits, seen.judged, n_jobs, fusion)
    return problems
