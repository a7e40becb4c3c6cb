"""Folders of finished work for resuming interrupted trials: results of runs, and fits with their models."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from argrank._files import check_path, make_folder, write_text
from argrank._json import parse_json
from argrank.data.dataset import Dataset
from argrank.data.folds import Fold
from argrank.errors import ArgrankWarning, FormatError, InputError
from argrank.rankers.base_ranker import BaseRanker
from argrank.rankers.checkpoint import determining, identity
from argrank.rankers.registry import registered_name


def data_identity(fold: Fold) -> str:
    """Return a hash of a run's data: features, labels, queries, weights and query ids."""
    digest = hashlib.sha256()
    for part in fold:
        digest.update(b"none" if part is None else _identity(part))
    return digest.hexdigest()


def _identity(data: Dataset) -> bytes:
    weights = [None if weight is None else weight.tolist() for weight in (data.query_weight, data.sample_weight)]
    return json.dumps([data.fingerprint, [str(qid) for qid in data.query_ids.tolist()], weights]).encode()


EVERY = 60.0  # seconds between two checkpoints
PACKAGE = Path(__file__).resolve().parents[1]


@cache
def code_identity(package: Path = PACKAGE) -> str:
    """Return a hash of the contents of all Python files of a package, by default argrank's own.

    It is part of a run's identity, so that results of older code are not reused.
    """
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Store:
    """A folder of finished runs. The key of a run is its identity: everything that determines its result."""

    def __init__(self, folder: Path) -> None:
        self.folder = make_folder(folder)

    def path(self, identity: Mapping[str, Any]) -> Path:
        """Return the file of a run: readable words, then a hash of the identity."""
        words = f"{identity['data']['name']}-fold{identity['fold']}-{identity['ranker']['name']}"
        return self.folder / f"{slug(words)}-{_hash(identity)[:16]}.json"

    def get(self, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result of a run, None if there is none or the file is damaged."""
        try:
            found = parse_json(self.path(identity).read_bytes(), "result")
        except (OSError, ValueError, RecursionError):
            return None
        good = isinstance(found, dict) and found.get("identity") == json.loads(_canonical(identity))
        return found["result"] if good and isinstance(found.get("result"), dict) else None

    def put(self, identity: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Store the result of a run atomically; warn if it cannot be written."""
        text = json.dumps({"identity": identity, "result": result}, ensure_ascii=False, allow_nan=False)
        try:
            write_text(self.path(identity), f"{text}\n")
        except (InputError, OSError) as error:  # a full disk must not stop the other runs
            warnings.warn(f"a result was not stored: {error}", ArgrankWarning, stacklevel=2)


class Fits:
    """A folder of fits, each in its own checkpoint: a finished one is read, an unfinished one is resumed.

    The key of a fit is its ranker and parameters, its data and argrank's own code, so that trials may share the folder
    and results of older code are not reused.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        check_path(folder)
        self.folder = make_folder(folder)

    def path(self, ranker: BaseRanker, data: Dataset, validations: Sequence[Dataset] = ()) -> Path:
        """Return the checkpoint of a fit: the ranker's name, then a hash of everything that determines the model."""
        known = {**determining(identity(ranker, data, list(validations))), "code": code_identity()}
        return self.folder / f"{slug(registered_name(ranker))}-{_hash(known)[:16]}.ckpt"

    def fit(self, ranker: BaseRanker, data: Dataset, validations: Sequence[Dataset] = (), every: float = EVERY) -> Path:
        """Train a ranker, or read a stored one; return the checkpoint. A damaged one is replaced."""
        path, watched = self.path(ranker, data, validations), list(validations) or None
        try:
            ranker.fit(data, eval_set=watched, checkpoint=path, every=every)
        except FormatError as error:
            warnings.warn(f"{error}; trained again", ArgrankWarning, stacklevel=2)
            path.unlink(missing_ok=True)
            path.with_name(f"{path.name}.1").unlink(missing_ok=True)
            ranker.fit(data, eval_set=watched, checkpoint=path, every=every)
        return path


def fits_in(folder: str | os.PathLike[str] | None) -> Fits | None:
    """Return the fits in a folder, which is created; None without one."""
    return None if folder is None else Fits(folder)


def train(ranker: Any, data: Dataset, fits: Fits | None) -> None:
    """Train a ranker, with a checkpoint if fits are stored; estimators of other libraries have none."""
    if fits is None or not isinstance(ranker, BaseRanker):
        ranker.fit(data)
    else:
        fits.fit(ranker, data)


def slug(text: str) -> str:
    """Return a text as a name that is valid in every file system."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._") or "_"


def _canonical(identity: Mapping[str, Any]) -> str:
    return json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _hash(identity: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(identity).encode()).hexdigest()
