"""Match rows of a table with the (query, document) pairs of a log; ids are compared as texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.data.frames import is_frame
from argrank.data.io.load import load
from argrank.errors import InputError


def candidates_of(features: Any) -> Dataset:
    """Return a table of candidates as a Dataset with document ids: a Dataset, a data frame or a file."""
    given = Dataset(features) if is_frame(features) else features
    data = given if isinstance(given, Dataset) else load(given)
    if data.document_ids is None:
        raise InputError(
            "features: expected a document id in every row, to find the documents of the log; name the column of ids "
            "'docid' (columns={…: 'docid'})"
        )
    return data


def numbers_of(ids: NDArray[Any], among: NDArray[Any]) -> Integers:
    """Return the index of every id in a list of ids, -1 if it is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(pa.array(_texts(ids), pa.string()), value_set=pa.array(_texts(among), pa.string()))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def pairs_of(query: Integers, documents: NDArray[Any], counts: ClickCounts) -> Integers:
    """Return the pair of the log of every (number of a query, id of a document), -1 for one that was never shown."""
    return find_pairs(query, numbers_of(documents, counts.document_ids), counts)


def find_pairs(query: Integers, document: Integers, log: Clicks | ClickCounts) -> Integers:
    """Return the pair of the log of every query and document, given by their numbers in it; -1 where there is none."""
    n = len(log.document_ids)
    known = log.pair_query * n + log.pair_document
    order = np.argsort(known, kind="stable")
    wanted = query * n + document
    found = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    return np.where((query >= 0) & (document >= 0) & (known[found] == wanted), found, -1)


def _texts(ids: NDArray[Any]) -> list[str] | NDArray[Any]:
    return ids if ids.dtype.kind == "U" else [str(one) for one in ids.tolist()]
