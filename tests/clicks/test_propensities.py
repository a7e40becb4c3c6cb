"""The curve of examination, on exact expectations and on simulated logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from argrank.clicks import trust
from argrank.clicks.cells import Cells
from argrank.clicks.judgements import judgements
from argrank.clicks.propensities import Propensities, half_width, propensities, read_propensities
from argrank.clicks.simulation import simulate_clicks
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.data.generated.synthetic import make_ranking
from argrank.errors import ArgrankWarning, FormatError, InputError, OptionError


def expected_counts(theta, relevance, n=1e12):
    """Sums in which clicks are their exact expectations: for every two ranks documents shown at both."""
    ranks = len(theta)
    cells = []
    for first in range(ranks):
        for second in range(first + 1, ranks):
            cells += [(len(cells) // 2, one, theta[one] * relevance[first, second]) for one in (first, second)]
    pair, position, rate = (np.array(column) for column in zip(*cells, strict=True))
    n_pairs = int(pair.max()) + 1
    shown = np.full(len(pair), int(n))
    clicks = np.round(rate * n).astype(np.int64)
    return ClickCounts(
        np.array(["q"]), np.arange(n_pairs), np.zeros(n_pairs, np.int64), np.arange(n_pairs), None,
        pair.astype(np.int64), position.astype(np.int64) + 1, None, shown, clicks, clicks.astype(float),
    )  # fmt: skip


def test_harvest_is_exact_on_expectations_whatever_the_pairs_of_ranks_attract():
    theta = 1 / np.arange(1, 7)
    relevance = np.random.default_rng(0).uniform(0.1, 0.9, (6, 6))
    for method in ("harvest", "pbm"):
        found = propensities(expected_counts(theta, relevance), method)
        np.testing.assert_allclose(found.values, theta, rtol=1e-5)
        assert "ignore" in found.note


def test_documents_of_harvest_weigh_the_same_where_asked():
    """Two documents at ranks 1 and 2: ratios 40/80 of the one and 1/8 of the other, over very different traffic."""
    shown = np.array([100, 100, 10, 10])
    clicks = np.array([80, 40, 8, 1])
    position = np.array([1, 2, 1, 2])
    pair = np.array([0, 0, 1, 1])
    counts = ClickCounts(
        np.array(["q"]), np.arange(2), np.zeros(2, np.int64), np.arange(2), None, pair, position, None, shown, clicks,
        clicks.astype(float),
    )  # fmt: skip
    assert propensities(counts, "harvest").values[1] == pytest.approx(41 / 88, rel=1e-6)
    assert propensities(counts, "harvest", weigh="equal").values[1] == pytest.approx((0.4 + 0.1) / 1.6, rel=1e-6)
    with pytest.raises(OptionError, match="weigh"):
        propensities(counts, weigh="impressions")


def test_intervals_of_a_mean_are_the_textbook_ones():
    """Half a group taken away, or all of it: Student's interval of a mean comes out."""
    values = np.random.default_rng(0).normal(size=(20, 1))
    for share in (0.5, 1.0, 1e-3):
        without = (values.sum() - share * values) / (20 - share)
        expected = stats.t.ppf(0.975, 19) * values.std(ddof=1) / np.sqrt(20)
        assert half_width(without, share)[0] == pytest.approx(expected, rel=1e-9)


def test_documents_that_are_hardly_shown_bias_pbm_in_no_way():
    """Twenty thousand documents, once at each rank: attractions cannot be estimated, and need not be."""
    random = np.random.default_rng(0)
    n, theta = 20_000, np.array([1.0, 0.5, 0.25])
    clicks = (random.random((n, 3)) < random.uniform(0.2, 0.9, (n, 1)) * theta).ravel().astype(float)
    cells = Cells(np.tile(np.arange(3), n), np.repeat(np.arange(n), 3), clicks, 1.0 - clicks, 3)
    poisson, binomial = (np.exp(cells.curve(name, cells.linked())) for name in ("poisson", "binomial"))
    np.testing.assert_allclose(poisson, theta, rtol=0.05)  # three standard errors
    assert not np.allclose(binomial, theta, rtol=0.05)


def users_of_one_mind(n_users, per_user=20):
    """Return a log of pages in random order whose users click at rank 1 always or never, at rank 2 by chance."""
    random = np.random.default_rng(0)
    n = n_users * per_user
    click = np.stack((np.repeat(random.integers(0, 2, n_users), per_user), random.integers(0, 2, n)), axis=1)
    columns = {"session": np.repeat(np.arange(n), 2), "qid": ["q"] * (2 * n), "position": np.tile([1, 2], n)}
    shown = np.array([random.permutation(2) for _ in range(n)])
    return Clicks.of(
        {**columns, "docid": shown.ravel(), "click": click.ravel(), "user": np.repeat(np.arange(n_users), 2 * per_user)}
    )


def test_intervals_of_a_swap_know_which_clicks_belong_to_one_user():
    log = users_of_one_mind(60)
    found = propensities(log, "swap", ranks=(1, 2))
    alone = propensities(replace(log.counts(), group=None), "swap", ranks=(1, 2))
    assert "ignore" in alone.note
    assert (found.high - found.low)[1] > 2.5 * (alone.high - alone.low)[1]


def test_one_user_gives_no_interval_and_it_is_said():
    log = replace(users_of_one_mind(60), group=np.zeros(1200, np.uint8))
    for options in ({"method": "harvest"}, {"method": "pbm"}, {"method": "swap", "ranks": (1, 2)}, {"method": "ctr"}):
        found = propensities(log, **options)
        assert np.isfinite(found.values).all()
        assert np.isnan(found.low).all()
        assert "all sessions belong to one user" in found.note


def test_rates_of_ranks_without_clicks_are_no_curve(tmp_path):
    log = users_of_one_mind(60)
    none = replace(log, click=log.click & (log.position == 1))
    found = propensities(none, "ctr")
    assert np.isnan(found.values[1])
    assert "no clicks at rank 2" in found.note
    found.write(tmp_path / "theta.json")
    np.testing.assert_array_equal(Propensities.read(tmp_path / "theta.json").values, found.values)
    with pytest.raises(InputError, match="expected clicks at rank 2, got none"):
        propensities(none, "swap", ranks=(1, 2))
    with pytest.raises(InputError, match="expected clicks at rank 1, got none"):
        propensities(replace(log, click=log.click & (log.position == 2)), "ctr")


def test_equal_weights_do_not_shorten_intervals(data):
    """Half a group has the rate of the whole: a document that no other group saw at a rank counts half without it."""
    log = simulate_clicks(data, data.X[:, 0], n_sessions=2000, n_results=4, vary=1.0)
    widths = [found.high - found.low for found in (propensities(log, weigh=one) for one in ("precision", "equal"))]
    assert (widths[1] >= widths[0])[1:].all()


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=60, random_state=1)


def test_pages_that_never_vary_are_refused(data):
    log = simulate_clicks(data, data.X[:, 0], n_sessions=500, vary=0.0)
    for method in ("auto", "harvest", "pbm"):
        with pytest.raises(InputError, match="nothing links ranks 2, 3"):
            propensities(log, method)
    rates = propensities(log, "ctr")
    assert rates.values[0] == 1.0
    assert not rates.linked.any()


def test_one_rank_is_no_curve(data):
    log = simulate_clicks(data, data.X[:, 0], n_sessions=100, n_results=1, vary=1.0)
    with pytest.raises(InputError, match="expected documents at two ranks or more, got rank 1 alone"):
        propensities(log)


def test_a_curve_goes_into_a_file_and_back(tmp_path):
    found = propensities(None, "given", values=[2.0, 1.0, 0.5])
    found.write(tmp_path / "theta.json")
    again = Propensities.read(tmp_path / "theta.json")
    np.testing.assert_array_equal(again.values, [1.0, 0.5, 0.25])
    (tmp_path / "theta.json").write_text("[" * 100_000)
    with pytest.raises(FormatError, match="a curve of examination"):
        Propensities.read(tmp_path / "theta.json")


def test_bad_curves_are_refused(data):
    with pytest.raises(OptionError, match="positive numbers"):
        propensities(None, "given", values=[1.0, -1.0])
    with pytest.raises(InputError, match="log: expected a Clicks"):
        propensities([1])
    with pytest.raises(OptionError, match="method"):
        propensities(None, "harvests")
    with pytest.raises(
        OptionError, match="ranks: expected method='swap', the only method that uses it, got method='harvest'"
    ):
        propensities(None, "harvest", ranks=(1, 3))
    with pytest.raises(InputError, match="covers rank 4"):
        propensities(None, "given", values=[1.0, 0.5, 0.2]).at(np.array([1, 4]))


def with_devices(log, random_state=0):
    """Half the sessions on a phone, whose readers see lower ranks less: clicks there are kept with 1/k."""
    random = np.random.default_rng(random_state)
    phone = random.random(log.n_sessions) < 0.5
    rows = np.repeat(phone, log.sizes)
    kept = ~rows | (random.random(log.n_rows) < 1.0 / log.position)
    return replace(log, click=log.click & kept, extra={"device": np.where(rows, "phone", "desk")})


def test_a_curve_for_each_device(tmp_path, data):
    log = with_devices(simulate_clicks(data, data.X[:, 0], n_sessions=20_000, n_results=4, vary=1.0))
    found = propensities(log, by="device")
    rank = np.arange(1, 5)
    for name, power in (("desk", 1), ("phone", 2)):
        np.testing.assert_allclose(found[name].values, rank ** -float(power), rtol=0.25)
    found.write(tmp_path / "theta.json")
    again = read_propensities(tmp_path / "theta.json")
    np.testing.assert_array_equal(again.of(log), found.of(log))
    judged = judgements(log, "examinations", propensities=again)
    assert judged.value[judged.impressions > 200].max() < 1.6
    assert "device phone: Propensities by harvest" in repr(again)
    with pytest.raises(OptionError, match="unknown column of the log 'devise'; did you mean device"):
        propensities(log, by="devise")
    with pytest.raises(InputError, match="expected a curve for device 'desk'"):
        propensities(log.select(log.extra["device"][log.indptr[:-1]] == "phone"), by="device").of(log)
    with pytest.raises(FormatError, match="one curve"):
        Propensities.read(tmp_path / "theta.json")


def test_ranks_that_were_never_shown_have_no_value(data):
    log = simulate_clicks(data, data.X[:, 0], n_sessions=4000, n_results=5, vary=1.0)
    log = replace(log, position=np.array([0, 1, 2, 4, 5, 6])[log.position])  # an advertisement at rank 3
    for method in ("harvest", "pbm"):
        found = propensities(log, method)
        assert np.isnan(found.values[2])
        np.testing.assert_allclose(found.values[[0, 1, 3, 4, 5]], 1 / np.arange(1, 6), rtol=0.3)


def trusting_log(n_sessions, random_state=0):
    """Return data, a log whose readers trust high ranks, and the truth: slopes with 1 and offsets with 0 at the end."""
    data = make_ranking(n_queries=6, random_state=2)
    options = {"n_results": 4, "vary": 2.0, "noise": 0.05, "random_state": random_state}
    log = simulate_clicks(data, data.X[:, 0], "trust", n_sessions=n_sessions, **options)
    rank = np.arange(1, 5)
    offset = 0.3 / rank**2
    slope = 1 / rank - offset
    shift = offset[-1] / slope[-1]
    return data, log, slope / slope[0], offset - shift * slope


def test_trust_is_found_up_to_a_factor_and_a_constant():
    """Slopes and offsets of the truth, normalised; the note says what that means."""
    data, log, slopes, offsets = trusting_log(120_000)
    found = propensities(log, "trust")
    np.testing.assert_allclose(found.values, slopes, atol=0.05)
    np.testing.assert_allclose(found.offsets, offsets, atol=0.02)
    assert "only differences" in found.note
    judged = judgements(log, "examinations", propensities=found)
    label = data.to_caller(data.y)[judged.docid.astype(int)]
    often = judged.impressions > 2000
    assert np.corrcoef(judged.value[often], 2.0 ** label[often] - 1)[0, 1] > 0.97


def test_a_log_that_hardly_tells_trust_says_so():
    _, log, _, _ = trusting_log(12_000)
    with pytest.warns(ArgrankWarning, match="hardly separates slopes from offsets: the interval of rank"):
        found = propensities(log, "trust")
    assert "use a longer log" in found.note


def test_without_trust_in_the_log_it_is_not_printed(data):
    log = simulate_clicks(data, data.X[:, 0], n_sessions=3000, n_results=5, vary=1.0)
    with pytest.raises(InputError, match="with evidence of trust bias"):
        propensities(log, "trust")


def fixed_pages(random, n_queries=100, n=4, n_sessions=100):
    """Return data and a log: pages never vary, attraction is a function of one feature, which stands at all ranks."""
    feature = random.normal(size=(n_queries * n, 1))
    qid = np.repeat(np.arange(n_queries), n)
    data = Dataset(feature, np.zeros(len(qid)), qid=qid, document_ids=np.arange(len(qid)))
    position = np.tile(np.arange(1, n + 1), n_queries)
    chance = 1 / (1 + np.exp(-(feature[:, 0] - 0.5))) / position
    columns = {
        "session": np.repeat(np.arange(n_queries * n_sessions), n),
        "qid": np.repeat(qid.reshape(n_queries, n), n_sessions, axis=0).ravel(),
        "docid": np.repeat(np.arange(len(qid)).reshape(n_queries, n), n_sessions, axis=0).ravel(),
        "position": np.tile(np.arange(1, n + 1), n_queries * n_sessions),
    }
    return data, Clicks.of({**columns, "click": random.random(len(columns["docid"])) < chance[columns["docid"]]})


def test_features_stand_in_for_pages_that_vary():
    n = 4
    data, log = fixed_pages(np.random.default_rng(0))
    found = propensities(log, features=data)
    np.testing.assert_allclose(found.values, 1 / np.arange(1, n + 1), rtol=0.1)
    assert (found.low[1:] <= 1 / np.arange(2, n + 1)).all()
    assert (found.high[1:] >= 1 / np.arange(2, n + 1)).all()
    assert "assumes that documents with the same features attract alike" in found.note
    assert not found.linked[1:].any()
    with pytest.raises(InputError, match="features: expected a row for every"):
        propensities(log, "pbm", features=data.select(range(10)))
    with pytest.raises(InputError, match="features: expected a Dataset with document ids"):
        propensities(log, "pbm", features=data.X)


def test_two_starts_give_two_curves_on_fixed_pages():
    """What is refused is not known: on pages that never vary every start ends at another curve of equal likelihood."""
    n = 4
    cells = Cells(np.arange(n), np.arange(n), np.array([50.0, 30, 20, 10]), np.array([50.0, 70, 80, 90]), n)
    assert cells.linked().tolist() == [True, False, False, False]
    assert np.isnan(cells.curve("binomial", cells.linked())[1:]).all()
    ends = [
        trust.fit(cells, start, offsets=False) for start in (np.linspace(0.9, 0.2, 3 * n), np.linspace(0.2, 0.9, 3 * n))
    ]
    assert ends[0].log_likelihood == pytest.approx(ends[1].log_likelihood, abs=1e-6)
    assert np.abs(ends[0].slopes - ends[1].slopes).max() > 0.05


def test_pictures_of_logs(data):
    import matplotlib as mpl

    mpl.use("Agg")
    import argrank as ar

    log = with_devices(simulate_clicks(data, data.X[:, 0], n_sessions=2000, n_results=4, vary=1.0))
    found = propensities(log)
    axes = found.plot()
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), found.values)
    assert len(propensities(log, by="device").plot().lines) == 2
    rates = ar.plot.click_rates(log)
    assert rates.containers[0].lines[0].get_ydata()[0] == pytest.approx(log.click[log.position == 1].mean())
    pairs = ar.plot.rank_pairs(log).collections[0].get_array()
    assert pairs.shape == (4, 4)
    np.testing.assert_allclose(pairs, pairs.T)


def test_a_curve_shows_its_ranks_from_one_up():
    shown = repr(propensities(None, "given", values=[1.0, 0.5])).splitlines()
    assert [line.split()[:2] for line in shown if line[:1].isdigit()] == [["1", "1.0000"], ["2", "0.5000"]]
