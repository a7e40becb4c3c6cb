"""The commands that train: train, predict, cv, experiment."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.cli.options import parse_grid, parse_parameters, parse_value
from argrank.errors import FormatError, OptionError


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
        ("[1, 0.5,log2]", [1, 0.5, "log2"]),
        ("[]", []),
        ("nan", "nan"),
        ("null", None),
        ('["map", "ndcg@10"]', ["map", "ndcg@10"]),
        ('["AP(rel=2, undefined=0)@10", null]', ["AP(rel=2, undefined=0)@10", None]),
        ('{"price": -1}', {"price": -1}),
        ('"none"', "none"),
        ("[map,ndcg@10]", ["map", "ndcg@10"]),
    ],
)
def test_values(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


def test_parameters_and_grids():
    assert parse_parameters(["C=0.1", "loss=squared", "measure=ndcg@5"]) == {
        "C": 0.1, "loss": "squared", "measure": "ndcg@5",
    }  # fmt: skip
    assert parse_grid(["weight_range=[0.1,0.2],[0.1,0.5]"]) == {"weight_range": [[0.1, 0.2], [0.1, 0.5]]}
    assert parse_grid(["C=0.1, 1", "loss=squared"]) == {"C": [0.1, 1], "loss": ["squared"]}


@pytest.mark.filterwarnings("always::argrank.errors.ArgrankWarning")
def test_labels_that_leave_nothing_to_learn_save_no_model(files, run):
    Path("flat.txt").write_text("".join(f"1 qid:{row // 4} 1:{row} 2:{row % 3}\n" for row in range(12)))
    for options in ([], ["--valid", "flat.txt"], ["--resume", "work"], ["--checkpoint", "fit.ckpt"]):
        code, out, err = run("train", "-r", "rank-svm", "flat.txt", "-o", "flat.json", *options)
        assert (code, out) == (2, "")
        assert "expected labels to learn from, got data in which all labels are 1; --allow-constant trains" in err
        assert not Path("flat.json").exists()
    code, _, err = run("train", "-r", "rank-svm", "flat.txt", "-o", "flat.json", "--allow-constant")
    assert code == 0
    assert "RankSVM: nothing to learn: all labels are 1" in err
    assert Path("flat.json").exists()
    assert run("ranklib", "-train", "flat.txt", "-ranker", "4", "-save", "flat.txt.model")[0] == 2
    assert not Path("flat.txt.model").exists()


@pytest.mark.parametrize("parse", [parse_parameters, parse_grid])
@pytest.mark.parametrize("given", [["C"], ["=1"], ["C="], ["C=1", "C=2"]])
def test_malformed_parameters_and_grids(parse, given):
    with pytest.raises(OptionError, match="expected"):
        parse(given)
    with pytest.raises(OptionError, match="expected"):
        parse_grid(["C=1,,2"])


def test_the_first_measure_is_what_auto_is_judged_by(files, run):
    small = ("-p", "members=[regression,rank-svm]", "--json", "--quiet")
    for measures in ("map,ndcg@5", "ndcg@5,map"):
        code, out, _ = run("train", "train.txt", "-m", measures, *small)
        assert code == 0
        assert json.loads(out)["estimate"]["measure"] == measures.split(",")[0]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-r", "direct-rank", "-m", "map,ndcg@10"], "optimised: map; reported: map, ndcg@10."),
        (
            ["-r", "direct-rank", "-m", "map", "-p", "measure=ndcg@10"],
            "optimised: nDCG@10 instead of map; reported: map.",
        ),
        (["-r", "svm-ndcg", "-m", "err@10"], "optimised: nDCG@10 instead of err@10; reported: err@10."),
        (["-r", "svm-map", "-m", "map"], "optimised: map; reported: map."),
        (["-r", "orm", "-m", "p@5"], "optimised: p@5; reported: p@5."),
        (
            ["-r", "rank-svm", "-m", "map"],
            "optimised: no measure (it minimises pairs in the wrong order); reported: map.",
        ),
        (["-r", "orm", "-p", "k=5"], "optimised: nDCG@5 instead of ndcg@10; reported: ndcg@10, map, mrr@10."),
        (["-r", "svm-combo", "-p", 'measures=["map", "ndcg@10"]'], "optimised: no measure (it minimises the hinges"),
        (["-r", "svm-mrr", "-p", "scale=null", "-m", "mrr@10", "-p", "C=1"], "optimised: mrr@10; reported: mrr@10."),
    ],
)
def test_a_line_says_what_is_optimised(files, run, options, line):
    code, out, _ = run("train", "train.txt", "-q", *options)
    assert (code, "optimised" in out) == (0, False)
    code, out, _ = run("train", "train.txt", *options)
    assert code == 0
    assert line in out.replace("\n", " ")


def test_cross_validation_optimises_the_first_measure(files, run):
    code, out, _ = run("cv", "train.txt", "-r", "direct-rank,rank-svm,svm-auc", "-m", "map,p@5", "--no-grid", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["optimised"]["direct-rank"] == "map"
    assert "map is optimised by direct-rank; another measure is optimised by svm-auc (gAUC); no measure " in (
        " ".join(found["notes"])
    )
    assert "direct-rank kept its start, RankSVM" in " ".join(found["notes"])
    fixed = run("cv", "train.txt", "-r", "direct-rank", "-m", "map", "-p", "measure=ndcg@10", "--no-grid", "--json")
    assert json.loads(fixed[1])["optimised"]["direct-rank"] == "nDCG@10 instead of map"


def test_train_then_predict_then_evaluate(files, run):
    code, out, err = run(
        "train", "-r", "rank-svm", "train.txt", "--test", "test.txt", "-m", "ndcg@5,map", "-p", "C=0.01", "-o", "m.json"
    )
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
    run("train", "-r", "rank-svm", "train.txt", "-o", "m.json", "-q")
    data = ar.load("test.txt")
    names = [f"d{row}" for row in range(data.n_documents)]
    named = ar.Dataset(data.X, data.y, data.query_ids[data.query_of_row], document_ids=names)
    ar.dump(named, "named.txt")
    assert run("predict", "m.json", "named.txt", "--run", "--tag", "mine", "-o", "m.run") == (0, "", "")
    first = (files / "m.run").read_text().splitlines()[0].split()
    assert (first[1], first[3], first[5]) == ("Q0", "1", "mine")
    code, _, err = run("predict", "m.json", "test.txt", "--run")
    assert (code, err) == (2, "argrank: --run: expected -o FILE, the run to write, got none\n")


def test_grid(files, run):
    arguments = (
        "train",
        "-r",
        "rank-svm",
        "train.txt",
        "--valid",
        "valid.txt",
        "-m",
        "map",
        "--grid",
        "C=1e-5,1e-3",
        "--json",
    )
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
    _, out, _ = run("cv", "train.txt", "-r", "rank-svm,regression", "-m", "map", "-k", "3", "-p", "C=123")
    assert "Given with -p: C=123." in out
    assert "regression" in out  # names may be separated with commas


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
    code, _, err = run("train", "-r", "rank-svm", "train.txt", "-p", "max_iter=1")
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
    assert run("train", "-r", "rank-svm", "train.txt", "--normalise", "query-minmax", "-o", "m.json", "-q")[0] == 0
    assert ar.load_model("m.json").needs_queries
    assert run("predict", "m.json", "test.txt", "-o", "scores.txt")[0] == 0


def test_a_file_may_not_mention_the_last_features(files, run):
    run("train", "-r", "rank-svm", "train.txt", "-o", "m.json", "-q")
    (files / "narrow.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:0.25\n")
    code, out, _ = run("predict", "m.json", "narrow.txt")
    weights = ar.load_model("m.json").weights
    assert code == 0
    assert [float(line) for line in out.splitlines()] == [0.5 * weights[0], 0.25 * weights[1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "train.txt", "-r", "rank-svn"), "unknown ranker 'rank-svn'; did you mean rank-svm"),
        (("train", "train.txt", "-p", "D=1"), "auto has no parameter 'D'"),
        (("train", "-r", "rank-svm", "train.txt", "-p", "D=1"), "rank-svm has no parameter 'D'"),
        (("train", "-r", "rank-svm", "train.txt", "-p", "C=-1"), "C: expected a positive number, got -1"),
        (("train", "train.txt", "-m", "mapp"), "unknown measure 'mapp'"),
        (("train", "train.txt", "--grid", "C=1,2"), "--grid: expected --valid FILE"),
        (("train", "train.txt", "--normalise", "minmx"), "unknown normalisation 'minmx'"),
        (("train", "none.txt"), "none.txt: "),
        (("train", "-r", "rank-svm", "train.txt", "-o", "no/such/folder.json"), "cannot be written"),
        (("predict", "train.txt", "train.txt"), "train.txt: not loaded: "),
        (("cv", "train.txt", "-r", "rank-svm", "-p", "D=1"), "-p: unknown parameter of rank-svm 'D'"),
        (("cv", "train.txt", "--grid", "C=1", "--no-grid"), "expected --grid or --no-grid"),
        (("cv", "train.txt", "--folds", "2"), "expected"),
        (("cv", "train.txt", "-r", ""), "-r: expected names of rankers, got ''"),
        (("cv", "train.txt", "-r", "rank-svm", "--grid", "C=1,2", "-p", "C=3"), "C: expected -p, which fixes it, or"),
        (("train", "train.txt", "--valid", "v", "--grid", "C=1,2", "-p", "C=3"), "C: expected -p, which fixes it, or"),
        (("cv", "train.txt", "--grid", "C=1"), "expected -r NAME, the ranker they belong to"),
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
    code, out, err = run("experiment", "mine.toml", "--format", "latex")
    assert (out, err) == ((files / "mine" / "results.tex").read_text(), "1 runs, 0 of them computed now; see mine\n")
    assert run("experiment", "mine.toml", "--format", "pdf")[0] == 2
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


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [(user, f"film {item}", 1 + (user + item) % 5) for user in range(8) for item in rng.permutation(9)[:6]]
    for name, part in (("train", rows[::2] + rows[1::4]), ("test", rows[3::4])):
        text = "\n".join(f"{rating},{item},{user}" for user, item, rating in part)
        (tmp_path / f"{name}.csv").write_text(f"rating,movieId,userId\n{text}\n")
    return tmp_path


@pytest.mark.parametrize("name", ["factor-rank", "factor-regression"])
def test_ratings_from_files(ratings, run, name):
    code, out, err = run("train", "-r", name, "train.csv", "--test", "test.csv", "-o", "model.json", "-q", "-j", "1")
    assert (code, err) == (0, "")
    table = np.array([line.split(",") for line in (ratings / "test.csv").read_text().split("\n")[1:-1]], object)
    users, items, labels = table[:, 2].astype(int), table[:, 1], table[:, 0].astype(float)
    scores = ar.load_model("model.json").predict(users, items)
    data = ar.Dataset(np.zeros((len(users), 1)), labels, qid=users)
    assert f"test\tndcg@10\t{ar.evaluate(scores, data, 'ndcg@10').means['ndcg@10']!r}" in out
    code, out, _ = run("predict", "model.json", "test.csv")
    assert [float(line) for line in out.split()] == scores.tolist()
    assert run("train", "-r", name, "train.csv", "--valid", "test.csv")[0] == 0
    for wrong in (("--grid", "rank=1,2", "--valid", "test.csv"), ("--target", "solr")):
        code, out, err = run("train", "-r", name, "train.csv", *wrong)
        assert code == 2
        assert f"{name}: expected no {wrong[0]}, which it does not support" in err
    (ratings / "bad.csv").write_text("user,item,rating\n1,2,much\n")
    assert "with numbers as ratings, got 'much' in column 'rating'" in run("train", "-r", name, "bad.csv")[2]


def test_ratings_in_other_forms(ratings):
    from scipy import sparse

    from argrank.data.io.triples import read_triples

    (ratings / "u.data").write_text("7\t3\t5\t881250949\n8\t2\t1\t881250949\n")
    sparse.save_npz(ratings / "matrix.npz", sparse.csr_matrix(([5.0, 1.0], ([7, 8], [3, 2]))))
    for name in ("u.data", "matrix.npz"):
        found = read_triples(ratings / name)
        assert (found.users.tolist(), found.items.tolist(), found.ratings.tolist()) == ([7, 8], [3, 2], [5.0, 1.0])
    (ratings / "two.csv").write_text("user,item\n1,2\n")
    with pytest.raises(FormatError, match="columns user, item, rating"):
        read_triples(ratings / "two.csv")
    assert read_triples(ratings / "two.csv", rated=False).ratings.tolist() == [0.0]


def test_documents_for_slots_from_a_table(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    rows = [(page, f"a{page}-{n}", *np.round(rng.random(2), 3)) for page in range(12) for n in range(4)]
    text = "\n".join(f"{page},{name},{x},{z},{x},{z}" for page, name, x, z in rows)
    (tmp_path / "pages.csv").write_text(f"qid,docid,x,z,gain:front,gain:sport\n{text}\n")
    code, out, err = run("train", "-r", "position-match", "pages.csv", "-p", "C=1000", "-o", "model.json")
    assert (code, err) == (0, "")
    assert "of the best page" in out
    code, out, _ = run("predict", "model.json", "pages.csv")
    lines = [line.split("\t") for line in out.strip().split("\n")]
    assert [line[:2] for line in lines[:4]] == [["0", "1"], ["0", "2"], ["1", "1"], ["1", "2"]]
    assert all(name.startswith(f"a{page}-") for page, _, name in lines)
    best = max((row for row in rows if row[0] == 0), key=lambda row: row[2] - row[3])
    assert lines[0][2] == best[1]  # what is left for the other slot costs least
    ar.dump(ar.make_ranking(3, 4, 2, random_state=0), "plain.csv")
    assert "begin with 'gain'" in run("train", "-r", "position-match", "plain.csv")[2]
    for cells, complaint in (
        (("high", "low"), "expected numbers in column 'gain:a', got 'high'"),
        (("", "1"), "got nan in row 0, column 0"),
    ):
        (tmp_path / "wrong.csv").write_text(f"qid,x,gain:a\n1,1,{cells[0]}\n1,2,{cells[1]}\n")
        code, _, err = run("train", "-r", "position-match", "wrong.csv")
        assert (code, complaint in err.splitlines()[-1]) == (2, True)
    (tmp_path / "texts.csv").write_text("qid,x,brand,gain:a\n1,1,u,0\n1,2,v,1\n")
    assert (
        "column 'brand': PositionMatch takes numbers, got texts" in run("train", "-r", "position-match", "texts.csv")[2]
    )


def test_streams_and_lists_of_numbers(files, run):
    code, out, err = run(
        "train", "-r", "orm", "--stream", "train.txt", "--epochs", "2", "-p", "a=[1,0.5]", "-p", "b=[0,1,3,7,15]",
        "--test", "test.txt", "-o", "model.json", "-q",
    )  # fmt: skip
    assert (code, err) == (0, "")
    ranker = ar.make_ranker("orm", a=[1, 0.5], b=[0, 1, 3, 7, 15]).fit_stream("train.txt", epochs=2)
    np.testing.assert_array_equal(ar.load_model("model.json").weights, ranker.coef_)
    assert out.startswith("test\tndcg@10\t")
    assert "expected -r orm" in run("train", "--stream", "train.txt")[2]


def test_diverse_rankings_from_the_command_line(files, run):
    data = ar.load("train.txt")
    sources = np.arange(data.n_documents) % 3
    ar.dump(ar.Dataset(data.X, data.y, group=data.sizes, sources=sources), "train.csv")
    run("train", "-r", "regression", "train.csv", "-o", "model.json")
    _, out, _ = run("predict", "model.json", "train.csv", "--diverse", "1", "--top", "3")
    scores = [float(line) for line in out.split()]
    data, model = ar.load("train.csv"), ar.load_model("model.json")
    assert scores == ar.diversify(model.predict(data), data, k=3).tolist()
    wanted = [order.tolist() for order in model.rank(data, diverse=True, k=3)]
    assert [order.tolist() for order in ar.make_ranker("regression").fit(data).rank(data, diverse=1, k=3)] == wanted
    by_arrays = model.rank(data.X, group=data.sizes, sources=sources, diverse=True, k=3)
    assert [order.tolist() for order in by_arrays] == wanted
    assert "a source per document" in run("predict", "model.json", "test.txt", "--diverse", "1")[2]


def test_train_blends_by_default_for_the_measure_and_the_engine_asked_for(files, run):
    arguments = ("train", "train.txt", "--test", "test.txt", "-m", "map", "-p", "max_trees=8", "-o", "m.json")
    code, out, err = run(*arguments, "--target", "opensearch")
    assert code == 0, err
    for words in ("member", "rank-svm", "symmetric-mart", "out of fold", "It can go to", "opensearch"):
        assert words in out
    loaded = ar.load_model("m.json")
    assert loaded.training["ranker"] == "Auto"
    assert loaded.training["parameters"]["scoring"] == "map"
    assert "opensearch" in ar.targets(loaded)
    code, out, _ = run("train", "train.txt", "-m", "map", "-p", "max_trees=8", "--json")
    found = json.loads(out)
    assert [one["name"] for one in found["members"]][:2] == ["listnet", "rank-svm"]
    assert found["estimate"]["measure"] == "map"
    code, _, err = run("train", "train.txt", "-p", "max_trees=8", "-p", "family=linear", "--target", "xgboost")
    assert (code, "xgboost expresses a blend of trees" in err) == (2, True)
