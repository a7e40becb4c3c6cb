"""``argrank ranklib``: RankLib's command line, for scripts that have it already."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from argrank._files import write_bytes
from argrank.cli import _options as options
from argrank.errors import ModelError, OptionError

if TYPE_CHECKING:
    from argrank.cli.ranklib.flags import Flags
    from argrank.data.dataset import Dataset

SETTINGS = {"ignore_unknown_options": True}  # RankLib's flags have one dash and many letters


def run(
    arguments: list[str] = typer.Argument(..., metavar="FLAGS", help="As RankLib.jar takes them; see the examples."),
) -> None:
    """Do what RankLib does with the same flags.

    Rankers: 0 MART, 2 RankBoost, 3 AdaRank, 4 Coordinate Ascent, 6 LambdaMART, 7 ListNet, 9 linear regression.
    Measures are computed by RankLib's rules. -metric2T sets the test measure alone (in RankLib it cannot). Linear
    models are read and written in RankLib's text form; others, and files that end in .json, in argrank's.

    For example:
      argrank ranklib -train train.txt -validate vali.txt -test test.txt -ranker 4 -metric2t NDCG@10 -save model.txt
      argrank ranklib -load model.txt -rank test.txt -score scores.txt
      argrank ranklib -train data.txt -ranker 6 -kcv 5 -metric2t MAP
    """
    from argrank.cli.ranklib.flags import read_flags

    flags = read_flags(arguments)
    for name in flags.ignored:
        typer.echo(f"argrank: -{name} has no meaning here and is ignored", err=True)
    if ("train" in flags.files) == ("load" in flags.files):
        raise OptionError("expected -train FILE or -load MODEL, one of them")
    if flags.folds is not None:
        _cross_validate(flags)
        return
    model = _load(flags) if "load" in flags.files else _train(flags)
    if "test" in flags.files:
        _test(model, _read(flags, "test", model.n_features), flags)
    if "rank" in flags.files:
        _rank(model, _read(flags, "rank", model.n_features), flags)


def _read(flags: Flags, role: str, n_features: int | None) -> Dataset:
    from argrank.data.prepare.normalise import normalise

    data = options.load_wide(flags.files[role], n_features)
    if "feature" in flags.files:
        data = _keep_features(data, Path(flags.files["feature"]))
    return data if flags.normalise is None else normalise(data, flags.normalise)


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


def _ranker(flags: Flags) -> Any:
    from argrank.rankers import make_ranker

    ranker = make_ranker(flags.ranker, **flags.parameters)
    optimised = {"measure": flags.measure} if "measure" in ranker.get_params() else {"scoring": flags.measure}
    return ranker.set_params(**optimised, n_jobs=flags.threads)


def _train(flags: Flags) -> Any:
    train = _read(flags, "train", None)
    valid = _read(flags, "validate", train.n_features) if "validate" in flags.files else None
    held: Dataset | None = None
    if flags.share is not None:
        train, rest = train.split(flags.share[1], 1 - flags.share[1], random_state=None)
        valid, held = (rest, None) if flags.share[0] == "tvs" else (valid, rest)
    ranker = _ranker(flags)
    if valid is None and "early_stopping" in ranker.get_params():  # RankLib then grows all trees
        ranker.set_params(early_stopping=None)
    ranker.fit(train, eval_set=valid)
    for role, data in (("training", train), ("validation", valid), ("test", held)):
        if data is not None:
            name = flags.test_measure or flags.measure if role == "test" else flags.measure
            typer.echo(f"{name} on {role} data: {_evaluate(ranker.model_, data, name, flags).means[name]:.4f}")
    if "save" in flags.files:
        _save(ranker.model_, Path(flags.files["save"]))
    return ranker.model_


def _load(flags: Flags) -> Any:
    from argrank.models.files import load_model
    from argrank.models.ranklib_text import read_ranklib

    path = Path(flags.files["load"])
    if path.suffix.lower() == ".json":
        return load_model(path)
    wide = next((flags.files[role] for role in ("test", "rank") if role in flags.files), None)
    return read_ranklib(path, None if wide is None else options.load_wide(wide, None).n_features)


def _save(model: Any, path: Path) -> None:
    from argrank.models.linear import LinearModel
    from argrank.models.ranklib_text import write_ranklib

    if path.suffix.lower() == ".json":
        model.save(path)
    elif isinstance(model, LinearModel):
        write_ranklib(model, path)
    else:
        raise ModelError(f"{path}: only linear models are written in RankLib's form; save this one as FILE.json")
    typer.echo(f"Model saved to {path}")


def _evaluate(model: Any, data: Dataset, name: str, flags: Flags) -> Any:
    from argrank.evaluation.evaluate import evaluate

    return evaluate(model.predict(data), data, name, convention="ranklib", max_grade=flags.max_grade)


def _test(model: Any, data: Dataset, flags: Flags) -> None:
    name = flags.test_measure or flags.measure
    found = _evaluate(model, data, name, flags)
    typer.echo(f"{name} on test data: {found.means[name]:.4f}")
    if "idv" in flags.files:
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
    found = cross_validate({flags.ranker: _ranker(flags)}, data, names, n_folds=flags.folds or 5, convention="ranklib")
    typer.echo(repr(found))
    if "kcvmd" in flags.files:
        folder = Path(flags.files["kcvmd"])
        folder.mkdir(parents=True, exist_ok=True)
        for fold in found.folds[flags.ranker]:
            _save(fold.model, folder / f"f{fold.fold}.{flags.fold_model}")
