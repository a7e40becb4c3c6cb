"""What a ranking would earn, from simulated logs with a known truth."""

import re

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank.clicks.evidence import evidence_of
from argrank.errors import InputError, OptionError

N_QUERIES, N, K = 60, 20, 10
THETA = 1 / np.arange(1, K + 1)


@pytest.fixture(scope="module")
def world():
    """Attractions, a logging and a new ranker, and the new one's true DCG@10 (the setting of the guide's table)."""
    setup = np.random.default_rng(1)
    relevant = setup.random((N_QUERIES, N)) < 0.25
    gamma = np.where(relevant, setup.uniform(0.4, 1, (N_QUERIES, N)), 0.05)
    logging = gamma + setup.normal(0, 0.35, (N_QUERIES, N))
    new = gamma + setup.normal(0, 0.2, (N_QUERIES, N))
    traffic = setup.dirichlet(np.full(N_QUERIES, 0.7))
    discount = np.r_[1 / np.log2(np.arange(2, K + 2)), np.zeros(N - K)]
    rank = np.argsort(np.argsort(-new, axis=1, kind="stable"), axis=1)
    return gamma, logging, new, traffic, float((traffic[:, None] * discount[rank] * gamma).sum())


def drawn(world, seed, n_sessions, noise):
    gamma, logging, _, traffic, _ = world
    rng = np.random.default_rng(seed)
    query = rng.choice(N_QUERIES, n_sessions, p=traffic)
    page = np.argsort(-(logging[query] + rng.gumbel(0, noise, (n_sessions, N))), axis=1)[:, :K]
    click = rng.random((n_sessions, K)) < THETA * gamma[query[:, None], page]
    return ar.Clicks.of({
        "session": np.repeat(np.arange(n_sessions), K), "qid": np.repeat(query, K), "docid": page.ravel(),
        "position": np.tile(np.arange(1, K + 1), n_sessions), "click": click.ravel(),
    })  # fmt: skip


def run_of(scores):
    return {str(q): {str(d): float(s) for d, s in enumerate(row)} for q, row in enumerate(scores)}


def test_clicks_of_the_logged_pages_are_the_observed_ones(world):
    log = drawn(world, 0, 3000, 0.5)
    for theta in (ar.propensities(log), ar.propensities(log, "given", values=THETA)):
        found = ar.evaluate(run_of(world[2]), log, ["clicks@10", "clicks"], propensities=theta)
        for name in found.means:
            assert found.logged[name] == pytest.approx(log.n_clicks / log.n_sessions, abs=1e-12)


def test_the_table_of_estimators(world):
    """Pages that vary: clicks over examinations are unbiased, with less error than ips; labels from clicks are not."""
    run, true = run_of(world[2]), world[-1]
    found = {name: [] for name in ("examinations", "ips", "dr", "model")}
    for seed in range(12):
        log = drawn(world, seed, 4000, 0.5)
        theta = ar.propensities(log, "given", values=THETA)
        for name, values in found.items():
            values.append(ar.evaluate(run, log, "dcg@10", propensities=theta, estimator=name).means["dcg@10"])
    error = {name: np.sqrt(np.mean((np.array(values) - true) ** 2)) for name, values in found.items()}
    assert abs(np.mean(found["examinations"]) - true) < 3 * np.std(found["examinations"]) / np.sqrt(12)
    assert error["examinations"] < 0.06
    assert error["examinations"] < error["ips"]


def test_intervals_hold_the_truth_and_pages_that_vary_are_covered(world):
    run, true, inside = run_of(world[2]), world[-1], 0
    for seed in range(20):
        log = drawn(world, 100 + seed, 3000, 0.5)
        found = ar.evaluate(run, log, "dcg@10", propensities=ar.propensities(log))
        inside += found.low["dcg@10"] < true < found.high["dcg@10"]
        assert found.coverage["dcg@10"] > 0.98
        assert found.effective_clicks["dcg@10"] > 100
    assert inside >= 17  # of 20: below it has a chance of 1.6 % at 95 %


def test_pages_that_hardly_vary_are_refused_with_what_is_missing(world):
    log = drawn(world, 0, 500, 0.05)
    theta = ar.propensities(log, "given", values=THETA)
    with pytest.raises(InputError, match=r"coverage of 0\.7.*query '\d+', document '\d+'"):
        ar.evaluate(run_of(world[2]), log, "dcg@10", propensities=theta)
    found = ar.evaluate(run_of(world[2]), log, "dcg@10", propensities=theta, min_coverage=0)
    assert found.coverage["dcg@10"] < 0.9
    few = log.select(np.arange(40))
    with pytest.raises(InputError, match="effective clicks"):
        ar.evaluate(run_of(world[2]), few, "dcg@10", propensities=theta, min_coverage=0)


def test_hardly_examined_documents_widen_intervals_and_are_refused(world):
    """DCG@1 on pages that hardly vary: by the clicks of every document alone, half of the intervals miss the truth."""
    gamma, _, new, traffic, _ = world
    first = np.argmax(new, axis=1)
    inside, by_clicks_alone, named, runs = 0, 0, 0, run_of(new)
    for seed in range(30):
        log = drawn(world, seed, 4000, 0.05)
        theta = ar.propensities(log, "given", values=THETA)
        with pytest.raises(InputError, match="dcg@1 of run1: expected") as refusal:
            ar.evaluate(runs, log, "dcg@1", propensities=theta)
        named += bool(re.search(r"hardly examined attract as .* query '\d+', document '\d+'", str(refusal.value)))
        found = ar.evaluate(runs, log, "dcg@1", propensities=theta, min_coverage=0, min_clicks=0)
        shown = np.zeros((N_QUERIES, N), bool)
        shown[log.query_ids.astype(int)[log.pair_query], log.document_ids.astype(int)[log.pair_document]] = True
        seen = shown[np.arange(N_QUERIES), first]
        true = float((traffic * gamma[np.arange(N_QUERIES), first])[seen].sum())
        inside += found.low["dcg@1"] < true < found.high["dcg@1"]
        (without,) = found.without["dcg@1"]
        wide = 2 * np.sqrt((len(without) - 1) * without.var())
        by_clicks_alone += abs(found.means["dcg@1"] - true) < wide
    assert by_clicks_alone < 24 < 27 <= inside
    assert named > 15  # the others are refused by coverage, or by the clicks that were seen


@pytest.mark.parametrize("estimator", ["examinations", "ips", "dr", "model"])
def test_excess_is_the_variance_at_the_attraction_of_the_model(estimator):
    """Clicks of a document shown at ranks k are sums of independent draws; each moves its worth by a known step."""
    rows = [("x", 1, 1), ("x", 1, 0), ("x", 2, 1), ("y", 2, 0), ("y", 4, 0), ("z", 4, 1)]
    log = ar.Clicks.of({
        "session": np.arange(6), "qid": ["q"] * 6, "docid": [row[0] for row in rows],
        "position": [row[1] for row in rows], "click": [row[2] for row in rows], "weight": np.full(6, 3.0),
    })  # fmt: skip
    theta = dict(enumerate(THETA, 1))
    found = evidence_of(log, ar.propensities(log, "given", values=THETA))
    mean = 3 * 3 / sum(theta[k] for _, k, _ in rows)
    for place, name in enumerate(found.counts.document_ids[found.counts.pair_document]):
        own = [(theta[k], 3 * click) for document, k, click in rows if document == name]
        seen, value = sum(one for one, _ in own), sum(click for _, click in own)
        above = (value + 2 * mean) / (seen + 2) - value / seen
        steps = {"ips": [1 / one / len(own) for one, _ in own], "model": [1 / (seen + 2) for _ in own]}
        step = steps.get(estimator, [1 / seen for _ in own])  # of what the document is worth, by a click
        variance = sum(one * above * 3 * by**2 for (one, _), by in zip(own, step, strict=True))
        assert found.excess(estimator)[place] == pytest.approx(variance, rel=1e-12)


def test_differences_contain_the_excess_of_documents_that_rankings_do_not_share(world):
    log = drawn(world, 3, 4000, 0.05)
    theta = ar.propensities(log, "given", values=THETA)
    limits = {"min_coverage": 0, "min_clicks": 0}
    runs = {"new": run_of(world[2]), "old": run_of(world[1])}
    found = ar.compare(runs, log, "dcg@1", propensities=theta, **limits)
    evidence, (pair,) = evidence_of(log, theta), found.pairs
    query = log.query_ids.astype(int)[log.pair_query]
    document = log.document_ids.astype(int)[log.pair_document]
    share = np.bincount(log.query, minlength=log.n_queries)[log.pair_query] / log.n_sessions
    first = [document == np.argmax(scores, axis=1)[query] for scores in (world[2], world[1])]
    excess = float((share**2 * evidence.excess("examinations"))[first[0] != first[1]].sum())
    assert excess > 0
    without = np.subtract(*(one.without["dcg@1"][0] for one in found.evaluations.values()))
    square = (len(without) - 1) * without.var() + excess
    assert (pair.high - pair.low) / 2 == pytest.approx(stats.t(len(without) - 1).ppf(0.975) * np.sqrt(square))


def test_comparison_is_paired(world):
    log = drawn(world, 5, 4000, 0.5)
    theta = ar.propensities(log)
    found = ar.compare({"new": run_of(world[2]), "old": run_of(world[1])}, log, "dcg@10", propensities=theta)
    (pair,) = found.pairs
    assert pair.low > 0
    assert pair.p_corrected < 0.01
    alone = [one.high["dcg@10"] - one.low["dcg@10"] for one in found.evaluations.values()]
    assert pair.high - pair.low < np.hypot(*alone)  # what the same sessions share cancels
    assert pair.difference == pytest.approx(found.means["new"]["dcg@10"] - found.means["old"]["dcg@10"])
    n_groups = len(found.evaluations["new"].without["dcg@10"][0])
    student = stats.t(n_groups - 1)
    error = (pair.high - pair.low) / 2 / student.ppf(0.975)
    assert pair.p_value == pytest.approx(2 * student.sf(pair.difference / error), rel=1e-6, abs=0)


def test_segments_add_up_and_other_measures_are_refused(world):
    log = drawn(world, 6, 3000, 0.5)
    theta = ar.propensities(log)
    found = ar.evaluate(run_of(world[2]), log, "dcg@10", propensities=theta)
    assert [one.segment for one in found.segments] == ["head", "torso", "tail"]
    assert sum(one.n_sessions for one in found.segments) == log.n_sessions
    weighted = sum(one.n_sessions * one.mean for one in found.segments) / log.n_sessions
    assert weighted == pytest.approx(found.means["dcg@10"], rel=1e-12)
    for name in ("ndcg@10", "map", "err", "mrr"):
        with pytest.raises(OptionError, match="constant divisor"):
            ar.evaluate(run_of(world[2]), log, name, propensities=theta)


def test_equal_scores_share_their_discounts(world):
    log = drawn(world, 7, 3000, 0.5)
    theta = ar.propensities(log, "given", values=THETA)
    flat = {str(q): {str(d): 0.0 for d in range(N)} for q in range(N_QUERIES)}
    found = ar.evaluate(flat, log, "dcg@10", propensities=theta)
    train = ar.from_clicks(
        log, ar.Dataset(np.zeros((N_QUERIES * N, 1)), qid=np.repeat(np.arange(N_QUERIES), N),
                        document_ids=np.tile(np.arange(N), N_QUERIES)), propensities=theta, shrink=0,
    )  # fmt: skip
    assert found.means["dcg@10"] == pytest.approx(
        ar.evaluate(np.zeros(train.n_documents), train, "dcg@10").means["dcg@10"], rel=1e-12
    )


def test_options_of_logs_need_a_log():
    data = ar.make_ranking(5, 5, 2, random_state=0)
    with pytest.raises(OptionError, match="expected a click log"):
        ar.evaluate(data.X[:, 0], data, "dcg@10", estimator="ips")


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_estimators_are_their_formulas(world, noise):
    """The sums of the prototype, session by session, give the same four values and the same coverage."""
    log, new = drawn(world, 8, 800, noise), world[2]
    clicks, seen, shown, weighted = (np.zeros((N_QUERIES, N)) for _ in range(4))
    sessions = np.zeros(N_QUERIES)
    columns = log.columns()
    for q, d, k, c in zip(*(columns[name] for name in ("qid", "docid", "position", "click")), strict=True):
        clicks[q, d] += c
        seen[q, d] += THETA[k - 1]
        shown[q, d] += 1
        weighted[q, d] += c / THETA[k - 1]
        sessions[q] += k == 1
    discount = np.r_[1 / np.log2(np.arange(2, K + 2)), np.zeros(N - K)]
    a = discount[np.argsort(np.argsort(-new, axis=1, kind="stable"), axis=1)]
    share = (sessions / sessions.sum())[:, None] * a
    mean = clicks.sum() / seen.sum()
    known = np.where(seen > 0, clicks / np.maximum(seen, 1e-12), 0.0)
    wanted = {
        "examinations": (share * known).sum(),
        "ips": (share * weighted / np.maximum(shown, 1)).sum(),
        "dr": (share * np.where(seen > 0, known, mean)).sum(),
        "model": (share * (clicks + 2 * mean) / (seen + 2)).sum(),
    }
    theta = ar.propensities(log, "given", values=THETA)
    for name, value in wanted.items():
        found = ar.evaluate(
            run_of(new), log, "dcg@10", propensities=theta, estimator=name, min_coverage=0, min_clicks=0
        )
        assert found.means["dcg@10"] == pytest.approx(value, rel=1e-12)
        assert found.coverage["dcg@10"] == pytest.approx((share * (seen > 0)).sum() / share.sum(), rel=1e-12)


def test_a_part_of_a_log_knows_what_it_has_not_shown(world):
    """A selection keeps the names of all pairs; those that its own sessions never showed are not covered."""
    log = drawn(world, 9, 3000, 0.5)
    part = log.select(np.arange(150))
    again = ar.Clicks.of(part.columns())
    theta = ar.propensities(log, "given", values=THETA)
    found, wanted = (
        ar.evaluate(run_of(world[2]), one, "dcg@10", propensities=theta, min_coverage=0, min_clicks=0)
        for one in (part, again)
    )
    assert found.coverage["dcg@10"] == pytest.approx(wanted.coverage["dcg@10"], rel=1e-12)
    assert found.coverage["dcg@10"] < 0.95
    assert found.means["dcg@10"] == pytest.approx(wanted.means["dcg@10"], rel=1e-12)
    assert found.low["dcg@10"] == pytest.approx(wanted.low["dcg@10"], rel=1e-12)


@pytest.mark.parametrize("estimator", ["examinations", "ips", "dr"])
def test_intervals_know_the_error_of_a_curve_from_another_log(world, estimator):
    """The variance is that of the log, and that of the values by the curve without each group of its own log."""
    log, theta = drawn(world, 10, 1500, 0.5), ar.propensities(drawn(world, 11, 1500, 0.5))
    names = ["dcg@10", "clicks@10"]

    def value(curve):
        return ar.evaluate(run_of(world[2]), log, names, propensities=curve, estimator=estimator)

    found, known = value(theta), value(ar.propensities(log, "given", values=theta.values))
    others = [value(ar.propensities(log, "given", values=one)).means for one in theta.replicates]
    for name in names:
        of_curve = np.var([one[name] for one in others]) * (len(others) - 1)
        error, plain = ((one.high[name] - one.means[name]) / stats.t.ppf(0.975, 63) for one in (found, known))
        assert error == pytest.approx(np.sqrt(plain**2 + of_curve), rel=1e-9)
        assert error > 1.001 * plain


def test_it_is_said_where_intervals_do_not_know_the_error_of_the_curve(world):
    log = drawn(world, 12, 1500, 0.5)
    device = np.where(log.session_of_row % 2, "phone", "desk")
    log = ar.Clicks.of(log.columns(), extra={"device": device})
    said = "intervals do not include its own error"
    for curve, silent in (
        (ar.propensities(log), True),
        (ar.propensities(drawn(world, 13, 1500, 0.5)), True),
        (ar.propensities(log, "given", values=THETA), False),
        (ar.propensities(log, by="device"), False),
    ):
        notes = ar.evaluate(run_of(world[2]), log, "dcg@10", propensities=curve).notes
        assert any(said in note for note in notes) != silent
