"""Coefficients against scikit-learn, the literature's worked examples and their definitions, document by document."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from experiments.judges.coverage import QUERIES, kappas
from sklearn.metrics import cohen_kappa_score

import argrank as ar
from argrank.data.io.trec.files import write_qrels
from argrank.errors import InputError, OptionError
from argrank.evaluation.judges import coefficients

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", example D: 4 observers, 12 units, gaps
TABLE = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}
# Cohen (1960, 1968): 200 patients, two judges, κ = .492
COHEN = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])


def qrels_of(grades, n_queries: int = 1) -> dict[str, dict[str, float]]:
    """Judgements of documents 0, 1, …, dealt out to queries; None is no judgement."""
    found: dict[str, dict[str, float]] = {}
    for number, grade in enumerate(grades):
        if grade is not None:
            found.setdefault(f"q{number % n_queries}", {})[f"d{number}"] = grade
    return found


def two_judges(n_queries: int = 30, n_documents: int = 12, n_grades: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_grades, (n_queries, n_documents))
    noise = rng.random(truth.shape) < 0.3
    other = np.where(noise, rng.integers(0, n_grades, truth.shape), truth)
    return truth.ravel().tolist(), other.ravel().tolist()


def test_krippendorffs_worked_example_with_gaps():
    found = ar.agreement({name: qrels_of(grades, 3) for name, grades in TABLE.items()})
    assert {name: round(value, 3) for name, value in found.alphas.items()} == {
        "nominal": 0.743,
        "ordinal": 0.815,
        "interval": 0.849,
    }
    assert found.alpha == found.alphas["ordinal"]
    assert (found.n_documents, found.alone) == (11, 1)  # unit 12 has one judgement


def test_cohens_worked_example():
    pairs = [(a, b) for a, b in itertools.product(range(3), range(3)) for _ in range(COHEN[a, b])]
    found = ar.agreement(qrels_of([a for a, _ in pairs], 10), qrels_of([b for _, b in pairs], 10))
    assert found.table.tolist() == COHEN.tolist()
    assert found.raw == pytest.approx(0.70)
    assert round(found.kappa, 3) == 0.492


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
@pytest.mark.parametrize("n_grades", [2, 3, 5])
def test_kappa_is_scikit_learns(weights, n_grades):
    a, b = two_judges(n_grades=n_grades, seed=n_grades)
    found = ar.agreement(qrels_of(a, 30), qrels_of(b, 30), weights=weights)
    assert found.kappa == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    assert found.weighted_kappa == pytest.approx(cohen_kappa_score(a, b, weights=weights), abs=1e-12)


def alpha_by_definition(rows, metric: str) -> float:
    """Krippendorff's alpha from all pairs of values: within documents, and among all that can be paired."""
    rows = [[value for value in row if value is not None] for row in rows]
    rows = [row for row in rows if len(row) > 1]
    pooled = [value for row in rows for value in row]
    grades = sorted(set(pooled))

    def distance(c, k):
        if metric == "nominal":
            return float(c != k)
        if metric == "interval":
            return float(c - k) ** 2
        low, high = min(c, k), max(c, k)
        between = sum(pooled.count(g) for g in grades if low <= g <= high)
        return (between - (pooled.count(c) + pooled.count(k)) / 2) ** 2

    n = len(pooled)
    observed = sum(distance(c, k) / (len(row) - 1) for row in rows for c, k in itertools.permutations(row, 2)) / n
    expected = sum(distance(c, k) for c, k in itertools.permutations(pooled, 2)) / (n * (n - 1))
    return 1 - observed / expected


@pytest.mark.parametrize("metric", coefficients.METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_alpha_is_its_definition_with_gaps(metric, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 25)
    columns = []
    for _ in range(3):
        column = np.where(rng.random(25) < 0.4, rng.integers(0, 4, 25), truth).tolist()
        columns.append([None if rng.random() < 0.3 else [0.0, 1.0, 2.0, 5.0][grade] for grade in column])
    found = ar.agreement(*[qrels_of(column, 5) for column in columns], metric=metric)
    assert found.alpha == pytest.approx(alpha_by_definition(zip(*columns, strict=True), metric), abs=1e-12)


def test_more_than_two_judges_have_the_mean_kappa_of_all_pairs():
    a, b = two_judges()
    c = two_judges(seed=9)[1]
    found = ar.agreement(*(qrels_of(one, 30) for one in (a, b, c)), names=["x", "y", "z"])
    kappas = [cohen_kappa_score(*pair) for pair in itertools.combinations((a, b, c), 2)]
    assert found.kappa == pytest.approx(np.mean(kappas))
    assert [pair.kappa.value for pair in found.pairs] == pytest.approx(kappas)
    assert found.table.sum() == 3 * len(a)


def test_grades_of_two_judges_by_hand():
    found = ar.agreement(qrels_of([0, 0, 0, 1, 1, 2]), qrels_of([0, 0, 1, 1, 2, 2]))
    again = {one.grade: one.agreement.value for one in found.by_grade}  # 2 n(g, g) / (n(g, .) + n(., g))
    assert again == pytest.approx({0: 4 / 5, 1: 2 / 4, 2: 2 / 3})
    assert [one.share for one in found.by_grade] == pytest.approx([5 / 12, 4 / 12, 3 / 12])
    assert found.prevalence["a"].tolist() == pytest.approx([3 / 6, 2 / 6, 1 / 6])
    binary = [[float(g == 1) for g in row] for row in ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2])]
    assert found.by_grade[1].alpha.value == pytest.approx(alpha_by_definition(zip(*binary, strict=True), "nominal"))


def test_the_interval_is_a_jackknife_by_query():
    a, b = two_judges(n_queries=12)
    found = ar.agreement(qrels_of(a, 12), qrels_of(b, 12))
    query = np.arange(len(a)) % 12
    left = [np.log(1 - cohen_kappa_score(np.array(a)[query != q], np.array(b)[query != q])) for q in range(12)]
    error = np.sqrt(11 / 12 * np.sum((left - np.mean(left)) ** 2))
    reach = 2.200985 * error  # t(11) at .975
    assert found.low["kappa"] == pytest.approx(1 - (1 - found.kappa) * np.exp(reach), rel=1e-6)
    assert found.high["kappa"] == pytest.approx(1 - (1 - found.kappa) * np.exp(-reach), rel=1e-6)


def test_intervals_cover():
    assert 0.91 <= kappas(20, 400, seed=1) <= 0.98  # ± 2.6 standard errors of .945


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", QUERIES)
def test_intervals_cover_at_every_size(n_queries):
    assert 0.925 <= kappas(n_queries, 2_000) <= 0.97


def test_every_form_of_judgements(tmp_path):
    a, b = two_judges(n_queries=5, n_documents=4)
    truth = ar.agreement(qrels_of(a, 5), qrels_of(b, 5))
    data = ar.Dataset(np.ones((20, 1)), a, [f"q{i % 5}" for i in range(20)], document_ids=[f"d{i}" for i in range(20)])
    path = tmp_path / "expert.qrels"
    write_qrels(data, path)
    import pandas as pd

    frame = pd.DataFrame({"qid": [f"q{i % 5}" for i in range(20)], "docno": [f"d{i}" for i in range(20)], "rel": b})
    for first, second in ((data, frame), (path, qrels_of(b, 5)), (str(path), frame)):
        assert ar.agreement(first, second).kappa == truth.kappa
    assert ar.agreement(path, qrels_of(b, 5)).judges == ("a", "b")
    write_qrels(data.with_labels(b), tmp_path / "model.qrels")
    assert ar.agreement(path, tmp_path / "model.qrels").judges == ("expert", "model")


def test_documents_of_one_judge_and_marks_of_trec_are_left_out():
    found = ar.agreement({"q": {"a": 1, "b": 0, "c": -2, "d": 1}}, {"q": {"a": 1, "b": 0, "c": 1, "e": 0}})
    assert (found.n_documents, found.alone, found.pooled, found.kappa) == (2, 3, 1, 1.0)
    assert np.isnan(found.low["kappa"])


def test_segments_are_the_agreement_on_their_queries():
    a, b = two_judges(n_queries=20)
    by = {f"q{q}": "head" if q < 8 else "tail" for q in range(20)}
    found = ar.agreement(qrels_of(a, 20), qrels_of(b, 20), by=by)
    head = [i for i in range(len(a)) if i % 20 < 8]
    first = found.segments[0]
    assert (first.segment, first.n_queries, first.n_documents) == ("head", 8, len(head))
    assert first.estimates["kappa"].value == pytest.approx(
        cohen_kappa_score([a[i] for i in head], [b[i] for i in head])
    )


def test_queries_to_judge_again_hold_the_most_disagreement():
    expert = {"easy": {"a": 1, "b": 0}, "hard": {"a": 3, "b": 0, "c": 1}, "mild": {"a": 1, "b": 1}}
    model = {"easy": {"a": 1, "b": 0}, "hard": {"a": 0, "b": 3, "c": 1}, "mild": {"a": 1, "b": 2}}
    found = ar.agreement(expert, model)
    assert found.judge_again() == ["hard", "mild"]
    assert found.queries[0].share == pytest.approx(18 / 19)
    assert found.queries[0].raw == pytest.approx(1 / 3)
    assert found.to_pandas()["qid"].tolist() == ["hard", "mild", "easy"]


def test_all_the_same_grade_has_no_kappa():
    found = ar.agreement(qrels_of([0] * 6, 3), qrels_of([0] * 6, 3))
    assert found.raw == 1
    assert np.isnan([found.kappa, found.weighted_kappa, found.alpha]).all()
    assert any("same grade" in note for note in found.notes)


def test_a_dominant_grade_is_told():
    a = [0] * 90 + [1] * 10
    found = ar.agreement(qrels_of(a, 10), qrels_of(a[::-1], 10))
    assert any("90 % of the judgements are grade 0: chance alone agrees on 82 %" in note for note in found.notes)


def test_renderings_escape_names_and_hold_the_same_figures():
    a, b = two_judges(n_queries=6)
    found = ar.agreement(qrels_of(a, 6), qrels_of(b, 6), names=["<b>", "a_b"])
    assert "&lt;b&gt;" in found.render("html")
    assert r"share of a\_b" in found.to_latex()
    assert f"{found.kappa:.4f}" in found.to_markdown()
    plain = json.loads(found.render("json"))
    assert plain["estimates"]["kappa"]["value"] == found.kappa
    assert plain["table"] == found.table.tolist()
    assert "judge again" in repr(found)
    with pytest.raises(OptionError, match="format"):
        found.render("pdf")


@pytest.mark.parametrize(
    ("judges", "options", "error"),
    [
        (({"q": {"a": 1}},), {}, "at least two judges"),
        (({"q": {"a": 1}}, {"q": {"b": 1}}), {}, "documents that two judges judged, got none"),
        (({"q": {"a": 1}}, {"q": {"a": 1}}), {"names": ["x", "x"]}, "2 different names"),
        (({"q": {"a": 1}}, {"q": {"a": 1}}), {"by": {"p": "head"}}, "got none for query 'q'"),
        (({"q": {str(i): i / 7 for i in range(200)}}, {"q": {"0": 1}}), {}, "at most 101 different grades"),
    ],
)
def test_mistakes_are_told(judges, options, error):
    with pytest.raises(InputError, match=error):
        ar.agreement(*judges, **options)


@pytest.mark.parametrize("options", [{"weights": "cubic"}, {"metric": "ratio"}, {"level": 1.5}])
def test_options_are_checked(options):
    with pytest.raises(OptionError):
        ar.agreement({"q": {"a": 1}}, {"q": {"a": 1}}, **options)
