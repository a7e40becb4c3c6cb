"""The pages of docs/how-to run as they stand: Python blocks and commands, one after the other, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank import cli

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "how-to"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")


@pytest.fixture(scope="module")
def few_queries():
    return ar.load_bundled().select(np.arange(60))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")  # of so few queries
def test_every_block_runs(path, tmp_path, monkeypatch, few_queries, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ar, "load_bundled", lambda: few_queries)
    page, names = path.read_text("utf-8"), {}
    blocks = re.findall(r"```(python|sh)\n(.*?)```", page, re.DOTALL)
    assert sum(language == "sh" for language, _ in blocks) >= 2
    for language, block in blocks:
        if language == "python":
            exec(compile(block, str(path), "exec"), names)
        else:
            for line in block.splitlines():
                run(line, capsys)


def run(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *words = shlex.split(line)
    assert program == "argrank"
    if words[:2] == ["train", "judged.csv"] and "-r" not in words:
        words += ["-p", "max_trees=24"]  # a short blend
    with pytest.raises(SystemExit) as done:
        cli.main(words)
    printed = capsys.readouterr()
    assert done.value.code == 0, f"{line}\n{printed.err}"


def test_every_page_is_listed():
    index = (FOLDER / "index.md").read_text("utf-8")
    assert {f"({path.name})" for path in PAGES} == set(re.findall(r"\([\w-]+\.md\)", index))
