"""How much each rank is seen: the curve of examination, estimated from a log in one of several ways."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from argrank._files import open_bytes, read_all, write_bytes
from argrank._tables import Table, table, to_html, to_text
from argrank._types import Floats, Integers
from argrank.clicks import harvest, position_em
from argrank.data.clicks.coding import N_GROUPS
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.errors import FormatError, InputError, OptionError, check_choice

METHODS = ("auto", "harvest", "pbm", "swap", "given", "ctr")
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Propensities:
    """The curve of examination: ``values[0]`` is rank 1 and 1.0, the others are relative to it.

    Attributes
    ----------
    values, low, high : arrays, one entry for each rank
        The curve and the ends of its 95 % intervals; NaN for ranks that nothing in the log links to rank 1.
    linked : array of bool
        Whether a rank is linked to rank 1 by documents that were shown at several ranks.
    method : str
        How the curve was estimated.
    note : str
        What the interval, or the curve, rests on.
    """

    values: Floats
    low: Floats
    high: Floats
    linked: NDArray[np.bool_]
    method: str
    note: str = ""

    def __len__(self) -> int:
        return len(self.values)

    def at(self, position: Integers) -> Floats:
        """Return the examination of positions, from 1; one beyond the curve or unknown is an error."""
        outside = (position < 1) | (position > len(self.values))
        inside = np.where(outside, 1, position)
        found = np.where(outside, np.nan, self.values[inside - 1])
        if np.isnan(found).any():
            rank = int(position[np.argmax(np.isnan(found))])
            raise InputError(f"propensities: expected a curve that covers rank {rank}, got {len(self.values)} ranks")
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the curve as JSON."""
        content = {
            "method": self.method,
            "note": self.note,
            **{name: _listed(getattr(self, name)) for name in ("values", "low", "high")},
            "linked": self.linked.tolist(),
        }
        with write_bytes(path) as stream:
            stream.write(json.dumps(content, indent=1).encode())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Propensities:
        """Read a curve that ``write`` has written."""
        with open_bytes(path) as stream:
            content = read_all(stream, os.fspath(path))
        try:
            found = json.loads(content)
            arrays = {
                name: np.array([np.nan if one is None else one for one in found[name]], np.float64)
                for name in ("values", "low", "high")
            }
            linked = np.array(found["linked"], bool)
            if any(array.shape != linked.shape or array.ndim != 1 for array in arrays.values()) or not len(linked):
                raise ValueError("lists of different lengths")
            return cls(**arrays, linked=linked, method=str(found["method"]), note=str(found["note"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise FormatError(path, None, "a curve of examination as JSON", str(error)[:80]) from error

    def _table(self) -> Table:
        rows = [
            (rank, *("-" if np.isnan(one) else f"{one:.4f}" for one in numbers))
            for rank, numbers in enumerate(zip(self.values, self.low, self.high, strict=True), 1)
        ]
        return table(("rank", "examination", "low", "high"), rows)

    def __repr__(self) -> str:
        return "\n".join(
            [f"Propensities by {self.method}", to_text([self._table()]), *([self.note] if self.note else [])]
        )

    def _repr_html_(self) -> str:
        return to_html([self._table()])


def propensities(
    log: Clicks | ClickCounts, method: str = "auto", *, values: Any = None, ranks: Any = None
) -> Propensities:
    """Estimate how much each rank is seen.

    Parameters
    ----------
    log : Clicks or ClickCounts
        The log, or its sums.
    method : str
        "harvest" (documents that were shown at several ranks), "pbm" (expectation maximisation of the position-based
        model), "swap" (a randomised swap of ranks: ratio of rates), "given" (your own ``values``) or "ctr" (rates by
        rank, which mix how a rank is seen with how good its documents are). "auto" takes "harvest" where ranks are
        linked.
    values : array, optional
        The curve of ``method="given"``; it is divided by its first value.
    ranks : pair of ranks, optional
        For ``method="swap"``: the ranks that were swapped at random, rank 1 first.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(n_queries=50, random_state=0)
    >>> log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=20_000, vary=1.0)
    >>> ar.propensities(log).values.round(1).tolist()[:3]
    [1.0, 0.5, 0.3]
    """
    check_choice("method", method, METHODS)
    if method == "given":
        return _given(values)
    counts = _counts(log)
    if method == "ctr":
        return _rates(counts)
    if method == "swap":
        return _swapped(counts, ranks)
    linked = harvest.linked_ranks(counts)
    if not linked.all():
        raise InputError(_not_linked(counts, linked))
    if method == "pbm":
        return _with_intervals(counts, position_em.curve, linked, "pbm")
    return _with_intervals(counts, harvest.curve, linked, "harvest")


Curve = Callable[[ClickCounts], Floats]


def _with_intervals(
    counts: ClickCounts,
    estimate: Callable[[ClickCounts, bool], tuple[Floats, Floats]],
    linked: NDArray[np.bool_],
    method: str,
) -> Propensities:
    """Return a curve with intervals by deleting one group of sessions at a time, on the scale of logarithms."""
    grouped = counts if counts.group is not None else _split_at_random(counts)
    values, without = estimate(grouped, True)
    logs = np.log(without)
    n = len(logs)
    error = np.sqrt((n - 1) / n * ((logs - logs.mean(axis=0)) ** 2).sum(axis=0))
    wide = stats.t.ppf(0.5 + LEVEL / 2, n - 1) * error
    note = "" if counts.group is not None else "intervals ignore that clicks of one user depend on each other"
    return Propensities(values, values * np.exp(-wide), values * np.exp(wide), linked, method, note)


def _split_at_random(counts: ClickCounts) -> ClickCounts:
    """Deal the impressions and clicks of sums without sessions out to groups, as independent draws."""
    random = np.random.default_rng(0)
    share = np.full(N_GROUPS, 1.0 / N_GROUPS)
    clicks = random.multinomial(counts.clicks, share)
    others = random.multinomial(counts.impressions - counts.clicks, share)
    cell, group = np.nonzero(clicks + others)
    return ClickCounts(
        counts.query_ids,
        counts.document_ids,
        counts.pair_query,
        counts.pair_document,
        counts.sessions_of_query,
        counts.pair[cell],
        counts.position[cell],
        group.astype(np.uint8),
        (clicks + others)[cell, group],
        clicks[cell, group],
        clicks[cell, group].astype(np.float64),
    )


def _counts(log: Clicks | ClickCounts) -> ClickCounts:
    if not isinstance(log, Clicks | ClickCounts):
        raise InputError(f"propensities: expected a click log (ar.load_clicks), got {type(log).__name__}")
    counts = log.counts() if isinstance(log, Clicks) else log
    if int(counts.position.min()) < 1:
        raise InputError(
            "propensities: expected positions from 1 up, got 0; load the log with first_position=0 if its top rank is 0"
        )
    return counts


def _not_linked(counts: ClickCounts, linked: NDArray[np.bool_]) -> str:
    shown, _ = counts.by_position()
    ranks = [rank for rank in range(1, len(shown)) if not linked[rank - 1]]
    text = ", ".join(map(str, ranks[:10])) + (" …" if len(ranks) > 10 else "")
    return (
        "propensities: expected documents that were shown at several ranks and clicked there, which link all ranks; "
        f"nothing links rank{'s' if len(ranks) > 1 else ''} {text} to rank 1. Pages that never vary cannot tell how a "
        "rank is seen from how good its documents are: vary them a little, or give a curve (method='given')"
    )


def _given(values: Any) -> Propensities:
    try:
        curve = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError("values: expected the curve of method='given' as a list of numbers") from error
    if curve.ndim != 1 or not len(curve) or not np.isfinite(curve).all() or (curve <= 0).any():
        raise OptionError("values: expected the curve of method='given' as a list of positive numbers")
    curve = curve / curve[0]
    return Propensities(
        curve, curve, curve, np.ones(len(curve), bool), "given", "given by the caller, without interval"
    )


def _rates(counts: ClickCounts) -> Propensities:
    shown, clicks = (one[1:].astype(np.float64) for one in counts.by_position())
    if not clicks[0]:
        raise InputError("propensities: expected clicks at rank 1, got none")
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = clicks / shown
        error = np.sqrt((1 - rate) / clicks + (1 - rate[0]) / clicks[0])  # of the logarithm of a ratio of rates
    values = rate / rate[0]
    error[0] = 0.0
    low, high = values * np.exp(-1.96 * error), values * np.exp(1.96 * error)
    note = "rates of clicks by rank, in which how good the documents are is mixed in"
    return Propensities(values, low, high, np.zeros(len(values), bool), "ctr", note)


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
    note = f"ratio of the rates at ranks 1 and {second}, right where these two were swapped at random"
    return Propensities(cut[0], cut[1], cut[2], kept, "swap", note)


def _listed(values: Floats) -> list[float | None]:
    return [None if np.isnan(one) else float(one) for one in values]
