from __future__ import annotations

import re

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.cli.ranklib.flags import RANKERS, measure_of, read_flags
from argrank.errors import OptionError
from argrank.models.ranklib_text import read_ranklib


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(24, (5, 9), 4, random_state=3)
    for name, part in zip(("train", "vali", "test"), data.split(0.5, 0.25, 0.25), strict=True):
        ar.dump(part, f"{name}.txt")
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["ranklib", *arguments])
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


def test_every_ranker_is_registered_with_its_parameters():
    for number, name in RANKERS.items():
        if name in ar.ranker_names():
            flags = read_flags(["-train", "x", "-ranker", str(number)])
            assert set(flags.parameters) <= set(ar.make_ranker(name).get_params())


def test_trains_saves_ranks_and_tests_as_ranklib_does(files, run):
    flow = ["-train", "train.txt", "-validate", "vali.txt", "-test", "test.txt", "-ranker", "9", "-L2", "1",
            "-metric2t", "NDCG@5", "-metric2T", "MAP", "-save", "model.txt", "-idv", "idv.txt", "-silent"]  # fmt: skip
    code, out, err = run(*flow)
    assert (code, err) == (0, "")
    train, test = ar.load("train.txt"), ar.load("test.txt", n_features=4)
    model = ar.make_ranker("regression", ridge=1.0).fit(train)
    assert np.array_equal(read_ranklib("model.txt").weights, model.coef_)
    mean = ar.evaluate(model.predict(test), test, "map", convention="ranklib").means["map"]
    assert f"map on test data: {mean:.4f}" in out
    assert "ndcg@5 on training data" in out
    assert float(re.search(r"all   (.*)\n", (files / "idv.txt").read_text())[1]) == mean

    code, out, err = run("-load", "model.txt", "-rank", "test.txt", "-score", "scores.txt")
    assert (code, out, err) == (0, "", "")
    assert np.array_equal(ar.read_scores("scores.txt", test), model.predict(test))


def test_normalises_within_queries_outside_the_model(files, run):
    code, _, _ = run("-train", "train.txt", "-ranker", "9", "-norm", "zscore", "-save", "model.txt")
    assert code == 0
    train = ar.normalise(ar.load("train.txt"), "query-zscore")
    expected = ar.make_ranker("regression", ridge=1e-10).fit(train).coef_
    assert read_ranklib("model.txt").weights == pytest.approx(expected)


def test_cross_validates(files, run):
    code, out, _ = run("-train", "train.txt", "-ranker", "9", "-kcv", "3", "-metric2t", "P@3")
    assert code == 0
    assert "Means over folds" in out


def test_saves_the_model_of_every_fold(files, run):
    code, _, _ = run("-train", "train.txt", "-ranker", "9", "-kcv", "3", "-kcvmd", "models", "-kcvmn", "reg.txt")
    assert code == 0
    assert sorted(path.name for path in (files / "models").iterdir()) == ["f1.reg.txt", "f2.reg.txt", "f3.reg.txt"]
    fold = next(ar.QueryKFold(3).folds(ar.load("train.txt")))
    expected = ar.make_ranker("regression", ridge=1e-10).fit(fold.train).coef_
    assert read_ranklib(files / "models" / "f1.reg.txt").weights == pytest.approx(expected)


def test_uses_the_features_of_a_file_alone(files, run):
    (files / "features.txt").write_text("2  # the second\n\n4\n")
    code, _, _ = run("-train", "train.txt", "-ranker", "9", "-feature", "features.txt", "-save", "model.txt")
    assert code == 0
    train = ar.load("train.txt")
    expected = ar.make_ranker("regression", ridge=1e-10).fit(train.with_features(train.X[:, [1, 3]])).coef_
    assert read_ranklib("model.txt").weights == pytest.approx([0.0, expected[0], 0.0, expected[1]])
    (files / "features.txt").write_text("2\n9\n")
    code, _, err = run("-train", "train.txt", "-ranker", "9", "-feature", "features.txt")
    assert code == 2
    assert "features.txt, line 2: expected a feature from 1 to 4, got '9'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-test", "test.txt"], "expected -train FILE or -load MODEL"),
        (["-train"], "-train: expected a value"),
        (["-trian", "x"], "did you mean -train"),
        (["-train", "x", "-ranker", "1"], "-ranker: expected one of"),
        (["-train", "x", "-metric2t", "AUC"], "-metric2t: expected MAP"),
        (["-train", "x", "-qrel", "y"], "-qrel"),
        (["-train", "x", "-tvs", "2"], "between 0 and 1"),
    ],
)
def test_mistakes_are_one_line(files, run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.count("\n") == 1
    assert message in err


def test_measures_by_ranklibs_names():
    assert [measure_of(name, "") for name in ("NDCG@10", "map", "MAP@5", "RR@10", "P@5", "ERR")] == [
        "ndcg@10", "map", "map", "rr@10", "p@5", "err@10",
    ]  # fmt: skip
    with pytest.raises(OptionError):
        measure_of("best@3", "-metric2t")
