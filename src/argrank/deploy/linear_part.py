"""Merge the linear parts of a model into one: a weight for each feature, and for each category that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.prepare.normalise import Normaliser
from argrank.data.prepare.preparation import MISSING, Preparation
from argrank.deploy.one_hot import Column, computed
from argrank.models.tree import Tree


class Way(NamedTuple):
    """The transformation of raw features before a part of a model: preparation, then normaliser."""

    normaliser: Normaliser | None
    preparation: Preparation | None


@dataclass(frozen=True, eq=False)
class Linear:
    """Score = sum of weight * (x - shift) / scale over columns; those of scale 0 have weight 0 and scale 1.

    The columns are all features, with missing values as 0, followed by columns for single categories, if any.
    """

    weights: Floats
    shift: Floats
    scale: Floats
    columns: tuple[Column, ...]

    @property
    def normalises(self) -> bool:
        """Whether any feature is shifted or scaled."""
        return bool((self.shift != 0).any() or (self.scale != 1).any())

    def magnitudes(self, X: Floats) -> Floats:
        """Return the sum of absolute terms of every row, the scale of rounding errors."""
        values = np.abs(np.nan_to_num(computed(X, self.columns)))
        return np.asarray(((values + np.abs(self.shift)) * (np.abs(self.weights) / self.scale)).sum(axis=1))

    def on(self, columns: Sequence[Column]) -> Linear:
        """Return the same for other columns, in their order; columns that are left out have weight 0."""
        place = {column: number for number, column in enumerate(self.columns)}
        rows = [place.get(column, -1) for column in columns]
        weights, shift, scale = (
            np.append(of, [rest])[rows] for of, rest in ((self.weights, 0.0), (self.shift, 0.0), (self.scale, 1.0))
        )
        return Linear(weights, shift, scale, tuple(columns))


class OneLinear(NamedTuple):
    """One linear part, the additional value of a missing feature, and the constant that both omit."""

    linear: Linear
    missing: dict[int, float]
    constant: float


def one_linear(parts: Sequence[tuple[float, Floats, Way]], n: int) -> OneLinear:
    """Return one linear part of all; each column keeps the first normaliser that changes it."""
    derived = {column for _, _, way in parts for column in _columns(way, n)[n:] if column is not None}
    columns = (*(Column(feature) for feature in range(n)), *sorted(derived))
    spread = [_spread(part, columns) for part in parts]
    size = len(columns)
    shift, scale, open_ = np.zeros(size), np.ones(size), np.ones(size, bool)
    for one in spread:
        take = open_ & one.moved
        shift[take], scale[take] = one.shift[take], one.scale[take]
        open_ &= ~take
    total, constant = np.zeros(size), 0.0
    missing: dict[int, float] = {}
    for one in spread:
        alike = (one.shift == shift) & (one.scale == scale)
        total += np.where(alike, one.weights, one.weights / one.scale * scale)
        constant += one.constant + float((np.where(alike, 0.0, one.weights / one.scale) * (shift - one.shift)).sum())
        for feature, value in one.missing.items():
            missing[feature] = missing.get(feature, 0.0) + value
    linear = Linear(total, np.where(total == 0, 0.0, shift), np.where(total == 0, 1.0, scale), columns)
    return OneLinear(linear, {feature: value for feature, value in missing.items() if value != 0}, constant)


class _Spread(NamedTuple):
    weights: Floats
    shift: Floats
    scale: Floats
    moved: NDArray[np.bool_]  # columns that its normaliser knows
    missing: dict[int, float]
    constant: float


def _columns(way: Way, n: int) -> list[Column | None]:
    """Return a part's own columns; None for those that mark missing values, or are always 0."""
    if way.preparation is None:
        return [Column(feature) for feature in range(n)]
    made = zip(way.preparation.source.tolist(), way.preparation.code.tolist(), strict=True)
    texts = set(way.preparation.texts.tolist())
    raw = [None if feature in texts else Column(feature) for feature in range(n)]
    return [*raw, *(None if code == MISSING else Column(source, code) for source, code in made)]


def _spread(part: tuple[float, Floats, Way], columns: Sequence[Column]) -> _Spread:
    """Return a part on columns that all parts share."""
    factor, weights, way = part
    n_raw = sum(column.category is None for column in columns)
    own_shift, own_scale = np.zeros(len(weights)), np.ones(len(weights))
    known = np.zeros(len(weights), bool)
    if way.normaliser is not None and way.normaliser.shift is not None and way.normaliser.scale is not None:
        own_shift, own_scale = way.normaliser.shift, way.normaliser.scale
        known = own_scale > 0
    own_weights = factor * np.where(own_scale > 0, weights, 0.0)
    own_scale = np.where(own_scale > 0, own_scale, 1.0)
    slopes = own_weights / own_scale
    place = {column: number for number, column in enumerate(columns)}
    size = len(columns)
    found = _Spread(np.zeros(size), np.zeros(size), np.ones(size), np.zeros(size, bool), {}, 0.0)
    constant = 0.0
    for number, column in enumerate(_columns(way, n_raw)):
        if column is None:
            constant -= float(slopes[number] * own_shift[number])
            continue
        at = place[column]
        found.weights[at], found.shift[at], found.scale[at] = own_weights[number], own_shift[number], own_scale[number]
        found.moved[at] = known[number]
    if way.preparation is not None:
        fill = np.nan_to_num(way.preparation.fill)
        flags = np.flatnonzero(way.preparation.code == MISSING)
        added = slopes[:n_raw] * fill
        np.add.at(added, way.preparation.source[flags], slopes[n_raw + flags])
        found.missing.update((int(feature), float(added[feature])) for feature in np.flatnonzero(added))
    return found._replace(constant=constant)


def linear_and_trees(found: OneLinear, n: int, sets: bool) -> tuple[Linear, list[Tree], float]:
    """Return the linear part, trees for what it cannot express, and the constant that all omit.

    With ``sets``, trees also express categories.
    """
    linear, constant = found.linear, found.constant
    wanted = [missing_tree(feature, value) for feature, value in sorted(found.missing.items())]
    if sets:
        rows = zip(linear.columns, linear.weights.tolist(), linear.shift.tolist(), linear.scale.tolist(), strict=True)
        for column, weight, moved, scale in rows:
            if column.category is not None and weight != 0:
                tree = missing_tree(column.source, 0.0).with_values(np.array([weight / scale, 0.0]))
                wanted.append(replace(tree, categories={0: np.array([column.category], np.int64)}))
                constant -= weight / scale * moved
        linear = linear.on(linear.columns[:n])
    if wanted:
        wanted[0], constant = wanted[0].with_values(wanted[0].value + constant), 0.0
    return linear, wanted, constant


def missing_tree(feature: int, value: float) -> Tree:
    """Return a tree with a value if a feature is missing, else 0."""
    return Tree.stump(feature, float(np.finfo(np.float64).max), False, 2, [0.0, value])
