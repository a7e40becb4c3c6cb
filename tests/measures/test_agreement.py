"""Live agreement with pytrec_eval, ir_measures, scikit-learn and LightGBM on lists with ties, empty and short ones."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import argrank as ar


class Lists:
    """Random lists: ties, single scores of full precision, lists of one document, lists without a relevant one."""

    def __init__(self, seed=0, n_queries=120):
        random = np.random.default_rng(seed)
        self.sizes = np.concatenate([[1, 1, 2, 3], random.integers(1, 40, n_queries)])
        self.labels = [random.integers(0, 5, n) * (random.random() < 0.8) for n in self.sizes]
        self.scores = [np.round(random.normal(size=n), int(random.integers(0, 9))) for n in self.sizes]
        self.scores[7] = np.ones(len(self.scores[7]))
        self.scores[8] = 1.0 + 1e-9 * random.permutation(len(self.scores[8]))  # equal as float32
        self.labels[8] = random.integers(0, 5, len(self.scores[8]))
        self.ids = [str(number + 1) for number in range(len(self.sizes))]
        self.documents = [[f"d{one}" for one in random.permutation(9999)[:n]] for n in self.sizes]
        self.data = ar.Dataset(
            np.zeros((self.sizes.sum(), 1)),
            np.concatenate(self.labels),
            qid=np.repeat(self.ids, self.sizes),
            document_ids=np.concatenate(self.documents),
        )
        self.flat = np.concatenate(self.scores)

    def dictionaries(self, values, number):
        return {
            qid: {document: number(value) for document, value in zip(documents, column, strict=True)}
            for qid, documents, column in zip(self.ids, self.documents, values, strict=True)
        }


@pytest.fixture(scope="module")
def lists():
    return Lists()


def test_trec_eval(lists):
    import pytrec_eval

    names = ["ndcg", "ndcg_cut_5", "ndcg_cut_10", "map", "map_cut_5", "map_cut_10", "recip_rank"]
    names += ["P_5", "P_10", "recall_5", "recall_10"]
    qrels, run = lists.dictionaries(lists.labels, int), lists.dictionaries(lists.scores, float)
    asked = {"ndcg", "ndcg_cut.5,10", "map", "map_cut.5,10", "recip_rank", "P.5,10", "recall.5,10"}
    told = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    result = ar.evaluate(lists.flat, lists.data, names, convention="trec")
    for name in names:
        expected = [told[qid][name] for qid in lists.ids]
        np.testing.assert_allclose(result.values[name], expected, rtol=0, atol=1e-12)
    double = ar.evaluate(lists.flat, lists.data, "ndcg", convention="trec", score_dtype="float64")
    assert abs(double.means["ndcg"] - result.means["ndcg"]) > 1e-6  # the list of nearly equal scores tells them apart


def test_trec_eval_where_the_run_lacks_judged_documents(lists):
    import pytrec_eval

    random = np.random.default_rng(5)
    kept = [random.random(n) < 0.6 for n in lists.sizes]
    for mask in kept:
        mask[0] = True
    flat = np.concatenate(kept)
    qrels = lists.dictionaries(lists.labels, int)
    run = {
        qid: {d: float(s) for d, s, k in zip(documents, column, mask, strict=True) if k}
        for qid, documents, column, mask in zip(lists.ids, lists.documents, lists.scores, kept, strict=True)
    }
    told = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5", "ndcg", "map", "recall.5"}).evaluate(run)
    part = ar.Dataset(
        np.zeros((flat.sum(), 1)),
        lists.data.y[flat],
        qid=np.repeat(lists.ids, lists.sizes)[flat],
        document_ids=np.concatenate(lists.documents)[flat],
    )
    names = ["ndcg_cut_5", "ndcg", "map", "recall_5"]
    for judgements in (lists.data, {qid: list(labels.values()) for qid, labels in qrels.items()}):
        result = ar.evaluate(lists.flat[flat], part, names, convention="trec", judgements=judgements)
        for name in names:
            expected = [told[qid][name] for qid in lists.ids]
            np.testing.assert_allclose(result.values[name], expected, rtol=0, atol=1e-12)


IR_MEASURES = [
    *(("trec", "pytrec_eval", name) for name in ("nDCG@10", "nDCG", "AP", "AP@5", "AP(rel=2)@100", "RR", "RR(rel=2)")),
    *(("trec", "pytrec_eval", name) for name in ("P@5", "P(rel=2)@5", "R@5", "R(rel=3)@7")),
    *(("msmarco", "msmarco", name) for name in ("RR@10", "RR@3", "RR", "RR(rel=2)@10")),
    *(("gdeval", "gdeval", name) for name in ("nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@3", "ERR@20", "ERR@5")),
]


@pytest.mark.parametrize(("convention", "provider", "name"), IR_MEASURES)
def test_ir_measures(lists, convention, provider, name):
    import ir_measures

    if provider == "gdeval" and not shutil.which("perl"):
        pytest.skip("gdeval is a Perl script and perl is absent")
    measure = ir_measures.parse_measure(name)
    qrels = [
        ir_measures.Qrel(q, d, y) for q, one in lists.dictionaries(lists.labels, int).items() for d, y in one.items()
    ]
    run = [
        ir_measures.ScoredDoc(q, d, s)
        for q, one in lists.dictionaries(lists.scores, float).items()
        for d, s in one.items()
    ]
    told = {m.query_id: m.value for m in ir_measures.providers.registry[provider].iter_calc([measure], qrels, run)}
    result = ar.evaluate(lists.flat, lists.data, measure, convention=convention)
    assert list(result.means) == [name]  # ir_measures' objects are understood, and the names are the same
    # gdeval leaves topics without a relevant document out (ir_measures then says 0) and prints five digits.
    values = np.nan_to_num(result.values[name]) if provider == "gdeval" else result.values[name]
    tolerance = 5.1e-6 if provider == "gdeval" else 1e-12
    np.testing.assert_allclose(values, [told[qid] for qid in lists.ids], rtol=0, atol=tolerance)
    if provider == "gdeval":
        assert result.undefined[name] == sum(not labels.any() for labels in lists.labels)


@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_scikit_learn(lists, k):
    from sklearn.metrics import dcg_score, ndcg_score

    at = "" if k is None else f"@{k}"
    result = ar.evaluate(lists.flat, lists.data, [f"ndcg{at}", f"dcg{at}"], convention="sklearn")
    longer = lists.sizes > 1  # scikit-learn refuses single documents
    for name, function in ((f"ndcg{at}", ndcg_score), (f"dcg{at}", dcg_score)):
        told = [function([y], [s], k=k) for y, s in zip(lists.labels, lists.scores, strict=True) if len(y) > 1]
        np.testing.assert_allclose(result.values[name][longer], told, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_lightgbm(weighted, seed):
    """LightGBM's own metrics of its initial scores, before the first tree."""
    import lightgbm

    lists = Lists(seed)
    weight = np.random.default_rng(seed).random(len(lists.sizes)) + 0.5
    by_row = np.repeat(weight, lists.sizes)
    features = np.random.default_rng(0).random((len(by_row), 2))
    quiet = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 1}
    train = lightgbm.Dataset(
        features,
        lists.data.y,
        group=lists.sizes,
        init_score=lists.flat,
        weight=by_row if weighted else None,
        params=quiet,
    )
    options = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 5, 10]}
    told = {name: value for _, name, value, _ in lightgbm.Booster({**options, **quiet}, train).eval_train()}
    data = ar.Dataset(features, lists.data.y, group=lists.sizes, query_weight=weight if weighted else None)
    found = ar.evaluate(lists.flat, data, list(told), convention="lightgbm").means
    assert len(told) == 8
    # LightGBM holds weights as float32.
    assert found == pytest.approx(told, rel=0, abs=1e-6 if weighted else 1e-12)


def test_kendall_tau_is_scipys(lists):
    from scipy.stats import kendalltau

    values = ar.evaluate(lists.flat, lists.data, "tau").values["tau"]
    for value, labels, scores in zip(values, lists.labels, lists.scores, strict=True):
        if len(set(labels)) == 1:
            assert np.isnan(value)
        elif len(set(scores)) == 1:
            assert value == 0
        else:
            assert value == pytest.approx(kendalltau(labels, scores).statistic, abs=1e-12)


def test_binary_auc_is_scikit_learns(lists):
    from sklearn.metrics import roc_auc_score

    values = ar.evaluate(lists.flat, lists.data, "AUC(rel=2)").values["AUC(rel=2)"]
    for value, labels, scores in zip(values, lists.labels, lists.scores, strict=True):
        relevant = labels >= 2
        if relevant.all() or not relevant.any():
            assert np.isnan(value)
        else:
            assert value == pytest.approx(roc_auc_score(relevant, scores), abs=1e-12)


def test_pairs_of_many_label_levels_are_counted_rightly():
    from scipy.stats import kendalltau

    random = np.random.default_rng(2)
    labels, scores = random.random(700).round(2), random.random(700).round(2)
    data = ar.Dataset(np.zeros((700, 1)), labels, group=[300, 400])
    values = ar.evaluate(scores, data, "tau").values["tau"]
    told = [kendalltau(labels[part], scores[part]).statistic for part in (slice(300), slice(300, None))]
    np.testing.assert_allclose(values, told, rtol=0, atol=1e-12)
