"""RankLib's way to cut a file into parts, and its ``FeatureManager``, which writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import typer

from argrank._files import make_folder
from argrank.cli.arguments import load_wide
from argrank.cli.ranklib.flags import number, pairs, share_of
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold
from argrank.data.io.load import dump
from argrank.errors import OptionError

WITH_VALUE = ("input", "output", "k", "tvs", "tts")


def folds(data: Dataset, n_folds: int, share: float | None = None) -> Iterator[Fold]:
    """Yield RankLib's folds: fold 1 tests the first run of queries, and so on, and all others train.

    Every run has the same number of queries; the last also gets the remainder. Training queries after the first
    ``share`` are for validation.
    """
    if not 2 <= n_folds <= data.n_queries:
        raise OptionError(f"folds: expected a number from 2 to that of the queries, {data.n_queries}, got {n_folds}")
    run = np.minimum(np.arange(data.n_queries) // (data.n_queries // n_folds), n_folds - 1)
    for one in range(n_folds):
        train, test = data.select(run != one), data.select(run == one)
        valid: Dataset | None = None
        if share is not None:
            train, valid = train.split(share, 1 - share, random_state=None)
        yield Fold(train, valid, test)


def manage(arguments: Sequence[str]) -> None:
    """Shuffle the queries of files, and cut them into folds or into training and test data."""
    given = pairs(arguments, WITH_VALUE, ("shuffle",), repeated=("input",))
    if "input" not in given or "output" not in given:
        raise OptionError("FeatureManager: expected -input FILE and -output FOLDER")
    if not {"shuffle", "k", "tts"} & set(given) or {"k", "tts"} <= set(given) or {"tvs", "tts"} <= set(given):
        raise OptionError(
            "FeatureManager: expected -shuffle, -k N (with -tvs SHARE or without) or -tts SHARE, not -k and -tts"
        )
    shares = {name: share_of(given[name][0], name) for name in ("tvs", "tts") if name in given}
    n_folds = number(given["k"][0], "k", int) if "k" in given else None
    paths = [Path(one) for one in given["input"]]
    n_features = max((load_wide(str(path), None).n_features for path in paths[1:]), default=None)
    parts = [load_wide(str(paths[0]), n_features)]
    parts += [load_wide(str(path), parts[0].n_features) for path in paths[1:]]
    data, name = Dataset.concatenate(parts), paths[0].name
    folder = make_folder(given["output"][0])
    if "shuffle" in given:
        name += ".shuffled"
        data = data.select(np.random.default_rng(0).permutation(data.n_queries))
        _write(data, folder / name)
    if "tts" in shares:
        train, test = data.split(shares["tts"], 1 - shares["tts"], random_state=None)
        _write(train, folder / f"train.{name}")
        _write(test, folder / f"test.{name}")
    if n_folds is not None:
        for place, fold in enumerate(folds(data, n_folds, shares.get("tvs")), 1):
            for role, part in (("train", fold.train), ("validation", fold.valid), ("test", fold.test)):
                if part is not None:
                    _write(part, folder / f"f{place}.{role}.{name}")


def _write(data: Dataset, path: Path) -> None:
    dump(data, path)
    typer.echo(f"{path}: {data.n_queries} queries")
