"""Convert Dask data frames to Datasets of whole queries, one per partition, on the workers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.categories import align, union
from argrank.data.dataset import Dataset
from argrank.errors import InputError, InputTypeError, shown

ORDER = "argrank_row"  # numbers of the partition and of the row in it: the original order of rows


def datasets_of(
    frame: Any, client: Any, qid: str, label: str
) -> tuple[list[Any], list[dict[str, Any]], dict[str, tuple[str, ...]] | None]:
    """Return the Datasets of a frame, as futures, facts about each, and their categories; queries are not split."""
    _check_frame(frame, qid, label)
    # the hash decides where a row goes, so that a query is not split
    together = frame.map_partitions(_numbered, qid, label, meta=_numbered(frame._meta, qid, label)).shuffle(on="qid")
    made = client.map(_dataset, client.compute(together.to_delayed()), pure=False, retries=3)
    facts = client.gather(client.map(_facts, made, pure=False, retries=3))
    kept = [number for number, one in enumerate(facts) if one is not None]
    if not kept:
        raise InputError("frame: expected at least one row, got none")
    made, facts = [made[number] for number in kept], [facts[number] for number in kept]
    dated = next((name for one in facts for name in one["dates"] or ()), None)
    if dated is not None:
        raise InputError(f"frame: column {dated!r}: expected numbers, got dates, which need all rows; give days")
    categories = union(one["categories"] for one in facts) or None
    if any(one["categories"] != categories for one in facts):  # each partition knows only its own rows
        made = client.map(_recoded, made, [categories] * len(made), pure=False, retries=3)
    return made, facts, categories


def _check_frame(frame: Any, qid: str, label: str) -> None:
    import dask.dataframe as dd

    if not isinstance(frame, dd.DataFrame):
        raise InputTypeError(
            f"frame: expected a Dask data frame, got {type(frame).__module__}.{type(frame).__name__}; "
            "dask.dataframe.from_pandas makes one, and ar.Dataset takes others on one machine"
        )
    columns = list(frame.columns)
    for meaning, name in (("qid", qid), ("label", label)):
        if name not in columns:
            raise InputError(f"frame: expected a column {name!r}, got {shown(columns)}")
        if name != meaning and meaning in columns:
            raise InputError(
                f"frame: expected one column that is the {meaning}, got {name!r} and {meaning!r}; drop or rename one"
            )


def _recoded(data: Dataset, categories: dict[str, tuple[str, ...]]) -> Dataset:
    """Return a Dataset with the category codes of all partitions."""
    lacking = [name for name in categories if name not in (data.categories or {})]
    if lacking:
        raise InputError(f"frame: column {lacking[0]!r}: expected texts in every partition, got numbers in one")
    X = align(data.X, data.feature_names, data.categories, data.feature_names, categories)
    return data._but(X=X, categories=categories)


def refuse_split(query_ids: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the ids of all partitions; raise if a query is in two of them."""
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
    """Return the facts about a Dataset that the client needs."""
    if data is None:
        return None
    names = ("indptr", "query_ids", "query_weight", "n_features", "feature_names", "categories", "is_sparse")
    facts = {name: getattr(data, name) for name in (*names, "dates", "is_judged", "fingerprint")}
    return facts | {"has_row_weights": data.sample_weight is not None}
