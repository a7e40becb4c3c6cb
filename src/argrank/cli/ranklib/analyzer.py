"""RankLib's ``Analyzer``: systems compared with a baseline by the values per query that ``-idv`` saved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import typer

from argrank.cli.ranklib.flags import number, pairs
from argrank.errors import FormatError, InputError, OptionError
from argrank.evaluation.compare import compare_evaluations
from argrank.evaluation.defaults import N_RESAMPLES
from argrank.evaluation.result import Evaluation
from argrank.measures.conventions import make_convention


class Saved(NamedTuple):
    """The contents of an ``-idv`` file: the value of a measure for every query."""

    measure: str
    values: dict[str, float]


def analyze(arguments: Sequence[str]) -> None:
    """Compare every file of a folder with the baseline among them."""
    given = {name: values[0] for name, values in pairs(arguments, ("all", "base", "np"), ()).items()}
    if "all" not in given or "base" not in given:
        raise OptionError("Analyzer: expected -all FOLDER and -base FILE, a file of that folder")
    folder, base = Path(given["all"]), given["base"]
    if not (folder / base).is_file():
        raise InputError(f"-base: expected a file of the folder {folder}, got {base!r}")
    n_resamples = number(given["np"], "np", int) if "np" in given else N_RESAMPLES
    if n_resamples < 1:
        raise OptionError(f"-np: expected a positive number, got {n_resamples}")
    baseline = read_values(folder / base)
    evaluations = {base: _evaluation(baseline, baseline)}
    for path in sorted(one for one in folder.iterdir() if one.is_file() and one.name != base):
        saved = read_values(path)
        if saved.measure != baseline.measure or saved.values.keys() != baseline.values.keys():
            what = "other queries" if saved.measure == baseline.measure else f"{saved.measure}, not {baseline.measure}"
            typer.echo(f"argrank: {path} is left out: it has {what}", err=True)
        else:
            evaluations[path.name] = _evaluation(saved, baseline)
    if len(evaluations) < 2:
        raise InputError(f"{folder}: expected another file to compare with {base}, got none")
    found = compare_evaluations(evaluations, baseline=base, test="randomisation", n_resamples=n_resamples)
    typer.echo(found.render("text"))


def read_values(path: Path) -> Saved:
    """Read a file of ``-idv``: measure, query and value on every line, and the mean under the name "all"."""
    values: dict[str, float] = {}
    measure: str | None = None
    for place, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            name, qid, value = words[0], words[1], float(words[2])
        except (IndexError, ValueError):
            raise FormatError(path, place, "MEASURE QUERY VALUE", f"{line!r:.60}") from None
        if len(words) > 3 or qid in values or name != (measure or name):
            raise FormatError(path, place, "one measure and every query once", f"{line!r:.60}")
        measure, values[qid] = name, value
    values.pop("all", None)
    if measure is None or not values:
        raise FormatError(path, None, "a value for every query, as -idv writes them", "none")
    return Saved(measure, values)


def _evaluation(saved: Saved, like: Saved) -> Evaluation:
    values = np.array([saved.values[qid] for qid in like.values])
    mean, name = float(values.mean()), saved.measure
    return Evaluation(
        means={name: mean}, values={name: values}, query_ids=np.array(list(like.values)), undefined={name: 0},
        zero_filled={name: mean}, n_tied=0, convention=make_convention("ranklib"),
        bounds={name: (-math.inf, math.inf)},
    )  # fmt: skip
