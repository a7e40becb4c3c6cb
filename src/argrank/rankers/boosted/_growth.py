"""Trees grown by LightGBM on gradients that we compute, one round at a time, through its public interface.

LightGBM holds binned features and grows; scores are ours. Its own score of the training rows moves by a whole tree a
round, so the difference of two rounds tells which leaf every row is in, without a pass over the features.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from argrank._memory import check_memory
from argrank._threads import count_jobs
from argrank._types import Floats, Integers
from argrank._uninterrupted import uninterrupted
from argrank.data.dataset import Dataset
from argrank.errors import InputError, MissingExtraError, OptionError, check_count, shown, unknown_name
from argrank.models._tree import Tree
from argrank.models.lightgbm_text import read

LARGEST_INT = 2**31 - 1  # that a parameter of LightGBM can hold
SMALL_CELLS = 2_000_000  # features times rows that one thread works through as fast as two
FRUITLESS = 10  # rounds without a split, one after the other, after which none is expected any more
BITS = 23  # of a gradient: LightGBM keeps float32, and sums of 2^29 such numbers are exact in float64


class Settings(NamedTuple):
    """How trees are grown."""

    n_leaves: int
    min_documents: int
    feature_fraction: float
    extra_trees: bool
    categorical_features: Sequence[int | str] | None
    random_state: int
    n_jobs: int | None

    def check(self) -> None:
        """Refuse what no tree can be grown with."""
        for name, least in (("n_leaves", 2), ("min_documents", 1), ("random_state", 0)):
            check_count(name, getattr(self, name), least, LARGEST_INT)
        if not 0 < self.feature_fraction <= 1:
            raise OptionError(f"feature_fraction: expected a share above 0, at most 1, got {self.feature_fraction!r}")


class Grown(NamedTuple):
    """A tree and the leaf of every training row (of leaves with equal values, one of them)."""

    tree: Tree
    leaf: Integers

    @property
    def output(self) -> Floats:
        """The tree's value for every training row."""
        return self.tree.value.take(self.leaf)


class Growth:
    """A LightGBM booster that grows one tree per round, as the gradients of the round ask.

    Gradients are rounded to multiples of a common power of two, fine enough for float32, so that their sums are exact:
    trees have the same bits for any number of threads and any order of the rows. What a round draws is a function of
    the seed and its number: another process, given the number of rounds before, grows the same trees.
    """

    def __init__(self, data: Dataset, settings: Settings, n_before: int = 0) -> None:
        lightgbm = load_lightgbm()
        settings.check()
        check_bins(data)
        small = data.n_documents * data.n_features <= SMALL_CELLS
        self._parameters = {
            "objective": "none",
            "metric": "None",
            "learning_rate": 1.0,
            "boost_from_average": False,
            "num_leaves": int(settings.n_leaves),
            "min_data_in_leaf": int(settings.min_documents),
            "feature_fraction": float(settings.feature_fraction),
            "extra_trees": bool(settings.extra_trees),
            "seed": int(settings.random_state),
            "num_threads": 1 if small else count_jobs(settings.n_jobs),
            "deterministic": True,
            "force_row_wise": True,
            "feature_pre_filter": False,
            "verbosity": -1,
        }
        categorical: Any = feature_columns("categorical_features", settings.categorical_features, data)
        train = lightgbm.Dataset(
            data.X, np.zeros(data.n_documents), categorical_feature=categorical or "auto", params=self._parameters
        )
        self._error: type[Exception] = lightgbm.basic.LightGBMError
        try:
            self._booster = lightgbm.Booster(self._parameters, train)
            self._can_split = can_split(train, data.n_features)
        except self._error as error:
            raise InputError(f"X: expected features that trees can split, but LightGBM says: {error}") from error
        self._seed, self.n_rounds = settings.random_state, n_before
        self._draws = settings.feature_fraction < 1 or bool(settings.extra_trees)
        self._last, nothing = np.zeros(data.n_documents), np.zeros(data.n_documents)
        if (
            n_before and self._draws and self._can_split
        ):  # the first round of a booster draws otherwise than the later ones do
            self._booster.update(fobj=lambda scores, rows: (nothing, nothing + 1.0))

    def grow(self, gradient: Floats, hessian: Floats) -> Grown | None:
        """Grow a tree; None where it finds no split any more. Where draws decide, a few more are tried."""
        if not self._can_split:
            return None
        given, size = (rounded(gradient), rounded(hessian)), self._booster.current_iteration()
        for attempt in range(FRUITLESS if self._draws else 1):
            if self._update(given, attempt):
                break
            if self._booster.current_iteration() > size:  # a first tree without a split, which LightGBM keeps
                self._booster.rollback_one_iter()
        else:
            return None
        (tree,) = read(self._booster.model_to_string(start_iteration=size, num_iteration=1)).trees
        self.n_rounds += 1
        before, self._last = self._last, self._training_scores()
        return Grown(tree, _leaves(tree, self._last - before))

    def _update(self, given: tuple[Floats, Floats], attempt: int) -> bool:
        """Let LightGBM grow; tell whether it found a split."""
        if self._draws:
            number = int(np.random.SeedSequence([self._seed, self.n_rounds, attempt]).generate_state(1)[0] >> 1)
            self._booster.reset_parameter({"feature_fraction_seed": number, "extra_seed": number})
        try:
            return not self._booster.update(fobj=lambda scores, data: given)
        except self._error as error:
            raise InputError(f"X: expected features that trees can split, but LightGBM says: {error}") from error

    def _training_scores(self) -> Floats:
        """Return LightGBM's own scores of the training rows, which it shows to whoever measures them."""
        seen: list[Floats] = []

        def look(scores: Floats, data: object) -> tuple[str, float, bool]:
            seen.append(np.array(scores, np.float64))
            return "seen", 0.0, True

        self._booster.eval_train(look)
        return seen[0]


def load_lightgbm() -> Any:
    """Import LightGBM, or say which extra brings it."""
    try:
        with uninterrupted():
            import lightgbm
    except ImportError as error:
        raise MissingExtraError("lightgbm", "trees", "growing trees") from error
    return lightgbm


def check_bins(data: Dataset) -> None:
    """Refuse features of which LightGBM's bins, a byte for each value, do not fit into memory.

    LightGBM reads an array of rows where it is, also where that is a file that is mapped into memory.
    """
    n_values = data.X.nnz if data.is_sparse else data.n_documents * data.n_features
    check_memory("X: trees need a byte of every value", n_values, "take a part of the queries, or a linear ranker")


def can_split(train: Any, n_features: int) -> bool:
    """Tell whether some feature has two values that LightGBM can tell apart; asked to grow without, it shouts."""
    return any(train.feature_num_bin(feature) > 0 for feature in range(n_features))


def _leaves(tree: Tree, moved: Floats) -> Integers:
    """Return the leaf whose value is next to what each row moved by (which is off by rounding)."""
    values, first = np.unique(tree.value, return_index=True)
    return first.take(np.searchsorted(0.5 * (values[1:] + values[:-1]), moved)).astype(np.int64)


def rounded(values: Floats) -> Floats:
    """Return multiples of a common power of two, whose float32 sums are exact in any order."""
    greatest = float(np.abs(values).max(initial=0.0))
    if greatest == 0.0:
        return values
    unit = 2.0 ** (int(np.frexp(greatest)[1]) - BITS)
    rounded: Floats = np.rint(values / unit) * unit
    return rounded


def feature_columns(what: str, given: Any, data: Dataset) -> list[int]:
    """Return the numbers of features that are given by name or by number; features that are texts are categorical."""
    listed = isinstance(given, Sequence | Set) or (isinstance(given, np.ndarray) and given.ndim == 1)
    if given is not None and (isinstance(given, str) or not listed):
        raise OptionError(f"{what}: expected a list of names or numbers of features, got {shown(given)}")
    texts = data.categories or () if what == "categorical_features" else ()
    return list(
        dict.fromkeys(
            _column(what, feature, data)
            for feature in (
                *(() if given is None else given),
                *texts,
            )
        )
    )


def _column(what: str, feature: Any, data: Dataset) -> int:
    names = data.feature_names or ()
    if isinstance(feature, str):
        if feature not in names:
            raise unknown_name("feature", feature, names)
        return names.index(feature)
    if isinstance(feature, int | np.integer) and 0 <= feature < data.n_features:
        return int(feature)
    raise OptionError(f"{what}: expected names, or numbers below {data.n_features}, got {shown(feature)}")
