"""Every command and snippet of the README works as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def block(heading: str) -> str:
    part = README[README.index(f"## {heading}\n") :]
    return re.search(r"```\w*\n(.*?)```", part, re.DOTALL)[1]


def commands() -> list[str]:
    lines = [line.partition("  #")[0].strip() for line in block("On the command line").splitlines()]
    return [line for line in lines if line]


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # the best C may lie at a border
def test_the_python_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block("Twelve lines"), "README.md", "exec"), {"__name__": "__main__"})
    output = capsys.readouterr().out
    assert "ndcg@10" in output
    assert "all together" in output
    assert (tmp_path / "report.html").exists()


def write_runs(data: ar.Dataset, judgements: str, runs: dict[str, int]) -> None:
    """Write labels and some columns as TREC files."""
    documents = [(qid, f"d{row}") for row, qid in enumerate(np.repeat(data.query_ids, data.sizes))]
    lines = [f"{qid} 0 {name} {label:.0f}" for (qid, name), label in zip(documents, data.y, strict=True)]
    Path(judgements).write_text("\n".join(lines) + "\n", "utf-8")
    for path, column in runs.items():
        lines = [f"{qid} Q0 {name} 1 {s} x" for (qid, name), s in zip(documents, data.X[:, column], strict=True)]
        Path(path).write_text("\n".join(lines) + "\n", "utf-8")


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # little data: the best C may lie at a border
def test_the_commands_run_one_after_the_other(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(30, (8, 12), 5, random_state=4)
    parts = dict(zip(("train", "vali", "test"), data.split(0.5, 0.25, 0.25), strict=True))
    little = ar.make_ranking(15, 6, 3, random_state=4)  # a spread of rankers trains on it, in five folds
    for name, part in {**parts, "data": little}.items():
        ar.dump(part, f"{name}.txt")
    for number, name in enumerate("ab"):
        ar.write_scores(parts["test"].X[:, number], f"{name}.txt")
    write_runs(data, "q.qrels", {"bm25.run": 0, "embedding.run": 1})
    for judge in ("expert", "model"):
        write_runs(data, f"{judge}.qrels", {})
    named = {shlex.split(line)[1] for line in commands()}
    assert {"inspect", "train", "predict", "evaluate", "compare", "report", "cv", "convert", "ranklib"} <= named
    for line in commands():
        program, *arguments = shlex.split(line)
        assert program == "argrank"
        with pytest.raises(SystemExit) as done:
            cli.main(arguments)
        assert done.value.code == 0, (line, capsys.readouterr().err)
    for made in ("model.json", "scores.txt", "report.html", "data-report.html", "train.parquet", "model.txt"):
        assert (tmp_path / made).stat().st_size > 0


def test_the_make_targets_exist():
    targets = re.findall(r"`?make (\w+)", README)
    assert {"demo", "test", "docs", "bench"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_extras_and_links_exist():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    for extra in ("all", "frames", "plot", "trees"):
        assert f"\n{extra} = [" in project
    for link in re.findall(r"\]\(([\w./-]+)\)", README):
        assert (ROOT / link).exists(), link
