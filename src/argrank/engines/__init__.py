"""The risk: data and an objective become a value and a gradient in the weights of a linear model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from argrank.data.blocks import block_borders
from argrank.data.dataset import Dataset
from argrank.engines._blocks import map_blocks as _map_blocks
from argrank.engines.local import LocalRisk
from argrank.objectives.objective import Objective

__all__ = ["LocalRisk", "make_risk", "map_blocks"]

Result = TypeVar("Result")


def make_risk(data: Dataset, objective: Objective, n_jobs: int | None = None) -> LocalRisk:
    """Return the risk of an objective on data, by the engine that fits the data: threads, for data on this machine."""
    return LocalRisk(data, objective, n_jobs)


def map_blocks(data: Dataset, function: Callable[[Dataset], Result], n_jobs: int | None = None) -> list[Result]:
    """Apply a function to all blocks of queries, wherever they are, and return what it gives in their order."""
    return _map_blocks(data, block_borders(data.indptr), function, n_jobs)
