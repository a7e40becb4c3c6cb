"""A word about features whose scales differ so much, or are so small, that one regulariser cannot suit them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import over_features

WILD = 1e6  # ratio of the largest to the smallest range of a feature; the doctor speaks up earlier
TINY = 1e-6  # the largest range of a feature, below which weights of ordinary size make no difference
LONG = 1024  # numbers of rows that are looked at as one


def notes_of_scales(data: Dataset, n_jobs: int | None, penalised: bool = True) -> list[str]:
    """Return a note where the ranges of features differ wildly, or are all tiny and weights are penalised.

    Differences make solvers slow and the fit one-sided; for tiny features the penalty outweighs all there is to learn.
    """
    ranges = over_features(data, _range, n_jobs)
    low, high = np.min([one[0] for one in ranges], axis=0), np.max([one[1] for one in ranges], axis=0)
    with np.errstate(over="ignore"):
        extent = high - low
    usable = np.flatnonzero(extent > 0)
    if not len(usable):
        return []
    small, large = usable[np.argmin(extent[usable])], usable[np.argmax(extent[usable])]
    names = data.feature_names
    named = [str(number) if names is None else repr(names[number]) for number in (large, small)]
    if penalised and extent[large] < TINY:
        return [
            f"the features are tiny: none ranges over more than {extent[large]:.3g} (feature {named[0]}), so that the "
            "penalty on the weights outweighs all that they can gain; normalise='standard' helps"
        ]
    if not extent[large] > WILD * extent[small]:
        return []
    return [
        f"the scales of the features differ wildly: feature {named[0]} ranges over {extent[large]:.3g}, feature "
        f"{named[1]} over {extent[small]:.3g}. A linear fit is slow there and one-sided; normalise='standard' helps"
    ]


def _range(X: Any) -> tuple[Floats, Floats]:
    if sparse.issparse(X):
        return X.min(axis=0).toarray()[0], X.max(axis=0).toarray()[0]
    X = np.asarray(X)
    together = max(1, min(len(X), LONG // X.shape[1]))  # rows as one, as NumPy takes long rows several times faster
    whole = len(X) - len(X) % together
    long = X[:whole].reshape(-1, together * X.shape[1])
    least, most = (reduce(long, axis=0).reshape(together, -1) for reduce in (np.min, np.max))
    return np.vstack([least, X[whole:]]).min(axis=0), np.vstack([most, X[whole:]]).max(axis=0)
