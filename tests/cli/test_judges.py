from __future__ import annotations

import json

import pytest

import argrank as ar
from argrank import cli


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two judges of four queries, who differ on two of them."""
    monkeypatch.chdir(tmp_path)
    expert = {f"q{q}": {"a": 2, "b": 0, "c": q % 2} for q in range(4)}
    model = {**expert, "q1": {"a": 0, "b": 2, "c": 1}, "q3": {"a": 2, "b": 1, "c": 1}}
    for name, judge in (("expert", expert), ("model", model)):
        lines = [f"{qid} 0 {document} {grade}\n" for qid, own in judge.items() for document, grade in own.items()]
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    (tmp_path / "segments.csv").write_text("qid,segment\nq0,even\nq1,odd\nq2,even\nq3,odd\n")
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["judges", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_prints_what_agreement_finds(files, capsys):
    assert run(capsys, "expert.qrels", "model.qrels") == (0, f"{ar.agreement('expert.qrels', 'model.qrels')}\n", "")


def test_options_reach_agreement(files, capsys):
    options = ("--weights", "linear", "--metric", "nominal", "--by", "segments.csv", "--format", "json")
    _, out, _ = run(capsys, "x=expert.qrels", "y=model.qrels", *options, "--again", "again.txt")
    by = {"q0": "even", "q1": "odd", "q2": "even", "q3": "odd"}
    judges = {"x": "expert.qrels", "y": "model.qrels"}
    assert json.loads(out) == ar.agreement(judges, weights="linear", metric="nominal", by=by).to_dict()
    assert (files / "again.txt").read_text() == "q1\nq3\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["expert.qrels"], "at least two judges, got 1"),
        (["expert.qrels", "expert.qrels"], "different names"),
        (["expert.qrels", "model.qrels", "--weights", "cubic"], "weights: expected 'linear' or 'quadratic'"),
        (["expert.qrels", "model.qrels", "--by", "none.csv"], "none.csv: cannot be read"),
        (["expert.qrels", "model.qrels", "--format", "pdf"], "format"),
    ],
)
def test_mistakes_are_one_line(files, capsys, arguments, error):
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert error in err
