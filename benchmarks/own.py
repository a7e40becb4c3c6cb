"""Measures and losses written by hand, beside ours: how far apart they are, and how much more they cost.

``python -m benchmarks own`` prints the table and writes it to ``benchmarks/own.csv`` and into docs/guide/own.md.
"""

from __future__ import annotations

import csv
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scripts.page_tables import rows_of_page, write_table

import argrank as ar
from argrank.linesearch.landscape import Landscape
from argrank.measures.function import function_measure
from argrank.objectives.lambdas import Lambdas
from benchmarks._interleaved import medians

TABLE = Path(__file__).with_suffix(".csv")
SCRIPT, PAGE = "benchmarks/own", "guide/own.md"
COLUMNS = (
    "what",
    "by hand",
    "greatest difference",
    "ours, ms",
    "compiled, ms",
    "times ours",
    "Python, ms",
    "first call, s",
)


def ndcg10(labels: Any) -> Any:
    """NDCG@10 with gains 2^label - 1."""
    got, best = 0.0, 0.0
    ideal = np.sort(labels)[::-1]
    for rank in range(min(10, len(labels))):
        got += (2.0 ** labels[rank] - 1.0) / np.log2(rank + 2.0)
        best += (2.0 ** ideal[rank] - 1.0) / np.log2(rank + 2.0)
    return got / best if best > 0.0 else np.nan


def err10(labels: Any) -> Any:
    """ERR@10 with grades up to 4."""
    value, going = 0.0, 1.0
    for rank in range(min(10, len(labels))):
        stop = (2.0 ** labels[rank] - 1.0) / 16.0
        value += going * stop / (rank + 1.0)
        going *= 1.0 - stop
    return value


def pair_hinge(scores: Any, labels: Any) -> Any:
    """RankSVM's hinge as a sum over pairs."""
    value, gradient = 0.0, np.zeros(len(scores))
    for i in range(len(scores)):
        for j in range(len(scores)):
            if labels[i] > labels[j] and scores[i] - scores[j] < 1.0:
                value += 1.0 - scores[i] + scores[j]
                gradient[i] -= 1.0
                gradient[j] += 1.0
    return value, gradient


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function in a wrapper that numba does not compile."""
    return functools.partial(function)


def first_call(function: Callable[..., Any]) -> float:
    """Seconds that numba takes to compile a function which it has not kept from another process."""
    import numba

    from argrank._jit import read_only

    read = read_only(numba.types)
    signature = (read, read) if function is pair_hinge else numba.types.float64(read)
    begin = time.perf_counter()
    numba.njit(signature, nogil=True, boundscheck=True)(function)
    return time.perf_counter() - begin


def evaluating(data: ar.Dataset, measure: Any) -> Callable[[], Any]:
    scores = data.X[:, 0]
    return lambda: ar.evaluate(scores, data, measure, n_jobs=1).values


def walking(data: ar.Dataset, measure: Any) -> Callable[[], Any]:
    landscape = Landscape(data, measure, "row", 1)
    here = landscape.value(data.X[:, 0])
    return lambda: landscape.walk(data.X[:, 0], data.X[:, 1], -np.inf, np.inf, here.tied)


def swapping(data: ar.Dataset, measure: Any) -> Callable[[], Any]:
    lambdas = Lambdas(measure, 30, 1.0, False).prepare(data, 1)
    return lambda: lambdas(np.ascontiguousarray(data.X[:, 0]))


def judging(data: ar.Dataset, objective: Any) -> Callable[[], Any]:
    return lambda: objective(data.X[:, 0], data)


def row(what: str, by_hand: str, difference: float, ways: dict[str, Callable[[], Any]], first: float) -> dict[str, str]:
    seconds = medians(ways, 5, time.process_time)
    times = seconds["compiled"] / seconds["ours"]
    return dict(zip(COLUMNS, (
        what, by_hand, f"{difference:.0e}", f"{1e3 * seconds['ours']:.3g}", f"{1e3 * seconds['compiled']:.3g}",
        f"{times:.0f}" if times >= 10 else f"{times:.2g}", f"{1e3 * seconds['Python']:.3g}", f"{first:.2g}",
    ), strict=True))  # fmt: skip


def run() -> None:
    many, few = ar.make_ranking(2000, (50, 150), 2, random_state=0), ar.make_ranking(20, (50, 100), 2, random_state=0)
    rows = []
    first_call(err10)  # loads the compiler
    for name, function in (("ndcg@10", ndcg10), ("err@10", err10)):
        own, plain, first = function_measure(function), function_measure(uncompiled(function)), first_call(function)
        (ours,) = ar.evaluate(many.X[:, 0], many, name).values.values()
        (theirs,) = ar.evaluate(many.X[:, 0], many, own).values.values()
        difference = float(np.nanmax(np.abs(ours - theirs)))
        for what, made, data in (
            ("evaluate, 2,000 queries", evaluating, many),
            ("line search, 20 queries", walking, few),
            ("lambdas by swaps, 20 queries", swapping, few),
        ):
            ways = {"ours": made(data, name), "compiled": made(data, own), "Python": made(data, plain)}
            rows.append(row(what, name, difference, ways, first))
    ours = ar.objective("rank-svm", loss="hinge")
    own, plain = (ar.objective("custom", objective=f, check=False) for f in (pair_hinge, uncompiled(pair_hinge)))
    pairs = few.n_queries / ours.n_pairs(few).sum()  # ours is a mean over pairs, this one over queries
    found, theirs = ours(few.X[:, 0], few), own(few.X[:, 0], few)
    difference = max(abs(found[0] - pairs * theirs[0]), float(np.abs(found[1] - pairs * theirs[1]).max()))
    ways = {"ours": judging(few, ours), "compiled": judging(few, own), "Python": judging(few, plain)}
    rows.append(row("loss and gradient, 20 queries", "pairwise hinge", difference, ways, first_call(pair_hinge)))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(TABLE.read_text("utf-8"))
    write_table(PAGE, SCRIPT, rows_of_page(TABLE))
