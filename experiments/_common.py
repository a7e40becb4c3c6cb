"""What all experiments share: folds, quiet fits, tables as CSV, figures."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning
from argrank.trials.config import DataSpec
from argrank.trials.experiment import read_data

Rows = Sequence[Mapping[str, Any]]
COLLAPSED = 0.999  # a fit that keeps this share of the objective at w = 0 has learned nothing


def read_fold(name: str, number: int, steps: tuple[dict[str, Any], ...] = ()) -> Fold:
    """Read a fold of a collection, prepared by ``steps``; lower-case names are stand-ins, left as generated."""
    if name.islower():
        return read_data(DataSpec(name, (number,), standin=name), number)
    return read_data(DataSpec(name, (number,), collection=name, preprocess=steps), number)


def title(data: str) -> str:
    """Return the name of a data set as tables show it; lower-case names are generated stand-ins."""
    return f"{data} (generated)" if data.islower() else data


@contextmanager
def quiet() -> Iterator[None]:
    """Hide argrank's warnings, where a table gives the same information."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        yield


def fit(ranker: str, train: ar.Dataset, valid: ar.Dataset | None = None, **parameters: Any) -> Any:
    """Fit a ranker without a progress bar and without warnings."""
    with quiet():
        return ar.make_ranker(ranker, verbose=-1, **parameters).fit(train, eval_set=valid)


def collapsed(fitted: Any) -> bool:
    """Tell whether a fit is no better than w = 0; a bound that is not convex may end at a w that is not quite 0."""
    return bool(fitted.objective_ >= COLLAPSED * getattr(fitted, "objective_at_zero_", float("inf")))


def at_an_end(tried: Mapping[float, float], chosen: float) -> bool:
    """Tell whether a choice is an end of its grid, given the validation measure of every value that was tried.

    An end whose neighbour has the same measure does not count: with C so small the models are multiples of each other,
    or stay at their start, and a smaller C changes nothing.

    >>> at_an_end({0.1: 0.5, 1.0: 0.5, 10.0: 0.4}, 0.1), at_an_end({0.1: 0.3, 1.0: 0.4, 10.0: 0.5}, 10.0)
    (False, True)
    """
    values = sorted(tried)
    neighbours = {values[0]: values[1], values[-1]: values[-2]} if len(values) > 1 else {}
    return chosen in neighbours and tried[neighbours[chosen]] != tried[chosen]


def read_csv(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def write_csv(path: Path, rows: Rows, digits: int = 6) -> None:
    """Write rows with their keys as the header; floats get this many significant digits."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: f"{x:.{digits}g}" if isinstance(x, float) else x for key, x in row.items()})
    print(f"{path.name}: {len(rows)} rows", flush=True)


def resumed(
    path: Path, names: Iterable[str], rows_of: Callable[[str], Iterable[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the rows of a table after computing those of the sets that it lacks, a set at a time."""
    rows = read_csv(path)
    for name in names:
        if not any(row["set"] == name for row in rows):
            rows += rows_of(name)
            write_csv(path, rows)
    return rows


def save_figure(figure: Any, path: Path, dpi: int = 100) -> None:
    """Write a figure as PNG, the same bytes for the same figure."""
    figure.savefig(path, format="png", dpi=dpi, metadata={"Software": None})
