"""load and dump: the extension chooses, every format gives back what it was given, and mistakes are plain."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import argrank as ar
from argrank.data.checks import LARGEST_LABEL
from argrank.errors import FormatError, InputError, OptionError

TABLES = ["csv", "tsv", "parquet", "arrow"]
EXTENSIONS = [".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".txt", ".dat", ".svm", ".letor", "", ".csv.gz"]

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
word = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="#"), min_size=1, max_size=4)
integer = st.integers(-(2**63) + 1, 2**63 - 1)
weight = st.floats(1e-300, 1e300)


@st.composite
def datasets(draw: st.DrawFn, ids: st.SearchStrategy[str], letor: bool = False) -> ar.Dataset:
    n, width = draw(st.integers(1, 6)), draw(st.integers(1, 3))

    def some(values: st.SearchStrategy[Any], count: int = n) -> Any:
        return draw(st.lists(values, min_size=count, max_size=count))

    qid = some(draw(st.sampled_from([ids, integer])))
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["document_ids"] = some(ids)
    if draw(st.booleans()):
        fields["sample_weight"] = some(weight)
    if not letor:
        n_queries = len(set(qid))
        choices = {"titles": some(text), "sources": some(ids), "query_texts": some(text, n_queries)}
        fields |= {name: values for name, values in choices.items() if draw(st.booleans())}
        if draw(st.booleans()):
            fields["query_weight"] = some(weight, n_queries)
    judged = letor or draw(st.booleans())
    y = some(st.floats(0, LARGEST_LABEL)) if judged else None
    X = np.array(some(st.one_of(finite, st.just(np.nan)), n * width)).reshape(n, width)
    return ar.Dataset(X, y, qid, **fields)


def contents(data: ar.Dataset) -> dict[str, Any]:
    """Everything in a Dataset, floats as bits; ids as texts, since text files do not tell 7 from "7"."""
    found: dict[str, Any] = {"X": data.X.tobytes(), "y": data.y.tobytes()}
    found["rows"] = data.to_caller(np.arange(data.n_documents)).tolist()
    for name in ("query_ids", "document_ids", "sources", "titles", "query_texts"):
        values = getattr(data, name)
        found[name] = None if values is None else [str(value) for value in values]
    for name in ("sample_weight", "query_weight"):
        values = getattr(data, name)
        found[name] = None if values is None else values.tobytes()
    return found


@pytest.mark.parametrize("kind", TABLES)
@given(datasets(text))
@settings(max_examples=40)
def test_tables_give_back_what_they_were_given(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: ar.Dataset
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"a.{kind}"
    ar.dump(data, path)
    assert contents(ar.load(path)) == contents(data)


@given(datasets(word, letor=True))
@settings(max_examples=40)
def test_all_formats_in_a_row_lose_nothing(tmp_path_factory: pytest.TempPathFactory, data: ar.Dataset) -> None:
    folder = tmp_path_factory.mktemp("chain")
    wanted = contents(data)
    for kind in ("txt", *TABLES, "txt.gz"):
        ar.dump(data, folder / f"a.{kind}")
        data = ar.load(folder / f"a.{kind}")
        assert contents(data) == wanted


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_extension_chooses(extension: str, tmp_path: Path) -> None:
    data = ar.Dataset([[0.5, np.nan], [1, 2]], [1, 0], ["a", "b"])
    ar.dump(data, tmp_path / f"file{extension}")
    assert contents(ar.load(tmp_path / f"file{extension}")) == contents(data)
    begin = (tmp_path / f"file{extension}").read_bytes()[:6]
    begins = {".csv": b"label,", ".tsv": b"label\t", ".parquet": b"PAR1", ".csv.gz": b"\x1f\x8b"}
    begins |= dict.fromkeys((".arrow", ".feather", ".ipc"), b"ARROW1")
    assert begin.startswith(begins.get(extension, b"1 qid:"))


def test_a_format_overrules_the_extension(tmp_path: Path) -> None:
    data = ar.Dataset([[0.5], [1]], [1, 0], ["a", "b"])
    ar.dump(data, tmp_path / "table.txt", format="csv")
    assert (tmp_path / "table.txt").read_text() == "label,qid,f1\n1,a,0.5\n0,b,1\n"
    assert ar.load(tmp_path / "table.txt", format="csv").n_documents == 2
    ar.dump(data, tmp_path / "labels", format="qrels")
    assert (tmp_path / "labels").read_text() == "a 0 0 1\nb 0 1 0\n"


@pytest.mark.parametrize(("kind", "content"), [("letor", b"1 qid:3 1:0.5\n"), ("csv", b"label,qid,f1\n1,3,0.5\n")])
def test_standard_input(kind: str, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    data = ar.load("-", format=None if kind == "letor" else kind)
    assert (data.X.tolist(), data.query_ids.tolist()) == ([[0.5]], [3])


def test_options_reach_the_readers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("rel,qid,f\n1,3,0.5\n")
    assert ar.load(tmp_path / "a.csv", columns={"rel": "label"}, dtype="float32").X.dtype == np.float32
    (tmp_path / "a.txt").write_text("1 qid:3 1:0.5\n")
    data = ar.load(tmp_path / "a.txt", dtype="float32", sparse=True, n_features=7, n_jobs=1, progress=False)
    assert data.is_sparse
    assert data.X.dtype == np.float32
    assert data.n_features == 7


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.csv", {"n_features": 3}, "options of LETOR text, got them for a csv file"),
        ("a.csv", {"sparse": True}, "options of LETOR text, got them for a csv file"),
        ("a.txt", {"columns": {"a": "qid"}}, "columns and features are options of tables with named"),
        ("a.txt", {"format": "parket"}, "unknown format 'parket'; did you mean parquet"),
        ("a.qrels", {}, "a TREC qrels file has no features"),
        ("a.run", {}, "a TREC run file has no features"),
    ],
)
def test_options_that_do_not_fit(name: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("qid,f\n1,2\n")
    with pytest.raises(OptionError, match=message):
        ar.load(tmp_path / name, **options)


def test_what_cannot_be_dumped(tmp_path: Path) -> None:
    data = ar.Dataset([[0.5]], [1], ["a"])
    with pytest.raises(OptionError, match="a TREC run needs scores"):
        ar.dump(data, tmp_path / "a.run")
    with pytest.raises(OptionError, match="expected the name of a file to write, got '-'"):
        ar.dump(data, "-")
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        ar.dump(data, tmp_path / "absent" / "a.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["absent.csv", "absent.parquet", "absent"])
def test_a_missing_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{name}: expected a file, got a name that does not exist"):
        ar.load(tmp_path / name)


@pytest.mark.parametrize("packed", [".gz", ".xz", ".bz2", ".zip"])
@pytest.mark.parametrize("kind", ["txt", "csv", "parquet"])
def test_a_damaged_archive(packed: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}{packed}"
    ar.dump(ar.Dataset(np.random.default_rng(0).random((40, 3)), np.ones(40), np.arange(40)), path)
    whole = path.read_bytes()
    half = len(whole) // 2
    for damaged in (whole[:half], b"nothing of the kind", whole[:half] + b"\xff\x00\x13" * 5 + whole[half + 15 :]):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="expected a complete archive, got "):
            ar.load(path)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a file or a pack, got a folder"):
        ar.load(tmp_path)


def test_real_data_through_all_formats(real_data: Path, tmp_path: Path) -> None:
    data = first = ar.load(real_data / "OHSUMED-LETOR3-null" / "S1.txt.xz")
    ar.dump(data, tmp_path / "first.txt")
    for kind in (*TABLES, "txt"):
        ar.dump(data, tmp_path / f"a.{kind}")
        data = ar.load(tmp_path / f"a.{kind}")
        assert contents(data) == contents(first)
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "first.txt").read_bytes()
