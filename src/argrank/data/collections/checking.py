"""Compare a user's copy of a collection with what is published of it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from argrank._files import open_bytes
from argrank.data.collections.collection import Collection
from argrank.data.collections.ratings import read_ratings
from argrank.data.collections.reading import part_file
from argrank.data.dataset import Dataset
from argrank.data.io.letor.reader import read_letor


def differences(collection: Collection, folder: Path) -> list[str]:
    """Return in words what differs; a part whose checksum is right is not read, and needs no more."""
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
