"""Results of single runs, one file each, so that an interrupted experiment goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from argrank._files import write_bytes
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold
from argrank.errors import InputError


def data_identity(fold: Fold) -> str:
    """Return a hash of all that a run sees of its data: features, labels, queries, weights and query ids."""
    digest = hashlib.sha256()
    for part in fold:
        digest.update(b"none" if part is None else _identity(part))
    return digest.hexdigest()


def _identity(data: Dataset) -> bytes:
    weights = [None if weight is None else weight.tolist() for weight in (data.query_weight, data.sample_weight)]
    return json.dumps([data.fingerprint, [str(qid) for qid in data.query_ids.tolist()], weights]).encode()


PACKAGE = Path(__file__).resolve().parents[1]


@cache
def code_identity(package: Path = PACKAGE) -> str:
    """Return a hash of the contents of all Python files of a package, by default argrank's own.

    It belongs to the identity of a run, so that a changed solver never returns the result of its predecessor.
    """
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Store:
    """A folder of finished runs. A run is known by its identity: everything that determines its result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made: {error.strerror}") from error

    def path(self, identity: Mapping[str, Any]) -> Path:
        """Return the file of a run: readable words, then a hash of the identity."""
        words = f"{identity['data']['name']}-fold{identity['fold']}-{identity['ranker']['name']}"
        return self.folder / f"{slug(words)}-{_hash(identity)[:16]}.json"

    def get(self, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result of a run, None where there is none or the file is no good."""
        try:
            found = json.loads(self.path(identity).read_bytes())
        except (OSError, ValueError):
            return None
        good = isinstance(found, dict) and found.get("identity") == json.loads(_canonical(identity))
        return found["result"] if good and isinstance(found.get("result"), dict) else None

    def put(self, identity: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep the result of a run; the file appears whole or not at all."""
        text = json.dumps({"identity": identity, "result": result}, ensure_ascii=False, allow_nan=False)
        with write_bytes(self.path(identity)) as stream:
            stream.write(text.encode() + b"\n")


def slug(text: str) -> str:
    """Return a text as a name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._") or "_"


def _canonical(identity: Mapping[str, Any]) -> str:
    return json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _hash(identity: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(identity).encode()).hexdigest()
