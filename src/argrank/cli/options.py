"""Options that several commands share, and their parsing."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import logging
import math
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

import typer

from argrank import _files
from argrank.errors import OptionError

DEFAULT_MEASURES = ("ndcg@10", "map", "mrr@10")


def option(spelling: str, default: Any, text: str, **more: Any) -> Any:
    """Declare an option as its help shows it: its names, then the placeholder of its value, ``--output -o FILE``."""
    words = spelling.split()
    names = [word for word in words if word.startswith("-")]
    return typer.Option(default, *names, metavar=" ".join(words[len(names) :]) or None, help=text, **more)


def file_option(spelling: str, default: Any, text: str) -> Any:
    """Declare an option for a file to write; if that is impossible, it is an error at once, not after the work."""
    return option(spelling, default, text, callback=_writable)


def _writable(path: Path | None) -> Path | None:
    if path is not None:
        _files.check_writable(path)
    return path


def argument(placeholder: str, default: Any, text: str) -> Any:
    """Declare an argument by the placeholder that its help shows."""
    return typer.Argument(default, metavar=placeholder, help=text)


DATA = argument("DATA", ..., "Judged data: LETOR/SVMlight text (.gz .xz .bz2 .zip too), .csv, .parquet, .arrow, .pack.")
JUDGED = argument(
    "DATA|QRELS", ..., "Judged data with features (LETOR text, .csv, .parquet, …), or TREC qrels for runs."
)
BY = option("--by FILE|FEATURE", None, "Segments: a table with the columns qid and segment, or a feature.")
JUDGED_ONLY = option("--judged-only", False, "Drop unjudged documents of runs; by default they count as not relevant.")
MEASURES = option(
    "--measure -m NAME", list(DEFAULT_MEASURES), "Measure, or several: ndcg@10,map or ndcg@1..10; repeat it for more."
)
CONVENTION = option("--convention NAME", "default", "Rules for gains, ties and undefined queries: letor3, trec, …")
SYSTEM = option("--system FEATURE,…", [], "A feature of the data that ranks by itself, as a system: bm25_title.")
BASELINE = option(
    "--baseline NAME", None, "What ranks today, a system or a feature; the report begins with the gain over it."
)
COLUMN = option("--column NAME", None, "Column with the scores, if SCORES is a table.")
OUTPUT = file_option("--output -o FILE", None, "Write to a file instead of standard output.")
FORMAT = option("--format text|markdown|latex|json|html", "text", "Format of the tables.")
AS_JSON = option("--json", False, "Print JSON.")


def complete_ranker(incomplete: str) -> list[str]:
    """Return the rankers that a shell offers for completion."""
    from argrank.rankers import ranker_names

    return [name for name in ranker_names() if name.startswith(incomplete)]


def complete_normaliser(incomplete: str) -> list[str]:
    """Return the normalisers that a shell offers for completion."""
    from argrank.data.prepare.normalise import normaliser_names

    return [name for name in normaliser_names() if name.startswith(incomplete)]


PARAMETERS = option(
    "--param -p NAME=VALUE",
    [],
    "Fix a parameter of the ranker, such as C=0.1; repeat it for more. argrank train -r NAME --help lists them.",
)
GRID = option(
    "--grid NAME=V,V,…",
    [],
    "Vary a parameter: values to choose from by validation, such as C=0.01,0.1,1; repeat it for more.",
)
NORMALISE = option(
    "--normalise NAME",
    None,
    "Scale the features first: query-minmax, query-zscore, query-sum, minmax, standard. Kept with the model.",
    autocompletion=complete_normaliser,
)
RESUME = option("--resume FOLDER", None, "Save every fit here, finished or not; the same command continues from it.")
JOBS = option("--jobs -j N", None, "Threads; all cores by default.")
QUIET = option("--quiet -q", False, "Print less, and write only errors to standard error.")
VERBOSE = option("--verbose -v", False, "Print more.")


def split_names(given: list[str], flag: str = "-m", what: str = "measures") -> list[str]:
    """Split at commas, but not those inside parentheses: ``ndcg@10,AP(rel=2, undefined=0)@100`` is two names."""
    names = [name.strip() for text in given for name in re.split(r",(?![^(]*\))", text)]
    if not all(names):
        raise OptionError(f"{flag}: expected names of {what}, got {', '.join(map(repr, given))}")
    if any(".." in name for name in names):
        from argrank.measures.names import spelled_out

        names = spelled_out(names)
    return list(dict.fromkeys(names))


def write_text(text: str, path: Path | None) -> None:
    """Print a text, or write it to a file atomically."""
    if path is None:
        typer.echo(text)
    else:
        _files.write_text(path, f"{text}\n")


def means_lines(means: Mapping[str, Mapping[str, float]]) -> str:
    """Return means for scripts to read: name, measure and mean, separated by tabs."""
    return "\n".join(f"{name}\t{one}\t{mean!r}" for name, own in means.items() for one, mean in own.items())


def json_text(value: Any) -> str:
    """Return plain data as JSON for people to read."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def parse_parameters(given: list[str], flag: str = "-p") -> dict[str, Any]:
    """Return the parameters of options such as ``-p NAME=VALUE``."""
    return {name: parse_value(value) for name, value in _by_name(given, flag).items()}


def parse_grid(given: list[str]) -> dict[str, Any]:
    """Return the grid of ``--grid NAME=V,V,…`` options, as ``ar.select`` takes it."""
    grid: dict[str, Any] = {}
    for name, values in _by_name(given, "--grid").items():
        parts = re.split(r",(?![^\[]*\])", values)  # not inside a list [V,V]
        if not all(part.strip() for part in parts):
            raise OptionError(f"--grid: expected NAME=VALUE,VALUE,…, got {f'{name}={values}'!r}")
        grid[name] = [parse_value(part) for part in parts]
    return grid


def parse_value(text: str) -> Any:
    """Parse a value of the command line: true, false, none, a number, a list [V,V,…], JSON, or else the text."""
    text = text.strip()
    if text[:1] in ("[", "{", '"'):
        with contextlib.suppress(ValueError):
            return json.loads(text, parse_constant=float.fromhex)  # parse_json refuses NaN and Infinity
    if text[:1] == "[" and text[-1:] == "]":
        return [parse_value(part) for part in text[1:-1].split(",")] if text[1:-1].strip() else []
    words = {"true": True, "false": False, "none": None, "null": None}
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


def parse_settings(parameters: list[str], grid: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what ``-p`` fixes and what ``--grid`` varies; a parameter cannot be in both."""
    fixed, choices = parse_parameters(parameters), parse_grid(grid)
    both = next((name for name in choices if name in fixed), None)
    if both is not None:
        raise OptionError(f"{both}: expected -p, which fixes it, or --grid, which varies it, got both")
    return fixed, choices


def _by_name(given: list[str], flag: str) -> dict[str, str]:
    """Return the texts of options NAME=TEXT by their names."""
    found: dict[str, str] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise OptionError(f"{flag}: expected NAME=VALUE, got {text!r}")
        if name in found:
            raise OptionError(f"{flag}: expected every name once, got {name!r} twice")
        found[name] = value
    return found


COLUMN_OPTIONS: dict[str, tuple[Any, Any]] = {
    "qid": (str | None, option("COLUMN", None, "Column of a table with the query ids.")),
    "label": (str | None, option("COLUMN", None, "Column of a table with the labels.")),
    "docid": (str | None, option("COLUMN", None, "Column of a table with the document ids.")),
    "drop": (list[str], option("COLUMN,…", [], "Columns of a table to leave out.")),
    "only": (list[str], option("COLUMN,…", [], "Columns that are features; no others are.")),
    "category": (
        list[str],
        option("COLUMN,…", [], "Columns that are categories, even if they hold numbers."),
    ),
    "date": (
        list[str],
        option("COLUMN,…", [], "Columns that are dates; turned into days before the newest date of the training data."),
    ),
    "text": (list[str], option("COLUMN,…", [], "Columns of text to show, not features.")),
    "sep": (str | None, option("C", None, "Separator of a CSV file; detected by default.")),
    "decimal": (str | None, option("C", None, "Decimal mark of a CSV file; detected by default.")),
    "thousands": (str | None, option("C", None, "Thousands separator; detected by default.")),
    "encoding": (str | None, option("NAME", None, "Encoding of a CSV file: utf-8, utf-16, …")),
}


def with_columns(run: Callable[..., None]) -> Callable[..., None]:
    """Add the options about the columns of a table to a command that reads data."""

    @functools.wraps(run)
    def wrapped(**given: Any) -> None:
        from argrank.data.io.dialects import Given
        from argrank.data.io.naming import Naming, naming

        told = {name: given.pop(name) for name in COLUMN_OPTIONS}
        columns: dict[str, str | None] = dict.fromkeys(names_of(told["drop"]))
        columns |= {name: kind for kind in ("category", "date", "text") for name in names_of(told[kind])}
        columns |= {told[meaning]: meaning for meaning in ("qid", "label", "docid") if told[meaning]}
        sep = "\t" if told["sep"] in ("tab", "\\t") else told["sep"]  # a tab is hard to type in a shell
        written = Given(sep, *(told[name] for name in ("decimal", "thousands", "encoding")))
        listen(verbose=False, quiet=bool(given.get("quiet")))
        with naming(Naming(columns, names_of(told["only"]) or None, written.checked())):
            run(**given)

    return declared(wrapped, run, COLUMN_OPTIONS)


def declared(
    wrapped: Callable[..., None], run: Callable[..., None], further: Mapping[str, tuple[Any, Any]]
) -> Callable[..., None]:
    """Return a wrapped command with the options of its function and further ones, in the form that typer reads."""
    own, hints = inspect.signature(run), get_type_hints(run)
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [one.replace(annotation=hints[one.name], kind=kind) for one in own.parameters.values()]
    parameters += [
        inspect.Parameter(name, kind, default=option, annotation=hint) for name, (hint, option) in further.items()
    ]
    wrapped.__annotations__ = {one.name: one.annotation for one in parameters}
    wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return wrapped


def names_of(given: list[str]) -> list[str]:
    """Return names that are separated by commas, or given one by one."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def listen(verbose: bool, quiet: bool = False) -> None:
    """Write the library's log messages to standard error, one line each: progress if requested, nothing if quiet."""
    logger = logging.getLogger("argrank")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("argrank: %(message)s"))
    logger.handlers = [handler]
    logger.setLevel(logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING)
