"""What holds for every registered measure; a new one joins by being registered."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.measures import MEASURES

NAMES = ar.measure_names()
NORMALISED = ["nERU", "gAUC"]  # names of a measure with a parameter that makes a perfect ranking have 1
PERFECT = [name for name in NAMES if MEASURES[name].reaches_one] + NORMALISED
WITH_CUTOFF = [name for name in NAMES if "k" in MEASURES[name].__dataclass_fields__]


@pytest.fixture(scope="module")
def lists():
    random = np.random.default_rng(11)
    sizes = np.concatenate([[1, 1, 2], random.integers(1, 30, 80)])
    labels = np.concatenate([random.integers(0, 5, n) * (random.random() < 0.8) for n in sizes])
    scores = np.round(random.normal(size=len(labels)) + 0.4 * labels, 1)
    data = ar.Dataset(np.zeros((len(labels), 1)), labels, group=sizes)
    return data, scores


@pytest.mark.parametrize("name", NAMES)
def test_the_name_reads_back(name):
    assert ar.measure(name).name == name
    for alias in MEASURES[name].aliases:
        assert ar.measure(alias) == ar.measure(name)
    if name in WITH_CUTOFF:
        assert ar.measure(f"{name}@7").name == f"{name}@7"


@pytest.mark.parametrize("name", [*NAMES, "nERU", *(f"{name}@3" for name in WITH_CUTOFF)])
@pytest.mark.parametrize("convention", ar.convention_names())
def test_range(lists, name, convention):
    data, scores = lists
    result = ar.evaluate(scores, data, name, convention=convention)
    values = result.values[name][~np.isnan(result.values[name])]
    assert len(values) >= data.n_queries - result.undefined[name]
    least, most = (0.0, 1.0) if name in NORMALISED else ar.measure(name).bounds
    assert (values >= least).all()
    assert (values <= most + 1e-12).all()
    assert np.isfinite(result.means[name])


@pytest.mark.parametrize("name", PERFECT)
def test_a_perfect_ranking_reaches_one(lists, name):
    data, _ = lists
    values = ar.evaluate(data.y, data, name, ties="row").values[name]
    values = values[np.maximum.reduceat(data.y, data.indptr[:-1]) >= 1]
    assert np.count_nonzero(~np.isnan(values)) > 50
    np.testing.assert_allclose(values[~np.isnan(values)], 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [*NAMES, "nERU", *(f"{name}@3" for name in WITH_CUTOFF)])
def test_no_ranking_beats_the_one_by_label(lists, name):
    data, scores = lists
    found = ar.evaluate(scores, data, name, ties="row").values[name]
    best = ar.evaluate(data.y, data, name, ties="row").values[name]
    judged = ~np.isnan(best)
    assert (found[judged] <= best[judged] + 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_only_the_order_of_scores_counts(lists, name):
    data, scores = lists
    expected = ar.evaluate(scores, data, name).values[name]
    np.testing.assert_array_equal(ar.evaluate(np.exp(scores / 2) - 7, data, name).values[name], expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_rows_does_not_count(lists, name):
    data, scores = lists
    shuffle = np.random.default_rng(1).permutation(data.n_documents)
    qid = data.query_of_row[shuffle]
    other = ar.Dataset(np.zeros((data.n_documents, 1)), data.y[shuffle], qid=qid)
    found = ar.evaluate(scores[shuffle], other, name)
    by_qid = dict(zip(other.query_ids.tolist(), found.values[name], strict=True))
    expected = ar.evaluate(scores, data, name)
    np.testing.assert_allclose([by_qid[q] for q in range(data.n_queries)], expected.values[name], rtol=0, atol=1e-14)
    assert found.means[name] == pytest.approx(expected.means[name], abs=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ties", ["expected", "row"])
def test_a_query_has_the_same_value_alone(lists, name, ties):
    """Blocks, padding and threads do not change a single bit."""
    data, scores = lists
    together = ar.evaluate(scores, data, name, n_jobs=2, ties=ties).values[name]
    np.testing.assert_array_equal(together, ar.evaluate(scores, data, name, n_jobs=1, ties=ties).values[name])
    for query in range(0, data.n_queries, 7):
        part = data.select([query])
        rows = slice(int(data.indptr[query]), int(data.indptr[query + 1]))
        alone = ar.evaluate(scores[rows], part, name, ties=ties).values[name][0]
        np.testing.assert_array_equal(alone, together[query])


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_can_be_explained(lists, name):
    data, scores = lists
    result = ar.evaluate(scores, data, name, explain=5)
    np.testing.assert_array_equal(result.explanation.values[name], result.values[name][5])
    assert f"{name} = " in repr(result.explanation)
