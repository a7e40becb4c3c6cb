"""MovieLens 100k: ratings of films, without features."""

from __future__ import annotations

from argrank.data.collections.collection import Collection, Part

ML_100K = Collection(
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
)
