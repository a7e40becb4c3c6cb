"""Known properties of items besides their ratings: features, and parts of their scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.errors import InputError, is_finite, shown


def check_features(given: Any) -> dict[Any, Floats]:
    """Return the features of items, vectors of one length; nothing for None."""
    found: dict[Any, Floats] = {}
    for item, value in _pairs("item_features", given):
        try:
            vector = np.asarray(value, np.float64)
        except (TypeError, ValueError):
            vector = np.array(np.nan)
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise InputError(f"item_features[{shown(item)}]: expected a vector of finite numbers, got {shown(value)}")
        length = len(next(iter(found.values()), vector))
        if len(vector) != length:
            raise InputError(f"item_features[{shown(item)}]: expected {length} numbers, as before, got {len(vector)}")
        found[item] = vector
    return found


def check_offsets(given: Any) -> dict[Any, float]:
    """Return the known parts of items' scores; nothing for None."""
    found: dict[Any, float] = {}
    for item, value in _pairs("item_offsets", given):
        if not is_finite(value):
            raise InputError(f"item_offsets[{shown(item)}]: expected a finite number, got {shown(value)}")
        found[item] = float(value)
    return found


def offsets_of(items: Iterable[Any], offsets: Mapping[Any, float]) -> Floats:
    """Return the known part of every item's score, 0 for items left out."""
    return np.array([offsets.get(item, 0.0) for item in items], np.float64)


def served_items(
    rated: list[Any], V: Floats, features: Mapping[Any, Floats], offsets: Mapping[Any, float]
) -> tuple[list[Any], Floats]:
    """Return the items of a model, those rated first, and their factors.

    Factors are regressed on features; without features an item gets the mean, like an unknown one. Then the offsets are
    added to the items' biases.
    """
    seen = set(rated)
    described = [item for item in features if item not in seen]
    others = [item for item in offsets if item not in seen and item not in features]
    V = np.vstack((V, _regressed(rated, V, features, described)))
    V = np.vstack((V, np.tile(V.mean(axis=0), (len(others), 1))))
    items = [*rated, *described, *others]
    V[:, -1] += offsets_of(items, offsets)
    return items, V


def _regressed(rated: list[Any], V: Floats, features: Mapping[Any, Floats], wanted: list[Any]) -> Floats:
    """Return the factors that a ridge regression of the rated items' factors on their features predicts for others."""
    rows = [number for number, item in enumerate(rated) if item in features]
    if not rows or not wanted:
        return np.tile(V.mean(axis=0), (len(wanted), 1))
    X, target = np.array([features[rated[row]] for row in rows]), V[rows]
    mean, centre = X.mean(axis=0), target.mean(axis=0)
    gram = (X - mean).T @ (X - mean) + np.eye(X.shape[1])
    B = np.linalg.solve(gram, (X - mean).T @ (target - centre))
    return np.asarray(centre + (np.array([features[item] for item in wanted]) - mean) @ B)


def _pairs(name: str, given: Any) -> list[tuple[Any, Any]]:
    """Return ids and values of a mapping or a series, ids as the ratings have them and model files can hold them."""
    if given is None:
        return []
    if not callable(getattr(given, "items", None)):
        raise InputError(f"{name}: expected a mapping from items, got {shown(given)}")
    return [(item.item() if isinstance(item, np.generic) else item, value) for item, value in given.items()]
