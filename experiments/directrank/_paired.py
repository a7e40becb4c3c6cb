"""Standard errors of differences, query by query, from one ranker whose values are kept in a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.directrank._common import Table


def errors(
    kept: Table, place: Mapping[str, Any], values: Mapping[str, NDArray[np.float64]], keep: bool
) -> dict[str, float]:
    """Return for each measure the standard error of the mean difference from the values kept for a place.

    With ``keep`` these are the values to keep, and all errors are 0. Queries whose measure is undefined do not count.
    The kept values are not part of the repository: where they are missing, delete the row of the ranker that they
    belong to from the table, and the script makes both again.
    """
    if keep and not kept.has(*place.values()):
        for row in zip(*(column.tolist() for column in values.values()), strict=True):
            kept.add({**place, **dict(zip(values, row, strict=True))}, quiet=True)
    there = [row for row in kept.rows if all(row[key] == str(value) for key, value in place.items())]
    if not there:
        where = ", ".join(f"{key} {value}" for key, value in place.items())
        raise FileNotFoundError(
            f"{kept.path}: no values of {where}; delete the rows of {where} from the table and run the script again"
        )
    found = {}
    for name, column in values.items():
        differences = column - np.array([float(row[name]) for row in there])
        differences = differences[~np.isnan(differences)]
        found[f"error {name}"] = 0.0 if keep else float(differences.std(ddof=1) / len(differences) ** 0.5)
    return found
