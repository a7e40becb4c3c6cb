"""Further parameters for LightGBM, by any of its names."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from argrank.errors import OptionError, check_name
from argrank.rankers.boosted._growth import load_lightgbm

#: Parameters that are not the user's to set here, with ours in their place; our losses and scores rest on the others.
OURS = {
    "boost_from_average": None,
    "boosting": None,
    "early_stopping_round": "early_stopping",
    "linear_tree": None,
    "metric": "scoring",
    "num_class": None,
    "num_iterations": "n_trees",
    "objective": None,
    "seed": "random_state",
}


def further_parameters(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return parameters under the names that LightGBM lists first; refuse unknown ones and those that are ours.

    Beside one of ours, LightGBM would pass over another name of the same parameter without a word.
    """
    if not given:
        return {}
    known, found = known_names(), {}
    for name, value in given.items():
        check_name("name in lightgbm_params", name, known)
        main = known[name]
        if main in OURS:
            instead = f"; use {OURS[main]}" if OURS[main] else ""
            raise OptionError(f"lightgbm_params: {name} is argrank's own to set{instead}")
        if main in found:
            raise OptionError(f"lightgbm_params: {name} is another name of {main}, which is given, too")
        found[main] = value
    return found


@functools.cache
def known_names() -> dict[str, str]:
    """Return every name of a parameter that the installed LightGBM knows, with the one that it lists first.

    Its C interface tells them (LGBM_DumpParamAliases); the Python package wraps this for its own use alone.
    """
    table = load_lightgbm().basic._ConfigAliases._get_all_param_aliases()
    return {name: main for main, names in table.items() for name in (main, *names)}
