"""The columns that a target computes, and their names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from argrank.deploy.one_hot import Column, NotByNumbersError, columns_for, unrolled
from argrank.deploy.options import Options, Term, names_of
from argrank.deploy.plain import Plain
from argrank.errors import ModelError


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
