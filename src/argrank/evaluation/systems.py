"""The systems to evaluate (scores of a Dataset's rows, or runs with judgements) as lists of judged documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data import checks
from argrank.data.dataset import Dataset
from argrank.data.foreign_models import scores as predicted_scores
from argrank.data.frames import eager_frame, is_frame
from argrank.data.grouping import offsets
from argrank.data.io.columns.roles import label_hint
from argrank.data.io.load import load
from argrank.data.io.scores import read_scores
from argrank.data.io.trec.file_words import are_large, read_words
from argrank.data.io.trec.files import QRELS, RUN, Qrels
from argrank.data.io.trec.forms import as_qrels, as_run, is_qrels_file, is_qrels_table, is_run, is_table, run_name
from argrank.data.io.trec.matched import Matched, match_dicts, match_words
from argrank.data.io.trec.pool import JudgedRuns, join_runs
from argrank.data.mapped import Later
from argrank.data.unjudged import JUDGED, OUTSIDE
from argrank.errors import InputError, OptionError, shown
from argrank.evaluation.ranking_blocks import Judgements
from argrank.measures.conventions import Convention


@dataclass(frozen=True)
class Coverage:
    """Overlap of a run and the judgements, in numbers of documents and queries.

    ``unjudged`` documents were returned and are not in the judgements: they count as not relevant, unless
    ``judged_only`` drops them. ``not_returned`` documents are judged and count in ideals and in recall. ``missing``
    queries are judged and the run has nothing for them; ``unknown`` ones are in the run and not judged.
    """

    returned: int
    unjudged: int
    not_returned: int
    missing: int
    unknown: int
    judged_at_10: float


@dataclass(frozen=True, eq=False)
class Lists:
    """One system's lists: documents by query in ``data``, with ``scores`` in stored row order.

    For runs, ``judgements`` holds all judged documents, ``missing`` marks the queries without a returned document, and
    ``unknown`` is the number of queries left out for lack of judgements.
    """

    data: Dataset
    scores: Floats
    judgements: Judgements | None = None
    missing: NDArray[np.bool_] | None = None
    unknown: int = 0

    def coverage(self, judged_at_10: float) -> Coverage | None:
        """Return the overlap of a run and the judgements; None for scores of judged rows."""
        if self.missing is None or self.judgements is None or self.judgements.gaps is None:
            return None
        gaps = self.judgements.gaps
        return Coverage(
            returned=len(gaps),
            unjudged=int(np.count_nonzero(gaps == OUTSIDE)),
            not_returned=len(self.judgements.labels) - int(np.count_nonzero(gaps == JUDGED)),
            missing=int(self.missing.sum()),
            unknown=self.unknown,
            judged_at_10=judged_at_10,
        )


def named_systems(given: Any) -> tuple[dict[str, Any], bool]:
    """Return systems by name, and whether several were given: a dict from names, or a list of runs.

    ``{qid: {docid: score}}`` is one run; a list of numbers is one system's scores.
    """
    given = _kept(given)
    if isinstance(given, Mapping) and not is_run(given):
        return {str(name): _kept(one) for name, one in given.items()}, True
    if isinstance(given, list | tuple) and given and all(_is_named(one) for one in given):
        names = [run_name(one, number) for number, one in enumerate(given, 1)]
        if len(set(names)) < len(names):
            raise InputError(f"runs: expected different names, got {', '.join(names)}; give a dict from names to runs")
        return dict(zip(names, given, strict=True)), True
    return {run_name(given, 1): given}, False


def _kept(one: Any) -> Any:
    """Return what can be read only once, a stream of a table or records of ir_measures, as a table or a list."""
    if not isinstance(one, Iterator):
        return one
    return eager_frame(one).to_native() if is_frame(one) else list(one)


def _is_named(one: Any) -> bool:
    if isinstance(one, str):
        return bool(Path(one).suffix) or os.path.exists(one)
    return isinstance(one, os.PathLike) or is_run(one)


def judged_source(data: Any, systems: Mapping[str, Any], progress: bool = True) -> Dataset | Qrels:
    """Return a judged Dataset, or judgements, for which systems must be runs."""
    if isinstance(data, str | os.PathLike):
        only_runs = all(is_run(one) for one in systems.values())
        holds_qrels = is_qrels_file(data) or (only_runs and is_qrels_table(data))
        data = as_qrels(data) if holds_qrels else load(data, progress=progress)
    if is_frame(data) and not all(is_run(one) for one in systems.values()):
        data = Dataset(data)
    if isinstance(data, Dataset):
        if data.gains is not None and any(is_run(one) for one in systems.values()):
            raise InputError(
                "data: expected scores for data with row gains, got a run; measure it on the log: evaluate(run, log, …)"
            )
        if data.gains is None and not data.is_judged:
            hint = label_hint(data.feature_names)
            raise InputError(f"data: expected labels to measure against, got data without judgements; {hint}")
        return data
    for name, one in systems.items():
        if not is_run(one):
            raise InputError(
                f"data: expected a Dataset with scores, got {type(data).__name__}; judgements (qrels) need runs, "
                f"{{qid: {{docid: score}}}} or a file, and {name!r} is none"
            )
    return as_qrels(data)


def is_run_for(one: Any, data: Dataset | Qrels) -> bool:
    """Tell whether a system is taken as a run; a table of scores is one only if the data has document ids."""
    by_row = isinstance(data, Dataset) and data.document_ids is None
    return is_run(one) and not (by_row and isinstance(one, str | os.PathLike) and is_table(one))


def lists_of(systems: Mapping[str, Any], data: Any, judgements: Any = None) -> dict[str, Lists]:
    """Return every system's lists, over the same queries in the same order.

    ``data`` is a judged Dataset, for which a system may be scores (an array, a file) or a run, or judgements, for
    which every system must be a run.
    """
    quick = _quick_matches(systems, data) if judgements is None else None
    if quick is not None:
        return {name: matched_lists(one, name) for name, one in quick.items()}
    data = judged_source(data, systems)
    runs = {name: as_run(one) for name, one in systems.items() if is_run_for(one, data)}
    if runs and judgements is not None:
        raise InputError("judgements: expected none with a run, whose judgements are the second argument")
    joined = join_runs(runs, data) if runs else None
    known = None if judgements is None else judged_labels(judgements, data)
    found = {}
    for name, one in systems.items():
        if joined is not None and name in runs:
            found[name] = run_lists(joined, name)
        else:
            found[name] = Lists(data, stored_scores(one, data, name), known)
    return found


def are_quick(systems: Mapping[str, Any], data: str | os.PathLike[str]) -> bool:
    """Tell whether systems and judgements are TREC files, and large enough that matching their bytes is faster."""
    files = [*systems.values(), data]
    if not all(isinstance(one, str | os.PathLike) and not is_table(one) for one in files) or not are_large(files):
        return False
    return is_qrels_file(data) and all(map(is_run, systems.values()))


def _quick_matches(systems: Mapping[str, Any], data: Any) -> dict[str, Matched] | None:
    """Match runs with judgements where all are plain dicts or large TREC files; None if they must be joined."""
    found: dict[str, Matched | None] = {}
    if isinstance(data, Mapping):
        found = {name: match_dicts(one, data) for name, one in systems.items()}
    elif isinstance(data, str | os.PathLike) and are_quick(systems, data):
        judged = read_words(data, QRELS)
        for name, one in systems.items():
            run = None if judged is None else read_words(one, RUN, judged.query_ids)
            found[name] = None if run is None or judged is None else match_words(run, judged)
    matched = {name: one for name, one in found.items() if one is not None}
    return matched if matched.keys() == systems.keys() else None


def matched_lists(matched: Matched, name: str) -> Lists:
    """Return the lists of a run that was matched with judgements."""
    returned = Dataset._assemble(
        X=matched.scores[:, None],
        y=matched.labels,
        indptr=offsets(matched.sizes),
        query_ids=matched.query_ids,
        untouched={"document_ids": Later(matched.document_ids)},
        feature_names=(name,),
    )
    judged = Judgements(matched.judged, offsets(matched.n_judged), matched.gaps)
    return Lists(returned, matched.scores, judged, matched.sizes == 0, matched.strangers)


def run_lists(joined: JudgedRuns, name: str) -> Lists:
    """Return the lists of one of several joined runs."""
    known = joined.gaps == JUDGED
    per_query = np.bincount(joined.data.query_of_row[known], minlength=joined.data.n_queries)
    judged = Judgements(joined.data.y[known], offsets(per_query), joined.gaps[joined.rows[name]])
    returned = joined.returned(name)
    return Lists(returned, joined.scores[name], judged, returned.sizes == 0, joined.strangers[name])


def stored_scores(given: Any, data: Dataset, name: str) -> Floats:
    """Return the scores of a system for the stored rows of the data: an array, a file, or a model."""
    if hasattr(given, "predict"):
        return data.from_caller(predicted_scores(given, data, name))
    scores = read_scores(given, data) if isinstance(given, str | os.PathLike) else given
    return np.asarray(data.from_caller(checks.numbers(scores, data.n_documents, "scores", "score")))


def feature_scores(data: Any, name: str, what: str) -> Floats:
    """Return the column of a feature that ranks by itself, in the caller's rows; missing values come last."""
    features = data.feature_names or () if isinstance(data, Dataset) else ()
    if name not in features or name in (data.categories or {}):
        known = ", ".join(features) or "none"
        raise OptionError(f"{what}: expected a feature that is a number, got {shown(name)}; known: {known}")
    values = data.to_caller(data.X[:, features.index(name)]).astype(float)
    return np.asarray(np.where(np.isnan(values), np.nanmin(values) - 1.0, values))


def in_precision(scores: Floats, convention: Convention) -> Floats:
    """Return scores in the precision in which the convention compares them."""
    if convention.score_dtype != "float32":
        return scores
    greatest = float(np.finfo(np.float32).max)
    return np.asarray(np.clip(scores, -greatest, greatest).astype(np.float32).astype(np.float64))


def judged_labels(judgements: Dataset | Mapping[Any, Any], data: Dataset) -> Judgements:
    """Return all judged labels of every query of the data."""
    if isinstance(judgements, Dataset):
        source: dict[Any, Any] = {
            qid: judgements.y[judgements.indptr[q] : judgements.indptr[q + 1]]
            for q, qid in enumerate(judgements.query_ids.tolist())
        }
    else:
        source = dict(judgements)
    found: list[Floats] = []
    for qid in data.query_ids.tolist():
        if qid not in source:
            raise InputError(f"judgements: expected labels for every query, got none for query {shown(qid)}")
        found.append(checks.labels(source[qid], len(source[qid])))
    return Judgements(np.concatenate(found), offsets(np.array([len(one) for one in found])))
