"""Microsoft's web search collections MSLR-WEB10K and MSLR-WEB30K, and a small excerpt of them."""

from __future__ import annotations

from argrank.data.collections.collection import FIVE, Collection, Part

_OBTAIN = "Microsoft Research's page 'Microsoft Learning to Rank Datasets', free for research"
_GRADES: dict[int, int | None] = dict.fromkeys(range(5))

WEB10K = Collection(
    name="MSLR-WEB10K",
    about="web search queries with judgements by Bing, 136 raw features, a sample of MSLR-WEB30K",
    obtain=_OBTAIN,
    queries=10000,
    documents=1200192,
    features=136,
    labels=_GRADES,
    parts=dict.fromkeys(FIVE, Part(2000)),
)

WEB30K = Collection(
    name="MSLR-WEB30K",
    about="web search queries with judgements by Bing, 136 raw features",
    obtain=_OBTAIN,
    queries=31531,
    documents=3771125,
    features=136,
    labels=_GRADES,
    parts={"S1": Part(6307), "S2": Part(6306), "S3": Part(6306), "S4": Part(6306), "S5": Part(6306)},
)

SAMPLE = Collection(
    name="MSLR-sample",
    about="an excerpt of 5,000 documents each from the training and the test part of MSLR-WEB, fold 1",
    obtain=_OBTAIN + " (this excerpt has been passed on as an example; any other gives other counts)",
    queries=86,
    documents=10000,
    features=136,
    labels={0: 5639, 1: 2900, 2: 1244, 3: 153, 4: 64},
    parts={
        "train": Part(43, 5000, "6d1721de961a35fbaef7085dc5b41e2940f0ddb04bab5f7a8566cf7db4158fa6"),
        "test": Part(43, 5000, "13d3c638edd23e482c38f4316c2680c938c2eaedbe096970ab30a48e364463d3"),
    },
    train="train",
    test="test",
)
