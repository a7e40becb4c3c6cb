"""Data on the workers of a Dask cluster: ``from argrank.dask import DistributedDataset``; needs ``argrank[dask]``."""

from argrank.engines.dask_data import DistributedDataset

__all__ = ["DistributedDataset"]
