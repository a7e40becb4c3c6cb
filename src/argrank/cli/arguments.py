"""Turn arguments of the command line into objects: data, systems, segments, rankers, a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argrank._files import split_suffixes
from argrank.errors import ClusterError, InputError, MissingExtraError, OptionError

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset
    from argrank.data.io.trec.files import Qrels

WAIT = "10s"  # timeout of the scheduler


def system_files(given: list[str]) -> dict[str, str]:
    """Return files by system name; an existing file whose name contains an equals sign is taken as a file."""
    files: dict[str, str] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or not name or Path(text).exists():
            path = Path(text)
            name, file = Path(path.stem if split_suffixes(path)[1] else path.name).stem, text
        if name in files:
            raise OptionError(f"{text}: expected systems with different names, got {name!r} twice; use NAME=FILE")
        files[name] = file
    return files


def judged(data: str, files: Mapping[str, str], column: str | None, progress: bool = True) -> Dataset | Qrels | Path:
    """Read what systems are measured against: data with features, or judgements for runs.

    Judgements of large runs are read later, by the evaluation, together with the runs.
    """
    from argrank.data.io.naming import Naming, naming, told_naming
    from argrank.evaluation.systems import are_quick, judged_source

    runs = {name: Path(file) for name, file in files.items() if is_run(file, column)}
    if len(runs) == len(files) and are_quick(runs, Path(data)):
        return Path(data)
    with naming(told_naming().over(Naming(_dates_of(files.values())))):
        return judged_source(data, {name: runs.get(name, ()) for name in files}, progress)


def _dates_of(files: Iterable[str]) -> dict[str, str | None]:
    """Return the date columns of the models among the files, so that they need not be given again."""
    from argrank.models.files import load_model
    from argrank.models.model import Model

    models = [load_model(file) for file in files if Path(file).suffix.lower() == ".json" and Path(file).exists()]
    return {name: "date" for model in models if isinstance(model, Model) for name in model.dates or ()}


def is_run(file: str, column: str | None) -> bool:
    """Tell whether a file holds a run, and not a model or scores in the order of the data's rows."""
    from argrank.data.io.trec.forms import is_run_file

    return column is None and Path(file).suffix.lower() != ".json" and is_run_file(file)


def system(file: str, judged: Any, column: str | None) -> Any:
    """Load a system from a file: a model, the scores of the data's rows, or a run."""
    from argrank.data.io.scores import read_scores
    from argrank.evaluation.systems import is_run_for

    if Path(file).suffix.lower() == ".json":
        from argrank.models.files import load_model

        return load_model(file)
    as_run = is_run(file, column) and is_run_for(Path(file), judged)
    return Path(file) if as_run else read_scores(file, judged, column)


def read_systems(
    data: str, files: Mapping[str, str], column: str | None, features: Sequence[str], progress: bool
) -> tuple[Dataset | Qrels | Path, dict[str, Any]]:
    """Return what systems are measured against, and the systems: files, and features that rank by themselves."""
    from argrank.evaluation.systems import feature_scores

    known = judged(data, files, column, progress)
    systems = {name: system(file, known, column) for name, file in files.items()}
    systems |= {name: feature_scores(known, name, "--system") for name in features}
    if not systems:
        raise OptionError("SCORES: expected files of scores, runs or models, or --system FEATURE, got none")
    return known, systems


def refuse_constant(ranker: Any, data: Any, advice: str = "; --allow-constant trains anyway") -> None:
    """Raise if nothing can be learned from the labels, before a useless model is saved."""
    from argrank.rankers.training_data import nothing_to_learn

    missing = nothing_to_learn(ranker, data)
    if missing is not None:
        raise InputError(f"expected labels to learn from, got data in which {missing}{advice}")


def segments(by: str | None) -> Any:
    """Return the segments of ``--by``: by query id from a file, or the name of a feature."""
    from argrank.evaluation.segments import read_segments

    return read_segments(by) if by is not None and Path(by).exists() else by


def ranker_of(name: str, parameters: dict[str, Any], normalise: str | None, n_jobs: int | None = None) -> Any:
    """Return a ranker with the parameters of the command line."""
    from argrank.cli._startup import load_scikit_learn

    load_scikit_learn()
    from argrank.data.prepare.normalise import normaliser
    from argrank.rankers import make_ranker
    from argrank.rankers.optimised import explicit

    if normalise is not None:
        normaliser(normalise)  # an unknown name is found before any data is read
        parameters = {"normalise": normalise, **parameters}
    ranker = make_ranker(name, **explicit(parameters))
    return ranker.set_params(n_jobs=n_jobs) if n_jobs is not None and "n_jobs" in ranker.get_params() else ranker


def default_choices(name: str, fixed: dict[str, Any]) -> Any:
    """Return the default grid of a ranker without the fixed parameters; the search extends beyond its ends."""
    from argrank.rankers.registry import default_grid
    from argrank.trials.grid import OpenGrid

    return OpenGrid({key: values for key, values in default_grid(name).items() if key not in fixed})


def load_wide(
    path: str,
    n_features: int | None,
    progress: bool = True,
    features: Sequence[str] | None = None,
    kinds: Mapping[str, str | None] | None = None,
) -> Dataset:
    """Read data with the features of other data.

    LETOR text gets at least ``n_features``, as a file may omit features that are 0 everywhere. In a table the columns
    ``features`` are the features, with the given ``kinds``.
    """
    from argrank.data.categories import made_up
    from argrank.data.io.kinds import kind_of
    from argrank.data.io.load import load

    kind = kind_of(path)
    if kind == "pack":
        return load(path)
    if kind == "letor":
        return load(path, n_features=n_features, progress=progress)
    if features is None or made_up(features):
        return load(path, progress=progress)
    return load(path, columns=kinds, features=features, progress=progress)


def documents_for(model: Any, path: str, progress: bool = True, judged: bool = False) -> Dataset:
    """Read documents to score, with the model's features by name; a label is read only if ``judged``."""
    from argrank.data.io.naming import naming, told_naming

    with naming(told_naming() if judged else told_naming()._replace(known=("label",))):
        return load_wide(path, model.n_features, progress, model.feature_names, model.kinds)


def means_of(scores: Any, data: Dataset, names: list[str], convention: str) -> dict[str, float]:
    """Return the mean of every measure."""
    from argrank.evaluation.evaluate import evaluate

    return dict(evaluate(scores, data, names, convention=convention).means)


def connect(address: str) -> Any:
    """Return a client of the cluster with the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("distributed", "dask", "--scheduler") from error
    try:
        return Client(address, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"--scheduler: expected a running Dask scheduler at {address}, got: {error}") from error
