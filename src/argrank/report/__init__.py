"""Plots with matplotlib, and the self-contained HTML report."""

from __future__ import annotations

from argrank.report import plot

__all__ = ["plot"]
