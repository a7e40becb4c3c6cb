"""The commands that train: train, predict, cv, experiment."""

from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.cli._options import parse_grid, parse_parameters, parse_value
from argrank.errors import OptionError


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(30, (5, 12), 4, noise=1.0, random_state=6)
    for name, part in zip(("train", "valid", "test"), data.split(0.5, 0.2, 0.3), strict=True):
        ar.dump(part, f"{name}.txt")
    return tmp_path


@pytest.fixture
def run(capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        out, err = capsys.readouterr()
        return ended.value.code, out, err

    return run


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2", -2),
        ("1e-3", 1e-3),
        ("true", True),
        ("False", False),
        ("none", None),
        ("log2", "log2"),
        ("nan", "nan"),
    ],
)
def test_values(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


def test_parameters_and_grids():
    assert parse_parameters(["C=0.1", "loss=squared", "measure=ndcg@5"]) == {
        "C": 0.1, "loss": "squared", "measure": "ndcg@5",
    }  # fmt: skip
    assert parse_grid(["C=0.1, 1", "loss=squared"]) == {"C": [0.1, 1], "loss": ["squared"]}


@pytest.mark.parametrize("parse", [parse_parameters, parse_grid])
@pytest.mark.parametrize("given", [["C"], ["=1"], ["C="], ["C=1", "C=2"]])
def test_malformed_parameters_and_grids(parse, given):
    with pytest.raises(OptionError, match="expected"):
        parse(given)
    with pytest.raises(OptionError, match="expected"):
        parse_grid(["C=1,,2"])


def test_train_then_predict_then_evaluate(files, run):
    code, out, err = run("train", "train.txt", "--test", "test.txt", "-m", "ndcg@5,map", "-p", "C=0.01", "-o", "m.json")
    assert (code, err) == (0, "")
    train, test = ar.load("train.txt"), ar.load("test.txt")
    ranker = ar.make_ranker("rank-svm", C=0.01).fit(train)
    for data in (train, test):
        for value in ar.evaluate(ranker.predict(data), data, ["ndcg@5", "map"]).means.values():
            assert f"{value:.4f}" in out
    assert "Model saved to m.json" in out
    assert run("predict", "m.json", "test.txt", "-o", "scores.txt") == (0, "", "")
    assert np.array_equal(ar.read_scores("scores.txt", test), ranker.predict(test))
    code, printed, _ = run("predict", "m.json", "test.txt")
    assert [float(line) for line in printed.splitlines()] == ranker.predict(test).tolist()
    assert run("evaluate", "test.txt", "scores.txt", "-q", "-m", "map")[0] == 0


def test_a_trec_run(files, run):
    run("train", "train.txt", "-o", "m.json", "-q")
    data = ar.load("test.txt")
    names = [f"d{row}" for row in range(data.n_documents)]
    named = ar.Dataset(data.X, data.y, data.query_ids[data.query_of_row], document_ids=names)
    ar.dump(named, "named.txt")
    assert run("predict", "m.json", "named.txt", "--run", "--tag", "mine", "-o", "m.run") == (0, "", "")
    first = (files / "m.run").read_text().splitlines()[0].split()
    assert (first[1], first[3], first[5]) == ("Q0", "1", "mine")
    code, _, err = run("predict", "m.json", "test.txt", "--run")
    assert (code, err) == (2, "argrank: --run: expected -o FILE, where to write the run, got none\n")


def test_grid(files, run):
    arguments = ("train", "train.txt", "--valid", "valid.txt", "-m", "map", "--grid", "C=1e-5,1e-3", "--json")
    code, out, _ = run(*arguments, "-o", "m.json")
    assert code == 0
    found = ar.select("rank-svm", {"C": [1e-5, 1e-3]}, ar.load("train.txt"), ar.load("valid.txt"), "map")
    summary = json.loads(out)
    assert summary["chosen"] == found.params
    assert summary["means"]["valid"]["map"] == found.value
    assert summary["model"] == "m.json"
    assert np.array_equal(ar.load_model("m.json").weights, found.ranker.coef_)


def test_valid_without_grid_and_parameters_chooses_from_the_default_grid(files, run):
    common = ("train", "train.txt", "-r", "rank-svm", "--valid", "valid.txt", "-m", "map")
    code, out, _ = run(*common)
    assert code == 0
    found = ar.select("rank-svm", "default", ar.load("train.txt"), ar.load("valid.txt"), "map")
    assert f"rank-svm, chosen C={found.params['C']:g}" in out
    assert f"{found.value:.4f}" in out
    code, out, _ = run(*common, "-p", "C=123", "--json")
    assert json.loads(out)["chosen"] == {}


def test_what_p_fixes_stays_in_cross_validation(files, run):
    arguments = ("cv", "train.txt", "-r", "rank-svm", "-m", "map", "-k", "3", "-p")
    code, out, _ = run(*arguments, "C=123", "--json")
    expected = ar.cross_validate(ar.make_ranker("rank-svm", C=123), ar.load("train.txt"), "map", n_folds=3)
    assert code == 0
    assert list(json.loads(out)["means"].values()) == list(expected.means.values())
    code, out, _ = run(*arguments, "C=1", "--json")  # the default value, but fixed
    assert [fold["params"] for fold in json.loads(out)["folds"]["rank-svm"]] == [{}] * 3


def test_cv_saves_the_choice_trained_on_everything(files, run):
    arguments = ("cv", "train.txt", "-r", "rank-svm", "-r", "regression", "-m", "map", "-k", "3", "--save", "m.json")
    code, out, _ = run(*arguments)
    data = ar.load("train.txt")
    found = ar.cross_validate(["rank-svm", "regression"], data, "map", grid="default", n_folds=3)
    assert code == 0
    assert f"Saved to m.json: {found.best} with " in out
    assert f"trained on all {data.n_queries} queries" in out
    assert np.array_equal(ar.load_model("m.json").weights, found.ranker().coef_)


@pytest.mark.filterwarnings("default::argrank.errors.ArgrankWarning")
def test_warnings_are_one_line_each(files, run):
    code, _, err = run("train", "train.txt", "-p", "max_iter=1", "-q")
    assert code == 0
    assert err.startswith("argrank: warning: RankSVM")
    assert err.count("\n") == 1


def test_quiet_and_verbose(files, run):
    code, out, err = run("train", "-r", "regression", "train.txt", "-q", "-m", "map")
    assert (code, err) == (0, "")
    role, name, value = out.split("\t")
    data = ar.load("train.txt")
    assert (role, name) == ("train", "map")
    expected = ar.evaluate(ar.make_ranker("regression").fit(data).predict(data), data, "map").means["map"]
    assert float(value) == expected
    _, _, err = run("train", "-r", "regression", "train.txt", "-v", "-m", "map")
    assert "objective" in err


def test_the_normaliser_goes_with_the_model(files, run):
    assert run("train", "train.txt", "--normalise", "query-minmax", "-o", "m.json", "-q")[0] == 0
    assert ar.load_model("m.json").needs_queries
    assert run("predict", "m.json", "test.txt", "-o", "scores.txt")[0] == 0


def test_a_file_may_not_mention_the_last_features(files, run):
    run("train", "train.txt", "-o", "m.json", "-q")
    (files / "narrow.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:0.25\n")
    code, out, _ = run("predict", "m.json", "narrow.txt")
    weights = ar.load_model("m.json").weights
    assert code == 0
    assert [float(line) for line in out.splitlines()] == [0.5 * weights[0], 0.25 * weights[1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "train.txt", "-r", "rank-svn"), "unknown ranker 'rank-svn'; did you mean rank-svm"),
        (("train", "train.txt", "-p", "D=1"), "rank-svm has no parameter 'D'"),
        (("train", "train.txt", "-p", "C=-1"), "C: expected a positive number, got -1"),
        (("train", "train.txt", "-m", "mapp"), "unknown measure 'mapp'"),
        (("train", "train.txt", "--grid", "C=1,2"), "--grid: expected --valid FILE"),
        (("train", "train.txt", "--normalise", "minmx"), "unknown normalisation 'minmx'"),
        (("train", "none.txt"), "none.txt: "),
        (("train", "train.txt", "-o", "no/such/folder.json"), "cannot be written"),
        (("predict", "train.txt", "train.txt"), "train.txt: not loaded: "),
        (("cv", "train.txt", "-r", "rank-svm", "-p", "D=1"), "-p: unknown parameter of rank-svm 'D'"),
        (("cv", "train.txt", "--grid", "C=1", "--no-grid"), "expected --grid or --no-grid"),
        (("cv", "train.txt", "--folds", "2"), "expected"),
        (("cv", "train.txt", "-r", "rank-svm", "--grid", "C=1,2", "-p", "C=3"), "C: expected -p, which fixes it, or"),
        (("train", "train.txt", "--valid", "v", "--grid", "C=1,2", "-p", "C=3"), "C: expected -p, which fixes it, or"),
        (("cv", "train.txt", "--grid", "C=1"), "expected the ranker they are for, -r NAME"),
        (("cv", "train.txt", "--format", "pdf"), "unknown format"),
        (("experiment", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(files, run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("argrank: ")
    assert err.count("\n") == 1
    assert message in err


def test_cv(files, run):
    code, out, err = run("cv", "train.txt", "-r", "rank-svm", "-r", "regression", "-m", "map", "-k", "3", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    expected = ar.cross_validate(["rank-svm", "regression"], ar.load("train.txt"), "map", grid="default", n_folds=3)
    assert document["means"] == expected.means
    assert document["comparison"] == expected.compare().to_dict()
    code, out, _ = run("cv", "train.txt", "-r", "regression", "-m", "map", "-k", "3", "--no-grid", "-q")
    plain = ar.cross_validate("regression", ar.load("train.txt"), "map", n_folds=3)
    assert out == f"regression\tmap\t{plain.means['regression']['map']!r}\n"
    arguments = (
        "cv",
        "train.txt",
        "-r",
        "rank-svm",
        "-r",
        "regression",
        "-m",
        "map",
        "-k",
        "3",
        "--grid",
        "C=0.01,0.1",
    )
    code, out, _ = run(*arguments, "-p", "ridge=1", "--format", "markdown", "-o", "cv.md")
    assert (code, out) == (0, "")
    assert "t-test" in (files / "cv.md").read_text()


CONFIG = """
convention = "letor4"
measures = ["map"]
[[data]]
name = "mine"
files = [{ train = "train.txt", valid = "valid.txt", test = "test.txt" }]
[[ranker]]
name = "regression"
[[expected]]
data = "mine"
ranker = "regression"
measure = "map"
value = 0.5
tolerance = 0.5
"""


def test_experiment(files, run):
    (files / "mine.toml").write_text(CONFIG)
    code, out, err = run("experiment", "mine.toml", "-v")
    assert code == 0
    assert "1 runs, 1 of them computed now; see mine" in out
    assert err.startswith("argrank: mine fold 1 regression: map 0.")
    code, out, _ = run("experiment", "mine.toml", "--json")
    assert json.loads(out) == json.loads((files / "mine" / "results.json").read_text())
    (files / "mine.toml").write_text(CONFIG.replace("tolerance = 0.5", "tolerance = 1e-9"))
    code, out, err = run("experiment", "mine.toml", "-q", "-o", "mine")
    assert (code, out) == (1, "")
    assert err.startswith("argrank: out of range: mine, regression, map: expected 0.5 ± 1e-09, got 0.")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["train", "predict", "cv", "experiment"])
def test_help_has_examples(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"  argrank {command} " in out


def test_cv_without_a_ranker_compares_a_spread(files, run, monkeypatch):
    monkeypatch.setattr("argrank.trials.cv.first_comparison", lambda: ["regression", "svm-auc"])
    code, out, err = run("cv", "train.txt", "-m", "map", "-k", "3")
    assert (code, err) == (0, "")
    assert "Doctor:" in out
    assert "Best by map" in out
    assert "Report written to train-report.html" in out
    assert (files / "train-report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    code, out, _ = run("cv", "train.txt", "-m", "map", "-k", "3", "--json", "--report", "other.html")
    expected = ar.benchmark(ar.load("train.txt"), "map", ["regression", "svm-auc"], n_folds=3)
    assert json.loads(out)["means"] == expected.means
    assert (files / "other.html").exists()


def test_cv_with_a_ranker_writes_a_report_where_asked(files, run):
    code, _, err = run("cv", "train.txt", "-r", "regression", "-m", "map", "-k", "3", "--report", "r.html")
    assert (code, err) == (0, "")
    assert "Cross-validation of train.txt" in (files / "r.html").read_text("utf-8")
