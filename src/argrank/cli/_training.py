"""Options of the commands that train: rankers, parameters, grids, how much is said."""

from __future__ import annotations

import logging
import math
import sys
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import split_suffixes
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset


def complete_ranker(incomplete: str) -> list[str]:
    """Return the rankers that a shell offers for completion."""
    from argrank.rankers import ranker_names

    return [name for name in ranker_names() if name.startswith(incomplete)]


def complete_normaliser(incomplete: str) -> list[str]:
    """Return the normalisers that a shell offers for completion."""
    from argrank.data.prepare.normalise import normaliser_names

    return [name for name in normaliser_names() if name.startswith(incomplete)]


PARAMETERS: Any = typer.Option(
    [], "--param", "-p", metavar="NAME=VALUE", help="Parameter of the ranker, such as C=0.1; repeat it for more."
)
GRID: Any = typer.Option(
    [],
    "--grid",
    metavar="NAME=V,V,…",
    help="Values to choose from by validation, such as C=0.01,0.1,1; repeat it for more parameters. "
    "C=0.5,5,50/pairs divides by the number of training pairs.",
)
NORMALISE: Any = typer.Option(
    None,
    "--normalise",
    metavar="NAME",
    autocompletion=complete_normaliser,
    help="Scale the features first: query-minmax, query-zscore, query-sum, minmax, standard. Kept with the model.",
)
JOBS: Any = typer.Option(None, "--jobs", "-j", metavar="N", help="Threads; all cores by default.")
QUIET: Any = typer.Option(False, "--quiet", "-q", help="Say less.")
VERBOSE: Any = typer.Option(False, "--verbose", "-v", help="Say more.")


def parse_parameters(given: list[str]) -> dict[str, Any]:
    """Return the parameters of ``-p NAME=VALUE`` options."""
    parameters: dict[str, Any] = {}
    for text in given:
        name, value = _split(text, "-p")
        if name in parameters:
            raise OptionError(f"-p: expected every parameter once, got {name!r} twice")
        parameters[name] = parse_value(value)
    return parameters


def parse_grid(given: list[str]) -> dict[str, Any]:
    """Return the grid of ``--grid NAME=V,V,…`` options, as ``ar.select`` takes it."""
    grid: dict[str, Any] = {}
    for text in given:
        name, values = _split(text, "--grid")
        if name in grid:
            raise OptionError(f"--grid: expected every parameter once, got {name!r} twice")
        listed, _, unit = values.partition("/")
        if not all(part.strip() for part in listed.split(",")):
            raise OptionError(f"--grid: expected NAME=VALUE,VALUE,…, got {text!r}")
        points = [parse_value(part) for part in listed.split(",")]
        grid[name] = {"values": points, "divide_by": unit} if unit else points
    return grid


def parse_value(text: str) -> Any:
    """Return what a text of the command line means: true, false, none, a number, or the text itself."""
    text = text.strip()
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return text


def _split(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise OptionError(f"{option}: expected NAME=VALUE, got {text!r}")
    return name.strip(), value


def ranker_of(name: str, parameters: dict[str, Any], normalise: str | None, n_jobs: int | None = None) -> Any:
    """Return a ranker with the parameters of the command line."""
    from argrank.data.prepare.normalise import normaliser
    from argrank.rankers import make_ranker

    if normalise is not None:
        normaliser(normalise)  # an unknown name is found before any data is read
        parameters = {"normalise": normalise, **parameters}
    ranker = make_ranker(name, **parameters)
    return ranker if n_jobs is None else ranker.set_params(n_jobs=n_jobs)


def load_wide(path: str, n_features: int | None, progress: bool = True) -> Dataset:
    """Read data; LETOR text with at least so many features, as a file need not mention those that are 0 everywhere."""
    from argrank.data.io.load import EXTENSIONS, load

    is_letor = EXTENSIONS.get(split_suffixes(path)[0], "letor") == "letor"
    return load(path, n_features=n_features if is_letor else None, progress=progress)


def listen(verbose: bool) -> None:
    """Write what the library reports to standard error, one line each: warnings always, progress where asked for."""
    logger = logging.getLogger("argrank")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("argrank: %(message)s"))
    logger.handlers = [handler]
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
