"""Nested states as files: a zip archive of plain arrays (``.npy``, never pickled) and ``state.json``."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from argrank._files import read_all
from argrank._json import parse_json
from argrank._memory import check_memory
from argrank.engines.partitioned_risk import Vector

STATE = "state.json"


class DamagedError(Exception):
    """A file without a state, or with a damaged one; the message says why."""


def packed(document: Mapping[str, Any]) -> memoryview:
    """Return the archive of a state."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(Store(archive).plain(document), ensure_ascii=False, allow_nan=False)
        archive.writestr(STATE, text, zipfile.ZIP_DEFLATED, 1)  # traces and trees shrink to a fraction
    return content.getbuffer()


def unpacked(path: Path) -> Any:
    """Return the state of an archive, or raise DamagedError; reading stops at the memory limit."""
    try:
        with zipfile.ZipFile(path) as archive:
            with archive.open(STATE) as stream:
                document = parse_json(read_all(stream, STATE), STATE)
            return restored(document, lambda name: _array(archive, name))
    except Exception as error:  # any error that damage causes in zipfile, zlib, NumPy, JSON and the code below
        raise DamagedError(f"{error}" or type(error).__name__) from error


def _array(archive: zipfile.ZipFile, name: str) -> Any:
    """Return an array, which must be uncompressed, so that it cannot be larger than the file."""
    found = archive.getinfo(name)
    if found.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name}: expected an array that is not compressed")
    check_memory(name, 2.0 * found.file_size, "fit without a checkpoint")
    return np.lib.format.read_array(io.BytesIO(archive.read(found)), allow_pickle=False)


class Store:
    """Writes the arrays of a nested state to an archive and leaves their names in it."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive, self._number = archive, 0

    def plain(self, value: Any) -> Any:
        """Convert a value to what JSON can hold."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Vector):  # of scores on a cluster
            value = value.values()
        if isinstance(value, np.ndarray):
            if _is_symmetric(value):
                return {"triangle": self._put(value[np.tril_indices(len(value))]), "n": len(value)}
            return {"array": self._put(value)}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        if isinstance(value, Mapping):
            return {"fields": {str(key): self.plain(one) for key, one in value.items()}}
        if isinstance(value, list | tuple):
            if value and all(isinstance(one, np.ndarray) and one.dtype == np.float64 for one in value):
                shapes = [list(one.shape) for one in value]
                return {"arrays": self._put(np.concatenate([one.ravel() for one in value])), "shapes": shapes}
            return [self.plain(one) for one in value]
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"a checkpoint cannot hold {type(value).__name__}")

    def _put(self, array: Any) -> str:
        self._number += 1
        name = f"{self._number}.npy"
        content = io.BytesIO()
        np.lib.format.write_array(content, np.ascontiguousarray(array), allow_pickle=False)
        self._archive.writestr(name, content.getbuffer())
        return name


def _is_symmetric(array: Any) -> bool:
    """Tell whether a matrix of floats is exactly symmetric, so that half of it suffices."""
    square = array.ndim == 2 and array.dtype == np.float64 and 1 < array.shape[0] == array.shape[1]
    return square and np.ascontiguousarray(array).tobytes() == np.ascontiguousarray(array.T).tobytes()


def restored(value: Any, get: Callable[[str], Any]) -> Any:
    """Return the value described by ``Store.plain``; ``get`` reads an array."""
    if isinstance(value, list):
        return [restored(one, get) for one in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return get(value["array"])
    if "triangle" in value:
        half, n = get(value["triangle"]), value["n"]
        if half.shape != (n * (n + 1) // 2,):
            raise ValueError(f"expected half a matrix of {n} rows, got {half.shape}")
        whole, lower = np.empty((n, n)), np.tril_indices(n)
        whole[lower] = whole.T[lower] = half
        return whole
    if "arrays" in value:
        joined, at, found = get(value["arrays"]), 0, []
        for shape in value["shapes"]:
            found.append(joined[at : at + math.prod(shape)].reshape(shape))
            at += math.prod(shape)
        return found
    if "float" in value:
        return float(value["float"])
    return {name: restored(one, get) for name, one in value["fields"].items()}
