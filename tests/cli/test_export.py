"""The commands export, import and verify."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.cli import main
from argrank.models.linear import LinearModel

STORED = Path(__file__).parents[1] / "deploy" / "stored"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as finished:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return finished.value.code, out, err


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.json"
    LinearModel(np.array([1.0, -2.0]), feature_names=("bm25", "price")).save(path)
    return path


def test_export_writes_the_files_and_says_what_was_found(capsys, saved, tmp_path):
    code, out, _ = run(capsys, "export", saved, "--to", "opensearch", "-o", tmp_path / "deploy", "--strict")
    assert code == 0
    assert "0 beyond rounding" in out
    assert json.loads((tmp_path / "deploy" / "model.json").read_text())["model"]["name"] == "argrank"


def test_export_takes_names_and_check_data(capsys, saved, tmp_path):
    (tmp_path / "names.txt").write_text("a\nb\n")
    (tmp_path / "test.txt").write_text("1 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:3\n")
    code, out, _ = run(
        capsys, "export", saved, "--to", "solr", "-o", tmp_path / "s", "--features", tmp_path / "names.txt",
        "--check", tmp_path / "test.txt", "--name", "m",
    )  # fmt: skip
    assert code == 0
    assert "ndcg@10" in out
    assert [one["name"] for one in json.loads((tmp_path / "s" / "features.json").read_text())] == ["a", "b"]


@pytest.mark.parametrize("name", ["vespa", "solr"])
def test_refused_names_are_answered_with_the_option(capsys, tmp_path, name):
    path = tmp_path / "model.json"
    LinearModel(np.array([1.0, -2.0]), feature_names=("the price", "a\0b")).save(path)
    code, _, err = run(capsys, "export", path, "--to", name, "-o", tmp_path / "x")
    assert (code, err.endswith("give features=[…] (--features)\n")) == (2, True)


def test_export_refuses_in_one_line(capsys, saved, tmp_path):
    code, _, err = run(capsys, "export", saved, "--to", "xgboost", "-o", tmp_path / "x")
    assert code == 2
    assert err.count("\n") == 1
    assert "cannot express linear models" in err


def test_import_makes_a_model_that_goes_on(capsys, tmp_path):
    code, out, _ = run(capsys, "import", STORED / "catboost.json", "-o", tmp_path / "model.json")
    assert code == 0
    assert "can be exported to" in out
    code, _, _ = run(capsys, "export", tmp_path / "model.json", "--to", "solr", "-o", tmp_path / "solr", "--strict")
    assert code == 0
    code, _, err = run(capsys, "import", STORED / "catboost.json", "--from", "ranklib", "-o", tmp_path / "m.json")
    assert code == 2
    assert err.count("\n") == 1


def logged(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def test_verify_compares_logged_scores(capsys, saved, tmp_path):
    rows = [["qid", "docid", "price", "bm25", "score"], ["1", "d1", "1", "3", "1"], ["1", "d2", "", "0.5", "0.5"]]
    path = logged(tmp_path / "log.csv", rows)
    code, out, _ = run(capsys, "verify", saved, path, "--tolerance", "1e-5")
    assert code == 0
    assert "within" in out
    rows[2][4] = "0.75"
    code, out, _ = run(capsys, "verify", saved, logged(path, rows))
    assert code == 1
    assert "line 3, qid 1, docid d2" in out
    rows[1][4], rows[2][4] = "11", "10.5"
    assert run(capsys, "verify", saved, logged(path, rows), "--constant")[0] == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["price", "score"]], "a column 'bm25'"),
        ([["bm25", "price", "score"]], "logged rows"),
        ([["bm25", "price", "score"], ["x", "1", "1"]], "log.csv:2: expected a finite number in column 'bm25'"),
        ([["bm25", "price", "score"], ["1", "1"]], "3 cells"),
        ([["bm25", "price", "score", "score"], ["1", "1", "1", "1"]], "columns of different names"),
    ],
)
def test_verify_says_where_a_table_is_wrong(rows, words, capsys, saved, tmp_path):
    code, _, err = run(capsys, "verify", saved, logged(tmp_path / "log.csv", rows))
    assert code == 2
    assert words in err


def test_targets_are_listed():
    assert set(ar.targets()) >= {"elasticsearch", "opensearch", "solr", "ranklib", "xgboost", "lightgbm", "vespa",
                                 "onnx", "elastic", "python"}  # fmt: skip


def test_training_says_where_the_model_can_go(capsys, tmp_path):
    ar.dump(ar.make_ranking(10, (5, 8), 3, random_state=0), tmp_path / "train.txt")
    code, out, _ = run(capsys, "train", "-r", "regression", tmp_path / "train.txt", "--target", "opensearch")
    assert code == 0
    assert "It can go to elasticsearch" in out
    code, _, err = run(capsys, "train", "-r", "regression", tmp_path / "train.txt", "--target", "xgboost")
    assert code == 2
    assert "xgboost cannot express linear models" in err
    for ranker, target, words in (
        ("mcrank", "opensearch", "probabilities from several sums of trees (mcrank); onnx, python can"),
        ("query-mart", "solr", "trees with a linear part; onnx, python, vespa can, or train with start=None"),
        ("rank-svm", "lightgbm", "linear models; "),
    ):
        code, out, err = run(capsys, "train", "-r", ranker, tmp_path / "train.txt", "--target", target, "-o", "m.json")
        assert (code, out) == (2, "")  # before training
        assert f"{target} cannot express {words}" in err
    options = ("--target", "solr", "--normalise", "query-minmax")
    code, _, err = run(capsys, "train", "-r", "regression", tmp_path / "train.txt", *options)
    assert code == 2
    assert "cannot normalise within queries" in err
