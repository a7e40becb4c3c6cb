"""Checks of features: missing, constant, coarse, on wildly different scales."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from argrank._tables import counted
from argrank.data.doctor.diagnosis import Finding
from argrank.data.doctor.facts import Facts, sampled
from argrank.data.prepare.impute import FILLINGS

WILD = 1e4  # ratio of the largest to the smallest range of a feature
WILD_BETWEEN_QUERIES = 1.0  # spread of the range between queries, in powers of ten
COARSE = 0.9  # share of tied pairs of documents within a query


def texts(facts: Facts) -> Iterator[Finding]:
    """Report features that are texts."""
    categories = facts.data.categories or {}
    if categories:
        what = f"{counted(len(categories), 'feature is a text', 'features are texts')}"
        example = ", ".join(f"{name!r}: {len(own):,} different" for name, own in categories.items())
        advice = "trees use them as categories, other rankers as columns of 0 and 1; --drop leaves them out"
        yield Finding("texts", "note", what, len(categories), example, advice, facts.name)


def missing(facts: Facts) -> Iterator[Finding]:
    """Report missing values."""
    counts = facts.features.missing
    if counts.any():
        total, holes = int(counts.sum()), int((counts > 0).sum())
        what = f"{counted(total, 'value is', 'values are')} missing, in {holes:,} of {len(counts):,} features"
        example = f"{facts.feature(np.argmax(counts))}: {counts.max() / facts.data.n_documents:.0%} missing"
        ways = " | ".join(f'"{way}"' for way in FILLINGS)
        advice = f"trees accept them, other rankers fill them in automatically; or use ar.impute(data, {ways})"
        yield Finding("missing", "note", what, total, example, advice, facts.name)


def constant(facts: Facts) -> Iterator[Finding]:
    """Report features that have one value in all data."""
    found = ~(facts.features.maximum > facts.features.minimum)
    if found.any():
        advice = "they cannot change any ranking; drop them"
        yield _of_features(facts, "constant", found, "the same value everywhere", advice)


def constant_in_queries(facts: Facts) -> Iterator[Finding]:
    """Report features that vary between queries but never within one."""
    found = (facts.features.varying == 0) & (facts.features.maximum > facts.features.minimum)
    if found.any():
        advice = (
            "they describe the query, so alone they cannot change a ranking: useless to linear models, not to trees"
        )
        yield _of_features(facts, "constant-in-queries", found, "the same value within every query", advice)


def coarse(facts: Facts) -> Iterator[Finding]:
    """Report features that tie nearly all, but not all, document pairs of a query, in a sample of queries."""
    data, sample = facts.data, sampled(facts.data)
    query, sizes = sample.query_of_row, sample.sizes.astype(np.float64)
    pairs = (sizes * (sizes - 1) / 2).sum()
    candidates = facts.features.varying > 0
    if not pairs or data.is_sparse:  # in sparse data most values are zero, which is normal
        return
    found = np.zeros(data.n_features, bool)
    for column in np.flatnonzero(candidates):
        values = sample.X[:, column]
        order = np.lexsort((values, query))
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(values[order]) != 0) | (np.diff(query[order]) != 0)
        runs = np.diff(np.append(np.flatnonzero(new), len(order))).astype(np.float64)
        found[column] = (runs * (runs - 1) / 2).sum() > COARSE * pairs
    if found.any():
        advice = "fine with others; alone, or as the first feature of a greedy ranker, they leave most documents tied"
        yield _of_features(facts, "coarse", found, f"tied values in over {COARSE:.0%} of document pairs", advice)


def scales(facts: Facts) -> Iterator[Finding]:
    """Report features whose ranges differ by orders of magnitude."""
    extent = facts.features.maximum - facts.features.minimum
    usable = np.flatnonzero(extent > 0)
    if len(usable) < 2:
        return
    small, large = usable[np.argmin(extent[usable])], usable[np.argmax(extent[usable])]
    ratio = extent[large] / extent[small]
    if ratio > WILD:
        what = f"scales differ by a factor of {ratio:.0e} between features"
        example = (
            f"{facts.feature(large)} ranges over {extent[large]:.3g}, {facts.feature(small)} over {extent[small]:.3g}"
        )
        advice = 'linear models need comparable scales: ar.normalise(data, "standard") or "query-minmax"; trees do not'
        count = int((extent[usable] > WILD * extent[small]).sum())
        yield Finding("scales", "warning", what, count, example, advice, facts.name)


def scales_of_queries(facts: Facts) -> Iterator[Finding]:
    """Report features whose range differs by orders of magnitude from query to query."""
    found = (facts.features.scale_spread > WILD_BETWEEN_QUERIES) & (facts.features.varying > 1)
    if found.any():
        advice = 'the queries with the largest values decide the fit; consider ar.normalise(data, "query-minmax")'
        yield _of_features(
            facts, "scales-of-queries", found, "ranges that differ tenfold or more between queries", advice
        )


def _of_features(facts: Facts, check: str, found: NDArray[np.bool_], words: str, advice: str) -> Finding:
    count = int(found.sum())
    have = "has" if count == 1 else "have"
    what = f"{count:,} of {len(found):,} features {have} {words}"
    return Finding(check, "note", what, count, facts.feature(np.argmax(found)), advice, facts.name)
