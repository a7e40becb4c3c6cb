"""Prediction-powered evaluation: unbiased and covering however wrong the cheap judgements are."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.judges import coverage
from experiments.judges.coverage import values_of

import argrank as ar
from argrank.errors import InputError, OptionError
from argrank.evaluation.judges.prediction_powered import powered_mean

LEVEL = 0.05


@pytest.mark.parametrize("kind", coverage.KINDS)
def test_intervals_cover_with_wrong_cheap_judgements(kind):
    covered, width, bias = coverage.powered(kind, 300, 50, 300)
    assert covered >= 0.93
    assert abs(bias) < 3
    assert width < (0.9 if kind in ("ndcg", "mostly equal", "mrr", "p@1") else 1.06)


@pytest.mark.slow
@pytest.mark.parametrize("kind", coverage.KINDS)
@pytest.mark.parametrize(("n_queries", "n"), coverage.SAMPLES)
def test_intervals_cover_at_every_size(kind, n_queries, n):
    assert coverage.powered(kind, n_queries, n, 2_000).coverage >= 0.93


def test_picked_queries_with_their_chances():
    rng = np.random.default_rng(1)
    truth = values_of("ndcg", (40, 20_000), rng)[0].mean()
    covered, means, naive = [], [], []
    for _ in range(300):
        values, cheap = (one[0] for one in values_of("ndcg", (1, 400), rng))
        chance = np.where(cheap < 0.5, 0.5, 0.1)  # queries that look bad are looked at more often
        where = np.flatnonzero(rng.random(400) < chance)
        found = powered_mean(cheap, values[where], where, np.ones(400), chance[where], (0.0, 1.0), LEVEL)
        covered.append(found.low <= truth <= found.high)
        means.append(found.mean)
        naive.append(values[where].mean())
    assert np.mean(covered) >= 0.93
    assert abs(np.mean(means) - truth) < 3 * np.std(means) / np.sqrt(300)
    assert np.mean(naive) < truth - 0.1


def test_the_estimate_is_its_formula():
    rng = np.random.default_rng(2)
    values, cheap = (one[0] for one in values_of("ndcg", (1, 200), rng))
    where = rng.choice(200, 40, replace=False)
    found = powered_mean(cheap, values[where], where, np.ones(200), None, (0.0, 1.0), LEVEL)
    f, y = cheap[where], values[where]
    slope = np.cov(f, y)[0, 1] / f.var(ddof=1)
    assert found.tuning == pytest.approx(slope)
    assert found.mean == pytest.approx(y.mean() + slope * (cheap.mean() - f.mean()))
    assert (found.alone, found.cheap) == (pytest.approx(y.mean()), pytest.approx(cheap.mean()))


def test_all_queries_trusted_is_the_plain_mean():
    values, cheap = (one[0] for one in values_of("ndcg", (1, 80), np.random.default_rng(3)))
    found = powered_mean(cheap, values, np.arange(80), np.ones(80), None, (0.0, 1.0), LEVEL)
    assert found.mean == pytest.approx(values.mean())
    assert found.worth == pytest.approx(80, abs=2)


def test_undefined_queries_and_weights_make_a_ratio():
    values, cheap = (one[0] for one in values_of("ndcg", (1, 60), np.random.default_rng(4)))
    values[::7], cheap[::5] = np.nan, np.nan
    weight = np.random.default_rng(5).random(60)
    found = powered_mean(cheap, values, np.arange(60), weight, None, (0.0, 1.0), LEVEL)
    known = ~np.isnan(values)
    assert found.mean == pytest.approx(np.average(values[known], weights=weight[known]))


# ---- through evaluate -----------------------------------------------------------------------------------------------


def judged(n_queries: int = 80, seed: int = 0):
    """Expert and cheap judgements of 12 documents a query as Datasets, and a system's scores."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, (n_queries, 12))
    cheap = np.clip(y + rng.integers(-1, 3, y.shape), 0, 3)
    qid = np.repeat([f"q{q}" for q in range(n_queries)], 12)
    documents = [f"d{i}" for i in range(y.size)]
    data = ar.Dataset(np.ones((y.size, 1)), y.ravel(), qid, document_ids=documents)
    return data, data.with_labels(cheap.ravel()), y.ravel() + 1.5 * rng.normal(size=y.size)


def run_of(scores, data) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for qid, document, score in zip(data.query_ids[data.query_of_row], data.document_ids, scores, strict=True):
        found.setdefault(qid, {})[document] = score
    return found


MEASURES = ["ndcg@5", "p@3"]


def test_evaluate_corrects_the_cheap_mean():
    expert, cheap, scores = judged()
    some = np.arange(0, 80, 4)
    found = ar.evaluate(scores, cheap, MEASURES, trusted=expert.select(some))
    f, y = ar.evaluate(scores, cheap, MEASURES), ar.evaluate(scores, expert, MEASURES)
    for name in MEASURES:
        a, b = f.values[name], y.values[name][some]
        slope = np.clip(np.cov(a[some], b)[0, 1] / a[some].var(ddof=1), 0, 1)
        assert found.means[name] == pytest.approx(b.mean() + slope * (a.mean() - a[some].mean()))
        assert found.low[name] < found.means[name] < found.high[name]
        np.testing.assert_array_equal(found.values[name], a)
        np.testing.assert_array_equal(found.correction.values[name], b)
    assert found.to_dict()["n_trusted"] == 20
    assert "20 trusted queries" in repr(found)


def test_every_form_gives_the_same():
    expert, cheap, scores = judged()
    some = expert.select(np.arange(0, 80, 4))
    truth = ar.evaluate(scores, cheap, "ndcg@5", trusted=some)
    labels = [{}, {}]
    for target, data in zip(labels, (cheap, some), strict=True):
        for qid, document, y in zip(data.query_ids[data.query_of_row], data.document_ids, data.y, strict=True):
            target.setdefault(qid, {})[document] = y
    run = run_of(scores, cheap)
    for system, data, trusted in (
        (run, cheap, some),
        (run, *labels),
        (run, labels[0], some),
        (scores, cheap, labels[1]),
    ):
        found = ar.evaluate(system, data, "ndcg@5", trusted=trusted)
        assert found.means == pytest.approx(truth.means, abs=1e-14)
        assert found.low == pytest.approx(truth.low, abs=1e-14)
    several = ar.evaluate({"a": scores, "b": run}, cheap, "ndcg@5", trusted=some)
    assert several["a"].means == pytest.approx(several["b"].means)
    assert f"[{truth.low['ndcg@5']:.4f}" in repr(several)


def test_segments_are_corrected_by_themselves():
    expert, cheap, scores = judged()
    by = ["even" if q % 2 == 0 else "odd" for q in range(80)]
    some = np.arange(0, 80, 3)
    found = ar.evaluate(scores, cheap, "ndcg@5", trusted=expert.select(some), by=by, probability=1 / 3)
    even = np.arange(0, 80, 2)
    rows = np.isin(cheap.query_of_row, even)
    own = ar.evaluate(
        scores[rows], cheap.select(even), "ndcg@5", trusted=expert.select(some[some % 2 == 0]), probability=1 / 3
    )
    first = found.segments[0]
    assert (first.segment, first.n_queries) == ("even", 14)
    assert first.mean == pytest.approx(own.means["ndcg@5"])
    assert first.low == pytest.approx(own.low["ndcg@5"])


def test_scattered_documents_are_refused():
    _, cheap, scores = judged()
    scattered = {"q3": {"d36": 1, "d40": 0}}
    with pytest.raises(InputError, match=r"got 2 of 12 for query 'q3' \(1 of 1 queries lack some\)"):
        ar.evaluate(scores, cheap, "ndcg@5", trusted=scattered)


def scattered(expert: ar.Dataset, cheap: ar.Dataset, rng) -> tuple[dict, dict]:
    """Trusted documents, the more often drawn the better they look, and their chances."""
    trusted: dict[str, dict[str, float]] = {}
    chances: dict[str, dict[str, float]] = {}
    rows = zip(cheap.query_ids[cheap.query_of_row], cheap.document_ids, expert.y, cheap.y, strict=True)
    for qid, document, y, seen in rows:
        chance = 0.2 + 0.2 * seen
        chances.setdefault(qid, {})[document] = chance
        if rng.random() < chance:
            trusted.setdefault(qid, {})[document] = y
    return trusted, chances


def test_scattered_documents_with_their_chances():
    rng = np.random.default_rng(0)
    expert, cheap, scores = judged(400)
    measures = ["dcg@5", "p@5"]
    truth = ar.evaluate(scores, expert, measures)
    biased = ar.evaluate(scores, cheap, measures)
    found = [
        ar.evaluate(scores, cheap, measures, trusted=trusted, probability=chances)
        for trusted, chances in (scattered(expert, cheap, rng) for _ in range(8))
    ]
    for name in measures:
        means = np.array([one.means[name] for one in found])
        assert abs(means.mean() - truth.means[name]) < 3 * means.std(ddof=1) / np.sqrt(len(found))
        assert abs(means.mean() - truth.means[name]) < abs(biased.means[name] - truth.means[name])
        assert all(one.low[name] < truth.means[name] < one.high[name] for one in found)
    assert "single documents" not in repr(found[0])
    assert "trusted documents, drawn by the probabilities given" in repr(found[0])


def test_documents_that_are_all_trusted_give_the_trusted_mean():
    expert, cheap, scores = judged(60)
    chances = {qid: dict.fromkeys(own, 1.0) for qid, own in run_of(scores, cheap).items()}
    for data, system in ((cheap, scores), (cheap, run_of(scores, cheap))):
        found = ar.evaluate(system, data, ["dcg@5", "p@3"], trusted=expert, probability=chances)
        assert found.means == pytest.approx(ar.evaluate(scores, expert, ["dcg@5", "p@3"]).means)


def test_mistakes_with_scattered_documents():
    expert, cheap, scores = judged(60)
    trusted, chances = scattered(expert, cheap, np.random.default_rng(0))
    given = {"trusted": trusted, "probability": chances}
    with pytest.raises(OptionError, match=r"such as dcg@10 or p@10, got 'ndcg@5'"):
        ar.evaluate(scores, cheap, "ndcg@5", **given)
    with pytest.raises(OptionError, match="no segments"):
        ar.evaluate(scores, cheap, "dcg@5", by=["a"] * 60, **given)
    with pytest.raises(InputError, match=r"expected {qid: {docid: chance}}, got 0.5 for query .*'q0'"):
        ar.evaluate(scores, cheap, "dcg@5", trusted=trusted, probability={**chances, "q0": 0.5})
    with pytest.raises(InputError, match="trusted: expected judgements, got none"):
        ar.evaluate(scores, cheap, "dcg@5", trusted={"q0": {"d1": -1}})
    with pytest.raises(InputError, match="for every trusted document, got None"):
        ar.evaluate(scores, cheap, "dcg@5", trusted=trusted, probability={**chances, "q0": {}})
    with pytest.raises(OptionError, match="does not add up over single documents"):
        ar.evaluate(scores, cheap, "dcg@20", convention="letor3", short="zero", **given)


def test_picked_queries_are_refused_without_their_chances():
    expert, cheap, scores = judged()
    values = ar.evaluate(scores, cheap, "ndcg@5").values["ndcg@5"]
    worst = np.sort(np.argsort(values)[:20])
    with pytest.raises(InputError, match=r"random sample .* ndcg@5 by cheap judgements .* probability=0.25"):
        ar.evaluate(scores, cheap, "ndcg@5", trusted=expert.select(worst))
    chances = {f"q{q}": 0.5 for q in range(80)}
    found = ar.evaluate(scores, cheap, "ndcg@5", trusted=expert.select(worst), probability=chances)
    assert "by the probabilities given" in repr(found)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"trusted": {"x": {"a": 1}}}, "some of the cheaply judged queries, such as 'q0', got others, such as 'x'"),
        ({"probability": {"q1": 0.5}}, "probability: expected one for every trusted query, got none for query 'q0'"),
        ({"probability": {f"q{q}": 0.0 for q in range(80)}}, "above 0 and at most 1, got 0.0"),
        ({"probability": {f"q{q}": "x" for q in range(80)}}, "above 0 and at most 1, got 'x'"),
    ],
)
def test_mistakes_are_told(options, error):
    expert, cheap, scores = judged()
    given = {"trusted": expert.select(np.arange(0, 80, 4)), **options}
    with pytest.raises(InputError, match=error):
        ar.evaluate(scores, cheap, "ndcg@5", **given)


def test_options_that_do_not_go_together():
    expert, cheap, scores = judged()
    with pytest.raises(OptionError, match="NumRel"):
        ar.evaluate(scores, cheap, "NumRel", trusted=expert)
    with pytest.raises(OptionError, match="trusted judgements with it"):
        ar.evaluate(scores, cheap, "ndcg@5", probability=0.5)
    with pytest.raises(OptionError, match="neither judgements nor explain"):
        ar.evaluate(scores, cheap, "ndcg@5", trusted=expert, explain="q1")
    with pytest.raises(OptionError, match="probability"):
        ar.evaluate(scores, cheap, "ndcg@5", trusted=expert, probability=2.0)
    nameless = ar.Dataset(cheap.X, cheap.y, cheap.query_ids[cheap.query_of_row])
    with pytest.raises(InputError, match="document ids"):
        ar.evaluate(scores, nameless, "ndcg@5", trusted=expert)
