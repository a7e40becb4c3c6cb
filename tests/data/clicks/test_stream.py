"""Sums of a log that comes in pieces are those of the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from argrank.data.clicks import load
from argrank.data.clicks.load import load_clicks, write_clicks
from argrank.errors import FormatError, InputError, OptionError


def table(n_sessions: int, seed: int = 0) -> pa.Table:
    random, n = np.random.default_rng(seed), 5
    return pa.table(
        {
            "session": np.repeat([f"s{one}" for one in range(n_sessions)], n),
            "user": np.repeat(random.integers(0, 50, n_sessions), n),
            "qid": np.repeat(random.choice(["tv", "big tv", "radio"], n_sessions), n),
            "docid": np.concatenate([random.permutation(8)[:n] for _ in range(n_sessions)]),
            "position": np.tile(np.arange(1, n + 1), n_sessions),
            "click": random.integers(0, 2, n_sessions * n),
            "weight": random.uniform(0, 2, n_sessions * n),
        }
    )


def cells(counts) -> pd.DataFrame:
    columns = {
        "qid": counts.query_ids[counts.pair_query[counts.pair]],
        "docid": counts.document_ids[counts.pair_document[counts.pair]],
        "position": counts.position,
        "group": counts.group,
        "impressions": counts.impressions,
        "clicks": counts.clicks,
        "value": counts.value,
    }
    return pd.DataFrame(columns).sort_values(["qid", "docid", "position", "group"]).reset_index(drop=True)


@pytest.mark.parametrize("rows", [3, 7, 100, 10_000])
def test_row_groups_give_the_sums_of_the_whole_log(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(load, "ROWS_AT_ONCE", rows)
    whole = table(60)
    pa.parquet.write_table(whole, tmp_path / "log.parquet", row_group_size=50)
    found, truth = load_clicks(tmp_path / "log.parquet", sums=True), load_clicks(whole).counts()
    pd.testing.assert_frame_equal(cells(found), cells(truth), check_dtype=False)
    sessions = [dict(zip(one.query_ids, one.sessions_of_query, strict=True)) for one in (found, truth)]
    assert sessions[0] == sessions[1]
    assert found.unusable.split_sessions == 0


def test_sums_join_their_cells_on_the_way(monkeypatch):
    from argrank.data.clicks.stream import Sums

    log = load_clicks(table(60))
    sums = Sums(n_compact=10)
    for _ in range(3):
        sums.add(log)
    assert sums.split == 2 * log.n_sessions
    assert sums.total().impressions.sum() == 3 * log.n_rows
    assert len(sums.total().pair) == len(log.counts().pair)


def test_a_session_that_comes_again_is_told(tmp_path):
    whole = table(20)
    for name, rows in (("a", whole.slice(0, 52)), ("b", whole.slice(52)), ("c", whole.slice(0, 0))):
        pa.parquet.write_table(rows, tmp_path / f"{name}.parquet")
    found = load_clicks([tmp_path / "b.parquet", tmp_path / "a.parquet"], sums=True)
    assert found.unusable.split_sessions == 1
    assert found.sessions_of_query.sum() == 20
    with pytest.raises(InputError, match="empty log"):
        load_clicks(tmp_path / "c.parquet", sums=True)
    with pytest.raises(OptionError, match="sums=True"):
        load_clicks(tmp_path / "a.parquet", sums=True, format="counts")


def test_a_log_is_written_and_read_back(tmp_path):
    log = load_clicks(table(30), keep=["weight"])
    for name in ("log.csv", "log.parquet", "log.arrow"):
        write_clicks(log, tmp_path / name)
        again = load_clicks(tmp_path / name)
        np.testing.assert_array_equal(again.pair, log.pair)
        np.testing.assert_array_equal(again.click, log.click)
        np.testing.assert_array_equal(again.group, log.group)
    with pytest.raises(OptionError, match=r"ends with .csv"):
        write_clicks(log, tmp_path / "log.txt")
    with pytest.raises(InputError, match="keep: expected a column 'device'"):
        load_clicks(table(3), keep=["device"])


def test_files_of_different_columns_are_refused(tmp_path):
    pa.parquet.write_table(table(3), tmp_path / "a.parquet")
    pa.parquet.write_table(table(3).drop(["weight"]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="the same columns in every file, got 'weight' in some"):
        load_clicks([tmp_path / "a.parquet", tmp_path / "b.parquet"])


def test_positions_of_lightgbm_beside_letor_text(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("0 qid:1 1:0.5 # docid = a\n1 qid:1 1:0.1 # docid = b\n1 qid:2 1:0.2 # docid = a\n")
    (tmp_path / "train.txt.position").write_text("0\n1\n0\n")
    log = load_clicks(path, format="letor", first_position=0)
    assert log.position.tolist() == [1, 2, 1]
    assert log.click.tolist() == [False, True, True]
    assert log.document_ids.tolist() == ["a", "b"]
    (tmp_path / "train.txt.position").write_text("0\nx\n0\n")
    with pytest.raises(FormatError, match=r"position:2: expected a position, a whole number"):
        load_clicks(path, format="letor")
    (tmp_path / "train.txt.position").write_text("0\n")
    with pytest.raises(FormatError, match="expected 3 positions"):
        load_clicks(path, format="letor")
