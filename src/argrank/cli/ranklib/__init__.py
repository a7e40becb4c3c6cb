"""``argrank ranklib``: RankLib's command line, for scripts that have it already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import write_bytes
from argrank.cli import _options as options
from argrank.errors import OptionError

if TYPE_CHECKING:
    from argrank.cli.ranklib.flags import Flags
    from argrank.data.dataset import Dataset

SETTINGS = {"ignore_unknown_options": True}  # RankLib's flags have one dash and many letters


def run(
    arguments: list[str] = typer.Argument(..., metavar="FLAGS", help="As RankLib.jar takes them; see the examples."),
) -> None:
    """Do what RankLib does with the same flags.

    Rankers: 0 MART, 1 RankNet (linear), 2 RankBoost, 3 AdaRank, 4 Coordinate Ascent, 6 LambdaMART, 7 ListNet, 8 random
    forests, 9 linear regression. Measures are computed by RankLib's rules. -metric2T sets the test measure alone (in
    RankLib it cannot). Models are read and written in RankLib's text form; files that end in .json in argrank's.

    For example:
      argrank ranklib -train train.txt -validate vali.txt -test test.txt -ranker 4 -metric2t NDCG@10 -save model.txt
      argrank ranklib -load model.txt -rank test.txt -score scores.txt
      argrank ranklib -train data.txt -ranker 6 -kcv 5 -metric2t MAP
      argrank ranklib -test test.txt -metric2T NDCG@10 -idv baseline.txt
    """
    from argrank.cli.ranklib.flags import read_flags

    flags = read_flags(arguments)
    for name in flags.ignored:
        typer.echo(f"argrank: -{name} has no meaning here and is ignored", err=True)
    if "train" in flags.files and "load" in flags.files:
        raise OptionError("expected -train FILE or -load MODEL, got both")
    if not {"train", "load"} & set(flags.files):
        if set(flags.files) - {"test", "idv"} or "test" not in flags.files:
            raise OptionError("expected -train FILE or -load MODEL, or -test FILE alone for the order of its lines")
        _test(None, _read(flags, "test", None), flags)
        return
    if "train" in flags.files:
        _check_before_training(flags)
    if flags.folds is not None:
        _cross_validate(flags)
        if "save" not in flags.files:
            return
    model = _load(flags) if "load" in flags.files else _train(flags)
    if "test" in flags.files:
        _test(model, _read(flags, "test", model.n_features), flags)
    if "rank" in flags.files:
        _rank(model, _read(flags, "rank", model.n_features), flags)


def _check_before_training(flags: Flags) -> None:
    """Say what is special, and refuse now what would fail when the model is saved."""
    from argrank.cli.ranklib.flags import NOTES

    if flags.ranker in NOTES:
        typer.echo(f"argrank: {NOTES[flags.ranker]}", err=True)
    path = Path(flags.files.get("save", "model"))
    if path.is_dir() or not path.parent.is_dir():
        wrong = "a folder" if path.is_dir() else f"no folder {path.parent}"
        raise OptionError(f"-save: expected a file in a folder that exists, got {wrong}")


def _read(flags: Flags, role: str, n_features: int | None) -> Dataset:
    """Read data; features beyond the last that a model knows are left out."""
    from argrank.data.prepare.normalise import normalise

    data = options.load_wide(flags.files[role], n_features)
    if "feature" in flags.files:
        data = _keep_features(data, Path(flags.files["feature"]))
    if n_features is not None and data.n_features > n_features:
        data = data.with_features(data.X[:, :n_features])
    data = _rounded(data)
    return data if flags.normalise is None else _rounded(normalise(data, flags.normalise))


def _rounded(data: Dataset) -> Dataset:
    """Return the data with features that float32 can hold, as RankLib has them: a saved model decides by them."""
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
    train = _read(flags, "train", None)
    valid = _read(flags, "validate", train.n_features) if "validate" in flags.files else None
    held: Dataset | None = None
    if flags.share is not None:
        train, rest = train.split(flags.share[1], 1 - flags.share[1], random_state=None)
        valid, held = (rest, None) if flags.share[0] == "tvs" else (valid, rest)
    ranker = _ranker(flags, valid is not None).fit(train, eval_set=valid)
    for role, data in (("training", train), ("validation", valid), ("test", held)):
        if data is not None:
            name = flags.test_measure or flags.measure if role == "test" else flags.measure
            typer.echo(f"{name} on {role} data: {_evaluate(ranker.model_, data, name, flags).means[name]:.4f}")
    if "save" in flags.files:
        _save(ranker.model_, Path(flags.files["save"]))
    return ranker.model_


def _load(flags: Flags) -> Any:
    from argrank.export import import_model
    from argrank.models.files import load_model

    path = Path(flags.files["load"])
    return load_model(path) if path.suffix.lower() == ".json" else import_model(path, "ranklib")


def _save(model: Any, path: Path) -> None:
    from argrank.export import export

    if path.suffix.lower() == ".json":
        model.save(path)
    else:
        content = export(model, "ranklib", missing="zero").files["model.txt"]
        with write_bytes(path) as stream:
            stream.write(content)
    typer.echo(f"Model saved to {path}")


def _evaluate(model: Any, data: Dataset, name: str, flags: Flags) -> Any:
    """Evaluate a model, or with None the order in which the file has the documents."""
    import numpy as np

    from argrank.evaluation.evaluate import evaluate

    scores = data.to_caller(-np.arange(data.n_documents, dtype=float)) if model is None else model.predict(data)
    return evaluate(scores, data, name, convention="ranklib", max_grade=flags.max_grade)


def _test(model: Any, data: Dataset, flags: Flags) -> None:
    name = flags.test_measure or flags.measure
    found = _evaluate(model, data, name, flags)
    typer.echo(f"{name} on test data: {found.means[name]:.4f}")
    if "idv" in flags.files:
        Path(flags.files["idv"]).parent.mkdir(parents=True, exist_ok=True)
        rows = [*zip(found.query_ids.tolist(), found.values[name].tolist(), strict=True), ("all", found.means[name])]
        text = "".join(f"{name}   {qid}   {value!r}\n" for qid, value in rows)
        with write_bytes(flags.files["idv"]) as stream:
            stream.write(text.encode())


def _rank(model: Any, data: Dataset, flags: Flags) -> None:
    from argrank.data.io.trec import write_run

    scores = model.predict(data)
    if "indri" in flags.files:
        write_run(scores, data, flags.files["indri"], "indri")
        return
    lines = []
    for query, qid in enumerate(data.query_ids.tolist()):
        rows = range(int(data.indptr[query]), int(data.indptr[query + 1]))
        lines += [f"{qid}\t{place}\t{score!r}" for place, score in enumerate(data.from_caller(scores)[rows].tolist())]
    text = "\n".join(lines)
    if "score" in flags.files:
        with write_bytes(flags.files["score"]) as stream:
            stream.write(f"{text}\n".encode())
    else:
        typer.echo(text)


def _cross_validate(flags: Flags) -> None:
    from argrank.trials.cv import cross_validate

    data = _read(flags, "train", None)
    names = list(dict.fromkeys([flags.measure, flags.test_measure or flags.measure]))
    found = cross_validate(
        {flags.ranker: _ranker(flags, False)}, data, names, n_folds=flags.folds or 5, convention="ranklib"
    )
    typer.echo(repr(found))
    if "kcvmd" in flags.files:
        folder = Path(flags.files["kcvmd"])
        folder.mkdir(parents=True, exist_ok=True)
        for fold in found.folds[flags.ranker]:
            _save(fold.model, folder / f"f{fold.fold}.{flags.fold_model}")
