"""Judgements from clicks: a value for every (query, document), as a table for evaluation and training."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from argrank._declared import AtLeast, Count, NotNegative, checked
from argrank._files import split_suffixes
from argrank._results import Framed
from argrank._tables import Table, counted, table, to_html, to_text
from argrank._types import Floats, Integers
from argrank.clicks.curve import Propensities, PropensitiesBy
from argrank.clicks.models import CLICK_MODELS, click_model
from argrank.clicks.models.click_model import ClickModel
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.io.tables import write_columns
from argrank.data.judgement_lists import write_judgements
from argrank.errors import ArgrankWarning, InputError, OptionError, check_choice, shown

METHODS = ("coec", "ctr", "examinations", *(name for name in CLICK_MODELS if name != "ctr"))
LEVEL = 0.95
SHOWN = 10  # rows of a repr


@dataclass(frozen=True, eq=False)
class Judgements(Framed):
    """A table of judgements: one row for each (query, document), columns as arrays.

    ``value`` is the estimate, ``low`` and ``high`` the ends of its 95 % interval, ``grade`` an integer if levels were
    requested, else NaN; ``clicks`` and ``impressions`` are the evidence.
    """

    qid: NDArray[Any]
    docid: NDArray[Any]
    value: Floats
    grade: Floats
    clicks: Integers
    impressions: Integers
    low: Floats
    high: Floats
    method: str

    def __len__(self) -> int:
        return len(self.qid)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {name: values for name, values in vars(self).items() if name != "method"}

    def to_qrels(self) -> dict[str, dict[str, float]]:
        """Return query id -> document id -> grade, or value without levels, as ``ar.evaluate`` accepts them."""
        judged = self.value if np.isnan(self.grade).all() else self.grade
        found: dict[str, dict[str, float]] = {}
        for qid, docid, one in zip(self.qid.tolist(), self.docid.tolist(), judged.tolist(), strict=True):
            found.setdefault(str(qid), {})[str(docid)] = one
        return found

    @checked
    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Write the table with all its columns (.csv, .tsv, .parquet, .arrow), or a list of judgements for other tools.

        ``format`` is one of ``ar.write_judgements``: "qrels", "quepid", "workbench" or "rre"; a file that ends with
        .qrels needs none. These hold grades, or values without levels.
        """
        if format is not None or split_suffixes(path)[0] == ".qrels":
            write_judgements(self.to_qrels(), path, format or "qrels")
        else:
            write_columns(self.columns(), path)

    def __repr__(self) -> str:
        text = to_text([self._table()])
        more = len(self) - SHOWN
        return text + (f"\n… and {counted(more, 'more', 'more')}" if more > 0 else "")

    def _repr_html_(self) -> str:
        return to_html([self._table()])

    def _table(self) -> Table:
        order = np.argsort(-self.value, kind="stable")[:SHOWN]
        rows = [
            (self.qid[i], self.docid[i], f"{self.value[i]:.4f}", _grade(self.grade[i]), self.clicks[i],
             self.impressions[i], f"{self.low[i]:.4f}", f"{self.high[i]:.4f}")
            for i in order.tolist()
        ]  # fmt: skip
        return table(tuple(self.columns()), rows, 2)


@checked
def judgements(
    log: Clicks | ClickCounts,
    method: str = "coec",
    *,
    levels: Annotated[int, AtLeast(2)] | None = None,
    min_impressions: Count = 1,
    prior: NotNegative = 0.0,
    propensities: Propensities | PropensitiesBy | None = None,
    **parameters: Any,
) -> Judgements:
    """Turn clicks into judgements.

    Parameters
    ----------
    log : Clicks or ClickCounts
        The log; sums are enough for "coec", "ctr" and "examinations".
    method : str
        "coec": clicks over the clicks that documents get on average at the ranks where this one was shown. "ctr":
        clicks over impressions, which favours documents at high ranks. "examinations": clicks over examinations by a
        curve (``propensities``). Or a click model: "pbm", "cascade", "dcm", "sdbn", "dbn" or "ubm"; ``parameters`` are
        those of the model.
    levels : int, optional
        Also give integer grades from 0 to ``levels - 1``: 0 without clicks, the others by quantiles of the documents
        with clicks.
    min_impressions : int
        Leave out documents that were shown less often.
    prior : float
        Shrink "coec", "ctr" and "examinations" towards their mean, with the weight of this many expected clicks
        (impressions, examinations).
    propensities : Propensities or PropensitiesBy, optional
        The curve of ``method="examinations"``, or one for each part of the log. With one of ``method="trust"`` a value
        is (clicks - offsets) / slopes, which may be negative: only differences are meaningful.
    """
    check_choice("method", method, METHODS)
    is_model = method in CLICK_MODELS and method != "ctr"
    if propensities is not None and method != "examinations":
        raise OptionError(f"propensities: expected method='examinations', which divides by them, got {method=}")
    if is_model and prior:
        raise OptionError(f"prior: expected method='coec', 'ctr' or 'examinations', got {method=}")
    if parameters and not is_model:
        raise OptionError(f"{next(iter(parameters))}: expected a click model, whose parameter it is, got {method=}")
    counts = log.counts() if isinstance(log, Clicks) else log
    if method == "coec" and int(counts.position.min()) == 0:
        warnings.warn(
            "judgements: position 0 is taken for a rank of its own; load the log with first_position=0 if the top of "
            "every page is 0, and see ar.doctor(log) for pages that begin with 0 beside others that begin with 1",
            ArgrankWarning,
            stacklevel=3,
        )
    shown_often, clicks = _sums(counts, counts.impressions), _sums(counts, counts.clicks)
    if is_model:
        if not isinstance(log, Clicks):
            raise InputError(f"method={method!r}: expected a log with sessions, got sums")
        model = click_model(method, **parameters).fit(log)
        _tell_poor(model, log)
        found = model.relevance
        value, base = found.value, found.examinations
        low, high = _shares(value * base, base)
    else:
        base, owed = _base(log, counts, method, propensities)
        if not base.any():
            raise InputError(
                f"method={method!r}: expected clicks to judge by, got none in {int(shown_often.sum())} impressions"
            )
        worth = _sums(counts, counts.value)
        mean = (worth - owed).sum() / base.sum()
        value = (worth - owed + prior * mean) / np.maximum(base + prior, 1e-300)
        low, high = _rates(clicks, np.where(clicks > 0, worth / np.maximum(clicks, 1), 1.0), base)
        low, high = low - owed / np.maximum(base, 1e-300), high - owed / np.maximum(base, 1e-300)
    kept = shown_often >= min_impressions
    grade = np.full(len(value), np.nan) if levels is None else _grades(value, clicks > 0, kept, levels)
    return Judgements(
        qid=counts.query_ids[counts.pair_query[kept]],
        docid=counts.document_ids[counts.pair_document[kept]],
        value=value[kept],
        grade=grade[kept],
        clicks=clicks[kept].astype(np.int64),
        impressions=shown_often[kept].astype(np.int64),
        low=low[kept],
        high=high[kept],
        method=method,
    )


def _tell_poor(model: ClickModel, log: Clicks) -> None:
    """Warn if a model explains the clicks worse than click rates by rank do."""
    own, plain = (one.log_likelihood(log) for one in (model, click_model("ctr", by="rank").fit(log)))
    if own < plain:
        warnings.warn(
            f"judgements: {model.name} explains these clicks worse than the rates by rank do (log-likelihood {own:.4f} "
            f"against {plain:.4f}): users do not behave as it assumes, so use 'examinations', 'coec' or another model",
            ArgrankWarning,
            stacklevel=4,
        )


def _sums(counts: ClickCounts, what: NDArray[Any]) -> Floats:
    return np.bincount(counts.pair, what, counts.n_pairs).astype(np.float64)


def _base(
    log: Clicks | ClickCounts, counts: ClickCounts, method: str, curve: Propensities | PropensitiesBy | None
) -> tuple[Floats, Floats]:
    """Return the divisor of every pair's clicks, and its clicks that are due to its ranks alone."""
    nothing = np.zeros(counts.n_pairs)
    if method == "ctr":
        return _sums(counts, counts.impressions), nothing
    if method == "coec":
        shown_at, clicks_at = counts.by_position()
        rate = clicks_at / np.maximum(shown_at, 1)
        return _sums(counts, counts.impressions * rate[counts.position]), nothing
    if isinstance(curve, PropensitiesBy):
        if not isinstance(log, Clicks):
            raise InputError(f"propensities by {curve.column}: expected a log with sessions, got sums")
        return np.bincount(log.pair, curve.of(log), log.n_pairs).astype(np.float64), nothing
    if not isinstance(curve, Propensities):
        raise OptionError(f"propensities: expected a curve of ar.propensities, got {shown(curve)}")
    owed = counts.impressions * curve.offset_at(counts.position)
    return _sums(counts, counts.impressions * curve.at(counts.position)), _sums(counts, owed)


def _rates(clicks: Floats, worth: Floats, base: Floats) -> tuple[Floats, Floats]:
    """Return the ends of exact Poisson intervals of clicks (Garwood), over what they are divided by."""
    tail = (1.0 - LEVEL) / 2.0
    low = np.where(clicks > 0, stats.chi2.ppf(tail, 2.0 * np.maximum(clicks, 1)) / 2.0, 0.0)
    high = stats.chi2.ppf(1.0 - tail, 2.0 * (clicks + 1.0)) / 2.0
    scale = worth / np.maximum(base, 1e-300)
    return low * scale, high * scale


def _shares(yes: Floats, of: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Jeffreys intervals of a share."""
    tail, no = (1.0 - LEVEL) / 2.0, np.maximum(of - yes, 0.0)
    return stats.beta.ppf(tail, yes + 0.5, no + 0.5), stats.beta.ppf(1.0 - tail, yes + 0.5, no + 0.5)


def _grades(value: Floats, clicked: NDArray[np.bool_], kept: NDArray[np.bool_], levels: int) -> Floats:
    """Return 0 for documents without clicks, the others by equal shares of those with clicks."""
    among = value[clicked & kept]
    if not len(among):
        return np.zeros(len(value))
    cuts = np.quantile(among, np.arange(1, levels - 1) / (levels - 1))
    return np.where(clicked, 1.0 + np.searchsorted(cuts, value, side="right"), 0.0)


def _grade(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.0f}"
