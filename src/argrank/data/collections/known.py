"""The known collections, as published: statistics, parts, checksums and where to obtain them; one declaration each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

FIVE = tuple(f"S{part}" for part in range(1, 6))


class Part(NamedTuple):
    """One file of a collection; None for figures that could not be verified."""

    queries: int | None = None
    documents: int | None = None
    sha256: str | None = None  # of the uncompressed text


@dataclass(frozen=True)
class Collection:
    """A public collection, as published; figures that could not be verified are None.

    ``parts`` maps the names of files (without .txt) to what they hold. Five parts S1 … S5 make five folds by LETOR's
    rule; otherwise the collection comes with one split, whose files ``train``, ``valid`` and ``test`` name.
    """

    name: str
    about: str
    obtain: str
    queries: int | None = None
    documents: int | None = None
    features: int | None = None  # None: no features, but ratings
    labels: Mapping[int, int | None] = field(default_factory=dict)  # number of documents by label
    parts: Mapping[str, Part] = field(default_factory=lambda: dict.fromkeys(FIVE, Part()))
    train: str = ""
    valid: str = ""
    test: str = ""

    @property
    def n_folds(self) -> int:
        """Number of folds that the collection defines."""
        return 1 if self.train else len(self.parts)


_LETOR_PAGE = "Microsoft Research's LETOR page (LETOR: Learning to Rank for Information Retrieval), free for research"
_ISTELLA_BLOG = "Istella's blog (Istella LETOR), for non-commercial use"
_MSLR_PAGE = "Microsoft Research's page 'Microsoft Learning to Rank Datasets', free for research"
_FIVE_GRADES: dict[int, int | None] = dict.fromkeys(range(5))


def _gov(name: str, task: str, year: int, queries: int | None) -> Collection:
    return Collection(
        name=name,
        about=f"TREC {year} web track, {task}, on the .Gov pages, 64 features, as in LETOR 3.0",
        obtain=_LETOR_PAGE + ", version 3.0, Gov, QueryLevelNorm",
        queries=queries,
        features=64,
        labels={0: None, 1: None},
    )


def _ohsumed(name: str, about: str, obtain: str, features: int, *sums: str) -> Collection:
    """Return a release of medical abstracts; the queries and documents of the parts are the same in all of them."""
    sizes = zip((21, 21, 21, 21, 22), (2570, 3076, 3573, 3538, 3383), sums, strict=True)
    return Collection(
        name=name,
        about=f"medical abstracts judged for 106 queries, {about}",
        obtain=f"{_LETOR_PAGE}, {obtain}",
        queries=106,
        documents=16140,
        features=features,
        labels={0: 11303, 1: 2585, 2: 2252},
        parts={name: Part(*one) for name, one in zip(FIVE, sizes, strict=True)},
    )


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


COLLECTIONS = (
    # Query sets of LETOR 3.0 on the .Gov pages. The KDD 2008 paper's counts (TD2003: 48,655 bad and 516 good documents,
    # TD2004: 73,726 and 444) are those of LETOR 2.0, which sampled its documents differently. The counts of LETOR 3.0
    # could not be verified and are left out. The LogRank paper counts 575 queries in total.
    _gov("HP2003", "homepage finding", 2003, None),
    _gov("HP2004", "homepage finding", 2004, None),
    # In Istella-S irrelevant documents are sampled.
    Collection(
        name="Istella",
        about="queries of the Italian web search engine Istella, 220 features; train and test, no validation part",
        obtain=_ISTELLA_BLOG + ": the files of the folder 'full'",
        queries=33018,
        documents=10454629,
        features=220,
        parts={"train": Part(23219), "test": Part(9799)},
        train="train",
        test="test",
    ),
    Collection(
        name="Istella-S",
        about="the queries of Istella with about 103 documents each, 220 features",
        obtain=_ISTELLA_BLOG + ": the files of the folder 'sample' of Istella-S",
        queries=33018,
        documents=3408630,
        features=220,
        parts=dict.fromkeys(("train", "vali", "test"), Part()),
        train="train",
        valid="vali",
        test="test",
    ),
    Collection(
        name="MQ2007",
        about="TREC 2007 Million Query track on the Gov2 pages, 46 features (LETOR 4.0, supervised ranking)",
        obtain=_LETOR_PAGE + ", version 4.0, supervised ranking, MQ2007",
        queries=1692,
        documents=69623,
        features=46,
        labels={0: None, 1: None, 2: None},
    ),
    Collection(
        name="MQ2007-agg",
        about="TREC 2007 Million Query track, features are the ranks by 21 systems, NULL where a system has none",
        obtain=_LETOR_PAGE + ", version 4.0, rank aggregation, MQ2007-agg",
        queries=1692,
        documents=69623,
        features=21,
        labels={0: 51632, 1: 14128, 2: 3863},
        parts={
            "S1": Part(339, 14013, "4ed2be97ee9e5e3f3f7e2368de35e710eca03a2076e927c71efc340fa2c663e6"),
            "S2": Part(339, 14290, "bbef3aacba93d042c9d26d554f52503168019f69d7c6bed2453aa3322972b1d5"),
            "S3": Part(339, 13855, "611b2623644ed1c5a3e813005fe70d56d6d348dcbe7bcb323b331556eede1268"),
            "S4": Part(339, 13813, "c3c14a6a796e54cef669beb98c6c2ef088f312e751d351d32c9ae3ec74f61030"),
            "S5": Part(336, 13652, "9789ba66656fda2ca4ce61c5b55ea08833b51e0c25e2d914732ad880c6d6e562"),
        },
    ),
    Collection(
        name="MQ2008",
        about="TREC 2008 Million Query track on the Gov2 pages, 46 features (LETOR 4.0, supervised ranking)",
        obtain=_LETOR_PAGE + ", version 4.0, supervised ranking, MQ2008",
        queries=784,
        documents=15211,
        features=46,
        labels={0: 12279, 1: 2001, 2: 931},
        parts={
            "S1": Part(157, 2933, "cbd42504549a2388f6c0aefdb506f22074225b574c7a5df10194174c9b00e4e0"),
            "S2": Part(157, 3635, "055ac792cb8f7d5a029090b8acbfb6c57323339d1371251bf2465ac182aa8605"),
            "S3": Part(157, 3062, "a03fe2b6e76479de60fecdb37d560a40a4e899b0cd685553d2da31ea205af1ab"),
            "S4": Part(157, 2707, "a239850bc6fe960ad08c2b7b0d99db90fe976dd93a15358e98036591b4e7a2ac"),
            "S5": Part(156, 2874, "c68c52feb1ecae7f17b64c8e2fda2098302681bbd4ea5fad8c73a1d32a1cf2b2"),
        },
    ),
    Collection(
        name="MSLR-WEB10K",
        about="web search queries with judgements by Bing, 136 raw features, a sample of MSLR-WEB30K",
        obtain=_MSLR_PAGE,
        queries=10000,
        documents=1200192,
        features=136,
        labels=_FIVE_GRADES,
        parts=dict.fromkeys(FIVE, Part(2000)),
    ),
    Collection(
        name="MSLR-WEB30K",
        about="web search queries with judgements by Bing, 136 raw features",
        obtain=_MSLR_PAGE,
        queries=31531,
        documents=3771125,
        features=136,
        labels=_FIVE_GRADES,
        parts={"S1": Part(6307), "S2": Part(6306), "S3": Part(6306), "S4": Part(6306), "S5": Part(6306)},
    ),
    Collection(
        name="MSLR-sample",
        about="an excerpt of 5,000 documents each from the training and the test part of MSLR-WEB, fold 1",
        obtain=_MSLR_PAGE + " (this excerpt has been passed on as an example; any other gives other counts)",
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
    ),
    _gov("NP2003", "named page finding", 2003, None),
    _gov("NP2004", "named page finding", 2004, None),
    _ohsumed(
        "OHSUMED-LETOR2",
        "25 raw features; the data of the KDD 2008 and ORM papers",
        "version 2.0",
        25,
        "cab705b59065b9ad09e5a72f16628ad5b45551f1e4fac572e1547fe62acdb72e",
        "828d01d29449734aa7f6dbb9956b94eb3bfbfa311fcca52274ec9537f83b5841",
        "836e622de07a6201828b3f199bc25a28e12416000aaa2ab2d9f517e7b8fb3591",
        "12ffd7a154aa06cac7626d3c837cdcc85c194a650a2e4a151619b54d8136b402",
        "4c7b8aba3f2a324566725f19c87720093d7a177c5e331c5171642d97939cfc9c",
    ),
    _ohsumed(
        "OHSUMED-LETOR3",
        "45 features scaled to [0, 1] in each query (QueryLevelNorm)",
        "version 3.0, OHSUMED, QueryLevelNorm",
        45,
        "77db6790a7023ed6d9bd2b9b2fa8528e1d82aa7e896863d3ed844f635870fbe2",
        "935539d33380570cdee765e38f8c2796cb4c04d01a50e50374e8bc7d45872571",
        "1d1ff784d9fdc4cd491a0d70fdd4dfb1adada943a0eb2e3954d74187158160da",
        "49975c7319672e4fba82d00c69911b8514752bb2610077a5f432d7efc2fa5fc0",
        "526f9158b85fb9b6446f9c87e1ccc428f7e54d639800e108c091cb70706a88e6",
    ),
    _ohsumed(
        "OHSUMED-LETOR3-null",
        "45 raw features, missing values written NULL",
        "version 3.0, OHSUMED, the version with NULL",
        45,
        "4b396d6a5bddf4998bc34bd00127bdf08ebe947fbe9a2f07bf52dee8043102a4",
        "b4e7a49aa489c85f0f57678ea06be74f5157925ae0617a6982de5c5fec6bd216",
        "281bf6c3e8e7e81b8517f36f3c808e9db7e30d0d8f42398abe195bd1c30b867a",
        "e8812fcdc617fd6435209d5e02fd9107f4d270eaad23993c3cf038f2558e6d1d",
        "6dc64d443ef987b4c09cf5a65eddc257a980c47beb2a3caba2055427a58cccfa",
    ),
    _gov("TD2003", "topic distillation", 2003, 50),
    _gov("TD2004", "topic distillation", 2004, 75),
    _yahoo(1, 29921, 709877, {"train": Part(19944, 473134), "valid": Part(2994, 71083), "test": Part(6983, 165660)}),
    _yahoo(2, 6330, 172870, {"train": Part(1266, 34815), "valid": Part(1266, 34881), "test": Part(3798, 103174)}),
    Collection(
        name="ml-100k",
        about="100,000 ratings (1 to 5) of 1,682 films by 943 users; five official splits of 80 to 20 percent",
        obtain="GroupLens, MovieLens 100K Dataset (ml-100k.zip), free for research",
        queries=943,
        documents=100000,
        parts={
            "u.data": Part(943, 100000, "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"),
            "u1.base": Part(None, 80000, "ce253ec86c448b44fb3ba9a30d12dcfc2e9210cbde71efada3730c22e9ac212a"),
            "u1.test": Part(None, 20000, "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950"),
        },
    ),
)
