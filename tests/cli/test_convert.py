"""argrank convert: every format to every other, one line about it, and no incomplete files."""

from __future__ import annotations

import io
import itertools
import sys
import types
from pathlib import Path

import pytest

from argrank.cli import main

LETOR = "1 qid:1 1:0.5 2:NULL #docid = a\n0 qid:1 1:3 2:1e-07 #docid = b\n2 qid:2 1:0 2:-7 #docid = a\n"
CSV = "label,qid,docid,comment,f1,f2\n1,1,a,docid = a,0.5,\n0,1,b,docid = b,3,1e-07\n2,2,a,docid = a,0,-7\n"


def convert(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["convert", *map(str, arguments)])
    return int(ended.value.code or 0)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_text(LETOR)
    return path


def test_letor_to_csv(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(source, tmp_path / "a.csv") == 0
    assert (tmp_path / "a.csv").read_text() == CSV
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"{tmp_path / 'a.csv'}: 2 queries, 3 documents, 2 features\n"


def test_through_every_format_and_back(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["source.txt", "a.csv", "a.tsv.gz", "a.parquet", "a.arrow", "a.feather", "b.csv.zip", "end"]
    for before, after in itertools.pairwise(names):
        assert convert(tmp_path / before, tmp_path / after, "-q") == 0
    assert (tmp_path / "end").read_text() == LETOR.replace("NULL", "nan")
    assert capsys.readouterr().err == ""
    assert convert(tmp_path / "b.csv.zip", tmp_path / "end") == 0  # without -q what is lost is told
    assert "end: LETOR text cannot hold feature names" in capsys.readouterr().err


def test_labels_to_qrels(source: Path, tmp_path: Path) -> None:
    assert convert(source, tmp_path / "a.qrels") == 0
    assert (tmp_path / "a.qrels").read_text() == "1 0 a 1\n1 0 b 0\n2 0 a 2\n"


def test_formats_by_option_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(CSV.encode())))
    assert convert("-", tmp_path / "a.dat", "--from", "csv", "--to", "tsv") == 0
    assert (tmp_path / "a.dat").read_text() == CSV.replace(",", "\t")


def test_a_file_onto_itself(source: Path) -> None:
    assert convert(source, source, "--to", "csv") == 0
    assert source.read_text() == CSV


@pytest.mark.parametrize(
    ("name", "content", "target", "message"),
    [
        ("a.csv", "qid,f\n1,2\n1,x\n", "b.txt", "a.csv:3: expected a finite number in column 'f', got 'x'"),
        ("a.csv", "label,qid,f\n1,2,3\n", "b.run", "a TREC run needs scores"),
        ("a.qrels", "1 0 a 1\n", "b.csv", "a TREC qrels file has no features"),
        ("a.parquet", "PAR1", "b.csv", "a.parquet: expected a complete parquet file, got"),
        ("a.csv.gz", "no archive", "b.csv", "a.csv.gz: expected a complete archive, got"),
        ("a.csv", "qid,f\n1,2\n", "no/b.csv", "cannot be written: No such file or directory"),
        ("a.csv", "qid,f\n1,2\n", "-", "expected the name of a file to write, got '-'"),
        ("a.csv", "qid,docid,f\n1,a b,2\n", "b.qrels", "expected judged data"),
    ],
)
def test_mistakes_end_in_one_line_and_leave_no_file(
    name: str, content: str, target: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    assert convert(tmp_path / name, target if target == "-" else tmp_path / target) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("argrank: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_missing_file_and_an_unknown_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(tmp_path / "absent", tmp_path / "a.csv") == 2
    assert (
        capsys.readouterr().err == f"argrank: {tmp_path / 'absent'}: expected a file, got a name that does not exist\n"
    )
    (tmp_path / "a").write_text(LETOR)
    assert convert(tmp_path / "a", tmp_path / "b", "--to", "xlsx") == 2
    assert capsys.readouterr().err.startswith("argrank: unknown format 'xlsx'; ")
    assert not (tmp_path / "b").exists()
