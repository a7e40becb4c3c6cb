"""Estimate how much each rank is seen (the examination curve) from a log, by one of several methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from argrank._blas import single_threaded_blas
from argrank._declared import checked
from argrank._types import Floats
from argrank.clicks import harvest, regression, trust
from argrank.clicks.cells import Cells, Likelihood, cells_of_documents
from argrank.clicks.curve import Propensities, PropensitiesBy, read_propensities
from argrank.data.clicks.coding import N_GROUPS
from argrank.data.clicks.counts import ClickCounts, ranks_text
from argrank.data.clicks.log import Clicks
from argrank.errors import ArgrankWarning, InputError, OptionError

__all__ = ["Propensities", "PropensitiesBy", "propensities", "read_propensities"]

LEVEL = 0.95
UNSURE = 0.2  # relative half width of an interval of "trust" above which there is a note
HALF = 0.5  # share of a group of sessions that is removed for the jackknife


@checked
def propensities(
    log: Clicks | ClickCounts | None,
    method: Literal["auto", "harvest", "pbm", "trust", "swap", "given", "ctr"] = "auto",
    *,
    values: Any = None,
    ranks: Any = None,
    by: str | None = None,
    features: Any = None,
    weigh: Literal["precision", "equal"] = "precision",
) -> Propensities | PropensitiesBy:
    """Estimate how much each rank is seen.

    Parameters
    ----------
    log : Clicks or ClickCounts
        The log, or its sums; None for ``method="given"``.
    method : str
        "harvest" (documents that were shown at several ranks), "pbm" (the position-based model, from each document's
        clicks at its ranks given its total clicks), "trust" (also models clicks that are due to the rank alone; only
        differences between documents are identified), "swap" (a randomised swap of ranks: ratio of rates), "given"
        (your own ``values``) or "ctr" (rates by rank, which mix how much a rank is seen with how good its documents
        are). "auto" uses "harvest" if ranks are linked, else "pbm" with ``features``.
    values : array, optional
        The curve of ``method="given"``; it is divided by its first value.
    ranks : pair of ranks, optional
        For ``method="swap"``: the ranks that were swapped at random, rank 1 first.
    by : str, optional
        A column of the log, such as "device": a curve for each of its values.
    features : Dataset, optional
        For "pbm": attractions come from a logistic regression on these rows, one for each (qid, docid) of the log. The
        ranks then need no links; instead, documents with the same features are assumed to attract alike.
    weigh : "precision" or "equal"
        For "harvest": a (qid, docid) that was shown n and n' times at two ranks weighs n n' / (n + n'), or all weigh
        the same (Agarwal et al. 2019), so that rare documents count as much as frequent ones and the curve varies more
        between logs.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(n_queries=50, random_state=0)
    >>> log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=20_000, vary=1.0)
    >>> ar.propensities(log).values.round(1).tolist()[:3]
    [1.0, 0.5, 0.3]
    """
    for name, given, methods in (
        ("values", values, ("given",)),
        ("ranks", ranks, ("swap",)),
        ("features", features, ("auto", "pbm")),
    ):
        if given is not None and method not in methods:
            expected = " or ".join(f"method={one!r}" for one in methods)
            raise OptionError(f"{name}: expected {expected}, the only method that uses it, got method={method!r}")
    if by is not None:
        if not isinstance(log, Clicks):
            raise InputError(f"by={by!r}: expected a click log with sessions, got {type(log).__name__}")
        of_session = log.column(by)[log.indptr[:-1]].astype(str)
        parts = {str(name): log.select(of_session == name) for name in np.unique(of_session)}
        curves = {name: _curve(part, method, values, ranks, features, weigh) for name, part in parts.items()}
        return PropensitiesBy(by, curves)
    return _curve(log, method, values, ranks, features, weigh)


def _curve(log: Any, method: str, values: Any, ranks: Any, features: Any, weigh: str) -> Propensities:
    if method == "given":
        return _given(values)
    counts = counts_of(log)
    if method == "ctr":
        return _rates(counts)
    if method == "swap":
        return _swapped(counts, ranks)
    linked = next(harvest.cells(counts)).linked()
    shown = counts.by_position()[0][1:] > 0
    if shown.sum() < 2:
        raise InputError(f"propensities: expected documents at two ranks or more, got rank {counts.n_positions} alone")
    if features is not None and (method == "pbm" or not linked[shown].all()):
        return _by_features(counts, features, linked)
    if not linked[shown].all():
        raise InputError(_not_linked(np.flatnonzero(shown & ~linked) + 1))
    if method == "trust":
        return _with_trust(counts, linked, shown)
    if method == "pbm":
        return _linked_curve(counts, cells_of_documents, "poisson", linked, "pbm")
    cells = partial(harvest.cells, equal=weigh == "equal")
    return _linked_curve(counts, cells, "binomial", linked, "harvest")


def _linked_curve(
    counts: ClickCounts,
    cells: Callable[[ClickCounts, float], Iterator[Cells]],
    likelihood: Likelihood,
    linked: NDArray[np.bool_],
    method: str,
) -> Propensities:
    """Return a curve with intervals by groups of sessions, on the scale of logarithms."""
    counts_by_group = grouped(counts)
    sets = cells(counts_by_group, HALF)
    with single_threaded_blas():
        value = next(sets).curve(likelihood, linked)
        without = np.array([one.curve(likelihood, linked, value) for one in sets])  # half a group unlinks nothing
    wide = half_width(without, HALF)
    low, high = np.exp(value - wide), np.exp(value + wide)
    replicates = np.tile(value, (N_GROUPS, 1))
    moved = value + (without - value) / HALF  # scaled to the change without the whole group
    groups = np.zeros(0, np.uint8) if counts_by_group.group is None else np.unique(counts_by_group.group)
    replicates[groups] = np.where(np.isnan(moved), value, moved)
    curve = Propensities(np.exp(value), low, high, linked, method, "; ".join(_notes(counts)))
    return replace(curve, replicates=np.exp(replicates), source=counts.fingerprint)


def _by_features(counts: ClickCounts, data: Any, linked: NDArray[np.bool_]) -> Propensities:
    features = regression.features_of(counts, data)
    sets = cells_of_documents(grouped(counts), HALF)
    with single_threaded_blas():
        value, point = regression.curve(next(sets), features)
        wide = half_width(np.array([regression.curve(one, features, point)[0] for one in sets]), HALF)
    note = "assumes that documents with the same features attract alike at every rank"
    note = "; ".join((note, *_notes(counts)))
    return Propensities(np.exp(value), np.exp(value - wide), np.exp(value + wide), linked, "pbm with features", note)


def _with_trust(counts: ClickCounts, linked: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Propensities:
    if not shown.all():
        rank = int(np.argmin(shown)) + 1
        raise InputError(f"method='trust': expected documents at every rank down to the last, got none at rank {rank}")
    sets = cells_of_documents(grouped(counts))
    cells = next(sets)
    found = trust.fit(cells)
    if not trust.has_evidence(cells, found):
        raise InputError(
            "method='trust': expected a log with evidence of trust bias, got one that fits as well without it "
            "(likelihood ratio test at 5 %); use method='harvest'"
        )
    slopes, offsets = (np.asarray(one) for one in (found.slopes, found.offsets))
    replicates = [trust.fit(one, found.point) for one in sets]
    without = np.array([one.slopes for one in replicates])
    value, wide = without_bias(slopes, without), half_width(without, 1.0)
    notes = [
        "attractions are known only up to a factor and a constant: the last rank's offset is set to 0, and only "
        "differences between documents or rankers are meaningful"
    ]
    unsure = np.flatnonzero(~(wide <= UNSURE * np.abs(value))) + 1
    if len(unsure):
        notes.append(
            f"this log hardly separates slopes from offsets: the interval of {ranks_text(unsure)} is wider than "
            f"{UNSURE:.0%} of the value on each side; use a longer log, or documents that are shown more often"
        )
        warnings.warn(f"method='trust': {notes[-1]}", ArgrankWarning, stacklevel=4)
    note = "; ".join([*notes, *_notes(counts)])
    return Propensities(value, value - wide, value + wide, linked, "trust", note, offsets)


def without_bias(value: Floats, without: Floats) -> Floats:
    """Return an estimate with its bias removed by the jackknife, from one row per group left out."""
    n = len(without)
    freed = n * value - (n - 1) * without.mean(axis=0)
    return np.where(np.isnan(freed), value, freed)


def half_width(without: Floats, share: float) -> Floats:
    """Return half the width of 95 % intervals, from estimates with a share of each group removed; exact for a mean.

    An estimate changes by a group's residual over 1 - share x leverage. Removing a whole group (share 1) makes
    intervals too wide, like HC3 in a regression, a tiny share too narrow, like HC0; half a group is in between, like
    HC2.
    """
    n = len(without)
    if n < 2:
        return np.full(without.shape[1], np.nan)
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    error = (n - share) / share * np.sqrt(squares / (n * (n - 1)))
    return np.asarray(stats.t.ppf(0.5 + LEVEL / 2, n - 1) * error)


def grouped(counts: ClickCounts) -> ClickCounts:
    """Return sums by groups of sessions; sums without sessions are assigned to groups at random."""
    return counts if counts.group is not None else _split_at_random(counts)


def _notes(counts: ClickCounts) -> list[str]:
    """Return notes on the intervals."""
    if counts.group is None:
        return ["intervals ignore that clicks of one user are correlated"]
    if len(np.unique(counts.group)) < 2:
        return ["no intervals: all sessions belong to one user, or to users of one group"]
    return []


def _split_at_random(counts: ClickCounts) -> ClickCounts:
    """Assign the impressions and clicks of sums without sessions to groups at random."""
    random = np.random.default_rng(0)
    share = np.full(N_GROUPS, 1.0 / N_GROUPS)
    clicks = random.multinomial(counts.clicks, share)
    others = random.multinomial(counts.impressions - counts.clicks, share)
    cell, group = np.nonzero(clicks + others)
    return replace(
        counts,
        pair=counts.pair[cell],
        position=counts.position[cell],
        group=group.astype(np.uint8),
        impressions=(clicks + others)[cell, group],
        clicks=clicks[cell, group],
        value=clicks[cell, group].astype(np.float64),
    )


def counts_of(log: Clicks | ClickCounts | None) -> ClickCounts:
    """Return the sums of a log whose positions begin with 1."""
    if log is None:
        raise InputError("log: expected a click log (ar.load_clicks), got None, which only method='given' takes")
    counts = log.counts() if isinstance(log, Clicks) else log
    if int(counts.position.min()) < 1:
        raise InputError(
            "propensities: expected positions from 1 up, got 0; load the log with first_position=0 if its top rank is 0"
        )
    return counts


def _not_linked(ranks: NDArray[np.intp]) -> str:
    return (
        "propensities: expected documents that were shown at several ranks and clicked there, which link all ranks; "
        f"nothing links {ranks_text(ranks)} to rank 1. Pages that never vary cannot separate how much a rank is seen "
        "from how good its documents are: vary them a little, give a curve (method='given'), or features= "
        "with the assumption that documents with the same features attract alike"
    )


def _given(values: Any) -> Propensities:
    try:
        curve = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError("values: expected the curve of method='given' as a list of numbers") from error
    if curve.ndim != 1 or not len(curve) or not np.isfinite(curve).all() or (curve <= 0).any():
        raise OptionError("values: expected the curve of method='given' as a list of positive numbers")
    curve = curve / curve[0]
    linked, note = np.ones(len(curve), bool), "given by the caller, without interval"
    return Propensities(curve, curve, curve, linked, "given", note)


def _rates(counts: ClickCounts) -> Propensities:
    shown, clicks = (one[:, 1:] for one in grouped(counts).by_group())
    none = np.flatnonzero((shown.sum(axis=0) > 0) & (clicks.sum(axis=0) == 0)) + 1
    if 1 in none or not shown[:, 0].any():
        raise InputError("propensities: expected clicks at rank 1, got none")
    with np.errstate(invalid="ignore", divide="ignore"):
        value, *without = (
            np.log((clicks.sum(axis=0) - HALF * less[1]) / (shown.sum(axis=0) - HALF * less[0]))
            for less in ((0.0, 0.0), *zip(shown, clicks, strict=True))
        )
    value = np.where(np.isfinite(value), value - value[0], np.nan)
    moved = np.array(without)
    with np.errstate(invalid="ignore"):
        wide = half_width(moved - moved[:, :1], HALF)
    note = ["click rates by rank, which also depend on how good the documents are"]
    note += [f"no clicks at {ranks_text(none)}"] if len(none) else []
    values, low, high = np.exp(value), np.exp(value - wide), np.exp(value + wide)
    return Propensities(values, low, high, np.zeros(len(values), bool), "ctr", "; ".join([*note, *_notes(counts)]))


def _swapped(counts: ClickCounts, ranks: Any) -> Propensities:
    try:
        first, second = (int(one) for one in ranks)
    except (TypeError, ValueError) as error:
        raise OptionError(f"ranks: expected the two ranks that were swapped at random, got {ranks!r}") from error
    if first != 1 or not 1 < second <= counts.n_positions:
        raise OptionError(f"ranks: expected rank 1 and one up to {counts.n_positions}, got {ranks!r}")
    found = _rates(counts)
    kept = np.zeros(second, bool)
    kept[[0, second - 1]] = True
    cut = [np.where(kept, one[:second], np.nan) for one in (found.values, found.low, found.high)]
    if np.isnan(cut[0][second - 1]):
        raise InputError(f"method='swap': expected clicks at rank {second}, got none")
    note = f"ratio of the rates at ranks 1 and {second}, valid if these two were swapped at random"
    return Propensities(cut[0], cut[1], cut[2], kept, "swap", "; ".join((note, *_notes(counts))))
