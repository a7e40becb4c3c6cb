"""Write the MSLR excerpt as five parts, S1 … S5, from the queries of both its files: it has no folds of its own.

ARGRANK_DATA=/folder/with/MSLR-sample python -m experiments.logrank.prepare results/mslr-parts
"""

from __future__ import annotations

import sys
from pathlib import Path

import argrank as ar
from argrank.data.io.letor.reader import write_letor

PARTS = 5


def main(target: Path) -> None:
    fold = ar.load_collection("MSLR-sample")
    target.mkdir(parents=True, exist_ok=True)
    both = ar.Dataset.concatenate([fold.train, fold.test])
    for number in range(PARTS):
        write_letor(both.select(range(number, both.n_queries, PARTS)), target / f"S{number + 1}.txt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
