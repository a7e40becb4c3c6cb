"""The two sets of the Yahoo! Learning to Rank Challenge (Webscope C14)."""

from __future__ import annotations

from argrank.data.collections.collection import Collection, Part


def _yahoo(number: int, queries: int, documents: int, parts: dict[str, Part]) -> Collection:
    return Collection(
        name=f"Yahoo-set{number}",
        about=f"Yahoo! Learning to Rank Challenge, set {number}, web search, 700 features scaled to [0, 1]",
        obtain="Yahoo Webscope, data set C14 (Yahoo! Learning to Rank Challenge), for universities on request",
        queries=queries,
        documents=documents,
        features=700,
        labels=dict.fromkeys(range(5)),
        parts={f"set{number}.{name}": part for name, part in parts.items()},
        train=f"set{number}.train",
        valid=f"set{number}.valid",
        test=f"set{number}.test",
    )


SET1 = _yahoo(1, 29921, 709877, {"train": Part(19944, 473134), "valid": Part(2994, 71083), "test": Part(6983, 165660)})
SET2 = _yahoo(2, 6330, 172870, {"train": Part(1266, 34815), "valid": Part(1266, 34881), "test": Part(3798, 103174)})
