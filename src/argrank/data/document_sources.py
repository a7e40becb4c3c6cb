"""Sources of documents (site, brand, topic), and rankings that do not repeat a source too often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError


def source_numbers(data: Dataset) -> Integers:
    """Return for every stored row the number of its source among those of its query."""
    if data.sources is None:
        raise InputError(
            "diverse: expected data with a source per document, got none; name a column 'source', or give "
            "Dataset(sources=…)"
        )
    names = _numbers(data.sources)
    pairs, member = np.unique(data.query_of_row * (names.max() + 1) + names, return_inverse=True)
    first = np.searchsorted(pairs, np.arange(data.n_queries) * (names.max() + 1))
    return np.asarray(member.ravel() - first[data.query_of_row], np.int64)


def _numbers(sources: NDArray[Any]) -> Integers:
    if sources.dtype != object:
        return np.asarray(np.unique(sources, return_inverse=True)[1].ravel(), np.int64)
    known: dict[Any, int] = {}  # 7 and "7" stay different
    return np.array([known.setdefault(source, len(known)) for source in sources.tolist()], np.int64)


def take_diverse(ranking: Integers, sources: Integers, k: int, at_most: int = 1) -> Integers:
    """Return the first k documents of a ranking with at most ``at_most`` from one source.

    For scores times a non-negative decay this is the best possible choice (ORM section 7.1). Fewer than k are returned
    if there are too few sources.
    """
    by_source = ranking[np.argsort(sources[ranking], kind="stable")]
    groups = sources[by_source]
    allowed = np.zeros(len(ranking), bool)
    allowed[by_source[np.arange(len(ranking)) - np.searchsorted(groups, groups) < at_most]] = True
    return ranking[allowed[ranking]][:k]


def diverse_rankings(scores: Floats, data: Dataset, k: int | None, at_most: int = 1) -> list[Integers]:
    """Return the stored rows of every query, best first: k from different sources, then all others by score.

    ``scores`` are in stored row order; equal ones keep the order of the rows. k=None means the whole list.
    """
    sources, rankings = source_numbers(data), []
    for start, end in zip(data.indptr[:-1], data.indptr[1:], strict=True):
        ranking = np.argsort(-scores[start:end], kind="stable")
        chosen = take_diverse(ranking, sources[start:end], len(ranking) if k is None else k, at_most)
        others = ranking[~np.isin(ranking, chosen)]
        rankings.append(start + np.concatenate((chosen, others)))
    return rankings


def check_diverse(diverse: Any, k: Any = None) -> int:
    """Return how many documents of one source may appear in the first k ranks: True means one."""
    if isinstance(diverse, bool | int | np.integer) and int(diverse) >= 1:
        if k is None or (isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1):
            return int(diverse)
        raise OptionError(f"k: expected a whole number from 1 up or None, got {k!r}")
    raise OptionError(f"diverse: expected True, False or a whole number from 1 up, got {diverse!r}")
