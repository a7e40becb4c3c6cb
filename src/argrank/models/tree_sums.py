"""Many trees together: their sums over rows, and what features contribute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError
from argrank.models._flat import FlatTrees
from argrank.models.tree import Tree


def sums(trees: Sequence[Tree], X: Any, n_outputs: int = 1) -> Floats:
    """Return the sum of the trees' values for every row and output; tree i belongs to output i modulo ``n_outputs``."""
    return FlatTrees(trees, n_outputs).sums(X)


def importances(trees: Sequence[Tree], n_features: int, kind: str) -> Floats:
    """Return, for every feature, the sum of the gains of its splits, or their number."""
    if kind not in ("gain", "split"):
        raise OptionError(f'importance: expected "gain" or "split", got {kind!r}')
    total = np.zeros(n_features)
    for tree in trees:
        np.add.at(total, tree.feature, tree.gain if kind == "gain" else 1.0)
    return total
