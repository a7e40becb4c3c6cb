"""The scores of several systems as one table: a row for every document that one of them returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.clicks.from_clicks import from_clicks
from argrank.data.dataset import Dataset
from argrank.data.io.trec.forms import as_run, is_run
from argrank.data.io.trec.pool import join_runs
from argrank.data.unjudged import JUDGED
from argrank.deploy.hybrid.engine import Fusion
from argrank.errors import InputError
from argrank.measures.function import FunctionMeasure
from argrank.measures.measure import Measure


@dataclass(frozen=True, eq=False)
class Systems:
    """Judged data, and for every system (a row of ``raw``) its scores, NaN where it did not return the document.

    ``judged`` are all judged labels by query id, if the data lacks judged documents that no system returned.
    """

    names: list[str]
    data: Dataset
    raw: Floats
    judged: dict[Any, Floats] | None = None
    n_unjudged: int = 0


def read_systems(scores_by_system: Mapping[str, Any], data: Any, measure: Measure) -> Systems:
    """Return the systems of scores for a Dataset, one for each row, or of runs and judgements."""
    if not isinstance(scores_by_system, Mapping) or not scores_by_system:
        raise InputError("scores_by_system: expected a mapping with at least one system, got none")
    are_runs = [is_run(scores) for scores in scores_by_system.values()]
    if any(are_runs):
        joined = join_runs(scores_by_system, data)
        raw = np.ascontiguousarray(joined.data.X.T)
        systems = _returned(list(scores_by_system), joined.data, raw, joined.gaps != JUDGED)
    else:
        systems = _of_rows(scores_by_system, data)
    return _shuffled(systems) if isinstance(measure, FunctionMeasure) else systems


def of_log(runs: Mapping[str, Any], log: Any, propensities: Any) -> tuple[dict[str, Floats], Dataset]:
    """Return the scores of runs for every document that one of them returned, with gains from a click log."""
    if not all(is_run(run) for run in runs.values()):
        raise InputError("scores_by_system: expected runs with a click log, got scores; see ar.from_clicks for those")
    data = from_clicks(log, returned_by_any(runs), propensities=propensities, shrink=0.0, allow_leaks=True)
    return {name: data.to_caller(data.X[:, place]) for place, name in enumerate(runs)}, data


def seen_by(systems: Systems, fusion: Fusion) -> Systems:
    """Return the systems' scores within the engine's lists: documents in no list are dropped."""
    raw = fusion.lists(systems.raw, systems.data.indptr)
    if not np.isnan(raw).all(axis=0).any():
        return replace(systems, raw=raw)
    seen = _returned(systems.names, systems.data, raw, np.zeros(systems.data.n_documents, bool))
    return replace(
        seen, judged=seen.judged if systems.judged is None else systems.judged, n_unjudged=systems.n_unjudged
    )


def raw_scores(scores: Any, n_documents: int, name: str) -> Floats:
    """Return one score for every row, NaN if there is none, or raise."""
    try:
        values = np.asarray(scores, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"scores of {name}: expected numbers, got {error}") from error
    if values.shape != (n_documents,):
        got = f"{len(values)}" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(f"scores of {name}: expected one score for each of the {n_documents} rows, got {got}")
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(values))[0])
        raise InputError(f"scores of {name}: expected finite scores, or NaN for none, got {values[row]} in row {row}")
    return values


def _of_rows(scores_by_system: Mapping[str, Any], data: Any) -> Systems:
    if not isinstance(data, Dataset) or (data.gains is None and not data.is_judged):
        raise InputError("data: expected a Dataset with labels")
    raw = np.array(
        [data.from_caller(raw_scores(scores, data.n_documents, name)) for name, scores in scores_by_system.items()]
    )
    for name, own in zip(scores_by_system, raw, strict=True):
        if np.isnan(own).all():
            raise InputError(f"scores of {name}: expected at least one score, got only NaN")
    lone = np.isnan(raw).all(axis=0)
    if not lone.any():
        return Systems(list(scores_by_system), data, raw)
    return _returned(list(scores_by_system), data, raw, np.zeros(data.n_documents, bool))


def returned_by_any(runs: Mapping[str, Any]) -> Dataset:
    """Return every document that one of the runs returned; the runs' scores are its features, NaN where it did not."""
    read = {name: as_run(run) for name, run in runs.items()}
    known: dict[Any, dict[Any, int]] = {}
    for run in read.values():
        for qid, docno in zip(run.qid.tolist(), run.docno.tolist(), strict=True):
            known.setdefault(qid, {})[docno] = 0
    return join_runs(read, known).data


def _returned(names: list[str], data: Dataset, raw: Floats, unjudged: NDArray[np.bool_]) -> Systems:
    """Leave out the documents that no system returned; they count in the ideal and in recall, but not as returned.

    A query without returned documents keeps one document, as not relevant: its measure is 0.
    """
    judged = {
        qid: data.targets[first:last]
        for qid, first, last in zip(data.query_ids.tolist(), data.indptr[:-1], data.indptr[1:], strict=True)
    }
    kept: NDArray[np.bool_] = np.asarray(~np.isnan(raw).all(axis=0))
    empty = data.indptr[:-1][np.add.reduceat(kept.astype(np.int64), data.indptr[:-1]) == 0]
    labels = data.y.copy()
    labels[empty] = 0.0
    n_unjudged = int(np.count_nonzero(unjudged & kept))
    kept[empty] = True
    held = data.with_labels(labels) if data.gains is None else data
    return Systems(names, held.keep(kept), raw[:, kept], judged if data.gains is None else None, n_unjudged)


def _shuffled(systems: Systems) -> Systems:
    """Put the rows of queries in random order: a Python function gets one ranking, and ties must not leak labels."""
    data = systems.data
    order = np.lexsort((np.random.default_rng(0).random(data.n_documents), data.query_of_row))
    if data.gains is not None:
        raise InputError("measure: expected one by name for rows with gains, got a function of labels")
    shuffled = Dataset(np.zeros((data.n_documents, 1)), data.y[order], group=data.sizes, query_weight=data.query_weight)
    judged = systems.judged
    if judged is not None:
        judged = dict(zip(shuffled.query_ids.tolist(), (judged[qid] for qid in data.query_ids.tolist()), strict=True))
    return Systems(systems.names, shuffled, systems.raw[:, order], judged, systems.n_unjudged)
