"""``argrank train``: train a ranker, tune its parameters, evaluate it, save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from argrank._json import json_value
from argrank._tables import measure_text, parameters_text, table, to_text
from argrank.cli import _on_log, _special, _worse, arguments, options
from argrank.cli._signals import going_on, was_interrupted
from argrank.cli._startup import load_lightgbm
from argrank.cli.options import argument, file_option, option
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.evaluation.comparison import Comparison
    from argrank.trials.select import Selection

DEFAULT = "auto"
Means = _special.Means


@options.with_columns
def run(
    data: str = argument(
        "TRAIN", ..., "Training data: LETOR/SVMlight text (.gz .xz .bz2 .zip too), .csv, .parquet, .arrow."
    ),
    ranker: str = option(
        "--ranker -r NAME",
        DEFAULT,
        "The ranker, by its registered name (an unknown name lists all); auto blends several.",
        autocompletion=options.complete_ranker,
    ),
    valid: str | None = option("--valid FILE", None, "Validation data, to tune parameters."),
    test: str | None = option("--test FILE", None, "Test data, only for evaluation."),
    measures: list[str] = options.MEASURES,
    output: Path | None = file_option("--output -o FILE.json", None, "Where to save the model."),
    parameters: list[str] = options.PARAMETERS,
    grid: list[str] = options.GRID,
    normalise: str | None = options.NORMALISE,
    convention: str = options.CONVENTION,
    jobs: int | None = options.JOBS,
    target: str | None = option(
        "--target NAME",
        None,
        "Engine that will serve the model: only models that it can run are trained; others are an error.",
    ),
    stream: bool = option(
        "--stream", False, "Read the training data in pieces, for LETOR files larger than memory (orm)."
    ),
    epochs: int = option("--epochs N", 1, "Passes over the training data with --stream."),
    checkpoint: Path | None = option(
        "--checkpoint FILE", None, "Save the state of the training here, and continue from it."
    ),
    resume: Path | None = options.RESUME,
    every: float = option("--every SECONDS", 600.0, "Time between two checkpoints."),
    scheduler: str | None = option(
        "--scheduler ADDRESS", None, "Train on the Dask cluster of this scheduler; TRAIN is a pack."
    ),
    allow_constant: bool = option(
        "--allow-constant", False, "Train and save even if nothing can be learned from the labels."
    ),
    baselines: list[str] = option(
        "--baseline FEATURE|FILE", [], "Compare with a feature, a model or scores, on --test or out of fold."
    ),
    fail_if_worse: bool = option(
        "--fail-if-worse",
        False,
        "Exit with code 1, and save nothing, unless the mean of the first measure is above that of every baseline "
        "and, on --test, of the model at -o, which would be replaced.",
    ),
    clicks: Path | None = _on_log.LOG,
    curve: Path | None = _on_log.CURVE,
    allow_leaks: bool = option(
        "--allow-leaks", False, "With --clicks: allow features that seem to be computed from the log."
    ),
    as_json: bool = options.AS_JSON,
    quiet: bool = options.QUIET,
    verbose: bool = options.VERBOSE,
) -> None:
    """Train a ranker on judged data, measure it, and save the model.

    By default several rankers are tried on held-out queries, blended by the first measure, and trained again on
    everything; the table shows the score of each and the expected score of the blend. -r NAME trains a single ranker. A
    ranker optimises the first measure if it can, unless -p measure=NAME names another; if it cannot, a line says what
    it optimises instead.

    factor-rank and factor-regression learn from ratings: a table with columns user, item and rating, text such as
    MovieLens' u.data, or a sparse matrix (.npz). position-match learns from a table in which columns whose names begin
    with "gain" say what a document gains at each slot.

    With --valid and -r, one model is trained for every combination of the values of --grid (by default the ranker's own
    grid); the one with the best first measure on the validation data is kept. With -p and no --grid, the validation
    data is only reported on. Ctrl-C or SIGTERM during training saves the best model so far (exit code 3). With
    --checkpoint, or with --resume for several trainings, the same command continues where it was stopped or killed, and
    ends with the same model. --fail-if-worse, for cron and CI, saves the model only if it is better than the one at -o,
    compared query by query on --test, on which no model may have been trained. Without --test the new model's scores
    are out of fold, which costs five more trainings, and only baselines that are features or files of scores are
    compared: a model may have been trained on the same queries.

    For example:
      argrank train train.txt --test test.txt -o model.json
      argrank train train.txt --target opensearch -p time_limit=60 -o model.json
      argrank train -r regression train.txt --test test.txt -m ndcg@10,map
      argrank train -r rank-svm train.txt --valid vali.txt --test test.txt --grid C=0.001,0.01,0.1 -o model.json
      argrank train week.csv --test held-out.csv --baseline bm25_title --fail-if-worse -q -o model.json
      argrank train huge.txt --resume work -o model.json
      argrank train features.csv --clicks log.parquet --propensities theta.json -r rank-svm -o model.json
      argrank train -r rank-svm shop.csv -p C=0.1 --normalise query-minmax -o model.json
      argrank train -r factor-rank ratings.csv --test held-out.csv -o model.json
      argrank train -r orm --stream huge.txt --epochs 2 -p a=[1,0.5] -o model.json
      argrank train -r rank-svm huge.pack --scheduler tcp://127.0.0.1:8786 -o model.json
    """
    names = options.split_names(measures) if clicks is None else _on_log.measures(measures)
    fixed, choices = options.parse_settings(parameters, grid)
    estimator = arguments.ranker_of(ranker, fixed, normalise, jobs)
    from argrank.rankers.optimised import aimed  # afterwards, so that load_scikit_learn takes effect
    from argrank.rankers.registry import RANKERS

    job = Job(
        name=ranker,
        files={"train": data, "valid": valid, "test": test},
        names=names,
        convention=convention,
        way="stream" if stream else RANKERS[ranker].takes,
        scheduler=scheduler,
        checkpoint=checkpoint,
        resume=resume,
        jobs=jobs,
        quiet=quiet,
        clicks=clicks,
        curve=curve,
        allow_leaks=allow_leaks,
    )
    choices = _check(job, estimator, fixed, choices, target)
    _worse.check(baselines, fail_if_worse, test, job.way, scheduler)
    if quiet:
        estimator.set_params(verbose=-1)
    params: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    means: Means = {}
    told: Selection | None = None
    if job.way != "ranking":
        aimed(estimator, names[0], scored=True)
        means = _special.TRAIN[job.way](estimator, job.files, names, convention, epochs)
    else:
        parts = _load(job)
        if not allow_constant:
            arguments.refuse_constant(estimator, parts["train"])
        if choices:
            told = _select(job, estimator, choices, parts)
            estimator, params = told.ranker, told.params
        else:
            checkpoint = _fit(job, aimed(estimator, names[0], parts["train"], scored=True), parts, every)
        if target is not None:
            from argrank.deploy.singles import suited

            estimator.model_ = suited(estimator.model_, target)
    if verbose:
        typer.echo(f"{told or estimator.trace_!r}\n", err=True)
    against: Comparison | None = None
    if baselines or fail_if_worse:
        how = (names[0], convention)
        against = _worse.compared(
            estimator, parts.get("test", parts["train"]), baselines, output if fail_if_worse else None, how, bool(test)
        )
    failed = fail_if_worse and against is not None and not _worse.better_than_all(against)
    output = None if failed else output
    if output is not None:
        estimator.save(output)
    if was_interrupted():
        raise typer.Exit(_interrupted(output, checkpoint))
    for role, part in parts.items():
        means[role] = arguments.means_of(estimator.predict(part), part, names, convention)
    _warn_of_single_feature(job, parts, means)
    if as_json:
        typer.echo(options.json_text(_summary(job, estimator, params, means, output)))
    elif quiet:
        typer.echo(options.means_lines(means))
    else:
        traffic = None if scheduler is None else parts["train"].traffic
        typer.echo(_text(job, estimator, params, means, output, traffic))
        if against is not None:
            typer.echo(f"\n{_worse.text(against, bool(test))}")
    if failed:
        if not quiet:
            typer.echo("argrank: the new model is not better than all others and was not saved", err=True)
        raise typer.Exit(1)
    if target is not None:
        from argrank.deploy.plain import plain
        from argrank.deploy.registry import check_takes

        check_takes(target, plain(estimator.model_, "zero"))


class Job(NamedTuple):
    """What is trained on which files, and where its state is saved."""

    name: str
    files: dict[str, str | None]
    names: list[str]  # of the measures
    convention: str
    way: str  # "ranking", or one of those in _special
    scheduler: str | None
    checkpoint: Path | None
    resume: Path | None
    jobs: int | None
    quiet: bool
    clicks: Path | None = None
    curve: Path | None = None
    allow_leaks: bool = False


def _check(job: Job, estimator: Any, fixed: dict[str, Any], choices: Any, target: str | None) -> Any:
    """Raise, before any data is read, for options that cannot be combined; return the grid."""
    from argrank.measures.names import measure_list

    measure_list(job.names)
    if target is not None:
        from argrank.deploy.registry import fitted_to

        fitted_to(estimator, target)
    if choices and job.files["valid"] is None:
        raise OptionError("--grid: expected --valid FILE, the data to tune on, got none")
    if job.way != "ranking":
        refused = {"--grid": choices, "--target": target, "--checkpoint": job.checkpoint, "--resume": job.resume}
        refused["--scheduler"] = job.scheduler
        who = f"{job.name}{' --stream' if job.way == 'stream' else ''}"
        for flag in (name for name, value in refused.items() if value):
            raise OptionError(f"{who}: expected no {flag}, which it does not support, got one")
    elif job.files["valid"] is not None and not choices and not fixed:
        choices = arguments.default_choices(job.name, fixed)
    if choices and job.checkpoint is not None:
        raise OptionError(
            "--checkpoint: expected a single training (-p), got a grid (--grid, or --valid alone); --resume FOLDER "
            "saves all trainings"
        )
    if job.checkpoint is not None and job.resume is not None:
        raise OptionError("expected --checkpoint FILE or --resume FOLDER, got both")
    return choices


def _load(job: Job) -> dict[str, Any]:
    """Read the parts, here or on the cluster; the others get the features of the training part."""
    given = {role: path for role, path in job.files.items() if path is not None}
    if job.scheduler is not None:
        from argrank.dask import DistributedDataset

        client = arguments.connect(job.scheduler)
        return {role: DistributedDataset.read(path, client) for role, path in given.items()}
    from argrank.data.categories import kinds_of

    train = arguments.load_wide(given.pop("train"), None, not job.quiet)
    kinds = kinds_of(train.feature_names, train.categories, train.dates)
    others = {
        role: arguments.load_wide(path, train.n_features, not job.quiet, train.feature_names, kinds)
        for role, path in given.items()
    }
    parts = {"train": train, **others}
    if job.clicks is None:
        return parts
    from argrank.clicks.from_clicks import from_clicks

    log, theta = _on_log.read(job.clicks, job.curve)
    return {
        role: from_clicks(log, part, propensities=theta, allow_leaks=job.allow_leaks) for role, part in parts.items()
    }


def _select(job: Job, estimator: Any, choices: Any, parts: dict[str, Any]) -> Selection:
    """Train at every point of the grid."""
    from argrank.trials.select import select

    with going_on(job.resume):
        return select(
            estimator, choices, parts["train"], parts["valid"], job.names[0], convention=job.convention,
            n_jobs=job.jobs, progress=not job.quiet, resume=job.resume,
        )  # fmt: skip


def _fit(job: Job, estimator: Any, parts: dict[str, Any], every: float) -> Path | None:
    """Train once; return the checkpoint file."""
    if job.scheduler is None:  # lightgbm.dask needs all of LightGBM
        load_lightgbm(estimator)
    checkpoint = job.checkpoint
    watched = [parts["valid"]] if "valid" in parts else []
    if job.resume is not None:
        from argrank.trials.store import Fits

        return Fits(job.resume).fit(estimator, parts["train"], watched, every)
    estimator.fit(parts["train"], eval_set=watched or None, checkpoint=checkpoint, every=every)
    return checkpoint


def _warn_of_single_feature(job: Job, parts: dict[str, Any], means: Means) -> None:
    """Warn if one feature alone ranks nearly as well as the model, which may be a leak."""
    from argrank.data.dataset import Dataset
    from argrank.evaluation.single_feature import single_feature

    train = parts.get("train")
    if not job.quiet and isinstance(train, Dataset):
        text = single_feature(train, means["train"][job.names[0]], job.names[0], job.convention)
        if text is not None:
            typer.echo(f"argrank: warning: {text}", err=True)


def _interrupted(output: Path | None, checkpoint: Path | None) -> int:
    """Print what was saved of an interrupted training, and return the exit code."""
    kept = [] if output is None else [f"the best model so far is in {output}"]
    if checkpoint is not None and checkpoint.exists():
        kept.append(f"run the same command again to continue from {checkpoint}")
    if not kept:
        return 130
    typer.echo(f"argrank: interrupted: {'; '.join(kept)}", err=True)
    return 3


def _summary(job: Job, estimator: Any, params: dict[str, Any], means: Means, output: Path | None) -> dict[str, Any]:
    found = {
        "ranker": job.name,
        "chosen": params,
        **_aim(job, estimator),
        "objective": estimator.objective_,
        "iterations": estimator.n_iter_,
        "convention": job.convention,
        "means": means,
        "model": None if output is None else str(output),
    }
    if job.name == DEFAULT:
        found |= {
            "members": [member._asdict() for member in estimator.members_],
            "estimate": estimator.estimate_._asdict(),
        }
    return dict(json_value(found))


def _aim(job: Job, estimator: Any) -> dict[str, Any]:
    """Return, as plain data, what was optimised, and whether the model is one of another method."""
    from argrank.rankers.estimator import Reporting
    from argrank.rankers.optimised import optimised

    aim = optimised(estimator, job.names[0])
    stayed = estimator.stayed_ if isinstance(estimator, Reporting) else None
    plain = None if aim is None else {"asked": aim.asked, "aim": aim.aim.name.lower(), "what": aim.what}
    return {"optimised": plain, "stayed": None if stayed is None else stayed._asdict()}


def _told(job: Job, estimator: Any) -> list[str]:
    """Return sentences on what was optimised, and whether the model is one of another method."""
    from argrank.rankers.optimised import optimised

    aim = optimised(estimator, job.names[0])
    if aim is None:
        return []
    told = [f"{aim.line(job.names)}."]
    return told if estimator.stayed_ is None else [*told, f"{job.name} {estimator.stayed_}."]


def _text(job: Job, estimator: Any, params: dict[str, Any], means: Means, output: Path | None, traffic: object) -> str:
    """Return the means as a table with notes; for a blend, its members first."""
    from argrank.deploy.registry import sentence

    names = list(next(iter(means.values()), {}))
    chosen = f", chosen {parameters_text(params)}" if params else ""
    notes = [
        f"{job.name}{chosen}: objective {estimator.objective_:.6g}; convention {job.convention}.",
        *_told(job, estimator),
        "The model was not saved: give a file with -o." if output is None else f"Model saved to {output}.",
        sentence(estimator.model_),
        *([] if traffic is None else [f"The cluster: {traffic}."]),
    ]
    rows = [(role, *(measure_text(values[one]) for one in names)) for role, values in means.items()]
    text = to_text([table(("", *names), rows)], notes)
    return f"{estimator.summary()}\n\n{text}" if job.name == DEFAULT else text
