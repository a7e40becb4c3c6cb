"""A cluster of two worker processes on this machine, and small data in many blocks."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.data import grouping


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """Packs of the same queries without and with weights, cut into blocks of about 100 rows."""
    folder, kept = tmp_path_factory.mktemp("packs"), (grouping.BLOCK_ROWS, grouping.SMALL_ROWS)
    grouping.BLOCK_ROWS, grouping.SMALL_ROWS = 100, 100
    plain = ar.make_ranking(40, (3, 30), 6, random_state=4)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 40)
    longest = np.argmax(plain.sizes)  # in the first partition only
    order = np.r_[longest, np.delete(np.arange(40), longest)]
    plain = plain.select(order)
    weighted = ar.Dataset(plain.X, plain.y, group=plain.sizes, query_weight=weight)
    for name, data in (("plain", plain), ("weighted", weighted)):
        ar.pack(data, folder / f"{name}.pack")
    yield folder
    grouping.BLOCK_ROWS, grouping.SMALL_ROWS = kept
