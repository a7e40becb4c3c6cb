"""``argrank ranklib``: RankLib's command line, for existing scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import make_folder, write_bytes, write_text
from argrank.cli import arguments
from argrank.cli.options import argument
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.cli.ranklib.flags import Flags
    from argrank.data.dataset import Dataset


def run(
    arguments: list[str] = argument("FLAGS", ..., "RankLib's flags; see the examples."),
) -> None:
    """Do what RankLib does with the same flags.

    Rankers: 0 MART, 1 RankNet (linear), 2 RankBoost, 3 AdaRank, 4 Coordinate Ascent, 6 LambdaMART, 7 ListNet, 8 random
    forests, 9 linear regression. Measures are computed by RankLib's rules. -metric2T sets the test measure alone (in
    RankLib it cannot). Models are read and written in RankLib's text form; files that end in .json in argrank's.

    The first word may name a class of RankLib, with or without its package: FeatureManager shuffles files and cuts
    them into folds, Analyzer compares what -idv saved.

    For example:
      argrank ranklib -train train.txt -validate vali.txt -test test.txt -ranker 4 -metric2t NDCG@10 -save model.txt
      argrank ranklib -load model.txt -rank test.txt -score scores.txt
      argrank ranklib -train data.txt -ranker 6 -kcv 2 -kcvmd models -kcvmn lm -metric2t MAP
      argrank ranklib -load models/f1.lm -load models/f2.lm -test data.txt -metric2T MAP -idv output/lm.txt
      argrank ranklib -test data.txt -metric2T MAP -idv output/baseline.txt
      argrank ranklib Analyzer -all output -base baseline.txt
      argrank ranklib FeatureManager -input data.txt -output folds -k 5 -tvs 0.8 -shuffle
    """
    word, rest = arguments[0].rpartition(".")[2], arguments[1:]
    if word == "FeatureManager":
        from argrank.cli.ranklib.folds import manage

        manage(rest)
    elif word == "Analyzer":
        from argrank.cli.ranklib.analyzer import analyze

        analyze(rest)
    else:
        _evaluator(rest if word == "Evaluator" else arguments)


def _evaluator(arguments: list[str]) -> None:
    """Train, load, test and rank: RankLib's Evaluator, its default class."""
    from argrank.cli.ranklib.flags import read_flags

    flags = read_flags(arguments)
    for name in flags.ignored:
        typer.echo(f"argrank: -{name} has no effect here and is ignored", err=True)
    if "train" in flags.files and "load" in flags.lists:
        raise OptionError("expected -train FILE or -load MODEL, got both")
    if "train" not in flags.files and "load" not in flags.lists:
        if set(flags.files) - {"idv"} or set(flags.lists) != {"test"}:
            raise OptionError("expected -train FILE or -load MODEL, or -test FILE alone for the order of its lines")
        _test(*_scored([None], "test", flags), flags)
        return
    if "train" in flags.files:
        _check_before_training(flags)
    if flags.folds is not None:
        _cross_validate(flags)
        if "save" not in flags.files:
            return
    models = [_load(Path(one)) for one in flags.lists["load"]] if "load" in flags.lists else [_train(flags)]
    if "test" in flags.lists:
        _test(*_scored(models, "test", flags), flags)
    if "rank" in flags.lists:
        _rank(*_scored(models, "rank", flags), flags)


def _check_before_training(flags: Flags) -> None:
    """Print how a ranker differs from RankLib's, and raise now if saving the model would fail."""
    from argrank.cli.ranklib.flags import NOTES

    if flags.ranker in NOTES:
        typer.echo(f"argrank: {NOTES[flags.ranker]}", err=True)
    path = Path(flags.files.get("save", "model"))
    if path.is_dir() or not path.parent.is_dir():
        wrong = "a folder" if path.is_dir() else f"no folder {path.parent}"
        raise OptionError(f"-save: expected a file in a folder that exists, got {wrong}")


def _read(flags: Flags, path: str, n_features: int | None) -> Dataset:
    """Read data; features beyond the last that a model knows are left out."""
    from argrank.data.prepare.normalise import normalise

    data = arguments.load_wide(path, n_features)
    if "feature" in flags.files:
        data = _keep_features(data, Path(flags.files["feature"]))
    data = _rounded(data if n_features is None else _narrow(data, n_features))
    return data if flags.normalise is None else _rounded(normalise(data, flags.normalise))


def _narrow(data: Dataset, n_features: int) -> Dataset:
    return data if data.n_features <= n_features else data.with_features(data.X[:, :n_features])


def _rounded(data: Dataset) -> Dataset:
    """Return the data with features rounded to float32, as in RankLib, so that a saved model decides alike."""
    import numpy as np

    return data.with_features(data.X.astype(np.float32).astype(np.float64))


def _keep_features(data: Dataset, path: Path) -> Dataset:
    """Return the data with 0 for every feature that a file does not name; models keep the features' numbers."""
    import numpy as np
    from scipy import sparse

    named = np.zeros(data.n_features)
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        word = line.partition("#")[0].strip()
        if not word:
            continue
        if not word.isdigit() or not 1 <= int(word) <= data.n_features:
            raise OptionError(f"{path}, line {number}: expected a feature from 1 to {data.n_features}, got {word!r}")
        named[int(word) - 1] = 1.0
    X = data.X @ sparse.diags_array(named).tocsr() if sparse.issparse(data.X) else np.where(named == 1.0, data.X, 0.0)
    return data.with_features(X)


def _ranker(flags: Flags, is_validated: bool) -> Any:
    from argrank.rankers import make_ranker

    parameters = dict(flags.parameters)
    if not is_validated:  # RankLib then keeps the last round
        parameters.pop("early_stopping", None)
    ranker: Any
    if flags.ranker == "random-forests":
        from argrank.cli.ranklib.forests import RandomForests

        ranker = RandomForests(**parameters)
    else:
        ranker = make_ranker(flags.ranker, **parameters)
    optimised = {"measure": flags.measure} if "measure" in ranker.get_params() else {"scoring": flags.measure}
    return ranker.set_params(**optimised, n_jobs=flags.threads)


def _train(flags: Flags) -> Any:
    train = _read(flags, flags.files["train"], None)
    valid = _read(flags, flags.files["validate"], train.n_features) if "validate" in flags.files else None
    held: Dataset | None = None
    if flags.share is not None:
        train, rest = train.split(flags.share[1], 1 - flags.share[1], random_state=None)
        valid, held = (rest, None) if flags.share[0] == "tvs" else (valid, rest)
    ranker = _ranker(flags, valid is not None)
    arguments.refuse_constant(ranker, train, "")
    ranker.fit(train, eval_set=valid)
    for role, data in (("training", train), ("validation", valid), ("test", held)):
        if data is not None:
            name = flags.test_measure or flags.measure if role == "test" else flags.measure
            typer.echo(f"{name} on {role} data: {_evaluate(ranker.predict(data), data, name, flags).means[name]:.4f}")
    if "save" in flags.files:
        _save(ranker.model_, Path(flags.files["save"]))
    return ranker.model_


def _load(path: Path) -> Any:
    from argrank.deploy.importing import import_model
    from argrank.models.files import load_model

    return load_model(path) if path.suffix.lower() == ".json" else import_model(path, "ranklib")


def _save(model: Any, path: Path) -> None:
    from argrank.deploy.exporting import export

    if path.suffix.lower() == ".json":
        model.save(path)
    else:
        content = export(model, "ranklib", missing="zero").files["model.txt"]
        with write_bytes(path) as stream:
            stream.write(content)
    typer.echo(f"Model saved to {path}")


def _scored(models: list[Any], role: str, flags: Flags) -> tuple[Any, Dataset]:
    """Return the scores of a file's documents and the file, or of one file for each model, joined.

    With several models and one file, each scores its own fold of the file. The model None scores by the order in which
    the file has the documents.
    """
    import numpy as np

    from argrank.cli.ranklib.folds import folds
    from argrank.data.dataset import Dataset

    paths = flags.lists[role]
    if len(paths) not in (1, len(models)):
        wanted = "one file" if len(models) == 1 else f"one file, or one for each of the {len(models)} models"
        raise OptionError(f"-{role}: expected {wanted}, got {len(paths)}")
    widest = max((model.n_features for model in models if model is not None), default=None)
    parts = [_read(flags, path, widest) for path in paths]
    if len(models) > len(parts):
        parts = [fold.test for fold in folds(parts[0], len(models))]
    scores = []
    for model, part in zip(models, parts, strict=True):
        if model is None:
            scores.append(-np.arange(part.n_documents, dtype=float))
        else:
            scores.append(part.from_caller(model.predict(_narrow(part, model.n_features))))
    data = parts[0] if len(parts) == 1 else Dataset.concatenate(parts)
    return data.to_caller(np.concatenate(scores)), data


def _evaluate(scores: Any, data: Dataset, name: str, flags: Flags) -> Any:
    from argrank.evaluation.evaluate import evaluate

    return evaluate(scores, data, name, convention="ranklib", max_grade=flags.max_grade)


def _test(scores: Any, data: Dataset, flags: Flags) -> None:
    name = flags.test_measure or flags.measure
    found = _evaluate(scores, data, name, flags)
    typer.echo(f"{name} on test data: {found.means[name]:.4f}")
    if "idv" in flags.files:
        make_folder(Path(flags.files["idv"]).parent)
        rows = [*zip(found.query_ids.tolist(), found.values[name].tolist(), strict=True), ("all", found.means[name])]
        write_text(flags.files["idv"], "".join(f"{name}   {qid}   {value!r}\n" for qid, value in rows))


def _rank(scores: Any, data: Dataset, flags: Flags) -> None:
    from argrank.data.io.trec.files import write_run

    if "indri" in flags.files:
        write_run(scores, data, flags.files["indri"], "indri")
        return
    lines = []
    for query, qid in enumerate(data.query_ids.tolist()):
        rows = range(int(data.indptr[query]), int(data.indptr[query + 1]))
        lines += [f"{qid}\t{place}\t{score!r}" for place, score in enumerate(data.from_caller(scores)[rows].tolist())]
    text = "\n".join(lines)
    if "score" in flags.files:
        write_text(flags.files["score"], f"{text}\n")
    else:
        typer.echo(text)


def _cross_validate(flags: Flags) -> None:
    from argrank.cli.ranklib.folds import folds
    from argrank.trials.cv import cross_validate

    data = _read(flags, flags.files["train"], None)
    share = flags.share[1] if flags.share is not None and flags.share[0] == "tvs" else None
    names = list(dict.fromkeys([flags.measure, flags.test_measure or flags.measure]))
    found = cross_validate(
        {flags.ranker: _ranker(flags, False)}, None, names, folds=list(folds(data, flags.folds or 5, share)),
        convention="ranklib",
    )  # fmt: skip
    typer.echo(repr(found))
    if "kcvmd" in flags.files:
        folder = make_folder(flags.files["kcvmd"])
        for fold in found.folds[flags.ranker]:
            _save(fold.model, folder / f"f{fold.fold}.{flags.fold_model}")
