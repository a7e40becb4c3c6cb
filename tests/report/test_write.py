from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy import sparse

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.report import explorer


def embedded(path) -> dict:
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found[1])


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.make_ranking(30, 25, 4, random_state=0)


def test_has_everything_that_is_given(data, tmp_path):
    ranker = ar.make_ranker("svm-auc", C=1.0).fit(data, eval_set=data)
    other = ar.make_ranker("regression").fit(data)
    path = ar.write_report(
        tmp_path / "r.html",
        data,
        {"svm": ranker, "model": other.model_, "one": data.X[:, 0]},
        paths={"svm": ar.regularisation_path("svm-auc", [0.1, 1.0], data, data, "map", progress=False)},
        weights={"svm": ar.bootstrap_weights(ranker, data, n_resamples=3, progress=False)},
        seconds={"model": 1.5},
    )
    text = path.read_text("utf-8")
    for words in ("Gap to the optimum", "Average slack", "Objective / objective at w = 0", "Validation map", "|w|",
                  "from 3 trainings", "Time against quality", "Wins and losses, mrr@10", "letor3"):  # fmt: skip
        assert words in text, words
    assert [one["name"] for one in embedded(path)["systems"]] == ["svm", "model", "one"]


def test_needs_no_network(data, tmp_path):
    text = ar.write_report(tmp_path / "r.html", data, {"one": data.X[:, 0]}).read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text


def test_means_are_those_of_evaluate(data, tmp_path):
    path = ar.write_report(tmp_path / "r.html", data, {"a": data.X[:, 0], "b": data.X[:, 1]}, ["ndcg@5"])
    cells = re.findall(r"<td>(?:<strong>)?(\d\.\d{4})", path.read_text("utf-8"))[:2]
    expected = [ar.evaluate(data.X[:, i], data, "ndcg@5").means["ndcg@5"] for i in (0, 1)]
    assert cells == [f"{one:.4f}" for one in expected]


def test_rows_in_any_order_give_the_same_page(tmp_path):
    rng = np.random.default_rng(0)
    y, qid, ids = rng.integers(0, 3, 40), np.repeat(np.arange(4), 10), np.array([f"d{i}" for i in range(40)])
    X, order = y[:, None] + rng.normal(size=(40, 2)), rng.permutation(40)
    order = order[np.argsort(qid[order], kind="stable")]  # queries in the same order, documents not
    pages = []
    for rows in (np.arange(40), order):
        data = ar.Dataset(X[rows], y[rows], qid[rows], document_ids=ids[rows])
        pages.append(embedded(ar.write_report(tmp_path / "r.html", data, {"a": X[rows, 0]}, "map")))
    assert pages[0]["systems"][0]["values"] == pages[1]["systems"][0]["values"]


def test_a_page_too_heavy_explains_fewer_queries(data, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer, "MOST_CONTRIBUTIONS", 7 * 25 * data.n_features)
    ranker = ar.make_ranker("regression").fit(data)
    found = embedded(ar.write_report(tmp_path / "r.html", data, {"a": ranker}, "map"))
    assert 7 <= found["queries"]["explained"] < data.n_queries


def test_sparse_features_are_explained(data, tmp_path):
    thin = ar.Dataset(sparse.csr_matrix(np.where(data.X > 0, data.X, 0)), data.y, group=data.sizes)
    ranker = ar.make_ranker("regression").fit(thin)
    assert embedded(ar.write_report(tmp_path / "r.html", thin, {"a": ranker}, "map"))["systems"][0]["contributions"]


def test_refuses_what_is_no_system(data, tmp_path):
    with pytest.raises(InputError, match="before fit"):
        ar.write_report(tmp_path / "r.html", data, {"a": ar.make_ranker("regression")})
    with pytest.raises(InputError, match="at least one"):
        ar.write_report(tmp_path / "r.html", data, {})
    assert not (tmp_path / "r.html").exists()


def test_takes_a_trial_with_all_that_it_knows(data, tmp_path):
    found = ar.cross_validate(["regression", "svm-auc"], data, ["map"], n_folds=3, progress=False)
    path = ar.write_report(tmp_path / "r.html", found)
    assert [one["name"] for one in embedded(path)["systems"]] == ["regression", "svm-auc"]
    assert embedded(path)["measures"] == ["map"]
    with pytest.raises(InputError, match="which has its own"):
        ar.write_report(tmp_path / "r.html", found, {"a": data.X[:, 0]})


def test_runs_against_judgements_and_against_data(tmp_path):
    qrels = {"q1": {"a": 2, "b": 0, "c": 0}, "q2": {"a": 1, "d": 0}}
    run = {"q1": {"x": 3.0, "a": 2.0}, "q2": {"a": 1.0, "d": 2.0}}
    text = ar.write_report(
        tmp_path / "r.html", qrels, {"run": run}, ["map"], by={"q1": "head", "q2": "tail"}
    ).read_text()
    assert f"{ar.evaluate(run, qrels, 'map').means['map']:.4f}" in text
    assert "Documents and judgements" in text
    assert 'id="segments"' in text
    data = ar.Dataset(np.eye(5), [2, 0, 0, 1, 0], ["q1", "q1", "q1", "q2", "q2"], document_ids=list("abcad"))
    path = ar.write_report(tmp_path / "s.html", data, {"run": run, "scores": [5, 4, 3, 2, 1]}, ["map"])
    assert f"{ar.evaluate(run, data, 'map').means['map']:.4f}" in path.read_text()
    assert len(embedded(path)["documents"]["ids"]) == 5  # the data's documents, not those that only the run has


def test_a_convention_that_does_not_know_the_labels_says_so(tmp_path):
    data = ar.make_ranking(12, 25, 2, random_state=1)
    text = ar.write_report(tmp_path / "r.html", data, {"a": data.X[:, 0]}, ["ndcg@10", "map"]).read_text("utf-8")
    row = re.search(r'<th scope="row">letor3</th>(.*?)</tr>', text)[1]
    value = ar.evaluate(data.X[:, 0], data, "map", convention="letor3").means["map"]
    assert re.findall(r"<td>(.*?)</td>", row) == ['<span class="aside">does not apply</span>', f"{value:.4f}"]
    row = re.search(r'<th scope="row">mslr</th>(.*?)</tr>', text)[1]
    assert "does not apply" not in row


def test_weights_that_cannot_matter_do_not_appear(tmp_path):
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    X = np.column_stack([y + rng.normal(size=60), qid, rng.normal(size=60)])
    data = ar.Dataset(X, y, qid, feature_names=["good", "of the query", "noise"])
    ranker = ar.make_ranker("regression", ridge=1.0).fit(data)
    assert ranker.coef_[1] != 0
    text = ar.write_report(tmp_path / "r.html", data, {"a": ranker}, "map").read_text("utf-8")
    chart = re.search(r"<summary>Weights of a</summary>(.*?)</details>", text, re.DOTALL)[1]
    assert ">good</text>" in chart
    assert ">of the query</text>" not in chart
    assert "Left out: of the query, the same for all documents" in chart


def test_the_answer_of_a_trial(data, tmp_path):
    grid = {"rank-svm": {"C": [1e-6, 1e-5, 1e-4]}}
    found = ar.cross_validate(["regression", "rank-svm"], data, ["map"], grid=grid, n_folds=3, progress=False)
    text = ar.write_report(tmp_path / "r.html", found).read_text("utf-8")
    verdict = re.search(r'<p class="verdict">(.*?)</p>', text)[1]
    assert found.best in verdict
    assert f"Validation chose it (map {found.validation[found.best]:.4f})" in text
    (pair,) = found.comparison.pairs
    (other,) = set(found.systems) - {found.best}
    sign = 1 if pair.a == found.best else -1
    assert f"Against <strong>{other}</strong>" in text
    assert f"{sign * pair.difference:+.4f} a query".replace("-", "\u2212") in text
    wins, losses = (pair.wins, pair.losses)[::sign]
    assert f"better on {wins} queries, worse on {losses}, equal on {pair.ties}" in text
    assert ("<strong>not</strong> a significant" in text) == (pair.p_corrected > 0.05)
    ends = [run.params["C"] for run in found.folds["rank-svm"]]
    for value, word in ((1e-6, "smallest"), (1e-4, "largest")):
        told = f"rank-svm: the chosen C, {value:.4g}, is the {word} that was tried in {ends.count(value)} of 3 folds"
        assert (told in text) == (value in ends)
    assert ("Widen the grid of rank-svm" in text) == bool({1e-6, 1e-4} & set(ends))


def test_the_answer_says_where_validation_and_test_disagree(tmp_path):
    from sklearn.dummy import DummyRegressor

    rng = np.random.default_rng(0)
    parts = []
    for sign in (1, 1, -1):  # the feature means the opposite on the tested queries
        y = rng.integers(0, 3, 300)
        parts.append(ar.Dataset(sign * y[:, None] + rng.normal(size=(300, 1)), y, np.repeat(np.arange(30), 10)))
    train, valid, test = parts
    rankers = {"learned": "regression", "constant": DummyRegressor()}
    found = ar.benchmark(train, ["ndcg@10"], rankers, valid=valid, test=test, progress=False)
    text = ar.write_report(tmp_path / "r.html", found).read_text("utf-8")
    assert found.best == "learned"
    headline = "Validation and test disagree: validation chose learned, but constant ranks these queries better"
    assert headline in text
    assert '<span class="badge down">validation and test disagree</span>' in text


def test_names_at_the_ends_of_lines_do_not_cover_each_other():
    from argrank.report.svg import LABEL_STEP, _apart

    places = _apart([100.0, 101.0, 250.0, 99.0, 251.0, 252.0])
    assert min(np.diff(sorted(places))) >= LABEL_STEP - 1e-9
    assert np.argsort(places).tolist() == [3, 0, 1, 2, 4, 5]
    assert max(places) <= 252


def test_a_click_log_says_what_each_system_would_earn(tmp_path):
    data = ar.make_ranking(30, 15, 3, random_state=3)
    data = ar.Dataset(data.X, data.y, qid=data.qid, document_ids=np.arange(data.n_documents))
    log = ar.simulate_clicks(data, data.X[:, 0], n_sessions=3000, vary=1.0, random_state=0)
    theta = ar.propensities(log)
    systems = {"a<b>": data.X[:, 0], "second": data.X[:, 1]}
    asked = {"clicks": log, "propensities": theta}
    text = ar.write_report(tmp_path / "r.html", data, systems, "ndcg@5", **asked).read_text("utf-8")
    found = ar.compare(systems, log, ["dcg@10", "clicks@10"], propensities=theta, features=data)
    for name in systems:
        for measure in ("dcg@10", "clicks@10"):
            assert f">{found.means[name][measure]:.4f} [" in text
    assert f"{found.pairs[0].difference:.4f} [" in text
    assert text.count(">torso<") == 4
    assert "a<b>" not in text
    few = log.select(np.arange(30))  # too little to tell
    text = ar.write_report(tmp_path / "r.html", data, systems, "ndcg@5", clicks=few, propensities=theta).read_text()
    assert "of second: expected" in text
    assert ">torso<" not in text
    with pytest.raises(OptionError, match="propensities"):
        ar.write_report(tmp_path / "r.html", data, systems, propensities=theta)
    with pytest.raises(InputError, match="clicks: expected a Clicks"):
        ar.write_report(tmp_path / "r.html", data, systems, clicks=data)
    runs = {name: {} for name in systems}
    for qid, docid, values in zip(data.qid, data.document_ids, data.X, strict=True):
        for name, score in zip(runs, values, strict=False):
            runs[name].setdefault(str(qid), {})[str(docid)] = float(score)
    qrels = {}
    for qid, docid, label in zip(data.qid, data.document_ids, data.y, strict=True):
        qrels.setdefault(str(qid), {})[str(docid)] = int(label)
    text = ar.write_report(tmp_path / "r.html", qrels, runs, "ndcg@5", **asked).read_text("utf-8")
    assert f">{found.means['second']['dcg@10']:.4f} [" in text
