"""Trials that keep their fits in a folder go on from it, and find what they would have found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.rankers.checkpoint import Checkpoint
from argrank.trials import store

DATA = ar.make_ranking(15, 8, 3, random_state=5)
PARTS = ar.make_ranking(10, 8, 3, random_state=6), ar.make_ranking(5, 8, 3, random_state=7)
RANKERS = ["rank-svm", "regression"]


class Killed(BaseException):
    """Ends a trial as a signal would."""


def trial(kind: str, resume: Path | None = None) -> Any:
    if kind == "select":
        return ar.select("rank-svm", "default", *PARTS, "map", n_jobs=1, progress=False, resume=resume)
    if kind == "benchmark":
        return ar.benchmark(DATA, ["map"], RANKERS, n_folds=3, n_jobs=1, progress=False, resume=resume)
    return ar.cross_validate(RANKERS, DATA, ["map"], grid="default", n_folds=3, n_jobs=1, progress=False, resume=resume)


def found(kind: str, result: Any) -> list[Any]:
    """Return everything that must have the same bits."""
    if kind == "select":
        points = [(point.params, point.value, point.objective, point.error) for point in result.points]
        return [result.params, result.value, points, result.ranker.coef_.tolist(), result.ranker.trace_["objective"]]
    told = result.to_dict()
    return [{key: one for key, one in told.items() if key != "seconds"}, result.values, result.ranker().predict(DATA)]


@pytest.fixture(scope="module", params=["select", "cross_validate", "benchmark"])
def whole(request: pytest.FixtureRequest) -> tuple[str, list[Any]]:
    return request.param, found(request.param, trial(request.param))


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_killed_and_resumed_is_never_killed(
    whole: tuple[str, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, expected = whole
    count, write = [0], Checkpoint._write

    def counted(self: Checkpoint, outcome: Any) -> None:
        count[0] += 1
        if count[0] >= 4:  # a thread may have begun the next fit
            raise Killed
        write(self, outcome)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", counted)
        with pytest.raises(Killed):
            trial(kind, tmp_path)
    finished = set(tmp_path.iterdir())
    assert len(finished) == 3
    before = {path: path.stat().st_mtime_ns for path in finished}
    np.testing.assert_equal(found(kind, trial(kind, tmp_path)), expected)
    assert {path: path.stat().st_mtime_ns for path in finished} == before  # read, not trained again
    n_fits = len(list(tmp_path.iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", None)  # everything is there
        np.testing.assert_equal(found(kind, trial(kind, tmp_path)), expected)
    assert len(list(tmp_path.iterdir())) == n_fits


def test_fits_of_other_code_data_or_parameters_are_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits, ranker = store.Fits(tmp_path), ar.make_ranker("rank-svm")
    path = fits.path(ranker, DATA)
    assert fits.path(ar.make_ranker("rank-svm", n_jobs=1, verbose=-1), DATA) == path
    others = [fits.path(ar.make_ranker("rank-svm", C=2.0), DATA), fits.path(ranker, PARTS[0])]
    others += [fits.path(ar.make_ranker("rank-svm", max_iter=7), DATA), fits.path(ranker, DATA, [PARTS[0]])]
    monkeypatch.setattr(store, "code_identity", lambda: "other code")
    others.append(fits.path(ranker, DATA))
    assert len({path, *others}) == 6


def test_a_damaged_fit_is_trained_anew(tmp_path: Path) -> None:
    fits, ranker = store.Fits(tmp_path), ar.make_ranker("regression", verbose=-1)
    fits.fit(ranker, DATA)
    path = fits.path(ranker, DATA)
    for damage, told in ((path.read_bytes()[:100], "is damaged"), (b"nonsense", "a checkpoint of argrank.*again")):
        path.write_bytes(damage)
        again = ar.make_ranker("regression", verbose=-1)
        with pytest.warns(ArgrankWarning, match=told):
            fits.fit(again, DATA)
        np.testing.assert_array_equal(again.coef_, ranker.coef_)


def test_what_cannot_be_resumed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="resume: expected a random_state, got None"):
        ar.cross_validate("regression", DATA, "map", random_state=None, resume=tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="file: cannot be created"):
        ar.select("regression", "default", *PARTS, "map", resume=tmp_path / "file")
