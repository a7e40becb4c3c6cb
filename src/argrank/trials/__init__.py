"""Procedures on rankers: selection of parameters, regularisation paths, cross-validation, experiments."""

from __future__ import annotations

from argrank.rankers.registry import RANKERS, Registered

RANKERS.register("auto", Registered("argrank.trials.auto.ranker:Auto", "blend", {}, distributed=True), own=True)
