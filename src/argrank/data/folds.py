"""Folds by query: training, validation and test parts that never share a query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._declared import AtLeast, Seed, checked
from argrank._types import Integers
from argrank.data.checks import row_count
from argrank.data.dataset import Dataset
from argrank.data.grouping import group_by_id
from argrank.data.mapped import refuse_copy
from argrank.errors import InputError, OptionError

FEWEST = 5  # queries of a fold inside a fit; with fewer a gain would be chance


class Fold(NamedTuple):
    """The parts of one fold; ``valid`` is None if a collection has no validation part."""

    train: Dataset
    valid: Dataset | None
    test: Dataset


class Parts(NamedTuple):
    """Which of the parts 0, 1, … train, validate and test in one fold."""

    train: list[int]
    valid: int
    test: int


def letor_parts(fold: int, n_parts: int = 5) -> Parts:
    """Return the parts of fold 1, 2, … by LETOR's rule.

    Count cyclically from part number ``fold``: all parts but the last two train, the next validates, the last tests; of
    five parts, fold 1 trains on the first three, validates on the fourth and tests on the fifth.

    >>> letor_parts(2)
    Parts(train=[1, 2, 3], valid=4, test=0)
    """
    if not 1 <= fold <= n_parts:
        raise OptionError(f"fold: expected a number from 1 to {n_parts}, got {fold!r}")
    cycle = [(fold - 1 + step) % n_parts for step in range(n_parts)]
    return Parts(cycle[:-2], cycle[-2], cycle[-1])


class QueryKFold:
    """Split by query into ``n_splits`` parts with nearly equal numbers of queries.

    A splitter for scikit-learn (``cv=QueryKFold()``, with ``groups=qid``) and for Datasets.

    Parameters
    ----------
    n_splits : int
    shuffle : bool
        Assign queries to parts at random; otherwise parts are runs of queries in order of appearance.
    random_state : int or None
        Seed of the shuffle.
    letor : bool
        Follow LETOR's rule in `split`: training leaves out the part that would validate, and fold 1 tests the last
        part. By default, training takes all but the tested part, and fold 1 tests the first.

    Examples
    --------
    >>> data = Dataset(np.eye(6), [1, 0, 1, 0, 1, 0], qid=[7, 7, 8, 8, 9, 9])
    >>> for train, test in QueryKFold(3, shuffle=False).split(data):
    ...     print(data.select(train).query_ids, data.select(test).query_ids)
    [8 9] [7]
    [7 9] [8]
    [7 8] [9]
    """

    @checked
    def __init__(
        self,
        n_splits: Annotated[int, AtLeast(2)] = 5,
        *,
        shuffle: bool = True,
        random_state: Seed | None = 0,
        letor: bool = False,
    ) -> None:
        if letor and n_splits < 3:
            raise OptionError(f"n_splits: expected a whole number from 3 up with letor=True, got {n_splits}")
        self.n_splits, self.shuffle, self.random_state, self.letor = n_splits, shuffle, random_state, letor

    @checked
    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    @checked
    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Integers, Integers]]:
        """Yield (train, test): numbers of queries for a Dataset, else row numbers by the query ids ``groups``."""
        if isinstance(X, Dataset):
            yield from self._query_numbers(X.n_queries)
            return
        if groups is None:
            raise InputError("groups: expected the query id of every row (groups=qid), got none")
        n_rows = row_count(X, "X")
        if not n_rows:
            raise InputError("X: expected at least one row, got none")
        queries = group_by_id(groups, n_rows)
        query_of_row = queries.query_of_row
        for train, test in self._query_numbers(len(queries.query_ids)):
            yield np.flatnonzero(np.isin(query_of_row, train)), np.flatnonzero(np.isin(query_of_row, test))

    @checked
    def folds(self, data: Dataset) -> Iterator[Fold]:
        """Yield training, validation and test Datasets by LETOR's rule: all parts but two train."""
        if self.n_splits < 3:
            raise OptionError(f"folds: expected n_splits from 3 up (train, validate, test), got {self.n_splits}")
        parts = self._parts(data.n_queries)
        for fold in range(1, self.n_splits + 1):
            chosen = letor_parts(fold, self.n_splits)
            train = _join(parts, chosen.train)
            yield Fold(data.select(train), data.select(parts[chosen.valid]), data.select(parts[chosen.test]))

    def get_metadata_routing(self) -> Any:
        """Tell scikit-learn that `split` takes the groups."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.split.add_request(param="groups", alias=True)
        return request

    def __repr__(self) -> str:
        return (
            f"QueryKFold({self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state}, letor={self.letor})"
        )

    def _parts(self, n_queries: int) -> list[Integers]:
        if n_queries < self.n_splits:
            raise InputError(f"n_splits: expected at least {self.n_splits} queries for as many folds, got {n_queries}")
        order = np.arange(n_queries)
        if self.shuffle:
            order = np.random.default_rng(self.random_state).permutation(n_queries)
        return [np.sort(part) for part in np.array_split(order, self.n_splits)]

    def _query_numbers(self, n_queries: int) -> Iterator[tuple[Integers, Integers]]:
        parts = self._parts(n_queries)
        for fold in range(1, self.n_splits + 1):
            if self.letor:
                chosen = letor_parts(fold, self.n_splits)
                yield _join(parts, chosen.train), parts[chosen.test]
            else:
                others = [part for part in range(self.n_splits) if part != fold - 1]
                yield _join(parts, others), parts[fold - 1]


def _join(parts: list[Integers], chosen: list[int]) -> Integers:
    return np.sort(np.concatenate([parts[part] for part in chosen]))


def has_enough(data: Dataset, folds: int) -> bool:
    """Tell whether there are enough queries of positive weight for this number of folds inside a fit."""
    weight = data.query_weight
    n_queries = data.n_queries if weight is None else int(np.count_nonzero(weight))
    return n_queries >= FEWEST * folds


def left_out(
    data: Dataset, folds: int, rng: np.random.Generator
) -> Iterator[tuple[Dataset, Dataset, NDArray[np.bool_]]]:
    """Yield for every fold the data to fit, the data left out, and which queries the latter are."""
    refuse_copy(data.X, "folds: cross-validation", "folds=0 or an eval_set", 1 - 1 / folds)
    fold_of = rng.permutation(data.n_queries) % folds
    for fold in range(folds):
        yield data.select(fold_of != fold), data.select(fold_of == fold), fold_of == fold
