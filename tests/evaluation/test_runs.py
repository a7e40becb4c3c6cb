"""Runs against judgements: trec_eval's numbers, unjudged and missing documents, every form of input."""

from __future__ import annotations

import ir_measures
import numpy as np
import pandas as pd
import pytest
import pytrec_eval

import argrank as ar
from argrank.errors import ArgrankError
from argrank.evaluation.result import Evaluations

#: trec_eval's own words for what it shares with us.
ASKED = {
    "map", "map_cut.3,10", "ndcg", "ndcg_cut.3,10", "recip_rank", "P.3,10", "recall.3,10", "Rprec", "success.1,3",
    "bpref", "infAP", "iprec_at_recall.0.00,0.10,0.25,0.50,1.00", "11pt_avg", "num_ret", "num_rel", "num_rel_ret",
    "set_P", "set_recall", "set_F", "set_relative_P",
}  # fmt: skip
OTHERS = {"11pt_avg": "IPrec"}  # a name begins with a letter here
N_RUNS = 200


def random_run(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Return a run and judgements: ties, unjudged documents, judged ones not returned, queries on one side only."""
    random = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in range(int(random.integers(1, 6))):
        pool = [f"d{number}" for number in random.permutation(200)[: random.integers(2, 30)]]
        judged = [one for one in pool if random.random() < 0.6] or pool[:1]
        returned = [one for one in pool if random.random() < 0.7] or pool[-1:]
        grades = random.integers(0, random.integers(1, 5), len(judged))
        qrels[f"q{query}"] = dict(zip(judged, grades.tolist(), strict=True))
        scores = np.round(random.normal(size=len(returned)), int(random.integers(0, 4)))
        run[f"q{query}"] = dict(zip(returned, scores.tolist(), strict=True))
    run["only in the run"] = {"d1": 1.0}
    qrels["only in the judgements"] = {"d1": 1, "d2": 0}
    return run, qrels


@pytest.mark.parametrize("judged_only", [False, True])
def test_all_shared_measures_are_those_of_trec_eval(judged_only: bool) -> None:
    parts = [random_run(seed) for seed in range(N_RUNS)]
    merged = tuple(
        {f"{seed} {qid}": held for seed, part in enumerate(parts) for qid, held in part[side].items()}
        for side in (0, 1)
    )
    for run, qrels in (merged, *parts[:5]):  # the queries of all together, and the means of some
        told = pytrec_eval.RelevanceEvaluator(qrels, ASKED, judged_docs_only_flag=judged_only).evaluate(run)
        names = list(next(iter(told.values())))
        ours = {name: OTHERS.get(name, name) for name in names}
        found = ar.evaluate(run, qrels, list(ours.values()), convention="trec_eval", judged_only=judged_only)
        queries = np.array(found.query_ids.tolist())
        kept = np.array([not qid.endswith("only in the judgements") for qid in queries])
        assert set(told) == set(queries[kept])
        for name in names:
            values = found.values[ours[name]]
            assert np.isnan(values[~kept]).all()  # trec_eval leaves such queries out
            # trec_eval divides 0 by 0 where no judged document was returned
            expected = np.nan_to_num([told[qid][name] for qid in queries[kept]])
            np.testing.assert_allclose(values[kept], expected, rtol=0, atol=1e-12, err_msg=name)
            total = expected.sum() if name.startswith("num_") else expected.mean()
            assert found.means[ours[name]] == pytest.approx(total, rel=1e-12, abs=1e-12)
        assert found.coverage.missing == found.coverage.unknown == (~kept).sum()
    everything = ar.evaluate(*merged, "map", convention="trec")
    assert everything.coverage.unjudged > 1000
    assert everything.n_tied > 100


IR_MEASURES = [
    "nDCG@10", "nDCG", "AP", "AP(rel=2)@5", "RR", "P@5", "P(rel=2)@3", "R@5", "Rprec", "Rprec(rel=2)", "Bpref",
    "Bpref(rel=2)", "Success@3", "infAP", "infAP(rel=2)", "IPrec@0.1", "IPrec(rel=2)@0.5", "SetP",
    "SetP(relative=True)", "SetR(rel=2)", "SetF", "SetF(beta=2.0)", "NumRet", "NumRet(rel=2)",
    "nDCG(judged_only=True)@5", "AP(judged_only=True)", "nDCG(gains={1:3,2:1})@5",
]  # fmt: skip


@pytest.mark.parametrize("name", IR_MEASURES)
@pytest.mark.parametrize("convention", ["trec", "msmarco", "default"])
def test_an_object_of_ir_measures_keeps_its_parameters(name: str, convention: str) -> None:
    """Whatever the convention's gain, relevance level and value of undefined queries; ties stay with the convention."""
    measure = ir_measures.parse_measure(name)
    for seed in range(6):
        run, qrels = random_run(seed)
        told = measure.calc_aggregate(qrels, run)
        rules = {"ties": "docid", "missing": "empty", "score_dtype": "float32", "relevant_at": 3}
        found = ar.evaluate(run, qrels, [measure], convention=convention, **rules)
        assert list(found.means) == [str(measure)]
        assert found.means[str(measure)] == pytest.approx(told, abs=1e-12)


def test_judged_is_that_of_ir_measures() -> None:
    for seed in range(20):
        run, qrels = random_run(seed)
        for measure in (ir_measures.Judged @ 5, ir_measures.Judged @ 100):
            told = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}
            found = ar.evaluate(run, qrels, str(measure), ties="docid-ascending")
            for qid, value in zip(found.query_ids.tolist(), found.values[str(measure)].tolist(), strict=True):
                assert value == pytest.approx(told[qid], abs=1e-12)


def test_an_object_of_ir_measures_on_a_dataset() -> None:
    random = np.random.default_rng(1)
    labels, qid, scores = random.integers(0, 4, 300), np.repeat(np.arange(30), 10), random.random(300)
    test = ar.Dataset(np.zeros((300, 1)), labels, qid, document_ids=[f"d{i}" for i in range(300)])
    qrels = pd.DataFrame({"query_id": qid.astype(str), "doc_id": test.document_ids, "relevance": labels})
    run = pd.DataFrame({"query_id": qid.astype(str), "doc_id": test.document_ids, "score": scores})
    measure = ir_measures.nDCG @ 10
    found = ar.evaluate(scores, test, [measure]).means["nDCG@10"]
    assert found == pytest.approx(measure.calc_aggregate(qrels, run), abs=1e-12)
    assert abs(found - ar.evaluate(scores, test, "nDCG@10").means["nDCG@10"]) > 1e-3  # whose gain is exp2


# ---- unjudged documents -------------------------------------------------------------------------------------------


def test_unjudged_documents_are_not_relevant_and_are_counted() -> None:
    """One unjudged document above each judged one: it used to vanish, and the run looked as good as without it."""
    data = ar.load_bundled().select(np.arange(20))
    data = ar.Dataset(data.X, data.y, data.query_ids[data.query_of_row], document_ids=np.arange(data.n_documents))
    run: dict[str, dict[str, float]] = {}
    for row, (query, score) in enumerate(zip(data.query_of_row, data.X[:, 0], strict=True)):
        own = run.setdefault(str(data.query_ids[query]), {})
        own[str(row)] = score
        own[f"new{row}"] = score + 1e-3
    names = ["ndcg@10", "map", "judged@10"]
    for convention in ar.convention_names():
        plain = ar.evaluate(data.X[:, 0], data, names, convention=convention).means
        found = ar.evaluate(run, data, names, convention=convention)
        assert found.means["ndcg@10"] < plain["ndcg@10"]
        assert found.coverage.unjudged == data.n_documents
        alone = ar.evaluate(run, data, names, convention=convention, judged_only=True)
        assert alone.means == pytest.approx(plain)
    text = repr(ar.evaluate(run, data, names))
    assert f"{data.n_documents:,} of {2 * data.n_documents:,} returned documents are not judged" in text
    assert "judged@10 0.4050" in text
    qrels = {str(q): {} for q in data.query_ids}
    for row, query in enumerate(data.query_of_row):
        qrels[str(data.query_ids[query])][str(row)] = int(data.y[row])
    told = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)[ir_measures.nDCG @ 10]
    assert ar.evaluate(run, data, "ndcg@10", convention="trec").means["ndcg@10"] == pytest.approx(told, abs=1e-12)


def test_judged_documents_that_were_not_returned_count_in_ideal_and_recall_only() -> None:
    data = ar.Dataset(np.zeros((3, 1)), [1, 1, 2], [1, 1, 1], document_ids=["a", "b", "c"])
    found = ar.evaluate({"1": {"a": 1.0}}, data, ["recall", "p@2", "ndcg@10", "NumRet"])
    assert found.means["recall"] == pytest.approx(1 / 3)
    assert found.means["p@2"] == 0.5
    assert found.means["NumRet"] == 1
    assert found.means["ndcg@10"] == pytest.approx(1 / (3 + 1 / np.log2(3) + 1 / 2))
    assert found.coverage.not_returned == 2


def test_an_unjudged_document_is_never_relevant_nor_gains() -> None:
    """Also where label 0 is relevant, gains something, or is not in the table of gains."""
    run, qrels = {"q": {"x": 2.0, "a": 1.0}}, {"q": {"a": 1}}
    assert ar.evaluate(run, qrels, "P(rel=0)@2").means == {"P(rel=0)@2": 0.5}
    found = ar.evaluate(run, qrels, "dcg@2", gain={1: 3.0}).means["dcg@2"]
    assert found == pytest.approx(3 / np.log2(3))
    tied = ar.evaluate({"q": {"x": 1.0, "a": 1.0}}, qrels, ["dcg@1", "P(rel=0)@1"], gain={1: 3.0}).means
    assert tied == {"dcg@1": 1.5, "P(rel=0)@1": 0.5}


def test_a_relevance_below_0_is_in_the_pool_and_not_judged() -> None:
    qrels = {"q": {"a": 1, "b": -1, "c": 0}}
    run = {"q": {"b": 3.0, "x": 2.0, "a": 1.0}}
    found = ar.evaluate(run, qrels, ["infAP", "bpref", "judged", "ndcg"]).means
    assert found["bpref"] == 1.0  # nothing judged stands above
    assert found["judged"] == pytest.approx(2 / 3)
    assert found["infAP"] == pytest.approx((1 + 1 * 0.5) / 3)  # one of the pool above, of unknown relevance


@pytest.mark.parametrize(("missing", "mean"), [("empty", 0.5), ("skip", 1.0)])
def test_queries_that_a_run_does_not_have(missing: str, mean: float) -> None:
    run, qrels = {"q1": {"a": 1.0}}, {"q1": {"a": 1}, "q2": {"b": 1}}
    for name in ("map", "ndcg@10", "mrr", "p@1", "success@1", "setf", "meanndcg", "err", "rbp"):
        found = ar.evaluate(run, qrels, name, missing=missing)
        ideal = ar.evaluate(run, {"q1": {"a": 1}}, name).means[name]
        assert found.means[name] == pytest.approx(mean * ideal), name
        assert found.coverage.missing == 1
    assert ("left out" in repr(found)) == (missing == "skip")


# ---- several runs -------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    qrels = [(f"q{q}", f"d{d}", random.integers(0, 3)) for q in range(20) for d in range(8)]
    (tmp_path / "a.qrels").write_text("".join(f"{q} 0 {d} {y}\n" for q, d, y in qrels))
    for name, noise in (("good", 0.3), ("poor", 5)):
        lines = [f"{q} Q0 {d} 1 {y + noise * random.normal()} t\n" for q, d, y in qrels if random.random() < 0.9]
        (tmp_path / f"{name}.run").write_text("".join(lines + ["q1 Q0 new 1 9 t\n"]))
    return tmp_path


def test_several_runs_at_once(folder) -> None:
    found = ar.evaluate(["good.run", "poor.run"], "a.qrels", ["ndcg@10", "map"])
    assert isinstance(found, Evaluations)
    assert list(found) == ["good", "poor"]
    assert found["good"].means == ar.evaluate("good.run", "a.qrels", ["ndcg@10", "map"]).means == found.means["good"]
    assert "unjudged" in repr(found) and "judged@10" in found._repr_html_()  # noqa: PT018
    assert found.to_dict()["poor"]["coverage"]["unjudged"] == 1
    frame = found.to_pandas()
    assert list(frame.columns) == ["system", "qid", "ndcg@10", "map"]
    assert frame.groupby("system")["map"].mean()["poor"] == pytest.approx(found.means["poor"]["map"])
    assert found.to_polars().shape == (40, 4)
    assert ar.evaluate({"x": "good.run"}, "a.qrels", "map").keys() == {"x"}
    with pytest.raises(ArgrankError, match="different names"):
        ar.evaluate(["good.run", "good.run"], "a.qrels", "map")


def test_runs_are_compared(folder) -> None:
    found = ar.compare(["good.run", "poor.run"], "a.qrels", ["ndcg@10", "map"], level=0.1)
    assert found.letters("map") == {"good": "b", "poor": ""}
    assert found.coverage["poor"].unjudged == 1
    assert found.means["good"] == ar.evaluate("good.run", "a.qrels", ["ndcg@10", "map"]).means
    frame = found.to_pandas()
    assert frame["difference"].tolist() == [pair.difference for pair in found.pairs]
    assert {"low", "high", "p_corrected"} <= set(found.to_polars().columns)
    with pytest.raises(ArgrankError, match="one run"):
        ar.compare("good.run", "a.qrels", "map")


def test_scores_and_runs_are_compared_on_a_dataset() -> None:
    data = ar.Dataset(np.zeros((6, 1)), [1, 0, 2, 1, 0, 0], [1, 1, 1, 2, 2, 2], document_ids=list("abcdef"))
    run = {"1": {"a": 3.0, "x": 2.0}, "2": {"d": 1.0}}
    found = ar.compare({"scores": [1, 2, 3, 4, 5, 6], "run": run}, data, "map", n_resamples=50)
    assert found.means["run"] == ar.evaluate(run, data, "map").means
    assert found.means["scores"] == ar.evaluate([1, 2, 3, 4, 5, 6], data, "map").means


def test_runs_are_explained_and_conventions_told_apart() -> None:
    run, qrels = {"q": {"x": 2.0, "a": 1.0, "b": 1.0}}, {"q": {"a": 2, "b": 0}, "r": {"a": 1}}
    told = ar.evaluate(run, qrels, ["ndcg@10", "judged@2"], explain="q").explanation
    assert told.ranking["document"] == ["x", "a", "b"]
    assert told.ranking["judged"] == ["no", "yes", "yes"]
    assert "judged" in repr(told)
    only = ar.evaluate(run, qrels, "ndcg@10", explain="q", judged_only=True).explanation
    assert only.ranking["document"] == ["a", "b"]
    assert ar.evaluate(run, qrels, "map", explain="r").explanation.ranking["rank"] == []
    steps = ar.why_differs(run, qrels, "map", a="default", b="trec").steps
    assert "missing" in [step.switch for step in steps]


def test_what_ir_measures_reads_is_taken_once(folder) -> None:
    run, qrels = ir_measures.read_trec_run("good.run"), ir_measures.read_trec_qrels("a.qrels")
    assert ar.evaluate(run, qrels, "map").means == ar.evaluate("good.run", "a.qrels", "map").means
    several = ar.evaluate({"a": ir_measures.read_trec_run("good.run")}, "a.qrels", "map")
    assert several["a"].coverage.unjudged == 1


def test_lazy_frames_and_streams_are_read_once() -> None:
    frames, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    run = frames.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "score": [1.0, 2.0]})
    qrels = frames.DataFrame({"qid": ["1", "1"], "docid": ["a", "b"], "label": [1, 0]})
    expected = ar.evaluate(run, qrels, "mrr").means
    assert expected == {"mrr": 0.5}

    def stream() -> object:
        return arrow.RecordBatchReader.from_batches(run.to_arrow().schema, run.to_arrow().to_batches())

    for given in (run.lazy(), stream()):
        assert ar.evaluate(given, qrels.lazy(), "mrr").means == expected
    assert ar.evaluate({"a": stream(), "b": run.lazy()}, qrels, "mrr")["a"].means == expected


def test_scores_need_a_dataset(folder) -> None:
    with pytest.raises(ArgrankError, match="expected a Dataset with scores, got dict"):
        ar.evaluate([1.0, 2.0], {"q": {"a": 1}}, "map")
    with pytest.raises(ArgrankError, match="judgements: expected none with a run"):
        ar.evaluate("good.run", "a.qrels", "map", judgements={"q": [1]})
    with pytest.raises(ArgrankError, match="judged_only: expected True or False"):
        ar.evaluate("good.run", "a.qrels", "map", judged_only="yes")


# ---- segments -----------------------------------------------------------------------------------------------------


def test_segments_of_queries(folder) -> None:
    by = {f"q{q}": "tail" if q % 4 else "head" for q in range(20)}
    found = ar.evaluate("good.run", "a.qrels", ["ndcg@10", "map"], by=by)
    first = found.segments[0]
    assert [(one.measure, one.segment, one.n_queries) for one in found.segments] == [
        ("ndcg@10", "head", 5), ("ndcg@10", "tail", 15), ("map", "head", 5), ("map", "tail", 15),
    ]  # fmt: skip
    own = np.array([by[qid] == "head" for qid in found.query_ids])
    assert first.mean == pytest.approx(np.nanmean(found.values["ndcg@10"][own]))
    assert first.low < first.mean < first.high
    assert "head" in repr(found) and "95 % interval" in repr(found)  # noqa: PT018
    assert found.to_dict()["segments"][1]["segment"] == "tail"
    assert found.to_pandas()["segment"].tolist() == [by[qid] for qid in found.query_ids]
    as_array = ar.evaluate("good.run", "a.qrels", ["ndcg@10", "map"], by=[by[qid] for qid in found.query_ids])
    assert as_array.segments == found.segments
    several = ar.evaluate(["good.run", "poor.run"], "a.qrels", "map", by=by)
    assert "tail" in repr(several)


def test_segments_of_a_comparison(folder) -> None:
    by = {f"q{q}": "tail" if q % 4 else "head" for q in range(20)}
    found = ar.compare(["good.run", "poor.run"], "a.qrels", ["ndcg@10", "map"], by=by, n_resamples=200)
    head = found.segments[0]
    own = np.array([by[qid] == "head" for qid in found.query_ids])
    assert (head.segment, head.n_queries, head.a, head.b) == ("head", 5, "good", "poor")
    assert head.difference == pytest.approx(found.differences("ndcg@10", "good", "poor")[own].mean())
    assert head.interval[0] < head.difference < head.interval[1]
    assert head.wins + head.ties + head.losses == 5
    assert found.to_dict()["segments"][0]["segment"] == "head"
    for form in ("text", "markdown", "latex", "html"):
        assert "head" in found.render(form)


def test_segments_by_a_feature() -> None:
    data = ar.Dataset([[1.0, 0], [1, 1], [2, 0], [2, 1]], [1, 0, 0, 1], [1, 1, 2, 2], feature_names=["region", "x"])
    found = ar.evaluate([2, 1, 2, 1], data, "mrr", by="region")
    assert [(one.segment, one.mean) for one in found.segments] == [("1", 1.0), ("2", 0.5)]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("x", "one value of 'x' in each query"),
        ("colour", "name of a feature, got 'colour'; features: 'region, x'"),
        ({1: "a"}, "got none for query 2"),
        (["a"], "a segment for each of 2 queries, got 1"),
    ],
)
def test_bad_segments(by, said) -> None:
    data = ar.Dataset([[1.0, 0], [1, 1], [2, 0], [2, 1]], [1, 0, 0, 1], [1, 1, 2, 2], feature_names=["region", "x"])
    with pytest.raises(ArgrankError, match=said):
        ar.evaluate([2, 1, 2, 1], data, "mrr", by=by)
