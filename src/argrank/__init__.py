"""argrank: learning to rank that optimises the measure you report.

The public names are loaded on first use, so ``import argrank`` stays as light as NumPy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOME = {
    "Dataset": "argrank.data.dataset",
    "impute": "argrank.data.impute",
    "normalise": "argrank.data.normalise",
}

__all__ = ["Dataset", "__version__", "impute", "normalise"]

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset
    from argrank.data.impute import impute
    from argrank.data.normalise import normalise


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'argrank' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
