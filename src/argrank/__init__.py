"""argrank: learning to rank that optimises the measure you report.

The public names are loaded on first use, so ``import argrank`` stays as light as NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOME = {
    "Dataset": "argrank.data.dataset",
    "QueryKFold": "argrank.data.folds",
    "check_collection": "argrank.data.collections",
    "clean": "argrank.data.clean",
    "collection_names": "argrank.data.collections",
    "doctor": "argrank.data.doctor",
    "dump": "argrank.data.load",
    "impute": "argrank.data.impute",
    "load": "argrank.data.load",
    "load_collection": "argrank.data.collections",
    "load_ratings": "argrank.data.collections",
    "normalise": "argrank.data.normalise",
    "objective": "argrank.objectives",
}

__all__ = [
    "Dataset",
    "QueryKFold",
    "__version__",
    "check_collection",
    "clean",
    "collection_names",
    "doctor",
    "dump",
    "impute",
    "load",
    "load_collection",
    "load_ratings",
    "normalise",
    "objective",
]

if TYPE_CHECKING:
    from argrank.data.clean import clean
    from argrank.data.collections import check_collection, collection_names, load_collection, load_ratings
    from argrank.data.dataset import Dataset
    from argrank.data.doctor import doctor
    from argrank.data.folds import QueryKFold
    from argrank.data.impute import impute
    from argrank.data.load import dump, load
    from argrank.data.normalise import normalise
    from argrank.objectives import objective


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'argrank' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
