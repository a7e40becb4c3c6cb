"""Scores of several systems on one scale: normalised within the query, with a score for documents not returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.prepare.normalise import normaliser
from argrank.deploy.hybrid.engine import RANK_CONSTANT
from argrank.errors import InputError, OptionError, is_finite, shown, unknown_name

LOWEST = "lowest"


def _by(name: str) -> Callable[[Floats, Integers], Floats]:
    """Return a normaliser of features as a function of scores."""
    return lambda scores, indptr: normaliser(name).apply(scores[:, None], indptr)[:, 0]


def reciprocal_ranks(scores: Floats, indptr: Integers) -> Floats:
    """Return 1 / (60 + rank) within every query; equal scores share the mean of their ranks, NaN stays NaN."""
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((-scores, query))  # NaN comes last
    ordered = scores[order]
    first = np.append(True, (np.diff(query[order]) != 0) | (np.diff(ordered) != 0))
    group = np.cumsum(first) - 1
    rank = np.arange(len(scores)) - indptr[query[order]] + 1.0
    ranks = np.empty(len(scores))
    ranks[order] = (np.bincount(group, rank) / np.bincount(group))[group]
    return np.where(np.isnan(scores), np.nan, 1.0 / (RANK_CONSTANT + ranks))


#: Normalisations of a system's scores within each query, by name.
NORMALISERS: dict[str, Callable[[Floats, Integers], Floats]] = {
    "none": lambda scores, indptr: scores,
    "minmax": _by("query-minmax"),
    "zscore": _by("query-zscore"),
    "rank": reciprocal_ranks,
}


def check_normalisers(given: Any, names: Sequence[str]) -> dict[str, str]:
    """Return the normaliser of every system from one name for all or a mapping."""
    chosen = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names, "none" if given is None else given)
    for name, rule in chosen.items():
        if name not in names:
            raise unknown_name("system", name, names)
        if rule not in NORMALISERS:
            raise unknown_name("normalisation", rule, [*NORMALISERS, "auto"])
    return dict.fromkeys(names, "none") | chosen


def check_missing(missing: Any) -> str | float:
    """Return ``"lowest"`` or the number that a document gets from a system that did not return it."""
    if missing == "rrf":
        return 0.0
    if missing == LOWEST or is_finite(missing):
        return missing if missing == LOWEST else float(missing)
    raise OptionError(f"missing: expected 'lowest', 'rrf' or a number, got {shown(missing)}")


def scaled(raw: Floats, indptr: Integers, normalisers: Sequence[str], missing: str | float) -> Floats:
    """Return comparable scores (a row for every system, NaN if it did not return the document)."""
    rows = []
    for scores, name in zip(raw, normalisers, strict=True):
        found = NORMALISERS[name](scores, indptr)
        gaps = np.isnan(found)
        if gaps.any():
            low = np.fmin.reduceat(found, indptr[:-1])  # NaN where the system returned nothing
            lowest = np.repeat(np.where(np.isnan(low), 0.0, low), np.diff(indptr))
            found = np.where(gaps, lowest if missing == LOWEST else missing, found)
        if not np.isfinite(found).all():
            raise InputError("scores: expected scores whose range is a finite number, got an overflow")
        rows.append(found)
    return np.array(rows)


def query_means(values: Floats, indptr: Integers) -> Floats:
    """Return the mean of every query's values that are not NaN; NaN where there is none."""
    known = ~np.isnan(values)
    count = np.add.reduceat(known.astype(np.float64), indptr[:-1])
    total = np.add.reduceat(np.where(known, values, 0.0), indptr[:-1])
    return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))
