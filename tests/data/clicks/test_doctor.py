"""What the doctor says of click logs: every kind of bad input is refused, or found and told."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from argrank.data.clicks.load import load_clicks
from argrank.data.clicks.log import Clicks
from argrank.data.doctor import doctor


def log_of(n: int = 40, n_results: int = 6, **changes) -> Clicks:
    """Pages that vary, with enough clicks: nothing to find."""
    random = np.random.default_rng(0)
    columns = {
        "session": np.repeat(np.arange(n), n_results),
        "qid": np.repeat(["tv"] * n, n_results),
        "docid": np.concatenate([random.permutation(n_results) for _ in range(n)]),
        "position": np.tile(np.arange(1, n_results + 1), n),
        "click": np.tile([1, 0, 1, 1, 0, 0], n),
    }
    return Clicks.of({**columns, **changes})


def found(log, check: str):
    return next((finding for finding in doctor(log) if finding.check == check), None)


def test_a_good_log_has_nothing_to_find_and_rates_with_intervals():
    diagnosis = doctor(log_of())
    assert len(diagnosis) == 0
    assert diagnosis.rates.rate.tolist() == [1.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert "clicks / impressions" in repr(diagnosis)
    assert diagnosis.to_dict()["rates"]["impressions"] == [40] * 6
    assert doctor(log_of().counts()).rates.clicks.tolist() == diagnosis.rates.clicks.tolist()


def test_positions_from_zero():
    log = log_of(position=np.tile(np.arange(6), 40))
    assert found(log, "position-zero").count == 40
    assert found(log, "mixed-positions") is None


def test_mixed_bases():
    position = np.tile(np.arange(1, 7), 40)
    position[:60] -= 1
    assert (
        found(log_of(position=position), "mixed-positions").what == "10 searches begin at position 0, 30 at position 1"
    )


def test_ranks_without_traffic_and_pages_without_a_top():
    log = log_of(position=np.tile([1, 2, 4, 5, 6, 9], 40))
    assert found(log, "ranks-without-traffic").what == "nothing was shown at ranks 3, 7, 8"
    assert found(log_of(position=np.tile(np.arange(4, 10), 40)), "pages-without-top").count == 40


def test_a_log_of_clicks_alone():
    rows = log_of().columns()
    clicked = np.flatnonzero(rows["click"])
    alone = found(Clicks.of({name: np.asarray(one)[clicked] for name, one in rows.items()}), "only-clicks")
    assert (alone.severity, alone.what, alone.count) == ("error", "all 120 shown documents were clicked", 120)
    assert found(log_of(), "only-clicks") is None
    assert found(log_of().counts(), "only-clicks") is None


def test_pages_that_never_vary():
    log = log_of(docid=np.tile(np.arange(6), 40))
    assert found(log, "fixed-pages").severity == "warning"
    swapped = np.tile(np.arange(6), 40)
    swapped[:2] = [1, 0]  # two documents, each at two ranks, are enough to compare these
    assert found(log_of(docid=swapped), "fixed-pages") is None


def test_one_rank_and_no_clicks():
    log = Clicks.of({"session": [1, 2], "qid": ["a", "a"], "docid": [1, 2], "position": [1, 1], "click": [0, 0]})
    assert found(log, "one-rank").severity == "error"
    assert found(log, "few-clicks").severity == "error"


def test_bots_click_everything():
    click = np.tile([1, 0, 1, 1, 0, 0], 40)
    click[6:12] = 1
    assert found(log_of(click=click), "clicks-everything").example == "session 1"


@pytest.mark.parametrize(("n_results", "is_told"), [(4, False), (5, True)])
def test_short_pages_may_be_clicked_through(n_results, is_told):
    click = np.tile(np.arange(n_results) == 0, 40).astype(int)
    click[:n_results] = 1
    assert (found(log_of(n_results=n_results, click=click), "clicks-everything") is not None) == is_told


def test_two_documents_at_one_position_and_documents_shown_twice():
    log = log_of(position=np.tile([1, 2, 2, 3, 4, 5], 40))
    assert found(log, "shared-positions").count == 40
    frame = pd.DataFrame(log_of().columns())
    twice = load_clicks(pd.concat([frame, frame.iloc[:3].assign(position=7)]), repeated="keep")
    assert found(twice, "repeated-documents").count == 3
    merged = load_clicks(pd.concat([frame, frame.iloc[:3].assign(position=7)]), repeated="merge")
    assert found(merged, "repeated-impressions").count == 3
    assert merged.n_clicks == log.n_clicks


def test_sessions_over_several_files_are_put_together(tmp_path):
    frame = pd.DataFrame(log_of().columns())
    frame.iloc[:9].to_csv(tmp_path / "a.csv", index=False)
    frame.iloc[9:].to_csv(tmp_path / "b.csv", index=False)
    log = load_clicks([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (log.n_sessions, log.n_rows) == (40, 240)
    assert found(log, "split-sessions").count == 1


def test_what_events_hold_beside_impressions_and_clicks(tmp_path):
    def event(action, search="1", document="x"):
        attributes = {"object": {"object_id": document}, "position": {"ordinal": 1}}
        return {"action_name": action, "query_id": search, "event_attributes": attributes}

    lines = [
        {"query_id": "1", "user_query": "tv"},
        event("impression"),
        event("impression"),
        event("impression", search="2"),
        event("click", document="y"),
        *[event("hover")] * 2,
        event("buy"),
    ]
    (tmp_path / "e.ndjson").write_text("\n".join(map(json.dumps, lines)))
    log = load_clicks(tmp_path / "e.ndjson", format="ubi")
    assert found(log, "clicks-without-impression").count == 1
    assert found(log, "repeated-impressions").count == 1
    assert found(log, "impressions-without-query").count == 1
    assert found(log, "unknown-actions").what == "2 action names other than impression and click: 'hover' 2, 'buy' 1"


def test_intervals_of_rates_know_that_clicks_of_one_user_depend():
    """Users who click everything or nothing: a rate is known as if there were users, not impressions."""
    n_users, per_user = 64, 50
    user = np.repeat(np.arange(n_users), per_user)
    columns = {"session": np.arange(len(user)), "qid": ["q"] * len(user), "docid": ["d"] * len(user)}
    click = np.random.default_rng(0).integers(0, 2, n_users)[user]
    alone = Clicks.of({**columns, "position": np.ones(len(user)), "click": click})
    together = Clicks.of({**columns, "position": np.ones(len(user)), "click": click, "user": user})
    widths = [float((rates.high - rates.low)[0]) for rates in (doctor(alone).rates, doctor(together).rates)]
    assert widths[0] < 0.05
    assert widths[1] == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(n_users), rel=0.5)
