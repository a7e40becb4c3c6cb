"""CSV, TSV, Parquet and Arrow: columns with a meaning, exact values, bad cells with their lines, damaged files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import argrank as ar
from argrank.data.dataset import Dataset
from argrank.data.io.dialects import Given
from argrank.data.io.tables import TABLES, read_table, write_table
from argrank.errors import ArgrankError, ArgrankWarning, FormatError, InputError, OptionError

FULL = {
    "qid": ["b", "a", "b"],
    "document_ids": ["x", 'y,"', "z\n"],
    "comments": ["", "one\rtwo", "\t"],
    "sources": ["s", "t", "s"],
    "titles": ["T", "", " U "],
    "query_texts": ["shoes", "éclair"],
    "sample_weight": [0.1, 2, 1 / 3],
    "query_weight": [0.5, 1e-300],
    "feature_names": ["price", "a,b", "Größe"],
}
FIELDS = ("document_ids", "comments", "sources", "titles", "query_texts", "sample_weight", "query_weight")


@pytest.fixture
def full() -> Dataset:
    return Dataset([[0.1, -0.0, np.nan], [1e-310, 3, 1e22], [5, np.nan, -7.25]], [2, 0, 0.1], **FULL)


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


# ---- round trips ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TABLES)
def test_everything_survives_a_round_trip(full: Dataset, kind: str, tmp_path: Path) -> None:
    write_table(full, tmp_path / "table", kind)
    back = read_table(tmp_path / "table", kind)
    assert back.X.tobytes() == full.X.tobytes()
    assert back.y.tobytes() == full.y.tobytes()
    assert back.query_ids.tolist() == full.query_ids.tolist()
    assert back.rows.tolist() == full.rows.tolist()
    assert back.feature_names == full.feature_names
    for field in FIELDS:
        assert getattr(back, field).tolist() == getattr(full, field).tolist(), field


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("packed", ["", ".gz", ".xz", ".bz2", ".zip"])
def test_compressed_files_are_written_and_read(full: Dataset, kind: str, packed: str, tmp_path: Path) -> None:
    write_table(full, tmp_path / f"table.{kind}{packed}", kind)
    assert read_table(tmp_path / f"table.{kind}{packed}", kind).X.tobytes() == full.X.tobytes()


@pytest.mark.parametrize("kind", TABLES)
def test_unjudged_sparse_data_without_names(kind: str, tmp_path: Path) -> None:
    data = Dataset(sparse.csr_matrix(np.diag([1.5, 0, 2])), qid=[3, 3, -1])
    write_table(data, tmp_path / "table", kind)
    back = read_table(tmp_path / "table", kind)
    assert not back.is_judged
    assert back.X.tolist() == [[1.5, 0, 0], [0, 0, 0], [0, 0, 2]]
    assert back.feature_names == ("f1", "f2", "f3")
    assert back.query_ids.tolist() == [3, -1]


@pytest.mark.parametrize("kind", TABLES)
def test_float32(kind: str, tmp_path: Path) -> None:
    X = np.array([[0.1, 3e38], [np.nan, -2]], np.float32)
    write_table(Dataset(X, [0, 1], [1, 1]), tmp_path / "table", kind)
    back = read_table(tmp_path / "table", kind, dtype="float32")
    assert back.X.dtype == np.float32
    assert back.X.tobytes() == X.tobytes()
    kept = read_table(tmp_path / "table", kind)
    assert kept.X.dtype == (np.float64 if kind in ("csv", "tsv") else np.float32)
    assert np.array_equal(kept.X, X, equal_nan=True)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "qid", [["7", "8", "7"], [7, 8, 7], [0.5, 1.5, 0.5], np.array(["2020-01-01", "2021-01-01", "2020-01-01"], "M8[D]")]
)
def test_ids_keep_their_type_in_parquet_and_arrow(kind: str, qid: object, tmp_path: Path) -> None:
    data = Dataset(np.eye(3), [1, 0, 1], qid)
    write_table(data, tmp_path / "table", kind)
    assert read_table(tmp_path / "table", kind).query_ids.tolist() == data.query_ids.tolist()


def test_csv_reads_integers_as_ids_only_when_all_are_written_so(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "qid,docid,f\n1,01,3\n-2,2,4\n")
    data = read_table(path, "csv")
    assert data.query_ids.tolist() == [1, -2]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["01", "2"]


# ---- reading --------------------------------------------------------------------------------------------------------


def test_cells_of_a_csv_file(tmp_path: Path) -> None:
    text = '\ufeff"label",qid,"a ""b""",c\r\n1,q,NULL, 2 \r\n\r\n0.5,"r,s",,nan\r\n'
    data = read_table(write(tmp_path / "a.csv", text), "csv")
    assert data.feature_names == ('a "b"', "c")
    assert data.query_ids.tolist() == ["q", "r,s"]
    assert np.array_equal(data.X, [[np.nan, 2], [np.nan, np.nan]], equal_nan=True)
    assert data.y.tolist() == [1, 0.5]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_with_other_names(kind: str, tmp_path: Path) -> None:
    data = Dataset(np.arange(8.0).reshape(2, 4), qid=[1, 1], feature_names=["relevance", "sku", "x", "junk"])
    write_table(data, tmp_path / "a", kind)
    back = read_table(tmp_path / "a", kind, columns={"relevance": "label", "sku": "docid", "junk": None})
    assert back.y.tolist() == [0, 4]
    assert back.document_ids is not None
    assert [float(value) for value in back.document_ids] == [1, 5]
    assert back.feature_names == ("x",)
    with pytest.raises(OptionError, match="unknown meaning of a column 'labels'; did you mean label"):
        read_table(tmp_path / "a", kind, columns={"relevance": "labels"})
    with pytest.raises(FormatError, match="expected a column 'rel', got columns qid, relevance, sku, x, junk"):
        read_table(tmp_path / "a", kind, columns={"rel": "label"})
    with pytest.raises(FormatError, match="expected one column that is the qid, got 'qid' and 'sku'"):
        read_table(tmp_path / "a", kind, columns={"sku": "qid"})


@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("TRUE", "FALSE")])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_may_be_flags(kind: str, yes: str, no: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"qid": [1, 1, 1], "label": [yes, no, yes], "f": [1.0, 2.0, 3.0]})
    getattr(table, f"to_{kind}")(tmp_path / f"a.{kind}", index=False)
    assert ar.load(tmp_path / f"a.{kind}").y.tolist() == [1, 0, 1]
    assert Dataset(table).y.tolist() == [1, 0, 1]
    with pytest.raises(FormatError, match=r"b.csv:3: expected a number from 0 up in column 'label', got ''"):
        ar.load(write(tmp_path / "b.csv", f"qid,label,f\n1,{yes},1\n1,,2\n"))


def test_many_rows_cross_the_chunks(tmp_path: Path) -> None:
    n = 20_001
    X = np.random.default_rng(0).normal(size=(n, 2))
    data = Dataset(X, np.arange(n) % 3, qid=np.arange(n) % 7)
    write_table(data, tmp_path / "a.csv", "csv")
    back = read_table(tmp_path / "a.csv", "csv")
    assert back.X.tobytes() == data.X.tobytes()
    with (tmp_path / "a.csv").open("a") as file:
        file.write("0,1,2,x\n")
    with pytest.raises(FormatError, match=rf"a.csv:{n + 2}: expected a finite number in column 'f2', got 'x'"):
        read_table(tmp_path / "a.csv", "csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("qid,price\n1,2\n1,abc\n", ":3: expected a finite number in column 'price', got 'abc'"),
        ("qid,price\n1,inf\n", ":2: expected a finite number in column 'price', got 'inf'"),
        ("qid,price\n1,1e999\n", ":2: expected a finite number in column 'price', got '1e999'"),
        ("qid,price\n1,2\n1,1_000\n", ":3: expected a finite number in column 'price', got '1_000'"),
        ("qid,price\n1,2\n1,\u0661\n", ":3: expected a finite number in column 'price', got '\u0661'"),
        ("label,qid,f\n-1,1,2\n", ":2: expected a number from 0 up in column 'label', got '-1'"),
        ("label,qid,f\n1,1,2\n,1,2\n", ":3: expected a number from 0 up in column 'label', got ''"),
        ("label,qid,f\nx,1,2\n", ":2: expected a number from 0 up in column 'label', got 'x'"),
        ("sample_weight,qid,f\n-1,1,2\n", ":2: expected a number from 0 up in column 'sample_weight', got '-1'"),
        ("qid,f\n1,2\n,2\n", ":3: expected a query id in column 'qid', got ''"),
        ("qid,f\n1,2\n1\n", ":3: expected 2 cells, as many as there are column names, got 1"),
        ('qid,title,f\n1,"a\nb",2\n1,c,x\n', ":4: expected a finite number in column 'f', got 'x'"),
        ('qid,f\n1,"a\n', ":2: expected delimited text, got unexpected end of data"),
        ("label,a,b\n1,2,3\n", ":1: expected a column 'qid', got columns label, a, b"),
        ("qid,label\n1,2\n", ":1: expected at least one column that is a feature, got columns qid, label"),
        ("qid,f,f\n1,2,3\n", ":1: expected columns of different names, got 'f' twice"),
        (",qid\n0,1\n", ":1: expected at least one column that is a feature, got columns Unnamed: 0, qid"),
        ("qid,f\n", ": expected rows under the names of the columns, got none"),
        ("", ": expected a line with the names of the columns, got an empty file"),
        ("qid,f\n1,\0\n", ":2: expected text, got a NUL byte"),
        ("qid,query_weight,f\n1,2,3\n1,4,5\n", ": query_weight: expected one value in a query, got several in query 1"),
        ("sample_weight,qid,f\n0,1,2\n", ": sample_weight: expected weights >= 0, not all zero"),
    ],
)
def test_bad_csv_is_refused_with_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(InputError) as caught:
        read_table(path, "csv")
    assert f"{path}{message}" in str(caught.value)


def test_an_empty_text_is_not_counted_as_a_category(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "qid,brand\n" + "".join(f"1,{brand}\n" for brand in ("red", "", "blue", ""))
    assert read_table(write(tmp_path / "a.csv", text), "csv").categories == {"brand": ("blue", "red")}
    assert "categories 'brand' (2)" in caplog.text


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("qid,f,g\n1,2,x\n1,3,é\n".encode("latin-1"))
    assert read_table(tmp_path / "a.csv", "csv").categories == {"g": ("x", "é")}  # taken as cp1252
    with pytest.raises(FormatError, match=r"a.csv:3: expected UTF-8 text, got byte 0xe9"):
        read_table(tmp_path / "a.csv", "csv", written=Given(encoding="utf-8"))


def test_a_number_too_large_for_float32(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "qid,f\n1,1e300\n")
    with pytest.raises(InputError, match=r"a.csv: X: expected finite numbers"):
        read_table(path, "csv", dtype="float32")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_arrow_columns_of_many_types(kind: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table(
        {
            "qid": pa.array(["a", "a", "b"]).dictionary_encode(),
            "title": ["x", None, "y"],
            "whole": pa.array([1, None, 3], pa.int16()),
            "flag": pa.array([True, None, False]),
            "half": pa.array([1.5, None, float("nan")], pa.float32()),
        }
    )
    if kind == "parquet":
        pyarrow.parquet.write_table(table, tmp_path / "a")
    else:
        pyarrow.feather.write_feather(table, str(tmp_path / "a"))
    data = read_table(tmp_path / "a", kind)
    expected = [[1, 1, 1.5], [np.nan, np.nan, np.nan], [3, 0, np.nan]]
    assert np.array_equal(data.X, expected, equal_nan=True)
    assert data.titles is not None
    assert data.titles.tolist() == ["x", "", "y"]
    assert data.query_ids.tolist() == ["a", "b"]


def test_an_arrow_stream_is_read_too(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.table({"qid": [1, 2], "f": [0.5, 0.25]})
    with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table)
    assert read_table(tmp_path / "a.arrow", "arrow").X.tolist() == [[0.5], [0.25]]


def test_texts_and_other_names_in_a_parquet_file(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"qid": [1, 2], "brand": ["a", "b"]}), tmp_path / "a.parquet")
    assert read_table(tmp_path / "a.parquet", "parquet").categories == {"brand": ("a", "b")}
    pyarrow.parquet.write_table(pa.table({"query": [1, 2], "f": [1, 2]}), tmp_path / "b.parquet")
    assert read_table(tmp_path / "b.parquet", "parquet").query_ids.tolist() == [1, 2]
    pyarrow.parquet.write_table(pa.table({"search": [1, 2], "f": [1, 2]}), tmp_path / "c.parquet")
    with pytest.raises(FormatError, match=r"c.parquet: expected a column 'qid', got columns search, f; give one with"):
        read_table(tmp_path / "c.parquet", "parquet")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_damaged_file_is_refused(full: Dataset, kind: str, tmp_path: Path) -> None:
    write_table(full, tmp_path / "whole", kind)
    whole = (tmp_path / "whole").read_bytes()
    for damaged in (b"", b"PAR1", whole[: len(whole) // 2], whole[:-5], b"x" * 100, b"ARROW1" + bytes(50)):
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(FormatError, match=f"damaged: expected a complete {kind} file, got"):
            read_table(tmp_path / "damaged", kind)


def test_a_changed_byte_in_a_parquet_page_is_noticed(tmp_path: Path) -> None:
    data = Dataset(np.random.default_rng(0).normal(size=(500, 3)), qid=np.arange(500) // 10)
    write_table(data, tmp_path / "a.parquet", "parquet")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[len(content) // 2] ^= 0x10
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(FormatError, match=r"a.parquet: expected a complete parquet file"):
        read_table(tmp_path / "a.parquet", "parquet")


# ---- writing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"qid": [7, "7"]}, "qid: expected 2 ids with different texts for a delimited file, got 1"),
        ({"qid": ["", "7"]}, "qid: expected 2 ids with different texts for a delimited file, got 2, one of them empty"),
        ({"qid": ["a", "b\0c"]}, "qid: expected ids that UTF-8 text can hold"),
        ({"qid": [1, 1], "feature_names": ["a", "label"]}, "feature_names: expected names that are not reserved"),
        ({"qid": [1, 1], "feature_names": ["a", ""]}, "feature_names: expected names that are not reserved"),
    ],
)
def test_what_csv_cannot_hold_is_refused(arguments: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        write_table(Dataset(np.eye(2), [1, 0], **arguments), tmp_path / "a.csv", "csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("qid", [[7, "7"], [(1, 2), (3, 4)], [2**80, 1]])
def test_what_parquet_cannot_hold_is_refused(qid: list, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="qid: expected values of one plain type, got"):
        write_table(Dataset(np.eye(2), [1, 0], qid), tmp_path / "a.parquet", "parquet")
    assert list(tmp_path.iterdir()) == []


def test_preferences_are_left_out_with_a_warning(tmp_path: Path) -> None:
    data = Dataset(np.eye(2), qid=[1, 1], preferences=[[0, 1]])
    with pytest.warns(ArgrankWarning, match="a table cannot hold preferences"):
        write_table(data, tmp_path / "a.csv", "csv")
    assert read_table(tmp_path / "a.csv", "csv").n_documents == 2


@pytest.mark.parametrize("kind", TABLES)
def test_a_failing_write_leaves_the_old_file_and_nothing_else(
    full: Dataset, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "table"
    target.write_text("old")
    genuine = io.BufferedWriter.write

    class Full(io.BufferedWriter):
        def write(self, buffer) -> int:  # type: ignore[no-untyped-def]
            genuine(self, bytes(buffer)[: len(buffer) // 2])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("argrank._files.os.fdopen", lambda descriptor, mode: Full(io.FileIO(descriptor, "w")))
    with pytest.raises(InputError, match="table: cannot be written: No space left"):
        write_table(full, target, kind)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_an_unknown_kind_is_refused(full: Dataset, tmp_path: Path) -> None:
    with pytest.raises(
        OptionError, match="kind: expected 'arrow', 'csv', 'parquet' or 'tsv', got 'cvs'; did you mean 'csv'"
    ):
        write_table(full, tmp_path / "a", "cvs")


# ---- arbitrary bytes ------------------------------------------------------------------------------------------------


def complaint(path: Path, kind: str) -> str | None:
    try:
        read_table(path, kind)
    except ArgrankError as error:
        return str(error)
    return None


csv_like = st.text("qidlabel,\"\n\r\t 01.-eNUL'é\0", max_size=80).map(lambda text: ("qid,f\n" + text).encode())


odd = st.sampled_from(
    [
        "",
        "1",
        "-0",
        " 2 ",
        "+.5e1",
        "NULL",
        "nan",
        "inf",
        "1e999",
        "1_0",
        "\u0661",
        "x",
        "0x10",
        "7\u00a0",
        "1j",
        "3.",
        "\x1c4",
    ]
)


@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("tsv", "\t")])
@given(st.lists(st.tuples(odd, odd, odd, odd), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60)
def test_cells_mean_the_same_with_and_without_quotes(
    tmp_path_factory: pytest.TempPathFactory, kind: str, delimiter: str, rows: list[tuple[str, ...]], end: str
) -> None:
    """Lines without quotes are converted another, faster way."""
    path = tmp_path_factory.mktemp("quotes") / "a"

    def outcome(mark: str) -> tuple[object, ...]:
        lines = [["label", "qid", "docid", "f"], *rows]
        text = end.join(delimiter.join(f"{mark}{cell}{mark}" for cell in cells) for cells in lines)
        path.write_bytes(text.encode())
        said = complaint(path, kind)
        if said is not None:
            return (said,)
        data = read_table(path, kind)
        return data.X.tobytes(), data.y.tobytes(), data.query_ids.tolist(), data.document_ids.tolist()

    assert outcome("") == outcome('"')


@given(st.one_of(st.binary(max_size=80), csv_like), st.sampled_from(TABLES))
@settings(max_examples=150)
def test_arbitrary_bytes_give_a_result_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, kind: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a"
    path.write_bytes(content)
    said = complaint(path, kind)
    assert said is None or str(path) in said


@given(st.data())
@settings(max_examples=60)
def test_damaged_parquet_and_arrow_files_give_a_result_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(["parquet", "arrow"]))
    path = tmp_path_factory.mktemp("damage") / "a"
    write_table(Dataset(np.eye(4), [1, 0, 1, 0], ["a", "a", "b", "b"]), path, kind)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    said = complaint(path, kind)
    assert said is None or str(path) in said


def test_a_mark_that_another_column_shows_is_not_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    alone = read_table(write(tmp_path / "a.csv", "qid,label,x\n1,0,1.234\n1,1,2.345\n"), "csv")
    assert alone.X.tolist() == [[1.234], [2.345]]
    assert "'1.234' in 'x' is read as 1.234, not 1234 (--decimal ',' would)" in caplog.text
    caplog.clear()
    other = read_table(write(tmp_path / "b.csv", "qid,label,x,y\n1,0,1.234,0.5\n1,1,2.345,1.5\n"), "csv")
    assert (other.X[:, 0].tolist(), caplog.text) == ([1.234, 2.345], "")


def test_ids_by_name_stay_as_they_are_written(tmp_path: Path) -> None:
    zeros = read_table(write(tmp_path / "a.csv", "qid,label,sku,x\n1,0,00123,1\n1,1,00124,2\n"), "csv")
    assert zeros.document_ids.tolist() == ["00123", "00124"]
    numbers = read_table(write(tmp_path / "b.csv", "qid,label,sku,x\n1,0,123,1\n1,1,124,2\n"), "csv")
    assert numbers.document_ids.tolist() == [123, 124]


@pytest.mark.parametrize("cell", ["inf", "-nan", "1_0", "0x1F", "1e400"])
def test_what_pyarrow_would_read_otherwise_is_read_by_ourselves(cell: str, tmp_path: Path) -> None:
    rows = "".join(f"1,{row % 2},{row}.5\n" for row in range(9000))
    path = write(tmp_path / "a.csv", f"qid,label,x\n{rows}1,0,{cell}\n")
    with pytest.raises(FormatError, match=r"a.csv:9002: expected a finite number in column 'x'"):
        read_table(path, "csv")


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_numbers_go_straight_into_the_matrix(kind: str, tmp_path: Path) -> None:
    """Batches, row groups, few columns at a time, texts between numbers, more rows than the first ones suggest."""
    rng = np.random.default_rng(0)
    n = 30_000
    columns = {f"f{number}": rng.standard_normal(n).round(4) for number in range(19)}
    columns["f3"][rng.random(n) < 0.1] = np.nan
    columns["f0"][:2000] = -1.2345678901234567e-105  # long rows first
    frame = pd.DataFrame({"qid": np.arange(n) // 10, "label": np.arange(n) % 3, **columns})
    frame.insert(5, "brand", np.array(["acme", "zeta"])[np.arange(n) % 2])
    path = tmp_path / f"a.{kind}"
    {"csv": lambda: frame.to_csv(path, index=False), "arrow": lambda: frame.to_feather(path)}.get(
        kind, lambda: frame.to_parquet(path, row_group_size=12_345)
    )()
    data = read_table(path, kind)
    expected = frame.drop(columns=["qid", "label"]).assign(brand=np.arange(n) % 2)
    assert data.feature_names == tuple(expected.columns)
    np.testing.assert_array_equal(data.X, expected.to_numpy(float))
    assert read_table(path, kind, features=["f9", "f1"]).X.tobytes() == expected[["f9", "f1"]].to_numpy().tobytes()


def test_a_page_that_pretends_to_be_large_takes_no_memory(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"qid": [1, 1, 2], "label": [0, 1, 0], "f": [0.5, 1.5, 2.5]}), path)
    start = pq.ParquetFile(path).metadata.row_group(0).column(2).dictionary_page_offset
    content = path.read_bytes()
    head = content[start : start + 6]  # of Thrift: kind of page, then its sizes, unpacked and packed, as short numbers
    assert head[:3] + head[4:5] == b"\x15\x04\x15\x15"
    size = b"\x80\xd2\x93\xad\x07"  # 980 million
    path.write_bytes(content[: start + 5] + size + content[start + 6 :])
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "500MB")
    with pytest.raises(ArgrankError, match=r"a\.parquet"):
        read_table(path, "parquet")
    assert pa.default_memory_pool().max_memory() < 500e6
