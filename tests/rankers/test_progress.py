"""Progress bars: a share and the time left where they are known, stages and members of auto, nothing when quiet."""

from __future__ import annotations

import re
from typing import Any

import pytest

import argrank as ar
from argrank import _progress


class Terminal:
    """Standard error that says that it is a terminal, and keeps what is written."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of standard error."""
    found = Terminal()
    monkeypatch.setattr("sys.stderr", found)
    monkeypatch.setattr(_progress, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    return found


DATA = ar.make_ranking(20, 15, 4, random_state=0)


@pytest.mark.parametrize(
    ("name", "options"),
    [("lambda-mart", {"n_trees": 8}), ("rankboost", {"n_rounds": 8}), ("adarank", {"n_rounds": 8})],
)
def test_rounds_show_their_share(name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = shown(monkeypatch)
    ranker = ar.make_ranker(name, **options).fit(DATA)
    assert "training" in terminal.text
    shares = [int(share) for share in re.findall(r"(\d+)%", terminal.text)]
    assert shares[-1] == round(100 * ranker.n_iter_ / 8)
    terminal.text = ""
    ar.make_ranker(name, verbose=-1, **options).fit(DATA)
    assert terminal.text == ""


def test_auto_shows_members_and_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    shares: list[float] = []

    class Recorded(_progress.Progress):
        """A bar that keeps what it is told: a terminal shows it ten times a second."""

        def advance(self, amount: float, note: str = "") -> None:
            super().advance(amount, note)
            notes.append(note)
            shares.append(self.done / self.total)

    monkeypatch.setattr("argrank.trials.auto.search.Progress", Recorded)
    ar.make_ranker("auto", members=["rank-svm", "mart"], max_trees=40, n_folds=2).fit(DATA)
    assert any(re.match(r"mart, stage 1, .* trees: .*; best so far", note) for note in notes)
    assert any(note.endswith(" on all data") for note in notes)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
