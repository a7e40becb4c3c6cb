"""The flagship ranker: members of different kinds, judged out of fold, blended and refitted on everything."""

from __future__ import annotations

from argrank.trials.auto.ranker import Auto

__all__ = ["Auto"]
