from __future__ import annotations

import re

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.cli.ranklib import flags as ranklib_flags
from argrank.cli.ranklib.flags import RANKERS, measure_of, read_flags
from argrank.cli.ranklib.forests import RandomForests
from argrank.data.arranged import arranged
from argrank.errors import OptionError
from argrank.models.formats.ranklib import read_ranklib


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


def single(data):
    """Features as RankLib has them: float32."""
    return data.with_features(data.X.astype(np.float32).astype(float))


def test_every_ranker_is_registered_with_its_parameters():
    for number, name in RANKERS.items():
        flags = read_flags(["-train", "x", "-ranker", str(number)])
        ranker = RandomForests() if name == "random-forests" else ar.make_ranker(name)
        assert set(flags.parameters) <= set(ranker.get_params())


def test_trains_saves_ranks_and_tests_as_ranklib_does(files, run):
    flow = ["-train", "train.txt", "-validate", "vali.txt", "-test", "test.txt", "-ranker", "9", "-L2", "1",
            "-metric2t", "NDCG@5", "-metric2T", "MAP", "-save", "model.txt", "-idv", "idv.txt", "-silent"]  # fmt: skip
    code, out, err = run(*flow)
    assert (code, err) == (0, "")
    train, test = single(ar.load("train.txt")), single(ar.load("test.txt", n_features=4))
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
    train = single(ar.normalise(single(ar.load("train.txt")), "query-zscore"))
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
    train = single(ar.load("train.txt"))  # 12 queries; fold 1 tests the first four
    expected = ar.make_ranker("regression", ridge=1e-10).fit(train.select(np.arange(4, 12))).coef_
    assert read_ranklib(files / "models" / "f1.reg.txt").weights == pytest.approx(expected)


def test_models_of_folds_are_tested_on_the_queries_they_never_saw(files, run):
    code, out, _ = run("-train", "train.txt", "-ranker", "9", "-kcv", "5", "-kcvmd", "models", "-metric2t", "NDCG@5")
    assert code == 0
    loads = [word for fold in range(1, 6) for word in ("-load", f"models/f{fold}.model.txt")]
    code, out, err = run(*loads, "-test", "train.txt", "-metric2T", "NDCG@5", "-idv", "idv.txt")
    assert (code, err) == (0, "")
    train = single(ar.load("train.txt"))  # 12 queries: RankLib's folds have 2, 2, 2, 2 and 4 of them
    scores = np.empty(train.n_documents)
    for first, last in ((0, 2), (2, 4), (4, 6), (6, 8), (8, 12)):
        tested = (np.arange(12) >= first) & (np.arange(12) < last)
        model = ar.make_ranker("regression", ridge=1e-10).fit(train.select(~tested))
        scores[np.repeat(tested, train.sizes)] = model.predict(train.select(tested))
    found = ar.evaluate(scores, train, "ndcg@5", convention="ranklib")
    assert f"ndcg@5 on test data: {found.means['ndcg@5']:.4f}" in out
    values = [float(line.split()[2]) for line in (files / "idv.txt").read_text().splitlines()]
    assert values == pytest.approx([*found.values["ndcg@5"], found.means["ndcg@5"]])

    code, _, _ = run(*loads, "-rank", "train.txt", "-score", "scores.txt")
    assert code == 0
    assert ar.read_scores("scores.txt", train) == pytest.approx(scores)


def test_every_model_may_have_a_file_of_its_own(files, run):
    for name, seed in (("a", "vali.txt"), ("b", "train.txt")):
        assert run("-train", seed, "-ranker", "9", "-save", f"{name}.txt")[0] == 0
    code, out, _ = run("-load", "a.txt", "-load", "b.txt", "-test", "test.txt", "-test", "vali.txt", "-metric2T", "MAP")
    assert code == 0
    parts = [single(ar.load(f"{name}.txt", n_features=4)) for name in ("test", "vali")]
    models = [read_ranklib(f"{name}.txt") for name in ("a", "b")]
    scores = np.concatenate([model.predict(part) for model, part in zip(models, parts, strict=True)])
    mean = ar.evaluate(scores, ar.Dataset.concatenate(parts), "map", convention="ranklib").means["map"]
    assert f"map on test data: {mean:.4f}" in out


def test_files_are_cut_into_folds(files, run):
    code, out, _ = run("FeatureManager", "-input", "train.txt", "-output", "parts", "-k", "5", "-tvs", "0.8")
    assert code == 0
    assert "f1.train.train.txt: 8 queries" in out
    ids = ar.load("train.txt").query_ids.tolist()
    for fold, tested in enumerate((ids[:2], ids[2:4], ids[4:6], ids[6:8], ids[8:]), 1):
        found = {
            role: ar.load(f"parts/f{fold}.{role}.train.txt").query_ids.tolist()
            for role in ("train", "validation", "test")
        }
        assert found["test"] == tested
        assert found["train"] + found["validation"] == [one for one in ids if one not in tested]
        assert len(found["train"]) == round(0.8 * (12 - len(tested)))


def test_files_are_joined_shuffled_and_cut_in_two(files, run):
    flow = ["ciir.umass.edu.features.FeatureManager", "-input", "train.txt", "-input", "vali.txt", "-output", "parts"]
    assert run(*flow, "-shuffle", "-tts", "0.5")[0] == 0
    whole = ar.load("parts/train.txt.shuffled", n_features=4)
    parts = [ar.load(f"parts/{role}.train.txt.shuffled", n_features=4) for role in ("train", "test")]
    assert [part.n_queries for part in parts] == [9, 9]
    assert np.array_equal(ar.Dataset.concatenate(parts).X, whole.X)
    given = ar.Dataset.concatenate([ar.load(f"{name}.txt", n_features=4) for name in ("train", "vali")])
    assert whole.query_ids.tolist() != given.query_ids.tolist()
    order = [given.query_ids.tolist().index(one) for one in whole.query_ids.tolist()]
    assert np.array_equal(whole.X, given.select(order).X)
    assert np.array_equal(whole.y, given.select(order).y)


def test_saved_values_are_compared_with_a_baseline(files, run):
    assert run("-train", "train.txt", "-ranker", "9", "-save", "m.txt")[0] == 0
    assert run("-test", "test.txt", "-metric2T", "NDCG@5", "-idv", "out/base.txt")[0] == 0
    assert run("-load", "m.txt", "-test", "test.txt", "-metric2T", "NDCG@5", "-idv", "out/ours.txt")[0] == 0
    assert run("-load", "m.txt", "-test", "test.txt", "-metric2T", "MAP", "-idv", "out/map.txt")[0] == 0
    assert run("-load", "m.txt", "-test", "vali.txt", "-metric2T", "NDCG@5", "-idv", "out/vali.txt")[0] == 0
    code, out, err = run("ciir.umass.edu.eval.Analyzer", "-all", "out/", "-base", "base.txt", "-np", "500")
    assert code == 0
    assert "map.txt is left out: it has map, not ndcg@5" in err
    assert "vali.txt is left out: it has other queries" in err
    test = single(ar.load("test.txt", n_features=4))
    systems = {"base.txt": -np.arange(test.n_documents), "ours.txt": read_ranklib("m.txt").predict(test)}
    expected = ar.compare(
        systems, test, "ndcg@5", convention="ranklib", baseline="base.txt", test="randomisation", n_resamples=500
    )
    (pair,) = expected.pairs
    row = next(line for line in out.splitlines() if line.startswith("ndcg@5"))
    assert row == next(line for line in expected.to_text().splitlines() if line.startswith("ndcg@5"))
    assert f"{pair.difference:+.4f}" in row


def test_uses_the_features_of_a_file_alone(files, run):
    (files / "features.txt").write_text("2  # the second\n\n4\n")
    code, _, _ = run("-train", "train.txt", "-ranker", "9", "-feature", "features.txt", "-save", "model.txt")
    assert code == 0
    train = single(ar.load("train.txt"))
    expected = ar.make_ranker("regression", ridge=1e-10).fit(train.with_features(train.X[:, [1, 3]])).coef_
    weights = read_ranklib("model.txt").weights
    assert weights[[1, 3]] == pytest.approx(expected)
    assert weights[[0, 2]] == pytest.approx([0.0, 0.0], abs=1e-9)  # columns of zeros: what rounding over ridge leaves
    (files / "features.txt").write_text("2\n9\n")
    code, _, err = run("-train", "train.txt", "-ranker", "9", "-feature", "features.txt")
    assert code == 2
    assert "features.txt, line 2: expected a feature from 1 to 4, got '9'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-rank", "test.txt"], "expected -train FILE or -load MODEL"),
        (["-train", "x", "-load", "y"], "expected -train FILE or -load MODEL, got both"),
        (["-train", "train.txt", "-save", "nowhere/model.txt"], "-save: expected a file in a folder that exists"),
        (["-train", "train.txt", "-save", "."], "-save: expected a file in a folder that exists, got a folder"),
        (["-train", "x", "-ranker", "8", "-rtype", "4"], "-rtype: expected 0 (MART) or 6 (LambdaMART)"),
        (["-train"], "-train: expected a value"),
        (["-train", "x", "-train", "y"], "-train: expected once, got twice"),
        (["-test", "test.txt", "-test", "vali.txt"], "-test: expected one file, got 2"),
        (["FeatureManager", "-input", "train.txt"], "expected -input FILE and -output FOLDER"),
        (["FeatureManager", "-input", "train.txt", "-output", "x"], "expected -shuffle, -k N"),
        (["FeatureManager", "-input", "train.txt", "-output", "x", "-k", "99"], "expected a number from 2 to"),
        (["Analyzer", "-all", "."], "expected -all FOLDER and -base FILE"),
        (["Analyzer", "-all", ".", "-base", "none.txt"], "expected a file of the folder ., got 'none.txt'"),
        (["Analyzer", "-all", ".", "-base", "test.txt"], "test.txt:1: expected MEASURE QUERY VALUE"),
        (["-trian", "x"], "did you mean -train"),
        (["-train", "x", "-ranker", "5"], "-ranker: expected one of"),
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
        measure_of("best@3", "metric2t")


@pytest.fixture
def few_trees(monkeypatch):
    """RankLib's defaults of 1,000 trees, 300 bags and 500 rounds, made small."""
    small = {"n_trees": 5, "n_bags": 4, "n_rounds": 5, "n_starts": 1}
    for name, parameters in ranklib_flags.PARAMETERS.items():
        fewer = {flag: (ours, kind, small.get(ours, default)) for flag, (ours, kind, default) in parameters.items()}
        monkeypatch.setitem(ranklib_flags.PARAMETERS, name, fewer)


@pytest.mark.parametrize("number", RANKERS)
def test_every_ranker_saves_ranklibs_text_without_validation_data(files, run, few_trees, number):
    code, out, err = run("-train", "train.txt", "-ranker", str(number), "-metric2t", "NDCG@10", "-save", "m.txt")
    assert code == 0, err
    assert ("-ranker" in err) == (number in (1, 8))
    assert re.match(r"## (Coordinate Ascent|LambdaMART)\n", (files / "m.txt").read_text())
    assert ("<ensemble>" in (files / "m.txt").read_text()) == (number in (0, 2, 6, 8))
    trained = float(re.search(r"ndcg@10 on training data: (.*)", out)[1])
    code, out, _ = run("-load", "m.txt", "-test", "train.txt", "-metric2T", "NDCG@10")
    assert code == 0
    assert float(re.search(r"ndcg@10 on test data: (.*)", out)[1]) == pytest.approx(trained, abs=1e-4)


def test_a_forest_is_the_mean_of_its_bags():
    data = arranged(ar.make_ranking(12, 8, 3, random_state=0), whole=True)  # bags are drawn in this order
    forest = RandomForests(n_bags=3, n_trees=2, n_leaves=4, min_documents=1, random_state=5).fit(data)
    rng, total = np.random.default_rng(5), np.zeros(data.n_documents)
    for bag in range(3):
        drawn = np.bincount(rng.integers(12, size=12), minlength=12)
        part = data.select(drawn > 0)
        part = ar.Dataset(part.X, part.y, group=part.sizes, query_weight=drawn[drawn > 0].astype(float))
        member = ar.make_ranker(
            "mart", n_trees=2, n_leaves=4, min_documents=1, random_state=5 + bag, learning_rate=0.1,
            feature_fraction=1.0, bagging_fraction=1.0, extra_trees=False,
        ).fit(part)  # fmt: skip
        total += member.predict(data) / 3
    assert forest.predict(data) == pytest.approx(total)


def test_without_a_model_the_order_of_the_file_is_tested(files, run):
    code, out, _ = run("-test", "test.txt", "-metric2T", "NDCG@10", "-idv", "output/baseline.ndcg.txt")
    assert code == 0
    test = ar.load("test.txt")
    mean = ar.evaluate(-np.arange(test.n_documents), test, "ndcg@10", convention="ranklib").means["ndcg@10"]
    assert f"ndcg@10 on test data: {mean:.4f}" in out
    assert len((files / "output" / "baseline.ndcg.txt").read_text().splitlines()) == test.n_queries + 1


#: The command lines of RankLib's wiki, then those of the learning-to-rank plugins' documentation and their examples.
LINES = """
-train train.txt -test test.txt -validate vali.txt -ranker 6 -metric2t NDCG@10 -metric2T ERR@10 -save mymodel.txt
-load mymodel.txt -test test.txt -metric2T ERR@10
-load mymodel.txt -rank test.txt -score myscorefile.txt
-rank test.txt -load mymodel.txt -indri myNewRankedLists.txt
-train train.txt -ranker 4 -kcv 5 -kcvmd models/ -kcvmn ca -metric2t NDCG@10 -metric2T ERR@10
-train train.txt -ranker 4 -tvs 0.8 -metric2t NDCG@10 -save ca.model.txt
-test test.txt -metric2T NDCG@10 -idv output/baseline.ndcg.txt
-load ca.model.txt -test test.txt -metric2T NDCG@10 -idv output/ca.ndcg.txt
-load mymodel.txt -test test.txt -metric2T NDCG@10 -idv output/lm.ndcg.txt
-load models/f1.ca -test test.txt -metric2T NDCG@10 -idv output/f1.ca.ndcg.txt
-test train.txt -load models/f1.ca -load models/f2.ca -load models/f3.ca -load models/f4.ca -load models/f5.ca
ciir.umass.edu.eval.Analyzer -all output/ -base baseline.ndcg.txt
ciir.umass.edu.features.FeatureManager -input train.txt -output mydata/ -shuffle
ciir.umass.edu.features.FeatureManager -input train.txt -output mydata/ -k 5
ciir.umass.edu.features.FeatureManager -input train.txt -output mydata/ -k 5 -tvs 0.8
-ranker 6 -train train.txt -save model.txt
-ranker 6 -train train.txt -save model.txt -frate 1.0
-ranker 6 -shrinkage 0.1 -metric2t DCG@10 -tree 5 -bag 1 -leaf 10 -frate 1.0 -srate 1.0 -train train.txt -save m.txt
-ranker 6 -metric2t DCG@10 -tree 5 -leaf 10 -train train.txt -save model.txt -feature features.txt -kcv 3
-metric2t NDCG@10 -bag 2 -srate 0.6 -frate 0.6 -rtype 6 -shrinkage 0.1 -tree 3 -ranker 8 -train train.txt -save m.txt
-tree 5 -leaf 10 -ranker 6 -train train.txt -test test.txt -save model.txt
"""


def test_the_command_lines_of_the_documentation(files, run, few_trees):
    (files / "features.txt").write_text("1\n3\n")
    for line in LINES.strip().splitlines():
        code, _, err = run(*line.split())
        assert code == 0, (line, err)
    for name in ("mymodel.txt", "myscorefile.txt", "myNewRankedLists.txt", "models/f5.ca", "output/f1.ca.ndcg.txt"):
        assert (files / name).stat().st_size > 0
    assert "<ensemble>" in (files / "model.txt").read_text()
