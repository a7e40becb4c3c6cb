"""Known collections: their contents, where to obtain them, and how to read a local copy.

To add one, declare a `Collection` in `known.py` and list it there.
"""

from __future__ import annotations

import os

from argrank._declared import Count, FloatType, checked
from argrank.data.collections.known import COLLECTIONS, Collection
from argrank.data.collections.local_copy import differences, find_file, find_folder, read_fold
from argrank.data.folds import Fold
from argrank.data.io.triples import RatingFold, read_ratings
from argrank.errors import InputError, OptionError, unknown_name


def collection_names() -> list[str]:
    """Return the names of the known collections."""
    return [collection.name for collection in COLLECTIONS]


def find_collection(name: str) -> Collection:
    """Return the description of a collection; case is ignored."""
    by_name = {collection.name.lower(): collection for collection in COLLECTIONS}
    if not isinstance(name, str) or name.lower() not in by_name:
        raise unknown_name("collection", name, collection_names())
    return by_name[name.lower()]


@checked
def load_collection(
    name: str, folder: str | os.PathLike[str] | None = None, fold: Count = 1, *, dtype: FloatType = "float64"
) -> Fold:
    """Read one fold of a local copy of a known collection.

    Parameters
    ----------
    name : str
        One of `collection_names`.
    folder : path, optional
        The folder of the copy; by default the folder ``name`` in the folder given by the environment variable
        ARGRANK_DATA. It holds ``Fold1`` … ``Fold5`` with ``train.txt``, ``vali.txt`` and ``test.txt``, or the parts
        ``S1.txt`` … ``S5.txt`` (then fold f trains on three parts from Sf on, validates on the next and tests on the
        one after), or, for collections with one split, its files. Files may be compressed.
    fold : int
        1 to 5; 1 for collections with one split.
    dtype : "float64" or "float32"
        Of the features.
    """
    known = find_collection(name)
    if known.features is None:
        raise OptionError(f"{known.name} has ratings and no features; expected load_ratings({known.name!r}) for it")
    return read_fold(known, find_folder(known, folder), fold, dtype)


@checked
def load_ratings(name: str = "ml-100k", folder: str | os.PathLike[str] | None = None, fold: Count = 1) -> RatingFold:
    """Read one official split (u1 … u5) of a local copy of MovieLens 100k as (user, item, rating) triples."""
    known = find_collection(name)
    if known.features is not None:
        raise OptionError(f"{known.name} has features; expected load_collection({known.name!r}) for it")
    if fold not in range(1, 6):
        raise OptionError(f"fold: expected a number from 1 to 5, got {fold!r}")
    place = find_folder(known, folder)
    files = [find_file(place, f"u{fold}.{role}") for role in ("base", "test")]
    if files[0] is None or files[1] is None:
        raise InputError(f"{place}: expected u{fold}.base and u{fold}.test, got none; obtain them from {known.obtain}")
    return RatingFold(read_ratings(files[0]), read_ratings(files[1]))


@checked
def check_collection(name: str, folder: str | os.PathLike[str] | None = None) -> list[str]:
    """Compare a local copy with the published counts and checksums.

    Returns the differences as sentences; an empty list if everything that is known of the collection matches.
    """
    known = find_collection(name)
    return differences(known, find_folder(known, folder))
