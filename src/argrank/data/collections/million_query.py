"""The Million Query sets of LETOR 4.0: Gov2 pages for the queries of TREC 2007 and 2008."""

from __future__ import annotations

from argrank.data.collections.collection import Collection, Part

_OBTAIN = "Microsoft Research's LETOR page (LETOR: Learning to Rank for Information Retrieval), free for research, "

MQ2007 = Collection(
    name="MQ2007",
    about="TREC 2007 Million Query track on the Gov2 pages, 46 features (LETOR 4.0, supervised ranking)",
    obtain=_OBTAIN + "version 4.0, supervised ranking, MQ2007",
    queries=1692,
    documents=69623,
    features=46,
    labels={0: None, 1: None, 2: None},
)

MQ2007_AGG = Collection(
    name="MQ2007-agg",
    about="TREC 2007 Million Query track, features are the ranks by 21 systems, NULL where a system has none",
    obtain=_OBTAIN + "version 4.0, rank aggregation, MQ2007-agg",
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
)

MQ2008 = Collection(
    name="MQ2008",
    about="TREC 2008 Million Query track on the Gov2 pages, 46 features (LETOR 4.0, supervised ranking)",
    obtain=_OBTAIN + "version 4.0, supervised ranking, MQ2008",
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
)
