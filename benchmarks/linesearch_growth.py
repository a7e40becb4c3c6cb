"""How the exact line search grows with the documents of a query: before and after, beside a sort and dense evaluation.

``python -m benchmarks linesearch_growth`` takes a few minutes and writes ``benchmarks/linesearch_growth.csv`` and the
table of docs/guide/tune.md. It needs the repository's history: "before" is the code of an older commit, which walks the
same lines in a process of its own; both take turns, on one thread. All times are CPU times, medians of repeats.

- ratios are to ``np.argsort`` of as many numbers as the new code has breakpoints;
- dense evaluation would evaluate every ranking: one evaluation between any two crossings of a query, n (n - 1) / 2 for
  each. Some are made, and their time is multiplied; their values are compared with those of the walk.

Bars: NDCG, AP and ERR of whole lists at most 4 times the sort, RR at most 5 times NDCG@10.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from scripts.page_tables import rows_of_page, write_table

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".csv")
SCRIPT, PAGE = "benchmarks/linesearch_growth", "guide/tune.md"
BEFORE = "06ba1b294585"  # the last commit before envelopes, counts by grade and the kernel of bpref
MEASURES = ("ndcg", "map", "err", "mrr", "auc", "bpref", "ndcg@10")
DOCUMENTS = (100, 200, 400, 800)
REPEATS, POINTS = 9, 50
SLOW = 2.0  # seconds of a walk that is not repeated; no longer lists are tried
COLUMNS = (
    "measure", "documents", "breakpoints", "before, ms", "after, ms", "sort, ms", "before / sort", "after / sort",
    "dense, s", "difference",
)  # fmt: skip


class Walker:
    """A process that walks with the code of one folder."""

    def __init__(self, source: Path) -> None:
        command = [sys.executable, str(ROOT / "benchmarks" / "_walks.py")]
        env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, do: str, **facts: Any) -> dict[str, float]:
        """Send a request and wait for the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"do": do, **facts}), file=self._process.stdin, flush=True)
        answer: dict[str, float] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def older_source(folder: str) -> Path:
    """Unpack the sources of the older commit."""
    packed = subprocess.run(["git", "archive", BEFORE, "src"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder, "src")


def short(value: float) -> str:
    """Return three digits of a number, all of those before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def cell(old: Walker | None, new: Walker, measure: str, n: int) -> dict[str, Any]:
    """Measure one row; without old code where that would take too long."""
    found = new.ask("prepare", measure=measure, documents=n)
    seconds: dict[str, list[float]] = {"before": [], "after": [], "sort": []}
    slow = False
    if old is not None:
        old.ask("prepare", measure=measure, documents=n)  # compiles, too
        seconds["before"].append(old.ask("walk")["seconds"])
        slow = seconds["before"][0] > SLOW
    for _ in range(REPEATS):
        if old is not None and not slow:
            seconds["before"].append(old.ask("walk")["seconds"])
        seconds["after"].append(new.ask("walk")["seconds"])
        seconds["sort"].append(new.ask("sort")["seconds"])
    dense = new.ask("dense", points=POINTS)
    after, sort = statistics.median(seconds["after"]), statistics.median(seconds["sort"])
    before = statistics.median(seconds["before"]) if seconds["before"] else None
    return dict(zip(COLUMNS, (
        measure, n, int(found["breakpoints"]), "" if before is None else short(1e3 * before), short(1e3 * after),
        short(1e3 * sort), "" if before is None else short(before / sort), short(after / sort),
        short(dense["seconds"] * n * (n - 1) / 2), f"{dense['difference']:.0e}",
    ), strict=True))  # fmt: skip


def run() -> None:
    """Write the table."""
    with tempfile.TemporaryDirectory() as folder, TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        old, new = Walker(older_source(folder)), Walker(ROOT / "src")
        for measure in MEASURES:
            slow = False
            for n in DOCUMENTS:
                row = cell(None if slow else old, new, measure, n)
                slow = slow or float(row["before, ms"] or 0) > 1e3 * SLOW
                writer.writerow(row)
                file.flush()
                print(*(f"{name} {value}" for name, value in row.items()), sep="; ", flush=True)
        old.close()
        new.close()
    write_table(PAGE, SCRIPT, rows_of_page(TABLE))
