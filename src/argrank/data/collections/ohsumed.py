"""OHSUMED (medical abstracts) as released in LETOR 2.0 and 3.0."""

from __future__ import annotations

from argrank.data.collections.collection import Collection, Part

_OBTAIN = "Microsoft Research's LETOR page (LETOR: Learning to Rank for Information Retrieval), free for research"
_LABELS = {0: 11303, 1: 2585, 2: 2252}

LETOR2 = Collection(
    name="OHSUMED-LETOR2",
    about="medical abstracts judged for 106 queries, 25 raw features; the data of the KDD 2008 and ORM papers",
    obtain=_OBTAIN + ", version 2.0",
    queries=106,
    documents=16140,
    features=25,
    labels=_LABELS,
    parts={
        "S1": Part(21, 2570, "cab705b59065b9ad09e5a72f16628ad5b45551f1e4fac572e1547fe62acdb72e"),
        "S2": Part(21, 3076, "828d01d29449734aa7f6dbb9956b94eb3bfbfa311fcca52274ec9537f83b5841"),
        "S3": Part(21, 3573, "836e622de07a6201828b3f199bc25a28e12416000aaa2ab2d9f517e7b8fb3591"),
        "S4": Part(21, 3538, "12ffd7a154aa06cac7626d3c837cdcc85c194a650a2e4a151619b54d8136b402"),
        "S5": Part(22, 3383, "4c7b8aba3f2a324566725f19c87720093d7a177c5e331c5171642d97939cfc9c"),
    },
)

LETOR3 = Collection(
    name="OHSUMED-LETOR3",
    about="medical abstracts judged for 106 queries, 45 features scaled to [0, 1] in each query (QueryLevelNorm)",
    obtain=_OBTAIN + ", version 3.0, OHSUMED, QueryLevelNorm",
    queries=106,
    documents=16140,
    features=45,
    labels=_LABELS,
    parts={
        "S1": Part(21, 2570, "77db6790a7023ed6d9bd2b9b2fa8528e1d82aa7e896863d3ed844f635870fbe2"),
        "S2": Part(21, 3076, "935539d33380570cdee765e38f8c2796cb4c04d01a50e50374e8bc7d45872571"),
        "S3": Part(21, 3573, "1d1ff784d9fdc4cd491a0d70fdd4dfb1adada943a0eb2e3954d74187158160da"),
        "S4": Part(21, 3538, "49975c7319672e4fba82d00c69911b8514752bb2610077a5f432d7efc2fa5fc0"),
        "S5": Part(22, 3383, "526f9158b85fb9b6446f9c87e1ccc428f7e54d639800e108c091cb70706a88e6"),
    },
)

LETOR3_NULL = Collection(
    name="OHSUMED-LETOR3-null",
    about="medical abstracts judged for 106 queries, 45 raw features, missing values written NULL",
    obtain=_OBTAIN + ", version 3.0, OHSUMED, the version with NULL",
    queries=106,
    documents=16140,
    features=45,
    labels=_LABELS,
    parts={
        "S1": Part(21, 2570, "4b396d6a5bddf4998bc34bd00127bdf08ebe947fbe9a2f07bf52dee8043102a4"),
        "S2": Part(21, 3076, "b4e7a49aa489c85f0f57678ea06be74f5157925ae0617a6982de5c5fec6bd216"),
        "S3": Part(21, 3573, "281bf6c3e8e7e81b8517f36f3c808e9db7e30d0d8f42398abe195bd1c30b867a"),
        "S4": Part(21, 3538, "e8812fcdc617fd6435209d5e02fd9107f4d270eaad23993c3cf038f2558e6d1d"),
        "S5": Part(22, 3383, "6dc64d443ef987b4c09cf5a65eddc257a980c47beb2a3caba2055427a58cccfa"),
    },
)
