"""Results over several data sets: winning numbers, and the mean over the queries of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from argrank._declared import IsData, checked
from argrank._types import Floats
from argrank.data.checks import as_array
from argrank.errors import InputError

#: data set -> system -> what evaluation found: an Evaluation, or a mapping from measures to values
Table = Annotated[Mapping[str, Mapping[str, Any]], IsData]


@checked
def winning_numbers(table: Table) -> dict[str, dict[str, int]]:
    """Count for every system how often it beats another one, strictly, over all data sets.

    The winning number of Liu (2009), used in tables 3 and 4 of the DirectRank paper: with M_i(j) the mean of the
    measure of system i on data set j, it is the number of pairs (j, k) with M_i(j) > M_k(j). The highest possible is
    (number of data sets) x (number of other systems).

    Parameters
    ----------
    table : mapping
        ``table[data set][system]`` is what ``ar.evaluate`` returned, or a mapping from measures to a mean or to one
        value per query. Every data set must have the same systems and measures: a missing one would count as a defeat.

    Returns
    -------
    dict of dict
        ``[system][measure]``. For one number over several cut-offs add them up.

    Examples
    --------
    >>> winning_numbers({"TD2003": {"a": {"map": 0.2}, "b": {"map": 0.1}}, "NP2003": {"a": {"map": 0.5},
    ...                                                                              "b": {"map": 0.6}}})
    {'a': {'map': 1}, 'b': {'map': 1}}
    """
    systems, measures = _shape(table)
    wins = {system: dict.fromkeys(measures, 0) for system in systems}
    for results in table.values():
        for measure in measures:
            means = {system: _mean(results[system], measure) for system in systems}
            for system in systems:
                wins[system][measure] += sum(means[system] > other for other in means.values())
    return wins


@checked
def micro_average(table: Table) -> dict[str, dict[str, float]]:
    """Return the mean of each measure over the queries of all data sets together.

    LogRank's microaverage (section 5.1.1): the data sets' means weighted by their numbers of queries. Queries on which
    a measure is undefined are left out.

    Parameters
    ----------
    table : mapping
        ``table[data set][system]`` is what ``ar.evaluate`` returned, or a mapping from measures to one value per query.

    Returns
    -------
    dict of dict
        ``[system][measure]``; NaN where no query is defined.

    Examples
    --------
    >>> micro_average({"small": {"a": {"map": [1.0]}}, "large": {"a": {"map": [0.2, 0.0, 0.4]}}})
    {'a': {'map': 0.4}}
    """
    systems, measures = _shape(table)
    pooled: dict[str, dict[str, float]] = {system: {} for system in systems}
    for system in systems:
        for measure in measures:
            values = np.concatenate([_values(results[system], measure) for results in table.values()])
            defined = values[~np.isnan(values)]
            pooled[system][measure] = float(defined.mean()) if len(defined) else float("nan")
    return pooled


def _shape(table: Table) -> tuple[list[str], list[str]]:
    """Return the systems and measures, which every data set must have."""
    if not table or not all(table.values()):
        raise InputError("table: expected at least one data set with at least one system, got an empty mapping")
    systems = list(next(iter(table.values())))
    measures = list(_found(next(iter(table.values()))[systems[0]]))
    for data, results in table.items():
        if set(results) != set(systems):
            raise InputError(
                f"table: expected the systems {systems} in every data set, got {list(results)} in {data!r}"
            )
        for system, result in results.items():
            if set(_found(result)) != set(measures):
                raise InputError(
                    f"table: expected the measures {measures} everywhere, got {list(_found(result))} "
                    f"for {system!r} in {data!r}"
                )
    return systems, measures


def _found(result: Any) -> Mapping[str, Any]:
    found: Any = getattr(result, "means", result)
    if not isinstance(found, Mapping):
        raise InputError(f"table: expected an Evaluation or a mapping from measures, got {type(result).__name__}")
    return found


def _mean(result: Any, measure: str) -> float:
    value = as_array(_found(result)[measure], f"table: {measure}", np.float64)
    return float(value if value.ndim == 0 else np.mean(value[~np.isnan(value)]))


def _values(result: Any, measure: str) -> Floats:
    held = result if isinstance(result, Mapping) else result.values
    values = as_array(held[measure], f"table: {measure}", np.float64)
    if values.ndim != 1:
        raise InputError(f"table: expected one value of {measure!r} for every query, got {held[measure]!r}")
    return values
