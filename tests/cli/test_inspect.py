from __future__ import annotations

import json

import pytest

from argrank import cli

TRAIN = """\
2 qid:1 1:0.5 2:1
0 qid:1 1:0.25 2:1
0 qid:2 1:0.75 2:1
0 qid:2 1:NULL 2:1
"""
TEST = """\
0 qid:9 1:0.25 2:1
2 qid:9 1:0.5 2:1
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(TRAIN)
    (tmp_path / "test.txt").write_text(TEST)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["inspect", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.usefixtures("files")
def test_prints_facts_and_findings(capsys):
    code, out, err = run(capsys, "train.txt")
    assert (code, err) == (0, "")
    assert "2 queries, 4 documents" in out
    assert "1 value is missing" in out
    assert "1 of 2 queries has no relevant document" in out
    assert "ar.impute" in out


@pytest.mark.usefixtures("files")
def test_finds_a_leak_between_files(capsys):
    code, out, _ = run(capsys, "train.txt", "test.txt", "--quiet")
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    assert {line[0] for line in lines} == {"error", "warning"}
    leak = next(line for line in lines if line[1] == "shared-queries")
    assert leak[2] == "1"
    assert leak[3].startswith("train.txt and test.txt: ")


@pytest.mark.usefixtures("files")
def test_json_has_everything(capsys):
    code, out, _ = run(capsys, "train.txt", "test.txt", "--json")
    assert code == 0
    found = json.loads(out)
    assert [one["file"] for one in found["files"]] == ["train.txt", "test.txt"]
    assert found["files"][0]["features"][0]["missing"] == 1
    assert "missing" in {finding["check"] for finding in found["findings"]}


def test_a_file_that_is_not_there(capsys, tmp_path):
    code, out, err = run(capsys, str(tmp_path / "none.txt"))
    assert (code, out) == (2, "")
    assert err.startswith("argrank: ")
    assert err.count("\n") == 1
