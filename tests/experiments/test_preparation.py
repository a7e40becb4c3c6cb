"""The guide's figures on preparation are those that the experiment wrote."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def figures() -> dict[tuple[str, str, str], tuple[str, str]]:
    with (ROOT / "experiments/choosing/preparation.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    wanted = [row for row in rows if row["prepared gains"]]
    return {
        (row["data"], row["ranker"], row["way"]): (
            f"{float(row['prepared gains']):+.3f}".replace("0.", "."),
            f"{float(row['standard error']):.3f}".replace("0.", "."),
        )
        for row in wanted
    }


@pytest.mark.parametrize("data", ["OHSUMED-LETOR3-null", "generated shop"])
def test_the_guide_has_the_figures_of_the_experiment(data: str) -> None:
    text, found = (ROOT / "docs/guide/models.md").read_text(), figures()
    for ranker in ("rank-svm", "listnet", "regression"):
        ways = ("rows dropped", "columns dropped", "missing is 0")
        cells = " | ".join("{} ± {}".format(*found[data, ranker, way]) for way in ways)
        assert f"| {ranker} | {cells} |" in text
    for way in ("members dropped", "target opensearch"):
        gain, error = found[data, "auto", way]
        assert f"{gain.removeprefix('+')} ± {error}" in text
