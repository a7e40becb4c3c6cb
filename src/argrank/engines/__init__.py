"""The risk: value and gradient of an objective on data, as functions of the weights of a linear model."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from argrank._threads import map_threads
from argrank.data.dataset import Dataset
from argrank.data.grouping import block_borders
from argrank.data.mapped import row_view
from argrank.engines.dask_data import DistributedDataset as DistributedDataset
from argrank.engines.local import LocalRisk as LocalRisk
from argrank.engines.local import map_blocks as _map_blocks
from argrank.engines.partitioned_risk import PartitionedRisk as PartitionedRisk
from argrank.objectives.objective import Objective

Result = TypeVar("Result")

#: Data that linear rankers accept.
Data = Dataset | DistributedDataset

AnyRisk = LocalRisk | PartitionedRisk


def is_distributed(data: Any) -> bool:
    """Tell whether data is on a cluster."""
    return isinstance(data, DistributedDataset)


def make_risk(data: Data, objective: Objective, n_jobs: int | None = None) -> AnyRisk:
    """Return the risk of an objective on data, on local threads or on a cluster, depending on the data."""
    return data.risk(objective) if isinstance(data, DistributedDataset) else LocalRisk(data, objective, n_jobs)


def map_blocks(data: Data, function: Callable[[Dataset], Result], n_jobs: int | None = None) -> list[Result]:
    """Apply a function to all blocks of queries, local or on a cluster, and return the results in block order."""
    if isinstance(data, DistributedDataset):
        return data.map_blocks(function)
    return _map_blocks(data, block_borders(data.indptr), function, n_jobs)


def over_features(data: Data, function: Callable[[Any], Result], n_jobs: int | None = None) -> list[Result]:
    """Apply a function to the features of all blocks of queries, and return the results in block order."""
    if isinstance(data, DistributedDataset):
        return data.over_features(function)
    cuts = data.indptr[block_borders(data.indptr)].tolist()
    return map_threads(function, [row_view(data.X, slice(*ends)) for ends in itertools.pairwise(cuts)], n_jobs)
