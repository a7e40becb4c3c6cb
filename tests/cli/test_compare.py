from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank import cli


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Thirty queries, and three systems of falling quality."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 180)
    lines = [f"{label} qid:{row // 6} 1:{rng.random():.3f}\n" for row, label in enumerate(labels)]
    (tmp_path / "data.txt").write_text("".join(lines))
    for name, noise in (("good.txt", 0.5), ("fair.v2.txt", 2), ("poor.txt", 50)):
        ar.write_scores(labels + noise * rng.normal(size=180), tmp_path / name)
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["compare", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def expected(names, measures=("ndcg@10", "map", "mrr@10"), **options):
    data = ar.load("data.txt")
    return ar.compare({name: ar.read_scores(file, data) for name, file in names.items()}, data, measures, **options)


def test_systems_are_called_by_their_files(files, capsys):
    code, out, err = run(capsys, "data.txt", "good.txt", "fair.v2.txt")
    assert (code, err) == (0, "")
    assert out == f"{expected({'good': 'good.txt', 'fair.v2': 'fair.v2.txt'})}\n"


def test_every_option_arrives(files, capsys):
    code, out, err = run(
        capsys, "data.txt", "A=good.txt", "B=fair.v2.txt", "C=poor.txt", "-m", "map,ndcg@5", "--baseline", "B",
        "--test", "randomisation", "--convention", "letor4", "--correction", "none", "--level", "0.1",
        "--resamples", "500", "--seed", "3", "--format", "json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = expected(
        {"A": "good.txt", "B": "fair.v2.txt", "C": "poor.txt"}, ["map", "ndcg@5"], baseline="B", test="randomisation",
        convention="letor4", correction="none", level=0.1, n_resamples=500, random_state=3,
    )  # fmt: skip
    assert json.loads(out) == result.to_dict()


@pytest.mark.parametrize(
    ("name", "sign"), [("markdown", "| --- |"), ("latex", r"\begin{tabular}"), ("html", "<table>"), ("text", "system")]
)
def test_formats_to_a_file(files, capsys, name, sign):
    arguments = ("data.txt", "good.txt", "poor.txt", "--resamples", "100", "--format", name, "-o", "table.out")
    assert run(capsys, *arguments) == (0, "", "")
    text = (files / "table.out").read_text()
    assert sign in text
    assert text == expected({"good": "good.txt", "poor": "poor.txt"}, n_resamples=100).render(name) + "\n"


def test_a_file_with_an_equals_sign_in_its_name(files, capsys):
    (files / "C=1.txt").write_text((files / "good.txt").read_text())
    code, out, _ = run(capsys, "data.txt", "C=1.txt", "poor.txt", "--resamples", "100")
    assert code == 0
    assert "a  C=1" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["good.txt"], "at least two systems"),
        (["good.txt", "good.txt"], "good.txt: expected systems with different names, got 'good' twice"),
        (["good.txt", "x=absent.txt"], "absent.txt: cannot be read"),
        (["good.txt", "poor.txt", "--baseline", "god"], "unknown baseline 'god'; did you mean good"),
        (["good.txt", "poor.txt", "--test", "anova"], "unknown test 'anova'; known: randomisation, t, wilcoxon"),
        (["good.txt", "poor.txt", "--format", "pdf"], "unknown format 'pdf'"),
        (["good.txt", "poor.txt", "--level", "95"], "level: expected a number from 1e-06 up, below 1, got 95.0"),
        ([], "SCORES"),
    ],
)
def test_mistakes_are_one_line(files, capsys, arguments, message):
    code, out, err = run(capsys, "data.txt", *arguments, "-o", "table.out")
    assert (code, out) == (2, "")
    assert err.startswith("argrank: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (files / "table.out").exists()


def test_power_is_told_beside_the_comparison(files, capsys):
    _, text, _ = run(capsys, "data.txt", "good.txt", "poor.txt", "-m", "map", "--power", "--difference", "0.05")
    assert "queries for 0.05" in text
    assert "judging again" in text
    code, text, _ = run(capsys, "data.txt", "good.txt", "poor.txt", "-m", "map", "--power", "--format", "json")
    assert code == 0
    found = json.loads(text)
    assert found["pairs"][0]["measure"] == found["power"]["rows"][0]["measure"] == "map"
    code, _, told = run(capsys, "data.txt", "good.txt", "poor.txt", "--power", "--difference", "-1")
    assert code == 2
    assert told == "argrank: difference: expected a positive number, got -1.0\n"
