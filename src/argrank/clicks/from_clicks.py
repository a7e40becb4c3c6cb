"""Training data from clicks: the rows of a table of candidates, with gains estimated from the log."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from argrank._declared import NotNegative, checked
from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.clicks.evidence import Evidence, evidence_of
from argrank.clicks.matching import candidates_of, numbers_of, pairs_of
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.errors import ArgrankWarning, InputError, OptionError, shown

#: Words in the names of features that are probably computed from the log.
LEAKS = frozenset(("click", "clicks", "clicked", "ctr", "position", "impression", "impressions", "examinations"))
WHOLE = ("rank", "gain", "gains")  # names that mean a leak only as the whole name: price_rank is allowed
ALIKE = 0.999  # correlation with a quantity of the log above which a feature counts as a leak


@checked
def from_clicks(
    log: Clicks | ClickCounts,
    features: Any,
    *,
    propensities: Any = None,
    clip: Any = None,
    shrink: NotNegative = 1.0,
    allow_leaks: bool = False,
) -> Dataset:
    """Make training data from a click log: candidates whose rows have gains.

    A row's gain is its clicks over the expected examinations of its document plus one (``shrink``); a document that was
    never shown has gain 0. A query's weight is its number of sessions, so that the mean of dcg@10 is the expected gain
    of a session. Gains are not labels: rankers that need labels refuse them, and ``measure`` and ``scoring`` are dcg@10
    by default.

    Parameters
    ----------
    log : Clicks or ClickCounts
        The log.
    features : Dataset, data frame or path
        The candidates: a row for each query and document, with ``qid`` and ``docid``, that the new ranker will have to
        rank. Labels in it are left out, as are queries that the log does not have.
    propensities : Propensities or PropensitiesBy, optional
        How much each rank is seen (``ar.propensities``); by default the log's own column, else it is estimated.
    clip : pair of numbers or None, optional
        Limits of gains, such as ``(0, 1)``; None on either side for no limit. A click at a rank that is hardly seen has
        a large and noisy gain.
    shrink : float
        Examinations without a click that are added to those of every row, which shrinks the gains of rarely seen
        documents towards 0. The default is 1: on simulated logs it was the best of several values for short logs,
        without a significant loss on long ones; 0 gives unbiased gains, for evaluation.
    allow_leaks : bool
        Accept features computed from the log itself, such as the position or the click rate, which leak what the model
        should learn.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.load_bundled()
    >>> log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=20_000, vary=1.0)
    >>> train = ar.from_clicks(log, data, propensities=ar.propensities(log), allow_leaks=True)
    >>> train.gains is not None, train.query_weight.sum()
    (True, np.float64(20000.0))
    """
    low, high = _limits(clip)
    found = evidence_of(log, propensities)
    data = candidates_of(features)
    counts = found.counts
    query = numbers_of(data.query_ids, counts.query_ids)
    sessions = found.sessions.sum(axis=1)
    kept = (query >= 0) & (np.where(query >= 0, sessions[query], 0.0) > 0)
    if not kept.any():
        raise InputError(
            f"features: expected queries of the log, such as {shown(str(counts.query_ids[0]))}, got none of them, "
            f"but for example {shown(str(data.query_ids[0]))}"
        )
    data, query = data.select(kept), query[kept]
    ids: Any = data.document_ids
    pair = pairs_of(np.repeat(query, data.sizes), ids, counts)
    if not allow_leaks:
        _refuse_leaks(data, pair, found)
    clicks, examinations = _of_rows(found.sums(found.clicks), pair), _of_rows(found.sums(found.examinations), pair)
    if not (pair >= 0).any():
        raise InputError("features: expected documents of the log, got none of them; compare the ids of both")
    gains = np.divide(clicks, examinations + shrink, out=np.zeros(len(pair)), where=examinations > 0)
    _tell(found, pair, query)
    low, high = -np.inf if low is None else low, np.inf if high is None else high  # NumPy 2.0 wants a limit
    fields = {"gains": np.clip(gains, low, high), "examinations": examinations, "query_weight": sessions[query]}
    return data._but(y=np.full(data.n_documents, np.nan), sample_weight=None, preferences=None, **fields)


def _of_rows(values: Floats, pair: Integers) -> Floats:
    return np.where(pair >= 0, values[pair], 0.0)


def _limits(clip: Any) -> tuple[float | None, float | None]:
    if clip is None:
        return None, None
    try:
        low, high = (None if one is None else float(one) for one in clip)
    except (TypeError, ValueError) as error:
        raise OptionError(f"clip: expected a pair of numbers or None, such as (0, 1), got {shown(clip)}") from error
    finite = all(one is None or np.isfinite(one) for one in (low, high))
    if not finite or (low is not None and high is not None and low >= high):
        raise OptionError(f"clip: expected a lower and a higher limit, got {shown(clip)}")
    return low, high


def _refuse_leaks(data: Dataset, pair: Integers, found: Evidence) -> None:
    """Raise for features named after quantities of the log, or proportional to them."""
    names = data.feature_names or tuple(f"feature {number}" for number in range(1, data.n_features + 1))
    words = {name: [name.lower(), *re.split(r"[^a-z]+", name.lower())] for name in names}
    leaks = {name: "its name" for name, (whole, *own) in words.items() if whole in WHOLE or not LEAKS.isdisjoint(own)}
    if not data.is_sparse:
        shown_often = found.sums(found.impressions)
        rows = np.flatnonzero((pair >= 0) & (shown_often[pair] > 0))
        impressions = shown_often[pair[rows]]
        clicks = found.sums(found.clicks)[pair[rows]]
        of_log = {"clicks": clicks, "impressions": impressions, "rate of clicks": clicks / impressions}
        for what, values in of_log.items():
            alike = _correlations(np.asarray(data.X)[rows], values) > ALIKE
            leaks |= {names[place]: f"it correlates with the log's {what}" for place in np.flatnonzero(alike).tolist()}
    if leaks:
        told = ", ".join(f"{shown(name)} ({why})" for name, why in leaks.items())
        raise InputError(
            f"features: expected features that are known before any click, got {told}; such a leak teaches the model "
            "the log's own pages: leave it out (columns={…: None}, --drop), or "
            "allow_leaks=True if it does not come from this log"
        )


def _correlations(X: Floats, values: Floats) -> Floats:
    if len(values) < 3:
        return np.zeros(X.shape[1])
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        deviations, own = X - X.mean(axis=0), values - values.mean()
        found = np.abs(own @ deviations) / np.sqrt((own @ own) * (deviations**2).sum(axis=0))
    return np.nan_to_num(np.asarray(found, np.float64))


def _tell(found: Evidence, pair: Integers, query: Integers) -> None:
    """Warn of clicks on documents that are not among the candidates."""
    clicks = found.sums(found.clicks)
    absent = found.sums(found.impressions) > 0
    absent[pair[pair >= 0]] = False
    lost = float(clicks[absent].sum())
    if lost > 0:
        n_queries = int((found.sessions.sum(axis=1) > 0).sum()) - len(query)
        where = f", and {counted(n_queries, 'query', 'queries')} of the log" if n_queries else ""
        documents = counted(int(absent.sum()), "document", "documents")
        warnings.warn(
            f"features: {lost / clicks.sum():.1%} of the clicks are on {documents} of the log that are not "
            f"candidates{where}: they are not used",
            ArgrankWarning,
            stacklevel=3,
        )
