"""Categories for engines that support only numbers: columns such as ``brand=acme``, always 0 or 1.

A split by a set of categories becomes nested tests of such columns. Below a test the category is known, so that further
splits by it are dropped there; below all of them those categories are excluded. Subtrees of the categories that go left
are written once for each of them, without the splits that are decided: LightGBM sends the smaller half left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.deploy.options import Options, Term, names_of
from argrank.errors import ModelError
from argrank.models.forest import DEEPEST, Builder, Forest

if TYPE_CHECKING:
    from argrank.deploy.plain import Plain

MOST_SPLITS = 200_000  # of a forest after unrolling: about 25 MB for the plugins


class Column(NamedTuple):
    """A column that an engine computes: a feature of the model, or whether that feature is a category."""

    source: int
    category: int | None = None

    def of(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the column, given the features of the model."""
        values = X[:, self.source]
        return values if self.category is None else (np.trunc(values) == self.category).astype(X.dtype)


def computed(X: Floats, columns: Sequence[Column] | None) -> Floats:
    """Return the rows as an engine computes them."""
    return X if columns is None else np.column_stack([column.of(X) for column in columns])


class NotByNumbersError(ModelError):
    """Columns of 0 and 1 cannot express a model's splits by category."""


def columns_for(n_features: int, categories: Mapping[int, Sequence[int]]) -> tuple[Column, ...]:
    """Return the columns that replace the features: a feature with categories becomes a column for each of them."""
    found: list[Column] = []
    for feature in range(n_features):
        found += [Column(feature, one) for one in categories[feature]] if feature in categories else [Column(feature)]
    return tuple(found)


def unrolled(forest: Forest, columns: Sequence[Column]) -> Forest:
    """Return the same trees on other columns, with splits by number alone."""
    place = {column: number for number, column in enumerate(columns)}
    builder = Builder()

    def copy(node: int, known: Mapping[int, int], ruled_out: Mapping[int, frozenset[int]], depth: int) -> int:
        if len(builder.nodes) > MOST_SPLITS or depth > DEEPEST:
            raise NotByNumbersError(f"it takes more than {MOST_SPLITS:,} splits, or {DEEPEST} levels of them")
        if node < 0:
            return builder.leaf(float(forest.value[~node]))
        feature, left, right = int(forest.feature[node]), int(forest.left[node]), int(forest.right[node])
        if node not in forest.members:
            if Column(feature) not in place:
                raise NotByNumbersError(
                    "a split depends on whether it is missing, which cannot be distinguished from a rare category"
                )
            here = builder.node(place[Column(feature)], float(forest.cut[node]), bool(forest.nan_left[node]))
            builder.join(here, copy(left, known, ruled_out, depth + 1), copy(right, known, ruled_out, depth + 1))
            return here
        members = forest.members[node].tolist()
        if feature in known:
            return copy(left if known[feature] in members else right, known, ruled_out, depth)
        out = ruled_out.get(feature, frozenset())
        tests = [one for one in members if one not in out]
        nodes = [builder.node(place[Column(feature, one)], 0.5, True) for one in tests]
        below = copy(right, known, {**ruled_out, feature: out.union(tests)}, depth + len(tests))
        for level, (here, one) in reversed(list(enumerate(zip(nodes, tests, strict=True), 1))):
            builder.join(here, below, copy(left, {**known, feature: one}, ruled_out, depth + level))
            below = here
        return below

    builder.roots = [copy(root, {}, {}, 0) for root in forest.roots.tolist()]
    return builder.forest(forest.cut.dtype.type)


def with_numbers_alone(parts: Plain, served: Any, to: str) -> tuple[Plain, tuple[Column, ...] | None]:
    """Return the parts on columns that are numbers, and those columns; None if the features already are."""
    texts = texts_of(served)
    categories = parts.categories
    if not (categories or texts):
        return parts, None
    columns = columns_for(parts.n_features, {feature: categories.get(feature, []) for feature in {*texts, *categories}})
    try:
        forest = None if parts.forest is None else unrolled(parts.forest, columns)
        linear = None if parts.linear is None else parts.linear.on(columns)
        return replace(parts, n_features=len(columns), linear=linear, forest=forest, doubles=None), columns
    except NotByNumbersError as error:
        most = max(categories, key=lambda feature: len(categories[feature]))
        name = names_of(served.feature_names, None, parts.n_features)[most]
        raise ModelError(
            f"column {name!r}: {to} supports only numbers, and columns of 0 and 1 cannot express this model's use of "
            f"{len(categories[most]):,} categories: {error}; train again with --target {to} (target={to!r}), which "
            f"makes such columns before training"
        ) from error


def texts_of(served: Any) -> dict[int, tuple[str, ...]]:
    """Return the texts of features, by the number of the feature."""
    names = served.feature_names or ()
    return {names.index(name): tuple(texts) for name, texts in (served.categories or {}).items()}


def options_of(
    name: str, names: tuple[str, ...], missing: str, served: Any, columns: tuple[Column, ...] | None
) -> Options:
    """Return the options of a writer; ``names`` are those of the model's features in the engine."""
    texts = texts_of(served)
    if columns is None:
        return Options(name, names, missing, texts=texts)
    terms = {
        number: Term(names[one.source], texts[one.source][one.category] if one.source in texts else str(one.category))
        for number, one in enumerate(columns)
        if one.category is not None
    }
    called = tuple(terms[i].name if i in terms else names[one.source] for i, one in enumerate(columns))
    return Options(name, called, missing, terms)
