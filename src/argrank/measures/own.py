"""ar.measure: turn a name, or a user's function, into a measure."""

from __future__ import annotations

import inspect
from typing import Any

from argrank._declared import checked
from argrank.measures import names as spellings
from argrank.measures import register_measure
from argrank.measures.function import FunctionMeasure
from argrank.measures.measure import Measure


@checked
def measure(name: Any) -> Measure:
    """Return the measure of a name; or, as a decorator, make a function a measure that has the function's name.

    Names are read as LightGBM, XGBoost, RankLib, trec_eval, ir_measures and ranx spell them. A measure is returned
    unchanged. An object of ir_measures keeps its own parameters, also those that its name does not show, and is 0 if
    undefined, as in ir_measures: its value does not depend on the convention's gain. The treatment of ties is still the
    convention's; ir_measures uses that of "trec".

    A function takes the labels of one query in ranked order, the best score first, as an array of floats, and returns a
    number, NaN where the measure is undefined. Its parameters may be ``labels``, ``gains`` (of the labels, by the
    convention) and ``scores``, all in ranked order, and ``judged``, the labels of all judged documents of the query,
    the best first. From then on its name can be used for it in this process; for the command line, a package registers
    it with an entry point of the group ``argrank.measures``.

    Parameters
    ----------
    name : str, Measure or function

    Examples
    --------
    >>> import argrank as ar
    >>> ar.measure("ndcg_cut_10"), ar.measure("map@100-"), ar.measure("AP(rel=2)@100"), ar.measure("pre@5")
    (nDCG@10, AP(undefined=0)@100, AP(rel=2)@100, P@5)
    >>> @ar.measure
    ... def first_is_best(labels):
    ...     return float(labels[0] == labels.max())
    >>> data = ar.Dataset([[0.0], [1.0], [2.0]], [2, 0, 1], group=[3])
    >>> ar.evaluate([3.0, 2.0, 1.0], data, ["first_is_best", "ndcg@10"]).means["first_is_best"]
    1.0
    """
    found = spellings.measure(name)
    if isinstance(found, FunctionMeasure) and name is type(found).function and found.spelling.isidentifier():
        register_measure(type(found))
        if inspect.isfunction(name):  # so that pickle, for instance, finds the function
            name.__qualname__ = f"{name.__qualname__.removesuffix('.function')}.function"
    return found
