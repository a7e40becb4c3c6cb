"""The configuration of an experiment: rankers, data sets, folds, measures and expected figures."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argrank._files import check_path
from argrank.data.collections import find_collection
from argrank.data.generated.standins import STANDINS
from argrank.data.prepare.impute import FILLINGS
from argrank.data.prepare.normalise import normaliser_names
from argrank.errors import ArgrankError, InputError, OptionError
from argrank.evaluation.compare import CORRECTIONS
from argrank.evaluation.defaults import CORRECTION, TEST
from argrank.evaluation.significance import TESTS
from argrank.measures.conventions import convention_names
from argrank.measures.names import measure, measure_list
from argrank.rankers import make_ranker, ranker_names
from argrank.rankers.optimised import Optimised, aimed, explicit, optimised
from argrank.trials.grid import is_number
from argrank.trials.schema import Section, known, read_toml
from argrank.trials.select import DEFAULT, make_grid
from argrank.trials.store import slug

SETTING_KEYS = ("title", "convention", "measures", "select_by", "test", "correction", "baseline")
TOP_KEYS = (*SETTING_KEYS, "data", "ranker", "expected")
DATA_KEYS = ("name", "collection", "folder", "files", "standin", "folds", "features", "preprocess", "convention")
RANKER_KEYS = ("name", "ranker", "parameters", "grid")
EXPECTED_KEYS = ("data", "ranker", "measure", "value", "values", "tolerance", "source")
ROLES = ("train", "valid", "test")
STEPS = {"binarise": (), "clean": ("relevant_at", "cosine"), "impute": ("features",), "normalise": ()}
STEP_KEYS = (*STEPS, *(key for keys in STEPS.values() for key in keys))


@dataclass(frozen=True)
class DataSpec:
    """A data set: a known collection, a folder of folds, the files of every fold, or a generated stand-in."""

    name: str
    folds: tuple[int, ...]
    collection: str | None = None
    folder: Path | None = None
    files: tuple[dict[str, Path], ...] = ()
    standin: str | None = None
    features: int | None = None
    preprocess: tuple[dict[str, Any], ...] = ()
    convention: str | None = None  # of its evaluation, if it differs from the experiment's


@dataclass(frozen=True)
class RankerSpec:
    """A ranker with its own name: its registered name, fixed parameters, and the grid."""

    name: str
    ranker: str
    parameters: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)

    def optimised(self, asked: str) -> Optimised | None:
        """Return what this ranker optimises when a measure is requested."""
        return optimised(aimed(self.make(), asked), asked)

    def make(self) -> Any:
        """Return the ranker; a measure given in the file is kept."""
        return make_ranker(self.ranker, **explicit(self.parameters))


@dataclass(frozen=True)
class Expected:
    """An expected figure, with its tolerance."""

    data: str
    ranker: str
    measure: str
    value: float
    tolerance: float
    source: str


@dataclass(frozen=True)
class Config:
    """An experiment as its file describes it."""

    path: Path
    title: str
    convention: str
    measures: tuple[str, ...]
    select_by: str
    data: tuple[DataSpec, ...]
    rankers: tuple[RankerSpec, ...]
    expected: tuple[Expected, ...]
    test: str = TEST
    correction: str = CORRECTION
    baseline: str | None = None  # the ranker that all others are compared with, instead of all pairs

    def convention_of(self, data: DataSpec) -> str:
        """Return the convention that a data set is evaluated by: its own, else the experiment's."""
        return data.convention or self.convention


def read_config(path: str | os.PathLike[str]) -> Config:
    """Read and check the configuration of an experiment; paths in it are relative to its own folder."""
    check_path(path)
    path = Path(path)
    top = Section(read_toml(path), str(path), TOP_KEYS)
    title = top.text("title", path.stem)
    convention = _convention(top, top.text("convention"))
    measures = list(dict.fromkeys(_measures(top, top.texts("measures"))))
    select_by = _measure(top, "select_by", top.text("select_by", measures[0]))
    data = [_data(section, path.parent) for section in top.sections("data", DATA_KEYS)]
    rankers = [_ranker(section) for section in top.sections("ranker", RANKER_KEYS)]
    _all_different(top, "data", [one.name for one in data])
    _all_different(top, "ranker", [one.name for one in rankers])
    names = ([one.name for one in data], [one.name for one in rankers], measures)
    tables = top.sections("expected", EXPECTED_KEYS, [])
    expected = [figure for section in tables for figure in _expected(section, *names)]
    baseline = top.text("baseline", None)
    return Config(
        path, title, convention, tuple(measures), select_by, tuple(data), tuple(rankers), tuple(expected),
        known(top.place, "test", top.text("test", TEST), list(TESTS)),
        known(top.place, "correction", top.text("correction", CORRECTION), CORRECTIONS),
        None if baseline is None else known(top.place, "ranker", baseline, names[1]),
    )  # fmt: skip


def _convention(section: Section, name: str) -> str:
    return known(section.place, "convention", name, convention_names())


def _measures(section: Section, names: list[str]) -> list[str]:
    try:
        return [name for name, _ in measure_list(names)]
    except OptionError as error:
        raise InputError(f"{section.place}: measures: {error}") from error


def _measure(section: Section, key: str, name: str) -> str:
    try:
        measure(name)
    except OptionError as error:
        raise InputError(f"{section.place}: {key}: {error}") from error
    return name


def _all_different(section: Section, key: str, names: list[str]) -> None:
    if not names:
        raise InputError(f"{section.place}: expected at least one table [[{key}]], got none")
    files = [slug(name) for name in names]
    twice = next((name for name in names if files.count(slug(name)) > 1), None)
    if twice is not None:
        raise InputError(f"{section.place}: {key}: expected names that differ as file names, got {twice!r} twice")


def _data(section: Section, base: Path) -> DataSpec:
    collection, folder = section.text("collection", None), section.text("folder", None)
    files = [_files(part, base) for part in section.sections("files", ROLES, [])]
    standin = section.text("standin", None)
    if [collection is not None or folder is not None, bool(files), standin is not None].count(True) != 1:
        raise InputError(
            f"{section.place}: expected a collection, a folder, tables of files or a standin, got several or none"
        )
    if standin is not None:
        known(section.place, "stand-in", standin, list(STANDINS))
    if collection is not None:
        try:
            collection = find_collection(collection).name
        except OptionError as error:
            raise InputError(f"{section.place}: collection: {error}") from error
    most = len(files) or (5 if collection is None else find_collection(collection).n_folds)
    folds = section.whole_numbers("folds", list(range(1, most + 1)))
    if min(folds) < 1 or max(folds) > most or len(set(folds)) < len(folds):
        raise section.error("folds", f"different numbers from 1 to {most}", folds)
    features = section.take("features", int, "a whole number", None)
    if features is not None and collection is not None:
        raise InputError(f"{section.place}: features: {collection} has its known number of features; leave it out")
    name = section.text("name", collection or standin or (None if folder is None else Path(folder).name))
    if name is None:
        raise InputError(f"{section.place}: expected a key 'name' (a text), got none")
    if standin is not None:
        name = f"{name} (generated)"  # so that it is not taken for the original
    steps = tuple(_step(part) for part in section.sections("preprocess", STEP_KEYS, []))
    place = None if folder is None else base / Path(folder).expanduser()
    convention = section.text("convention", None)
    if convention is not None:
        _convention(section, convention)
    return DataSpec(name, tuple(folds), collection, place, tuple(files), standin, features, steps, convention)


def _files(section: Section, base: Path) -> dict[str, Path]:
    paths = {role: section.text(role, None) if role == "valid" else section.text(role) for role in ROLES}
    return {role: base / Path(path).expanduser() for role, path in paths.items() if path is not None}


def _step(section: Section) -> dict[str, Any]:
    given = [name for name in STEPS if section.has(name)]
    if len(given) != 1:
        raise InputError(f"{section.place}: expected one of {', '.join(STEPS)}, got {' and '.join(given) or 'none'}")
    name = given[0]
    stray = next((key for key in STEP_KEYS if section.has(key) and key not in (name, *STEPS[name])), None)
    if stray is not None:
        raise InputError(f"{section.place}: {stray!r} is not an option of {name}")
    step: dict[str, Any] = {}
    if name == "impute":
        step["impute"] = section.take("impute", (str, int, float), f"a number or one of {', '.join(FILLINGS)}")
        if isinstance(step["impute"], str):
            known(section.place, "filling", step["impute"], FILLINGS)
        if section.has("features"):
            step["features"] = section.take("features", list, "a list of column numbers (from 0) or names")
    elif name == "binarise":
        step["binarise"] = section.number("binarise")
    elif name == "normalise":
        step["normalise"] = known(section.place, "normalisation", section.text("normalise"), normaliser_names())
    else:
        step["clean"] = section.text("clean")  # the rule's name is checked by clean
        step |= {key: section.number(key) for key in STEPS["clean"] if section.has(key)}
    return step


def _ranker(section: Section) -> RankerSpec:
    name = section.text("name")
    ranker = known(section.place, "ranker", section.text("ranker", name), ranker_names())
    parameters = {key: _value(value) for key, value in section.table("parameters", {}).items()}
    try:
        made = make_ranker(ranker, **parameters)
        possible = made.get_params()
    except (ArgrankError, TypeError) as error:
        raise InputError(f"{section.place}: parameters: {error}") from error
    given = section.take("grid", (dict, str), f"a table of parameters and their values, or {DEFAULT!r}", {})
    if isinstance(given, str):
        if given != DEFAULT:
            raise section.error("grid", f"a table of parameters and their values, or {DEFAULT!r}", given)
        return RankerSpec(name, ranker, parameters, make_grid(made, DEFAULT))
    grid = {
        key: [_value(value) for value in values] if isinstance(values, list) else values
        for key, values in given.items()
    }
    for parameter, values in grid.items():
        if parameter not in possible:
            raise InputError(
                f"{section.place}: grid: {ranker} has no parameter {parameter!r}; it has {', '.join(possible)}"
            )
        if parameter in parameters:
            raise InputError(
                f"{section.place}: {parameter!r} is fixed by parameters and varied by grid; expected only one"
            )
        if not isinstance(values, list) or not values:
            raise section.error(f"grid.{parameter}", "a list of values", values)
    return RankerSpec(name, ranker, parameters, grid)


def _value(value: Any) -> Any:
    """Return the value of a parameter: None for "none", as on the command line, since TOML has no null."""
    return None if value == "none" else value


def _expected(section: Section, data: list[str], rankers: list[str], measures: list[str]) -> list[Expected]:
    """Return the figures of one table: ``measure`` and ``value``, or ``values`` with one figure for each measure."""
    whose = known(section.place, "data set", section.text("data"), data)
    ranker = known(section.place, "ranker", section.text("ranker"), rankers)
    tolerance, source = float(section.number("tolerance")), section.text("source", "")
    single = not section.has("values")
    values = {section.text("measure"): section.number("value")} if single else section.table("values")
    figures = []
    for name, value in values.items():
        known(section.place, "measure of this experiment", name, measures)
        if not is_number(value):
            raise section.error(f"values.{name}", "a number", value)
        figures.append(Expected(whose, ranker, name, float(value), tolerance, source))
    return figures
