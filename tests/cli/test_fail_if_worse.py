"""``train --baseline … --fail-if-worse``, and ``-q`` for cron."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank import cli


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Training and test tables; ``good`` ranks nearly as well as can be, ``bad`` the other way round."""
    monkeypatch.chdir(tmp_path)
    made = ar.make_ranking(60, 10, 4, random_state=3)
    best = np.asarray(made.y + 1e-3 * made.X[:, 0])
    table = made._but(X=np.c_[made.X, best, -best], feature_names=("a", "b", "c", "d", "good", "bad"))
    for name, part in zip(("train", "test"), table.split(0.6, 0.4), strict=True):
        ar.dump(part, f"{name}.csv")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "train.csv", "-r", "regression", "--test", "test.csv", "-m", "ndcg@10", *arguments])
    return ended.value.code, *capsys.readouterr()


def test_a_model_that_is_better_is_saved(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--drop", "good", "--baseline", "bad", "--fail-if-worse", "-o", "model.json")
    assert (code, "not better" in err, Path("model.json").exists()) == (0, False, True)
    model, test = ar.load_model("model.json"), ar.load("test.csv", columns={"good": None})
    found = ar.compare({"new": model.predict(test), "bad": test.X[:, 4]}, test, "ndcg@10")
    assert f"{found.pairs[0].difference:+.4f}" in out


def test_one_that_is_not_leaves_the_old_one(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "-o", "model.json", "-q")[0] == 0  # with the best feature of all
    before = Path("model.json").read_bytes()
    code, _, err = run(capsys, "--fail-if-worse", "-o", "model.json")  # the same once more is not better
    assert (code, Path("model.json").read_bytes()) == (1, before)
    assert err.endswith("argrank: the new model is not better than all others and was not saved\n")
    assert run(capsys, "--baseline", "model.json", "--fail-if-worse", "-o", "new.json", "-q")[::2] == (1, "")
    assert not Path("new.json").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--fail-if-worse", "-o", "new.json"], "expected --baseline, or an earlier model at -o FILE, got neither"),
        (["--baseline", "nothing"], "expected a feature (a, b, c, d, good, bad), a model or a file of scores"),
    ],
)
def test_what_cannot_be_compared(
    place: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *options)
    assert code == 2
    assert told in err
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "train.csv", "-r", "regression", "--fail-if-worse"])
    assert ended.value.code == 2
    assert "expected --test FILE" in capsys.readouterr().err


@pytest.mark.filterwarnings("default::argrank.errors.ArgrankWarning")
def test_quiet_is_silent_on_standard_error(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warned = ["-r", "listnet", "-p", "max_iter=1"]
    assert "warning" in run(capsys, *warned)[2]
    assert run(capsys, *warned, "-q")[2] == ""
    assert "warning" in run(capsys, *warned)[2]


def test_evaluations_of_several_systems_show_undefined_queries() -> None:
    data = ar.Dataset(np.eye(4), [1, 0, 0, 0], group=[2, 2])
    found = repr(ar.evaluate({"a": [2.0, 1.0, 2.0, 1.0], "b": [1.0, 2.0, 1.0, 2.0]}, data, ["ndcg@10", "map"]))
    rows = [line.split() for line in found.split("\n")]
    assert ["a", "ndcg@10", "1", "0.5000"] in rows
    assert ["b", "map", "1", "0.2500"] in rows


def test_without_test_data_the_scores_are_out_of_fold(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def train(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", "train.csv", "-r", "regression", "--fail-if-worse", "-o", "model.json", *arguments])
        return ended.value.code, *capsys.readouterr()

    code, out, _ = train("--drop", "good", "--baseline", "bad")
    assert (code, Path("model.json").exists()) == (0, True)
    data = ar.load("train.csv", columns={"good": None})
    rows, scores = np.arange(data.n_documents), np.empty(data.n_documents)
    for inside, held in ar.QueryKFold(5).split(data):
        ranker = ar.make_ranker("regression").fit(data.select(inside))
        for query in held:
            own = rows[data.indptr[query] : data.indptr[query + 1]]
            scores[own] = ranker.predict(data.select([query]))
    found = ar.compare({"new": scores, "bad": data.X[:, 4]}, data, "ndcg@10")
    assert f"{found.pairs[0].difference:+.4f}" in out
    assert "training queries out of fold (5 folds)" in out
    before = Path("model.json").read_bytes()
    assert train("--drop", "bad", "--baseline", "good", "-q")[::2] == (1, "")
    assert Path("model.json").read_bytes() == before
    for wrong, told in (((), "or --baseline FEATURE"), (("--baseline", "model.json"), "may have been trained on")):
        code, _, err = train(*wrong)
        assert code == 2
        assert told in err
