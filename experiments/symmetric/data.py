"""Training and validation parts: available collections, the shop, and generated data of several kinds. No test part."""

from __future__ import annotations

from benchmarks.peers.data import load
from benchmarks.peers.kinds import KINDS, TRUTHS, made

import argrank as ar
from argrank.errors import ArgrankError


def parts(name: str) -> tuple[ar.Dataset, ar.Dataset] | None:
    """Return training and validation part of "set | fold" or "kind | seed"; None where it is not available."""
    head, number = name.split(" | ")
    if head in TRUTHS:
        train, valid = made(head, int(number)).split(0.6, 0.4)
        return train, valid
    try:
        fold = load(head, int(number))
    except (ArgrankError, OSError):
        return None
    return None if fold is None or fold.valid is None else (fold.train, fold.valid)


SETS: tuple[str, ...] = (
    *(f"{kind} | 1" for kind in KINDS),
    "shop (bundled) | 1",
    "MQ2008 | 1",
    "MSLR-sample | 1",
    "OHSUMED-LETOR3 | 1",
    *(f"{kind} | 2" for kind in KINDS),
    "shop (bundled) | 2",
    "MQ2008 | 2",
    "OHSUMED-LETOR3 | 2",
)
