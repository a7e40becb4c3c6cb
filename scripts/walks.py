"""How much of argrank four everyday calls go through: files, hops and functions, as a table.

A file counts where one of its functions is called. A hop is a call from a function of one file to one of another file,
counted once however often it happens. Everything is imported and compiled before, so that only the work itself counts.

    python scripts/walks.py            # the table
    python scripts/walks.py evaluate   # every file of one walk in the order in which it is reached, with its functions
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import argrank as ar
from argrank import cli

ROOT = str(Path(ar.__file__).parent)
Place = tuple[str, str]  # file and function


class Walk(NamedTuple):
    """The functions that were called, in order of their first call, and the hops between files."""

    functions: dict[Place, None]
    hops: set[tuple[Place, Place]]

    @property
    def files(self) -> list[str]:
        """The files in the order in which they were reached."""
        return list(dict.fromkeys(file for file, _ in self.functions))


def _place(frame: FrameType | None) -> Place | None:
    """Return the innermost function of argrank that a frame is in."""
    while frame is not None and not frame.f_code.co_filename.startswith(ROOT):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename[len(ROOT) + 1 :], frame.f_code.co_qualname)


def walk(work: Callable[[], object]) -> Walk:
    """Do some work twice, and record the calls of the second time."""
    work()
    found = Walk({}, set())

    def follow(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            here, before = _place(frame), _place(frame.f_back)
            assert here is not None
            found.functions.setdefault(here)
            if before is not None and before[0] != here[0]:
                found.hops.add((before, here))

    sys.setprofile(follow)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the four calls by name."""
    data = ar.make_ranking(40, 10, 5, random_state=0)
    ar.dump(data, folder / "train.txt")

    def train() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            cli.main(["train", str(folder / "train.txt"), "-r", "rank-svm", "-o", str(folder / "model.json")])

    return {
        "svm-ndcg": lambda: ar.make_ranker("svm-ndcg").fit(data),
        "rank-svm": lambda: ar.make_ranker("rank-svm").fit(data),
        "evaluate": lambda: ar.evaluate(data.X[:, 0], data, ["ndcg@10", "map"]),
        "train": train,
    }


def main() -> None:
    """Print the table, or one walk."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        known = walks(Path(folder))
        if sys.argv[1:]:
            found = walk(known[sys.argv[1]])
            for file in found.files:
                print(file, *(function for own, function in found.functions if own == file))
            return
        print(f"{'walk':10}{'files':>7}{'hops':>7}{'functions':>11}")
        for name, work in known.items():
            found = walk(work)
            print(f"{name:10}{len(found.files):7}{len(found.hops):7}{len(found.functions):11}")


if __name__ == "__main__":
    main()
