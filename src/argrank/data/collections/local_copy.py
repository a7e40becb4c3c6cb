"""A local copy of a collection: find its files, read its folds, compare it with the published figures."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argrank._files import COMPRESSIONS, open_bytes
from argrank.data.collections.known import Collection, Part
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold, letor_parts
from argrank.data.io.letor.reader import read_letor
from argrank.data.io.triples import read_ratings
from argrank.errors import ArgrankWarning, InputError, OptionError

FOLD_FILES = {"train": ("train", "trainingset"), "valid": ("vali", "validationset"), "test": ("test", "testset")}


def find_folder(collection: Collection, folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder of a collection: the one given, else the one of its name in $ARGRANK_DATA."""
    if folder is not None:
        place = Path(folder)
    elif "ARGRANK_DATA" in os.environ:
        place = Path(os.environ["ARGRANK_DATA"]) / collection.name
    else:
        raise InputError(
            f"{collection.name}: expected folder=, or ARGRANK_DATA set to a folder that holds {collection.name}, got "
            f"neither; {_advice(collection)}"
        )
    if not place.is_dir():
        raise InputError(f"{collection.name}: expected a folder {place}, got none; {_advice(collection)}")
    return place


def find_file(folder: Path, *stems: str) -> Path | None:
    """Return the first file of these names, with or without .txt, compressed or not."""
    for stem in stems:
        for ending in (f"{plain}{packed}" for plain in (".txt", "") for packed in ("", *COMPRESSIONS)):
            if (folder / f"{stem}{ending}").is_file():
                return folder / f"{stem}{ending}"
    return None


def part_file(collection: Collection, folder: Path, part: str) -> Path | None:
    """Return the file that holds a part: its own, or the test file of the fold that tests it."""
    found = find_file(folder, part)
    if found is None and not collection.train:
        names = list(collection.parts)
        fold = (names.index(part) + 1) % len(names) + 1
        return find_file(folder / f"Fold{fold}", *FOLD_FILES["test"])
    return found


def read_fold(collection: Collection, folder: Path, fold: int, dtype: Any) -> Fold:
    """Read the training, validation and test part of one fold."""
    if not 1 <= fold <= collection.n_folds:
        raise OptionError(f"fold: expected a number from 1 to {collection.n_folds}, got {fold!r}")
    if collection.train:
        roles = {"train": [collection.train], "valid": [collection.valid], "test": [collection.test]}
        files = {role: [find_file(folder, *names)] for role, names in roles.items() if names != [""]}
    else:
        chosen = letor_parts(fold, collection.n_folds)
        names = list(collection.parts)
        numbers = {"train": chosen.train, "valid": [chosen.valid], "test": [chosen.test]}
        roles = {role: [names[number] for number in which] for role, which in numbers.items()}
        ready = folder / f"Fold{fold}"
        if ready.is_dir():
            files = {role: [find_file(ready, *names)] for role, names in FOLD_FILES.items()}
        else:
            files = {role: [find_file(folder, name) for name in names] for role, names in roles.items()}
    found: dict[str, Dataset] = {}
    for role, paths in files.items():
        if None in paths:
            raise InputError(
                f"{folder}: expected the {role} file of {collection.name}, got none; {_advice(collection)}"
            )
        parts = [read_letor(path, dtype=dtype, n_features=collection.features) for path in paths if path is not None]
        found[role] = parts[0] if len(parts) == 1 else Dataset.concatenate(parts)
        _compare(collection, role, found[role], [collection.parts[name] for name in roles[role]])
    return Fold(found["train"], found.get("valid"), found["test"])


def _compare(collection: Collection, role: str, data: Dataset, parts: Sequence[Part]) -> None:
    for what, got, published in (
        ("queries", data.n_queries, [part.queries for part in parts]),
        ("documents", data.n_documents, [part.documents for part in parts]),
    ):
        known = [number for number in published if number is not None]
        if len(known) == len(parts) and got != sum(known):
            warnings.warn(
                f"{collection.name}: expected {sum(known)} {what} in the {role} part, as published, got {got}",
                ArgrankWarning,
                stacklevel=5,  # skips the wrapper that checks arguments
            )


def _advice(collection: Collection) -> str:
    if collection.train:
        names = ", ".join(f"{name}.txt" for name in (collection.train, collection.valid, collection.test) if name)
    elif collection.features is None:
        names = ", ".join(collection.parts)
    else:
        names = "Fold1 … Fold5 with train.txt, vali.txt, test.txt, or the parts S1.txt … S5.txt"
    return f"obtain it from {collection.obtain}, and put there {names} (.gz, .xz, .bz2 or .zip will do)"


def differences(collection: Collection, folder: Path) -> list[str]:
    """Return the differences as sentences; a part with the right checksum is not read."""
    found: list[str] = []
    read: list[Dataset] = []
    for name, published in collection.parts.items():
        path = part_file(collection, folder, name)
        if path is None:
            found.append(f"{name}: expected a file, got none")
            continue
        digest = sha256(path)
        if digest == published.sha256:
            continue
        if published.sha256 is not None:
            found.append(f"{path}: expected SHA-256 {published.sha256}, got {digest}")
        if collection.features is None:
            counts = {"documents": (published.documents, len(read_ratings(path)))}
        else:
            data = read_letor(path)
            read.append(data)
            counts = {
                "queries": (published.queries, data.n_queries),
                "documents": (published.documents, data.n_documents),
            }
        found += _unequal(str(path), counts)
    if len(read) == len(collection.parts):
        found += _unequal(collection.name, _totals(collection, read))
    return found


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's uncompressed bytes."""
    digest = hashlib.sha256()
    with open_bytes(path) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _totals(collection: Collection, parts: list[Dataset]) -> dict[str, tuple[int | None, int]]:
    counts: dict[str, tuple[int | None, int]] = {
        "queries": (collection.queries, sum(part.n_queries for part in parts)),
        "documents": (collection.documents, sum(part.n_documents for part in parts)),
        "features": (collection.features, max(part.n_features for part in parts)),
    }
    labels = np.concatenate([part.y for part in parts])
    for label, count in collection.labels.items():
        counts[f"documents with label {label}"] = (count, int((labels == label).sum()))
    if collection.labels:
        counts["documents with another label"] = (0, int((~np.isin(labels, list(collection.labels))).sum()))
    return counts


def _unequal(where: str, counts: dict[str, tuple[int | None, int]]) -> list[str]:
    return [
        f"{where}: expected {published} {what}, got {got}"
        for what, (published, got) in counts.items()
        if published is not None and published != got
    ]
