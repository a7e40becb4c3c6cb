"""The export targets, and what each can express."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, cast

from sklearn.base import BaseEstimator

from argrank._declared import checked
from argrank._registry import Registry, imported
from argrank._tables import counted
from argrank.data.prepare.preparation import PREPARATIONS, Prepare
from argrank.deploy.one_hot import with_numbers_alone
from argrank.deploy.plain import Plain, Writer, Writes, plain
from argrank.errors import ArgrankError, ModelError, OptionError, check_choice, shown
from argrank.models.model import fitted_model

SUMS = ("linear", "trees", "sum")
EVERYTHING = (*SUMS, "classes")


class Target(NamedTuple):
    """An entry of the registry."""

    home: str | Writer  # the writer, or the module below argrank.deploy that has it as WRITER
    title: str
    takes: tuple[str, ...]  # of EVERYTHING
    singles: bool = True  # whether it compares and keeps features as float32
    prepare: Prepare = "auto"  # how training prepares missing values and texts, so that it can express the model

    @property
    def sets(self) -> bool:
        """Whether a split can test for several categories, so that training keeps texts."""
        return self.prepare == "auto"


#: To add a target: a file with a ``WRITER``, and a line here.
_OWN = {
    "elastic": Target(".elastic", "Elasticsearch's own learning to rank", ("trees",), prepare="one-hot"),
    "elasticsearch": Target(".elasticsearch", "Elasticsearch LTR plugin", ("linear", "trees"), prepare="zero"),
    "lightgbm": Target(".lightgbm", "LightGBM text", ("trees",), singles=False),
    "onnx": Target(".onnx", "ONNX graph", EVERYTHING),
    "opensearch": Target(".elasticsearch", "OpenSearch LTR plugin", ("linear", "trees"), prepare="zero"),
    "python": Target(".python", "one Python file", EVERYTHING, singles=False),
    "ranklib": Target(".ranklib", "RankLib text", ("linear", "trees"), prepare="zero"),
    "solr": Target(".solr", "Apache Solr", ("linear", "trees"), prepare="zero"),
    "vespa": Target(".vespa", "Vespa rank profile", SUMS),
    "xgboost": Target(".xgboost", "XGBoost JSON", ("trees",), prepare="one-hot"),
}


@checked
def register_target(
    name: str,
    writer: Writer | Writes,
    *,
    title: str | None = None,
    takes: tuple[str, ...] = ("linear", "trees"),
    singles: bool = True,
    prepare: Prepare = "one-hot",
) -> None:
    """Register your own target for `ar.export` and ``argrank export``.

    Another package can do the same with an entry point of the group ``argrank.targets``.

    Parameters
    ----------
    name : str
        A name that argrank does not have itself.
    writer : module or object
        Has ``write(plain, options) -> files`` and ``simulate(files, options, X) -> scores``; where the engine's
        arithmetic differs from ours in more than that, an ``argrank.deploy.plain.Writer`` says how.
    title : str, optional
        Title in lists of targets; by default its name.
    takes : tuple of str
        Of "linear", "trees", "sum", "classes": what it can express.
    singles : bool
        Whether the engine compares and keeps features as float32.
    prepare : "auto", "zero", "one-hot", …
        How training prepares missing values and texts for it; "auto" means that splits can test for sets of categories.
    """
    if not isinstance(writer, Writer | Writes):
        raise OptionError(f"target {name!r}: expected a writer with write and simulate, got {shown(writer)}")
    for kind in takes:
        check_choice("takes", kind, EVERYTHING)
    check_choice("prepare", prepare, PREPARATIONS)
    whole = writer if isinstance(writer, Writer) else Writer(writer.write, writer.simulate)
    TARGETS.register(name, Target(whole, title or name, takes, singles, prepare))


TARGETS = Registry("target", _OWN, "argrank.targets", register_target)


@checked
def targets(model: Any = None) -> dict[str, str]:
    """Return the targets of `ar.export` with what each can express; for a model, its possible targets, and how.

    Examples
    --------
    >>> import argrank as ar
    >>> ar.targets()["opensearch"]
    'OpenSearch LTR plugin: linear models, trees'
    """
    said = {"linear": "linear models", "trees": "trees", "sum": "sums of both", "classes": "mcrank's probabilities"}
    found = {name: f"{line.title}: {', '.join(said[one] for one in line.takes)}" for name, line in TARGETS.items()}
    if model is None:
        return found
    try:
        served = model_of(model)
        parts = plain(served, "zero")
    except ArgrankError:
        return {}
    by_numbers = _by_numbers(parts, served)
    only_zero = '; missing values only as 0 (missing="zero", --missing zero)' if parts.trained_with_missing else ""
    able = {name: line for name, line in TARGETS.items() if parts.kind in line.takes}
    return {
        name: found[name] + ("" if line.sets else by_numbers or "") + (only_zero if name == "ranklib" else "")
        for name, line in able.items()
        if line.sets or by_numbers is not None
    }


def _by_numbers(parts: Plain, served: Any) -> str | None:
    """Return how categories are given to targets that support only numbers; None if they cannot be."""
    try:
        columns = with_numbers_alone(parts, served, "")[1] or ()
    except ModelError:
        return None
    n_derived = sum(column.category is not None for column in columns)
    return f"; its categories as {counted(n_derived, 'column', 'columns')} of 0 and 1" if n_derived else ""


def blend_families(name: str) -> tuple[str, ...]:
    """Return the families of members ("all", "trees", "linear") whose blend a target can express, the widest first."""
    takes = TARGETS[name].takes
    if "sum" in takes:
        return ("all",)
    return tuple(family for family in ("trees", "linear") if family in takes)


def fitted_to(ranker: Any, name: str) -> Any:
    """Return a ranker whose models a target can express; raise before training if there is none."""
    early_refusal(name, ranker)
    parameters = ranker.get_params(deep=False)
    if "target" in parameters:
        return ranker.set_params(target=name)
    return ranker.set_params(prepare=TARGETS[name].prepare) if parameters.get("prepare") == "auto" else ranker


def early_refusal(name: str, ranker: Any) -> None:
    """Raise before training if the model could not be exported."""
    from argrank.data.prepare.normalise import normaliser
    from argrank.rankers.base_ranker import BaseRanker
    from argrank.rankers.boosted.trees.mcrank import McRank

    line, parameters = TARGETS[name], ranker.get_params()
    normalise = parameters.get("normalise")
    if normalise is not None and normaliser(normalise).needs_queries:
        raise ModelError(
            f"{name} scores documents independently and cannot normalise within queries ({normalise}); "
            'train with normalise="standard" or "minmax"'
        )
    if "target" in parameters or not isinstance(ranker, BaseRanker):  # auto chooses members that the target supports
        return
    kind = "trees" if ranker.compares else "linear"
    if isinstance(ranker, McRank):
        kind = "classes"
    elif parameters.get("start") == "linear":
        kind = "sum"
    if kind not in line.takes:
        raise ModelError(_cannot(name, kind, ", or train with start=None" if kind == "sum" else None))


def sentence(model: Any) -> str:
    """Return the sentence about a new model's targets."""
    names = targets(model)
    if names:
        return f"It can go to {', '.join(names)}: argrank export."
    try:
        plain(model_of(model), "zero")
    except ArgrankError as error:
        return f"It cannot be exported: {error}."
    return "It cannot be exported."


def writer(name: str) -> Writer:
    """Return the writer of a target."""
    home = TARGETS[name].home
    return cast(Writer, imported(f"{home}:WRITER", "argrank.deploy")) if isinstance(home, str) else home


def check_takes(name: str, model: Plain) -> None:
    """Raise if a target cannot express a model, and name those that can."""
    if model.kind not in TARGETS[name].takes:
        raise ModelError(_cannot(name, "filled" if model.only_fills else model.kind))


def _cannot(name: str, kind: str, advice: str | None = None) -> str:
    able = [other for other, line in TARGETS.items() if ("sum" if kind == "filled" else kind) in line.takes]
    what, usual = {
        "linear": ("linear models", ""),
        "trees": ("trees", ""),
        "sum": ("trees with a linear part", ', or blend trees alone (family="trees")'),
        "filled": (
            "the missing values of this linear model (medians and flags)",
            f", or train with --target {name} (target={name!r}), where they are 0",
        ),
        "classes": ("probabilities from several sums of trees (mcrank)", ", or train mart or lambda-mart"),
    }[kind]
    return f"{name} cannot express {what}; {', '.join(able)} can{usual if advice is None else advice}"


def model_of(model: Any) -> Any:
    """Return the model of a fitted ranker or of a file, or the model itself."""
    if isinstance(model, str | os.PathLike):
        from argrank.models.files import load_model

        return load_model(model)
    found = fitted_model(model)
    if isinstance(found, BaseEstimator):
        raise ModelError(f"expected a fitted ranker, got a {type(model).__name__} before fit")
    return found
