"""tune_weights: fusion weights, their value, bounds, normalisation, runs, curves, plot and formula."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, MissingExtraError, OptionError
from argrank.linesearch.landscape import Landscape
from argrank.linesearch.search import search
from argrank.trials.fusion import climb, folds
from argrank.trials.fusion.scaling import scaled


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(60, (5, 25), 4, noise=0.3, random_state=3)


@pytest.fixture(scope="module")
def systems(data):
    return {"bm25": 10 * data.X[:, 0], "vector": data.X[:, 1], "popularity": 1000 * data.X[:, 2]}


@pytest.fixture(scope="module")
def tuned(systems, data):
    return ar.tune_weights(systems, data, "ndcg@5", bootstrap=5)


def mean(scores, data, measure="ndcg@5", **options):
    return ar.evaluate(scores, data, measure, **options).means[measure]


def test_the_value_is_that_of_the_fused_scores(tuned, systems, data):
    assert sum(map(abs, tuned.weights.values())) == pytest.approx(1)
    assert tuned.value == pytest.approx(mean(tuned.fuse(systems), data), abs=1e-12)
    for name, scores in systems.items():
        assert tuned.single[name] == mean(scores, data)
        low, high = tuned.intervals[name]
        assert low <= high
    assert tuned.cv_interval[0] <= tuned.cv_value <= tuned.cv_interval[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_never_below_the_best_of_a_grid(seed):
    data = ar.make_ranking(40, 20, 3, noise=0.5, random_state=seed)
    systems = dict(zip("abc", data.X.T, strict=True))
    grid = ((a / 20, b / 20, (20 - a - b) / 20) for a in range(21) for b in range(21 - a))
    best = max(mean(data.X @ np.array(weights), data, n_jobs=1) for weights in grid)
    assert ar.tune_weights(systems, data, "ndcg@5", cv=None).value >= best


def test_a_sample_of_the_queries_leads_to_as_good_weights(systems, data, tuned, monkeypatch):
    monkeypatch.setattr(climb, "SAMPLE_ROWS", 200)
    sampled = ar.tune_weights(systems, data, "ndcg@5", cv=None)
    assert sampled.value == pytest.approx(mean(sampled.fuse(systems), data), abs=1e-12)
    assert sampled.value >= tuned.value - 0.01
    assert all(curve.values.max() <= sampled.value + 1e-12 for curve in sampled.curves.values())


def test_curves_are_the_measure_along_each_weight(tuned, systems, data):
    for name, curve in tuned.curves.items():
        assert curve.values.max() <= tuned.value + 1e-12  # no single weight can still be moved to advantage
        weight = tuned.weights[name] * 1.3
        true = mean(tuned.fuse(systems) + 0.3 * tuned.weights[name] * systems[name], data)
        assert curve.values[np.searchsorted(curve.breakpoints, weight)] == pytest.approx(true, abs=1e-12)


def test_same_seed_same_weights_whatever_the_threads(systems, data):
    one, two = (ar.tune_weights(systems, data, "map", cv=2, n_starts=1, n_jobs=n) for n in (1, 2))
    assert one.weights == two.weights
    assert one.cv_value == two.cv_value


def test_a_system_that_cannot_matter_gets_weight_0(systems, data):
    constant = data.query_of_row * 7.0
    tuned = ar.tune_weights({**systems, "constant": constant}, data, "ndcg@5", cv=None)
    assert tuned.weights["constant"] == 0
    assert "constant" not in tuned.formula()


def test_bounds_and_fixed_weights(systems, data):
    free = ar.tune_weights(systems, data, "ndcg@5", cv=None)
    assert free.weights["vector"] < 0
    positive = ar.tune_weights(systems, data, "ndcg@5", cv=None, bounds=(0, None))
    assert min(positive.weights.values()) >= 0
    assert positive.value < free.value
    bounds = {"bm25": (0.05, 0.2), "popularity": (0, 0.5)}
    shares = ar.tune_weights(systems, data, "ndcg@5", cv=None, bounds=bounds)
    assert sum(map(abs, shares.weights.values())) == pytest.approx(1)
    assert 0.05 - 1e-9 <= shares.weights["bm25"] <= 0.2 + 1e-9
    assert 0 <= shares.weights["popularity"] <= 0.5
    fixed = ar.tune_weights(systems, data, "ndcg@5", cv=None, fixed={"vector": 2.0}, bounds={"bm25": (0, 0.3)})
    assert fixed.weights["vector"] == 2.0
    assert 0 <= fixed.weights["bm25"] <= 0.3
    assert fixed.value >= fixed.single["vector"]


def test_bounds_on_shares_are_searched_as_well_as_a_grid(data):
    systems = dict(zip("abc", data.X[:, :3].T, strict=True))
    found = ar.tune_weights(systems, data, "ndcg@5", cv=None, bounds={"a": (0, 0.3), "b": (0, 1), "c": (0.2, 1)})
    grid = ((a / 20, b / 20, (20 - a - b) / 20) for a in range(7) for b in range(17 - a))
    assert found.value >= max(mean(data.X[:, :3] @ np.array(weights), data, n_jobs=1) for weights in grid)


def test_any_python_function_is_a_measure():
    data = ar.make_ranking(12, 6, 2, random_state=0)
    systems = {"a": data.X[:, 0], "b": data.X[:, 1]}

    def first_is_good(labels):
        return float(labels[0] >= 1)

    tuned = ar.tune_weights(systems, data, first_is_good, cv=None, n_starts=1)
    assert tuned.measure == "first_is_good"
    assert tuned.value == pytest.approx(mean(tuned.fuse(systems), data, "p@1", undefined=0))


def test_normalisation_within_queries_by_hand():
    raw, indptr = np.array([[4.0, 2.0, np.nan, 2.0, 7.0, np.nan]]), np.array([0, 4, 6])
    by_name = {name: scaled(raw, indptr, [name], "lowest")[0].tolist() for name in ("none", "minmax", "zscore", "rank")}
    assert by_name["none"] == [4, 2, 2, 2, 7, 7]
    assert by_name["minmax"] == [1, 0, 0, 0, 0, 0]
    assert by_name["zscore"] == pytest.approx([2**0.5, -(0.5**0.5), -(0.5**0.5), -(0.5**0.5), 0, 0])
    assert by_name["rank"] == pytest.approx([1 / 61, 1 / 62.5, 1 / 62.5, 1 / 62.5, 1 / 61, 1 / 61])
    assert scaled(raw, indptr, ["rank"], 0.0)[0, [2, 5]].tolist() == [0, 0]
    assert scaled(raw, indptr, ["none"], -3.0)[0, [2, 5]].tolist() == [-3, -3]


def test_the_normalisation_is_chosen_by_folds_that_do_not_see_the_query(data):
    rng = np.random.default_rng(0)
    scale = np.exp(rng.normal(size=data.n_queries) * 3)[data.query_of_row]  # every query has a scale of its own
    systems = {"a": data.X[:, 0] * scale, "b": data.X[:, 1]}
    tuned = ar.tune_weights(systems, data, "ndcg@5", normalise="auto", cv=3, n_starts=1)
    assert set(tuned.by_normaliser) == {"none", "minmax", "zscore", "rank"}
    assert tuned.normalise["a"] == max(tuned.by_normaliser, key=tuned.by_normaliser.get) != "none"
    assert tuned.value == pytest.approx(mean(tuned.fuse(systems, data), data), abs=1e-12)
    assert "chosen by cross-validation" in repr(tuned)
    mixed = ar.tune_weights(systems, data, "ndcg@5", normalise={"a": "zscore"}, cv=None, n_starts=1)
    assert mixed.normalise == {"a": "zscore", "b": "none"}


def test_folds_without_a_relevant_document():
    """Two folds next to each other leave queries of which none is judged: the choice there is by the first."""
    few = ar.make_ranking(6, 5, 3, random_state=0)
    assert (few.y.reshape(6, 5).max(axis=1) > 0).sum() == 3
    tuned = ar.tune_weights({"a": few.X[:, 0], "b": few.X[:, 1]}, few, "ndcg@5", normalise="auto", cv=5)
    assert tuned.value == pytest.approx(mean(tuned.fuse({"a": few.X[:, 0], "b": few.X[:, 1]}, few), few), abs=1e-12)


def test_a_fold_has_no_say_in_the_weights_that_it_is_judged_by(data, monkeypatch):
    judged_by = []

    def recorded(problem, sketches, random_state):
        judged_by.append(climb.finish(problem, sketches, random_state)[0])
        return judged_by[-1], 0.0

    monkeypatch.setattr(folds, "finish", recorded)

    def parts(labels):
        given = data.with_labels(labels)
        raw, measure = data.X.T[:3], ar.measure("ndcg@5")
        limits = climb.Limits(np.full(3, -np.inf), np.full(3, np.inf), np.full(3, np.nan))
        scales = {name: given.with_features(scaled(raw, data.indptr, [name] * 3, 0.0).T) for name in ("none", "zscore")}
        return folds.Folds({name: climb.Problem(one, measure, limits) for name, one in scales.items()}, 3, 1, 0)

    first = parts(data.y)
    first.unseen()
    mine = (first.fold == 0)[data.query_of_row]
    parts(np.where(mine, data.y.max() - data.y, data.y)).unseen()
    np.testing.assert_array_equal(judged_by[0], judged_by[3])  # of fold 0, with its labels and with others
    assert not np.array_equal(judged_by[1], judged_by[4])


QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "never": 2}, "q2": {"a": 1, "d": 0}, "q3": {"e": 1}, "q4": {"x": 0, "y": 1}}
RUNS = {
    "bm25": {"q1": {"b": 3.0, "a": 2.0, "new": 1.5}, "q2": {"d": 2.0, "a": 1.0}, "q4": {"x": 1.0, "y": 0.9}},
    "vector": {"q1": {"c": 0.9, "a": 0.8}, "q2": {"a": 0.7, "e": 0.1}, "q4": {"y": 0.8, "x": 0.1}},
}


@pytest.mark.parametrize("missing", ["lowest", "rrf", -1.0])
def test_runs_and_judgements(missing):
    tuned = ar.tune_weights(RUNS, QRELS, "ndcg@3", normalise="minmax", missing=missing, cv=None)
    assert tuned.n_queries == 4  # q3 counts as 0: nothing was returned
    assert tuned.n_unjudged == 2
    fill = {"lowest": 0.0, "rrf": 0.0}.get(missing, missing)
    labels, judged, scores, qid = [], {}, [], []
    for query, known in QRELS.items():
        judged[query] = list(known.values())
        returned = sorted({doc for run in RUNS.values() for doc in run.get(query, {})})
        for doc in returned:
            score = 0.0
            for name, run in RUNS.items():
                own = run.get(query, {})
                low, high = min(own.values()), max(own.values())
                score += tuned.weights[name] * ((own[doc] - low) / (high - low) if doc in own else fill)
            labels.append(known.get(doc, 0))
            scores.append(score)
            qid.append(query)
    by_hand = ar.Dataset(np.zeros((len(labels), 1)), labels, qid=qid)
    wanted = mean(np.array(scores), by_hand, "ndcg@3", judgements=judged) * 3 / 4
    assert tuned.value == pytest.approx(wanted, abs=1e-12)
    assert "2 returned documents are not judged" in repr(tuned)
    fused = tuned.fuse(RUNS)
    assert {(query, doc): pytest.approx(score) for query, run in fused.items() for doc, score in run.items()} == {
        (query, doc): score
        for query, doc, score in zip(
            qid,
            (d for q in QRELS for d in sorted({d for r in RUNS.values() for d in r.get(q, {})})),
            scores,
            strict=True,
        )
    }
    assert ar.evaluate(fused, QRELS, "ndcg@3", undefined=0).means["ndcg@3"] == pytest.approx(tuned.value)


def test_reciprocal_rank_fusion_is_equal_weights_of_ranks():
    scores = {}
    for query, doc in [("q1", d) for d in ("a", "b", "c", "new")] + [("q2", d) for d in ("a", "d", "e")]:
        ranks = [sorted(run[query], key=run[query].get, reverse=True) for run in RUNS.values()]
        scores[query, doc] = sum(1 / (61 + ranked.index(doc)) for ranked in ranks if doc in ranked)
    runs = {name: {query: run[query] for query in ("q1", "q2")} for name, run in RUNS.items()}
    qrels = {query: QRELS[query] for query in ("q1", "q2")}
    tuned = ar.tune_weights(runs, qrels, "ndcg@3", normalise="rank", missing="rrf", cv=None)
    labels = [QRELS[query].get(doc, 0) for query, doc in scores]
    data = ar.Dataset(np.zeros((len(scores), 1)), labels, qid=[query for query, _ in scores])
    judged = {query: list(known.values()) for query, known in qrels.items()}
    assert tuned.rrf == pytest.approx(mean(np.array(list(scores.values())), data, "ndcg@3", judgements=judged))


@pytest.mark.parametrize("measure", ["ndcg@3", "map", "rr", "err@3", "r@2", "p@3", "auc", "rbp"])
def test_the_line_knows_judged_documents_that_are_not_there(measure):
    data = ar.make_ranking(8, 6, 2, random_state=5)
    judged = {
        qid: np.append(data.y[data.query_of_row == q], [2.0, 1.0]) for q, qid in enumerate(data.query_ids.tolist())
    }
    landscape = Landscape(data, measure, "expected", 1, judged)
    scores, slopes = data.X.T.copy()
    steps = landscape.walk(scores, slopes, -np.inf, np.inf, landscape.value(scores).tied)
    for t in (-1.3, -0.2, 0.4, 2.0):
        true = mean(scores + t * slopes, data, measure, judgements=judged)
        assert steps.values[np.searchsorted(steps.breakpoints, t)] == pytest.approx(true, abs=1e-12)
        assert search(landscape, scores, slopes, landscape.value(scores))[0].value >= true - 1e-12


def test_plot_table_and_file(tuned, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    figure = tuned.plot()
    assert [axes.get_xlabel() for axes in figure.axes] == [f"weight of {name}" for name in tuned.weights]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    text = repr(tuned)
    popularity = next(line for line in text.splitlines() if line.startswith("popularity"))
    assert float(popularity.split()[1]) == pytest.approx(tuned.weights["popularity"], rel=1e-3)
    assert "weight x spread" in text
    assert "cross-validated" in tuned._repr_html_()
    tuned.save(tmp_path / "weights.json")
    assert json.loads((tmp_path / "weights.json").read_text())["weights"] == tuned.weights
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="matplotlib"):
        tuned.plot()


def test_formulas_for_search_engines():
    tuned = ar.tune_weights(RUNS, QRELS, "ndcg@3", normalise="minmax", cv=None, fixed={"bm25": 0.3}, bounds=(0, 2))
    bm25, vector = tuned.weights.values()
    assert tuned.formula() == f"{bm25:.6g} * minmax(bm25) + {vector:.6g} * minmax(vector)"
    assert "        expression: 0.3 * normalize_linear(bm25) + 2.0 * normalize_linear(vector)" in tuned.formula("vespa")
    processor = json.loads(tuned.formula("opensearch"))["phase_results_processors"][0]["normalization-processor"]
    assert processor["normalization"] == {"technique": "min_max"}
    assert sum(processor["combination"]["parameters"]["weights"]) == pytest.approx(1, abs=1e-5)
    retrievers = json.loads(tuned.formula("elasticsearch"))["retriever"]["linear"]["retrievers"]
    assert (retrievers[0]["weight"], retrievers[0]["normalizer"]) == (0.3, "minmax")
    ranks = ar.tune_weights(RUNS, QRELS, "ndcg@3", normalise="rank", missing="rrf", cv=None, fixed={"bm25": -1.0})
    assert ranks.formula().startswith("-1 / (60 + rank(bm25)) + ")
    with pytest.raises(OptionError, match="opensearch: expected no negative weights"):
        ranks.formula("opensearch")
    with pytest.raises(OptionError, match="unknown target"):
        ranks.formula("lucene")


def test_bad_input_is_refused(tuned, systems, data):
    with pytest.raises(InputError, match="at least one system"):
        ar.tune_weights({}, data, "map")
    with pytest.raises(InputError, match="scores of a: expected one score"):
        ar.tune_weights({"a": [1.0]}, data, "map")
    with pytest.raises(InputError, match="scores of a: expected finite"):
        ar.tune_weights({"a": np.full(data.n_documents, np.inf)}, data, "map")
    with pytest.raises(InputError, match="scores of a: expected at least one score"):
        ar.tune_weights({"a": np.full(data.n_documents, np.nan)}, data, "map")
    for options, text in (
        ({"cv": 1}, "cv: expected"),
        ({"cv": 1000}, "cv: expected at most"),
        ({"normalise": "auto", "cv": None}, "normalise: expected cv from 3"),
        ({"normalise": "max"}, "unknown normalisation"),
        ({"normalise": {"bm": "rank"}}, "unknown system"),
        ({"missing": "highest"}, "missing: expected"),
        ({"bounds": {"bm25": (1, 0)}}, "bounds: expected low <= high"),
        ({"bounds": (0, 0)}, "bounds: expected a weight that may differ from 0"),
        ({"bounds": (0,)}, "bounds: expected"),
        ({"bounds": (0.5, 0.6)}, "bounds on shares"),
        ({"fixed": {"nobody": 1}}, "unknown system"),
        ({"fixed": dict.fromkeys(systems, 1.0)}, "at least one system whose weight is free"),
        ({"bootstrap": -1}, "bootstrap"),
    ):
        with pytest.raises(OptionError, match=text):
            ar.tune_weights(systems, data, "map", **options)
    with pytest.raises(InputError, match="expected those of"):
        tuned.fuse({"bm25": systems["bm25"]})
    with pytest.raises(InputError, match="fuse: expected data"):
        tuned.fuse({name: np.append(scores[1:], np.nan) for name, scores in systems.items()})


def test_a_curve_is_shown_on_both_sides_of_the_weight(tuned):
    for name, weight in tuned.weights.items():
        if weight:
            ends, values = tuned._view(name)
            assert len(ends) == len(values) + 1
            assert ends[[0, -1]] == pytest.approx([weight - 1.25 * abs(weight), weight + 1.25 * abs(weight)])
