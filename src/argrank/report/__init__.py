"""What is shown: plots with matplotlib, and the HTML report with everything in one file."""

from __future__ import annotations

from argrank.report import plot

__all__ = ["plot"]
