"""Dask data frames become Datasets of whole queries, one a partition, on the workers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.dataset import Dataset
from argrank.errors import InputError, shown

ORDER = "argrank_row"  # the number of a partition and of a row in it: the order in which rows came


def datasets_of(frame: Any, client: Any, qid: str, label: str) -> tuple[list[Any], list[dict[str, Any]]]:
    """Return the Datasets of a frame, as futures, and what is known of each; queries are whole."""
    columns = list(frame.columns)
    for name in (qid, label):
        if name not in columns:
            raise InputError(f"frame: expected a column {name!r}, got {shown(columns)}")
    # hashes alone decide where a row goes, so that a query cannot end in two places
    together = frame.map_partitions(_numbered, qid, label, meta=_numbered(frame._meta, qid, label)).shuffle(on="qid")
    made = client.map(_dataset, client.compute(together.to_delayed()), pure=False, retries=3)
    facts = client.gather(client.map(_facts, made, pure=False, retries=3))
    kept = [number for number, one in enumerate(facts) if one is not None]
    if not kept:
        raise InputError("frame: expected at least one row, got none")
    return [made[number] for number in kept], [facts[number] for number in kept]


def refuse_split(query_ids: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of all partitions; raise where a query is in two of them."""
    seen: dict[Any, int] = {}
    for number, own in enumerate(query_ids):
        for one in own.tolist():
            if seen.setdefault(one, number) != number:
                raise InputError(
                    f"frame: expected every query in one partition, got query {shown(one)} in partitions "
                    f"{seen[one]} and {number}"
                )
    return np.concatenate(query_ids)


def _numbered(frame: Any, qid: str, label: str, partition_info: Any = None) -> Any:
    """Return a partition with the usual names of columns, and numbers that keep the order of its rows."""
    number = 0 if partition_info is None else int(partition_info["number"])
    renamed = frame.rename(columns={qid: "qid", label: "label"})
    return renamed.assign(**{ORDER: (number << 40) + np.arange(len(frame), dtype=np.int64)})


def _dataset(frame: Any) -> Dataset | None:
    """Return a partition as a Dataset: queries by first appearance, rows as they came."""
    if not len(frame):
        return None
    ordered = frame.sort_values(ORDER, kind="stable").drop(columns=ORDER)
    data = Dataset(ordered)
    return data._but(rows=None)


def _facts(data: Dataset | None) -> dict[str, Any] | None:
    """Return what the client has to know of a Dataset."""
    if data is None:
        return None
    names = ("indptr", "query_ids", "query_weight", "n_features", "feature_names", "categories", "is_sparse")
    facts = {name: getattr(data, name) for name in (*names, "is_judged", "fingerprint")}
    return facts | {"has_row_weights": data.sample_weight is not None}
