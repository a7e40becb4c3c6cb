"""Logs from tables, frames, session lists and OpenSearch's events, and what is refused."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import argrank as ar
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.load import load_clicks
from argrank.data.clicks.log import Clicks
from argrank.errors import FormatError, InputError

FRAME = pd.DataFrame(
    {
        "session": ["s2", "s1", "s1", "s2", "s3"],
        "query": ["big tv", 'caf\u00e9 "x"', 'caf\u00e9 "x"', "big tv", "big tv"],
        "product_id": ["a", "b", "c", "d", "a"],
        "rank": [2, 1, 2, 1, 1],
        "clicked": [1, 0, 1, 0, 0],
    }
)


def same(first: Clicks, second: Clicks) -> None:
    for name in ("indptr", "query", "pair", "position", "click", "query_ids", "document_ids", "group"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_every_way_in_gives_the_same_log(tmp_path):
    log = load_clicks(FRAME)
    assert (log.n_sessions, log.n_queries, log.n_rows, log.n_clicks, log.n_pairs) == (3, 2, 5, 2, 4)
    FRAME.to_csv(tmp_path / "log.csv", index=False)
    FRAME.to_parquet(tmp_path / "log.parquet")
    for other in (tmp_path / "log.csv", tmp_path / "log.parquet", pl.from_pandas(FRAME), pa.table(FRAME)):
        same(log, load_clicks(other))


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_a_log_out_of_a_spreadsheet(sep, encoding, tmp_path):
    frame = FRAME.assign(query=[f"größe{sep} {one}" for one in FRAME["query"]])
    frame.to_csv(tmp_path / "log.csv", index=False, sep=sep, encoding=encoding, lineterminator="\r\n")
    same(load_clicks(frame), load_clicks(tmp_path / "log.csv"))


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz"])
def test_ids_of_a_text_file_stay_as_they_are_written(name, tmp_path):
    ids = {"docid": ["007", "08", "007", "1", "08"], "user": ["01", "01", "01", "2", "2"], "session": [1, 1, 1, 2, 2]}
    frame = FRAME.assign(**ids, query=["0815", "0815", "1e3", "true", "true"], position=[1, 2, 1, 1, 2])
    log = load_clicks(frame)
    ar.write_clicks(log, tmp_path / name.removesuffix(".gz"))
    if name.endswith(".gz"):
        frame.to_csv(tmp_path / name, index=False)
    again = load_clicks(tmp_path / name)
    same(log, again)
    assert (again.session_ids.tolist(), again.user_ids.tolist()) == ([1, 1, 2], ["01", "01", "2"])


def test_rows_out_of_order_and_sessions_in_pieces_are_put_together():
    log = load_clicks(FRAME)
    mixed = load_clicks(FRAME.iloc[[3, 2, 0, 4, 1]])
    for name in ("indptr", "position", "click"):
        np.testing.assert_array_equal(getattr(log, name), getattr(mixed, name))
    assert log.position.tolist() == [1, 2, 1, 2, 1]


def test_counts_add_up():
    counts = load_clicks(FRAME).counts()
    assert counts.impressions.sum() == 5
    assert counts.clicks.sum() == 2
    table = pd.DataFrame({"qid": ["q", "q"], "docid": ["a", "b"], "position": [1, 2]})
    table = table.assign(impressions=[10, 5], clicks=[3, 1])
    summed = load_clicks(table, format="counts")
    assert isinstance(summed, ClickCounts)
    assert summed.by_position()[1].tolist() == [0, 3, 1]
    with pytest.raises(InputError, match="at most as many"):
        load_clicks(table.assign(clicks=[11, 0]), format="counts")
    with pytest.raises(InputError, match="empty log"):
        load_clicks(table.iloc[:0], format="counts")
    for position, message in (
        ([-1, 2], "from 0 up, got -1"),
        ([1, 10**12], "up to 100000, got 1000000000000 in row 1"),
    ):
        with pytest.raises(InputError, match=message):
            load_clicks(table.assign(position=position), format="counts")


def test_days_are_split_by_time():
    log = load_clicks(FRAME.assign(timestamp=pd.to_datetime(["2026-01-02"] * 4 + ["2026-01-05"])))
    before, after = log.split(before="2026-01-03")
    assert (before.n_sessions, after.n_sessions) == (2, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": [0, -1, 1, 2, 1]}, "position: expected whole numbers from 1"),
        ({"rank": [1.5, 1, 2, 1, 1]}, "position: expected whole numbers"),
        ({"clicked": [2, 0, 1, 0, 0]}, "click: expected 0 or 1, got 2 in row 0"),
        (
            {"product_id": ["a", "b", "b", "d", "a"]},
            "expected every document once in a session, got document 'b' twice in session 's1'",
        ),
        ({"product_id": ["a", None, "c", "d", "a"]}, "docid: expected an id in every row, got none in row 1"),
        ({"weight": [1, -1, 1, 1, 1]}, "weight: expected numbers from 0 up"),
        ({"clicked": pd.Series([1, "yes", 0, 0, 0], dtype=object)}, "expected values of one type in every column"),
    ],
)
def test_bad_columns_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        load_clicks(FRAME.assign(**change))


def test_repeated_documents_are_merged_when_asked():
    frame = FRAME.assign(product_id=["a", "b", "b", "d", "a"])
    log = load_clicks(frame, repeated="merge")
    assert (log.n_rows, log.n_clicks, log.unusable.merged_impressions) == (4, 2, 1)
    assert load_clicks(frame, repeated="keep").n_rows == 5


def test_what_is_no_log_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected columns for click"):
        load_clicks(FRAME.drop(columns="clicked"))
    with pytest.raises(InputError, match="empty log"):
        load_clicks(FRAME.iloc[:0])
    with pytest.raises(InputError, match="expected the path of a log or a data frame"):
        load_clicks(7)
    (tmp_path / "s.txt").write_text("1\tq\t[1, 2]\t[1, 1]\t[0]\n")
    with pytest.raises(FormatError, match=r"s.txt:1: expected as many clicks as documents"):
        load_clicks(tmp_path / "s.txt", format="sessions")
    (tmp_path / "e.ndjson").write_text('{"action_name": "impression", "query_id": "1"}\n')
    with pytest.raises(FormatError, match=r"e.ndjson:1: expected event_attributes.object.object_id"):
        load_clicks(tmp_path / "e.ndjson", format="ubi")


def test_events_of_opensearch(tmp_path):
    def event(action, position=1, **more):
        attributes = {"object": {"object_id": "x"}, "position": {"ordinal": position}}
        return {"action_name": action, "query_id": "1", "client_id": "u", "event_attributes": attributes, **more}

    lines = [
        {"index": {"_index": "ubi_queries"}},
        {"query_id": "1", "client_id": "u", "user_query": " Big  TV "},
        event("impression", 3),
        event("click", 3),
        event("hover"),
        {**event("click", 4), "event_attributes": {"object": {"object_id": "y"}}},
    ]
    (tmp_path / "e.ndjson").write_text("\n".join(map(json.dumps, lines)))
    log = load_clicks(tmp_path / "e.ndjson", format="ubi")
    assert log.query_ids.tolist() == ["big tv"]
    assert (log.n_rows, log.n_clicks, log.position.tolist()) == (1, 1, [3])
    assert log.unusable.clicks_without_impression == 1
    assert log.unusable.other_actions == {"hover": 1}


def test_the_sample_of_opensearch_loads(tmp_path, real_data):
    packed = real_data / "clicks" / "ubi-esci" / "ubi_events.ndjson.xz"
    with lzma.open(packed) as stream:
        (tmp_path / "e.ndjson").write_bytes(stream.read())
    log = load_clicks(tmp_path / "e.ndjson", format="ubi")
    assert log.n_rows + log.unusable.impressions_without_query == 1999
    assert int(log.position.min()) == 0  # it mixes positions from 0 and from 1


def test_a_log_of_many_rows_keeps_its_sums():
    random = np.random.default_rng(0)
    n = 20_000
    table = pa.table(
        {
            "session": np.repeat(np.arange(n // 10), 10),
            "qid": np.repeat(random.integers(0, 50, n // 10), 10),
            "docid": np.tile(np.arange(10), n // 10),
            "position": np.tile(np.arange(1, 11), n // 10),
            "click": random.integers(0, 2, n),
        }
    )
    log = load_clicks(table)
    counts = log.counts()
    assert counts.impressions.sum() == n
    assert counts.clicks.sum() == log.n_clicks


def test_queries_and_events_of_opensearch_as_tables(tmp_path):
    """Nested columns, columns with dotted names and attributes as text say the same as the lines do."""
    import pyarrow.parquet as pq

    queries = pa.table({"query_id": ["1", "2"], "client_id": ["u", "v"], "user_query": [" Big  TV ", "radio"]})
    rows = [
        ("impression", "1", "x", 1),
        ("impression", "1", "y", 2),
        ("click", "1", "y", 2),
        ("impression", "2", "z", 1),
    ]
    attributes = [{"object": {"object_id": name}, "position": {"ordinal": rank}} for *_, name, rank in rows]
    plain = {"action_name": [row[0] for row in rows], "query_id": [row[1] for row in rows]}
    dotted = {
        "event_attributes.object.object_id": [row[2] for row in rows],
        "event_attributes.position.ordinal": [row[3] for row in rows],
    }
    pq.write_table(queries, tmp_path / "ubi_queries.parquet")
    pq.write_table(pa.table({**plain, "event_attributes": attributes}), tmp_path / "ubi_events.parquet")
    sources = [
        [tmp_path / "ubi_queries.parquet", tmp_path / "ubi_events.parquet"],
        [queries.to_pandas(), pa.table({**plain, **dotted}).to_pandas()],
        [pa.table({**plain, "event_attributes": list(map(json.dumps, attributes))}), queries],
    ]
    for one in sources:
        log = load_clicks(one, format="ubi")
        assert log.query_ids[log.query].tolist() == ["big tv", "radio"]
        assert log.document_ids[log.pair_document[log.pair]].tolist() == ["x", "y", "z"]
        assert (log.position.tolist(), log.click.tolist()) == ([1, 2, 1], [False, True, False])
    with pytest.raises(FormatError, match=r"log:1: expected event_attributes.object.object_id"):
        load_clicks([queries, pa.table(plain)], format="ubi")
    with pytest.raises(FormatError, match="queries with user_query"):
        load_clicks(sources[0][1], format="ubi")


def test_the_same_log_has_one_fingerprint(tmp_path):
    data = ar.make_ranking(20, 10, 3, random_state=0)
    log, other = (
        ar.simulate_clicks(data, data.X[:, 0], n_sessions=200, vary=1.0, random_state=seed) for seed in (0, 1)
    )
    ar.write_clicks(log, tmp_path / "log.csv")
    again = ar.load_clicks(tmp_path / "log.csv")
    assert again.pair.tolist() != log.pair.tolist()  # numbered as its rows come
    prints = {one.counts().fingerprint for one in (log, again, log.select(np.arange(200)[::-1]))}
    assert len(prints) == 1
    changed = log.click.copy()
    changed[3] = not changed[3]
    for one in (other, log.select(np.arange(199)), replace(log, click=changed)):
        assert one.counts().fingerprint not in prints
