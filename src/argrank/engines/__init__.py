"""The risk: data and an objective become a value and a gradient in the weights of a linear model."""

from __future__ import annotations

from argrank.data.dataset import Dataset
from argrank.engines.local import LocalRisk
from argrank.objectives.objective import Objective

__all__ = ["LocalRisk", "make_risk"]


def make_risk(data: Dataset, objective: Objective, n_jobs: int | None = None) -> LocalRisk:
    """Return the risk of an objective on data, by the engine that fits the data: threads, for data on this machine."""
    return LocalRisk(data, objective, n_jobs)
