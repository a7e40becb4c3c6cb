"""Interface to LightGBM: its parameters, errors and stored scores."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from argrank._memory import check_memory
from argrank._threads import count_jobs
from argrank._types import Floats
from argrank._uninterrupted import uninterrupted
from argrank.data.arranged import ArrangedRows
from argrank.data.dataset import Dataset
from argrank.errors import InputError, MissingExtraError, OptionError, check_name, shown

SMALL_CELLS = 2_000_000  # features times rows for which one thread is as fast as two
BATCH_VALUES = 1 << 22  # bytes of features that LightGBM reads at a time if rows are reordered
SAMPLED_ROWS = 50_000  # rows that decide the bins; LightGBM's 200,000 take four times the memory, and were not better
FRUITLESS = 10  # consecutive rounds without a split after which training stops
LARGEST = 2.0**127  # that rounding keeps within float32
BITS = 23  # of a gradient: LightGBM keeps float32, and sums of 2^29 such numbers are exact in float64

#: Parameters that users cannot set here, with our parameter to use instead; None if our losses depend on it. LightGBM
#: ends the process on wrong columns or on monotone categories.
OURS = {
    "boost_from_average": None,
    "boosting": None,
    "categorical_feature": "categorical_features",
    "data": None,
    "early_stopping_round": "early_stopping",
    "interaction_constraints": "interactions",
    "linear_tree": None,
    "metric": "scoring",
    "monotone_constraints": "monotone",
    "num_class": None,
    "num_iterations": "n_trees",
    "objective": None,
    "seed": "random_state",
}
SHARES = ("bagging_fraction", "feature_fraction")  # below 1 they mean random draws


def load_lightgbm() -> Any:
    """Import LightGBM, or raise with the extra that installs it."""
    try:
        with uninterrupted():
            import lightgbm
    except ImportError as error:
        raise MissingExtraError("lightgbm", "trees", "growing trees") from error
    return lightgbm


def check_bins(data: Dataset) -> None:
    """Raise if LightGBM's bins, a byte for each value, do not fit into memory.

    LightGBM reads an array of rows in place, even if it is memory-mapped.
    """
    n_values = data.X.nnz if data.is_sparse else data.n_documents * data.n_features
    check_memory("X: trees need a byte of every value", n_values, "take a part of the queries, or a linear ranker")


def rows_of(X: Any) -> Any:
    """Return features as LightGBM reads them: arrays as they are, rows in another order some at a time."""
    if not isinstance(X, ArrangedRows):
        return X

    class Rows(load_lightgbm().Sequence):  # type: ignore[misc]  # LightGBM has no types
        batch_size = max(1, BATCH_VALUES // X.shape[1])

        def __len__(self) -> int:
            return len(X)

        def __getitem__(self, chosen: Any) -> Any:
            return X[chosen].astype(np.float64) if isinstance(chosen, int | np.integer) else X[chosen]

    return Rows()


def can_split(train: Any, n_features: int) -> bool:
    """Tell whether some feature has two values that LightGBM distinguishes; it prints errors otherwise."""
    return any(train.feature_num_bin(feature) > 0 for feature in range(n_features))


def said(error: BaseException) -> str:
    """Return what LightGBM says, in one line and without the place in its source."""
    return re.sub(r" at /.*", "", " ".join(str(error).split()))


@contextlib.contextmanager
def refusals() -> Iterator[None]:
    """Convert LightGBM's errors about features to InputErrors."""
    try:
        yield
    except load_lightgbm().basic.LightGBMError as error:
        raise InputError(f"X: expected features that trees can split, but LightGBM says: {said(error)}") from error


def common_parameters(data: Dataset, n_jobs: int | None) -> dict[str, Any]:
    """Return the parameters of all boosters here: gradients are ours, and results are reproducible."""
    small = data.n_documents * data.n_features <= SMALL_CELLS
    return {
        "objective": "none",
        "metric": "None",
        "boost_from_average": False,
        "num_threads": 1 if small else count_jobs(n_jobs),
        "deterministic": True,
        "feature_pre_filter": False,
        "bin_construct_sample_cnt": SAMPLED_ROWS,
        "verbosity": -1,
    }


def further_parameters(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return parameters under the names that LightGBM lists first; raise for unknown ones and those that argrank sets.

    LightGBM would silently ignore a second name of a parameter that we set.
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
        found[main] = readable(name, value, main in SHARES)
    return found


def readable(name: str, value: Any, share: bool) -> Any:
    """Return the value of a parameter if LightGBM can read it, a share as a number, or raise."""
    if not share and (value is None or isinstance(value, str | int | float | np.generic | Sequence | np.ndarray)):
        return value
    try:
        if share:
            return float(value)
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"lightgbm_params: expected {'a number' if share else 'a number, a text or a list'} as {name}, got "
        f"{shown(value)}"
    )


@functools.cache
def known_names() -> dict[str, str]:
    """Return every name of a parameter that the installed LightGBM knows, with the one that it lists first.

    They come from its C interface (LGBM_DumpParamAliases), which the Python package wraps only for internal use.
    """
    table = load_lightgbm().basic._ConfigAliases._get_all_param_aliases()
    return {name: main for main, names in table.items() for name in (main, *names)}


def shown_scores(show: Callable[[Any], object]) -> list[Floats]:
    """Return the scores that LightGBM shows to evaluation functions: ``show`` is ``eval_train`` or ``eval_valid``."""
    seen: list[Floats] = []

    def look(scores: Floats, data: object) -> tuple[str, float, bool]:
        seen.append(np.array(scores, np.float64))
        return "seen", 0.0, True

    show(look)
    return seen


def seed_of(*parts: int) -> int:
    """Return a seed for LightGBM derived from some numbers."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def rounded(values: Floats) -> Floats:
    """Return multiples of a common power of two, whose float32 sums are exact in any order; raise beyond float32."""
    greatest = float(np.abs(values).max(initial=0.0))
    if greatest == 0.0:
        return values
    if not greatest < LARGEST:
        raise InputError(
            f"y: expected labels, weights and a learning_rate with gradients below {LARGEST:.2g}, which LightGBM can "
            f"hold, got {greatest:.2g}; scale them"
        )
    unit = 2.0 ** (int(np.frexp(greatest)[1]) - BITS)
    return np.asarray(np.rint(values / unit) * unit)


def feature_columns(what: str, given: Any, data: Dataset) -> list[int]:
    """Return the numbers of features that are given by name or by number; features that are texts are categorical."""
    listed = isinstance(given, Sequence | Set) or (isinstance(given, np.ndarray) and given.ndim == 1)
    if given is not None and (isinstance(given, str) or not listed):
        raise OptionError(f"{what}: expected a list of names or numbers of features, got {shown(given)}")
    texts = data.categories or () if what == "categorical_features" else ()
    asked = (*(() if given is None else given), *texts)
    return list(dict.fromkeys(_column(what, feature, data) for feature in asked))


def _column(what: str, feature: Any, data: Dataset) -> int:
    names = data.feature_names or ()
    if isinstance(feature, str):
        check_name("feature", feature, names)
        return names.index(feature)
    if isinstance(feature, int | np.integer) and 0 <= feature < data.n_features:
        return int(feature)
    raise OptionError(f"{what}: expected names, or numbers below {data.n_features}, got {shown(feature)}")
