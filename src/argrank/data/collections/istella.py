"""Istella's web search collections: the full one and Istella-S, in which irrelevant documents are sampled."""

from __future__ import annotations

from argrank.data.collections.collection import Collection, Part

_OBTAIN = "Istella's blog (Istella LETOR), for non-commercial use"

FULL = Collection(
    name="Istella",
    about="queries of the Italian web search engine Istella, 220 features; train and test, no validation part",
    obtain=_OBTAIN + ": the files of the folder 'full'",
    queries=33018,
    documents=10454629,
    features=220,
    parts={"train": Part(23219), "test": Part(9799)},
    train="train",
    test="test",
)

SMALL = Collection(
    name="Istella-S",
    about="the queries of Istella with about 103 documents each, 220 features",
    obtain=_OBTAIN + ": the files of the folder 'sample' of Istella-S",
    queries=33018,
    documents=3408630,
    features=220,
    parts=dict.fromkeys(("train", "vali", "test"), Part()),
    train="train",
    valid="vali",
    test="test",
)
