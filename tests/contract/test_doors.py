"""Every public function says what its arguments may be, checks them first, and is called by the fuzz tests."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz.public import public_calls, public_methods, public_names

import argrank as ar
from argrank._declared import CHECKED, arguments_of, checked
from argrank.errors import InputError, OptionError

# data in any of many forms, and things that are given by name or as objects: checked where they are used
OPEN = {
    *("X", "y", "qid", "group", "groups", "sample_weight", "query_weight", "eval_set", "eval_qid", "eval_group"),
    *("document_ids", "comments", "sources", "titles", "query_texts", "preferences", "data", "scores", "direction"),
    *("source", "values", "rows", "queries", "sessions", "position", "before", "ranks", "gains", "by", "judgements"),
    *("users", "items", "ratings", "item_features", "item_offsets", "user"),
    *("ranker", "model", "measure", "measures", "select_by", "writer", "cls", "pilot", "trusted", "judges", "found"),
    *("propensities", "examinations", "judgements", "clip", "axes", "fitted"),
}
NAMED = {("measure", "name"), *((one, "features") for one in ("propensities", "compare", "evaluate", "from_clicks"))}


def doors() -> dict[str, Callable[..., Any]]:
    functions = [getattr(ar, name) for name in public_names()]
    found = [one.__init__ if inspect.isclass(one) else one for one in functions]
    written = {
        "Clicks.__init__",
        "Product.__init__",
    }  # by dataclasses; Product checks its fields
    found = [one for one in found if one.__qualname__ not in written]
    named = {f"{one.__module__}.{one.__qualname__}": one for one in (*found, *public_methods())}
    return {name: one for name, one in named.items() if parameters_of(one)}


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    every = inspect.signature(function).parameters.values()
    return [one for one in every if one.name not in ("self", "cls") and one.kind != one.VAR_KEYWORD]


@pytest.mark.parametrize("name", doors())
def test_every_public_function_is_checked_at_its_door(name: str) -> None:
    function = doors()[name]
    assert inspect.unwrap(function) in CHECKED, "needs @checked"
    known = arguments_of(function)
    for parameter in parameters_of(function):
        assert parameter.name in known, f"{parameter.name} has no annotation"
        if known[parameter.name].is_open and (name.rpartition(".")[2], parameter.name) not in NAMED:
            assert parameter.name in OPEN, f"{parameter.name} may be anything, or its type is not imported"


def test_every_public_function_is_in_the_fuzz(tmp_path: Path) -> None:
    calls = public_calls(tmp_path)
    missing = {name for name in public_names() if name not in calls} - {"Clicks"}
    assert not missing
    for name in ("Dataset.split", "regression.fit", "mart.shap_values", "Trial.ranker", "Comparison.letters"):
        assert name in calls


def test_what_holds_data_is_an_input_and_the_rest_options() -> None:
    data = ar.make_ranking(2, 3, 2, random_state=0)
    with pytest.raises(InputError, match="data: expected a Dataset, got 3"):
        ar.clean(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="log: expected a Clicks or a ClickCounts, got None"):
        ar.judgements(None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="table: expected a dict"):
        ar.winning_numbers([])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="n_folds: expected a whole number from 2 up, got 1"):
        ar.cross_validate("regression", data, "map", n_folds=1)
    with pytest.raises(OptionError, match="shares: expected a finite number, got 'a'"):
        data.split("a")  # type: ignore[arg-type]


def test_small_whole_numbers_of_numpy_become_pythons() -> None:
    @checked
    def times(n: int, *more: float, by: int | None = None) -> Any:
        return n * 300, more, by

    assert times(np.int8(3), np.float32(0.5), by=np.uint8(200)) == (900, (0.5,), 200)
    assert type(times(np.int8(3))[0]) is int
