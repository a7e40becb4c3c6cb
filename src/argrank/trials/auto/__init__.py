"""The ranker ``auto``: members of different kinds, evaluated out of fold, blended and refitted on all data."""

from __future__ import annotations

from argrank.trials.auto.ranker import Auto

__all__ = ["Auto"]
