"""TunedWeights: the result of tune_weights, as numbers, a table, a plot and a formula."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from argrank._declared import checked
from argrank._files import make_folder, write_text
from argrank._json import json_value
from argrank._tables import measure_text, number_text, table, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.io.trec.forms import is_run
from argrank.deploy.hybrid import PLAIN, formula, nearest_fusion
from argrank.deploy.hybrid.engine import Fusion
from argrank.errors import InputError, MissingExtraError, unknown_name
from argrank.evaluation.counterfactual.result import ClickEvaluation
from argrank.evaluation.segments import interval_text
from argrank.linesearch.search import LineSearch
from argrank.trials.fusion.folds import SegmentTest
from argrank.trials.fusion.inputs import raw_scores, returned_by_any
from argrank.trials.fusion.scaling import scaled


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TunedWeights:
    """Weights of systems, and the measure they reach.

    Attributes
    ----------
    weights : dict
        Name of the system to weight; their magnitudes add up to 1, unless some were fixed. ``fuse`` applies them.
    value : float
        The measure on the data the weights were tuned on.
    cv_value, cv_interval : float, (float, float)
        The measure on queries the weights were not tuned on, by cross-validation, and its 95 % interval over
        queries; NaN without. If the normalisation was chosen, it was chosen separately in every fold.
    single : dict
        Name of the system to its own measure.
    rrf : float
        The measure of reciprocal-rank fusion, for comparison.
    spread : dict
        Name of the system to the standard deviation of its normalised scores within queries. Weight times spread is a
        system's influence on the ranking; a weight alone is not.
    intervals : dict
        Name of the system to the 95 % bootstrap interval of its weight; empty without ``bootstrap``.
    curves : dict
        Name of the system to a LineSearch: the measure along this weight, with the others fixed, whose ``breakpoints``
        and ``values`` are functions of the weight itself.
    measure : str
    normalise : dict
        Name of the system to its normalisation.
    missing : "lowest" or float
        Score of a document from a system that did not return it.
    by_normaliser : dict
        If the normalisation was chosen: the cross-validated measure of each, by name.
    n_queries, n_unjudged : int
        Queries, and documents of runs that have no judgement and count as not relevant.
    fusion : Fusion, optional
        The engine that the weights were tuned for, its method, window and constant.
    segments : list of SegmentTest
        If segments were given: their own weights against these, on queries that neither was tuned on.
    earned : ClickEvaluation, optional
        For a click log: the fusion's estimated value per session on the log that it was tuned on, with its interval by
        groups of sessions, coverage and effective clicks; ``cv_value`` is for queries that it was not tuned on.
    """

    weights: dict[str, float]
    value: float
    cv_value: float
    cv_interval: tuple[float, float]
    single: dict[str, float]
    rrf: float
    spread: dict[str, float]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    curves: dict[str, LineSearch]
    measure: str
    normalise: dict[str, str]
    missing: str | float
    by_normaliser: dict[str, float] = field(default_factory=dict)
    n_queries: int
    n_unjudged: int = 0
    fusion: Fusion | None = None
    segments: list[SegmentTest] = field(default_factory=list)
    earned: ClickEvaluation | None = None

    @checked
    def fuse(self, scores_by_system: Mapping[str, Any], data: Dataset | None = None) -> Any:
        """Return the weighted sum of scores, one array for each system, NaN where it did not return the document.

        ``data`` gives the queries of rows, if scores are normalised or missing. For runs the result is a run, ``{qid:
        {docid: score}}``, of all documents that one of them returned.
        """
        if set(scores_by_system) != set(self.weights):
            raise InputError(f"scores: expected those of {', '.join(self.weights)}, got {', '.join(scores_by_system)}")
        if any(is_run(scores) for scores in scores_by_system.values()):
            pool = returned_by_any({name: scores_by_system[name] for name in self.weights})
            by_row: Floats = self.fuse(dict(zip(self.weights, pool.X.T, strict=True)), pool)
            documents = np.asarray(pool.document_ids)
            return {
                qid: dict(zip(documents[first:last].tolist(), by_row[first:last].tolist(), strict=True))
                for qid, first, last in zip(pool.query_ids.tolist(), pool.indptr[:-1], pool.indptr[1:], strict=True)
            }
        n_documents = len(next(iter(scores_by_system.values()))) if data is None else data.n_documents
        raw = np.array([raw_scores(scores_by_system[name], n_documents, name) for name in self.weights])
        if data is None and (self.fusion or np.isnan(raw).any() or set(self.normalise.values()) != {"none"}):
            raise InputError("fuse: expected data, to know the queries of rows, since scores are normalised or missing")
        indptr = np.array([0, n_documents]) if data is None else data.indptr
        stored = raw if data is None or data.rows is None else raw[:, data.rows]
        if self.fusion is not None and data is not None:
            lists = self.fusion.lists(stored, indptr)
            by_engine = self.fusion.combine(self.fusion.prepare(lists, indptr), np.array(list(self.weights.values())))
            by_engine[np.isnan(lists).all(axis=0)] = by_engine.min(initial=0.0) - 1.0  # in none of its lists: last
            return data.to_caller(by_engine)
        ready = scaled(stored, indptr, [self.normalise[name] for name in self.weights], self.missing)
        fused: Floats = np.array(list(self.weights.values())) @ ready
        return fused if data is None else data.to_caller(fused)

    @checked
    def formula(self, target: str = "plain") -> str:
        """Return the sum as text ("plain"), or the first of an engine's ``requests``."""
        if target != PLAIN:
            return next(iter(self.requests(target).values()))
        if self.fusion is None:
            return formula(self.weights, self.normalise)
        name = next(iter(self.normalise.values()))
        listed = ", ".join(f"{system} {weight:.6g}" for system, weight in self.weights.items())
        return f"{self.fusion.engine.name}'s {name} of {listed}"

    @checked
    def requests(self, engine: str | None = None, segment: str | None = None) -> dict[str, str]:
        """Return the requests for a search engine, file name to text, with placeholders for queries.

        Weights that were tuned for an engine go to that engine. Others can be used in any engine that has their
        normalisation, but it may treat documents that a system did not return differently, so the measure may differ.
        ``segment`` selects the weights of a segment.
        """
        fusion = self.fusion
        if fusion is None or (engine is not None and engine != fusion.engine.name):
            if engine is None:
                raise InputError("engine: expected the name of an engine, as these weights were tuned without one")
            if fusion is not None:
                raise InputError(
                    f"engine: expected {fusion.engine.name}, which these weights were tuned for, got {engine}"
                )
            fusion = nearest_fusion(self.normalise, engine)
        by_segment = {one.segment: one.weights for one in self.segments}
        if segment is not None and segment not in by_segment:
            raise unknown_name("segment", segment, list(by_segment))
        return fusion.requests(self.weights if segment is None else by_segment[segment])

    @checked
    def write(self, folder: str | os.PathLike[str], engine: str | None = None) -> None:
        """Write ``requests`` into a folder, each file atomically."""
        files = self.requests(engine)
        path = make_folder(folder)
        for name, text in files.items():
            write_text(path / name, text)

    def plot(self) -> Any:
        """Return a matplotlib figure: the measure along each weight, from 0 to twice the chosen value.

        All panels have the same range of the measure, so that a weight that hardly matters looks flat; dots mark the
        chosen values, a dashed line the best single system.
        """
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("matplotlib", "plot", "plotting the weights") from error
        if not self.curves:
            raise InputError("plot: expected a weighted sum, whose measure can be drawn along its weights")
        figure = Figure(figsize=(7, 2.2 * len(self.curves)), layout="constrained")
        best = max(self.single.values())
        views = {name: self._view(name) for name in self.curves}
        low = min(best, *(float(values.min()) for _, values in views.values()))
        margin = 0.05 * (self.value - low or 0.01)
        panels = figure.subplots(len(self.curves), sharey=True, squeeze=False)[:, 0]
        for axes, (name, (ends, values)) in zip(panels, views.items(), strict=True):
            axes.stairs(values, ends, baseline=None)
            axes.axhline(best, color="0.6", linestyle="--", linewidth=1)
            axes.plot([self.weights[name]], [self.value], "o")
            axes.set(xlabel=f"weight of {name}", ylabel=self.measure, xlim=(ends[0], ends[-1]))
            axes.set_ylim(low - margin, max(self.value, best) + margin)
        return figure

    def _view(self, name: str) -> tuple[Floats, Floats]:
        """Return the part of a curve that is shown: its ends and breakpoints, and the values between them."""
        curve, weight = self.curves[name], self.weights[name]
        others = sum(abs(w) * self.spread[one] for one, w in self.weights.items() if one != name)
        reach = abs(weight) or (others / self.spread[name] if self.spread[name] > 0 else 0.0) or 1.0
        left, right = weight - 1.25 * reach, weight + 1.25 * reach
        first, last = np.searchsorted(curve.breakpoints, [left, right]).tolist()
        return np.concatenate([[left], curve.breakpoints[first:last], [right]]), curve.values[first : last + 1]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curves as plain values that JSON can hold; NaN becomes None."""
        names = (
            "measure", "weights", "normalise", "missing", "value", "cv_value", "cv_interval", "rrf", "single", "spread",
            "intervals", "by_normaliser", "n_queries", "n_unjudged",
        )  # fmt: skip
        found: dict[str, Any] = {name: json_value(getattr(self, name)) for name in names}
        if self.fusion is not None:
            own = self.fusion
            found["engine"] = {"name": own.engine.name, "way": own.way.name}
            found["engine"] |= {"window": own.window, "constant": own.constant}
        if self.segments:
            found["segments"] = [json_value(one._asdict()) for one in self.segments]
        if self.earned is not None:
            found["earned"] = self.earned.to_dict()
        return found | {"formula": self.formula()}

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``to_dict`` as a JSON file."""
        import json

        write_text(path, f"{json.dumps(self.to_dict(), indent=2, ensure_ascii=False)}\n")

    def _notes(self) -> list[str]:
        measure, queries = self.measure, f"{self.n_queries:,} {'query' if self.n_queries == 1 else 'queries'}"
        notes = [f"{measure}: {self.value:.4f} together on these {queries}"]
        if not math.isnan(self.cv_value):
            notes[0] += f", {interval_text(self.cv_value, *self.cv_interval)} cross-validated"
        if self.earned is not None:
            value, coverage, clicks = self.earned.row(measure)
            logged = self.earned.logged[measure]
            notes.append(
                f"By the log it was tuned on: {value} per session, coverage {coverage}, {clicks} effective clicks; the "
                f"logged pages {logged:.4f}"
            )
        best = max(self.single, key=self.single.__getitem__)
        notes.append(
            f"For comparison: reciprocal-rank fusion {self.rrf:.4f}, {best} alone {measure_text(self.single[best])}"
        )
        if self.by_normaliser:
            tried = ", ".join(f"{name} {value:.4f}" for name, value in self.by_normaliser.items())
            notes.append(f"Normalisation chosen by cross-validation: {tried}")
        if self.n_unjudged:
            notes.append(f"{self.n_unjudged:,} returned documents are not judged and count as not relevant")
        if self.fusion is not None:
            window = f"lists of {self.fusion.window} documents" if self.fusion.way.has_window else "whole lists"
            notes.append(f"All values are those of {self.fusion.engine.name}'s arithmetic, {window}")
        for one in self.segments:
            answer = "keep the global weights" if one.keep_global else "own weights are better"
            notes.append(
                f"Segment {one.segment} ({one.n_queries:,} queries): own weights {one.difference:+.4f} "
                f"[{one.low:+.4f}, {one.high:+.4f}], p = {one.p_value:.3g} (Holm): {answer}"
            )
        return [*notes, f"score = {self.formula()}"]

    def __repr__(self) -> str:
        total = sum(abs(w) * self.spread[name] for name, w in self.weights.items()) or 1.0
        columns: dict[str, list[str]] = {"weight": [number_text(w) for w in self.weights.values()]}
        if self.intervals:
            ends = [self.intervals[name] for name in self.weights]
            columns |= {"from": [number_text(low) for low, _ in ends], "to": [number_text(high) for _, high in ends]}
        columns["weight x spread"] = [
            f"{100 * w * self.spread[name] / total:.1f} %" for name, w in self.weights.items()
        ]
        columns[f"{self.measure} alone"] = [measure_text(self.single[name]) for name in self.weights]
        rows = zip(self.weights, *columns.values(), strict=True)
        return to_text([table(("system", *columns), rows)], self._notes())

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"
