"""Ids of rows on their way into a pack: integers, or texts of one width that is known only at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from argrank.data.io.pack.array_file import GrowingArray
from argrank.data.io.pack.chunks import as_texts, plain_ids
from argrank.data.io.pack.contents import Stored

STEP = 1 << 20  # ids that are written again together


class GrowingIds:
    """An array of ids; it is rewritten when a wider text follows, or a first text after integers."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._array: GrowingArray | None = None

    def append(self, values: NDArray[Any]) -> None:
        """Write ids at the end."""
        ids = plain_ids(values, len(values), self._name)
        array = self._array
        if ids.dtype == object or (array is not None and array.dtype.kind == "U"):
            ids = as_texts(ids).astype("U")
        if ids.dtype.itemsize == 0:  # empty texts alone
            ids = ids.astype("U1")
        if array is None:
            array = self._array = GrowingArray(self._folder, self._name, ids.dtype)
        elif ids.dtype.kind == "U" and (array.dtype.kind != "U" or ids.dtype.itemsize > array.dtype.itemsize):
            array = self._array = self._wider(array, ids.dtype)
        array.append(ids)

    def finish(self) -> Stored:
        """Write the header; return what is stored."""
        if self._array is None:
            self._array = GrowingArray(self._folder, self._name, np.int64)
        return self._array.finish()

    def close(self) -> None:
        """Close the file, finished or not."""
        if self._array is not None:
            self._array.close()

    def _wider(self, narrow: GrowingArray, dtype: np.dtype[Any]) -> GrowingArray:
        narrow.finish()
        path = self._folder / f"{self._name}.npy"
        before: Any = np.load(path, mmap_mode="r") if narrow.n_rows else np.empty(0, narrow.dtype)
        path.unlink()
        if before.dtype.kind != "U":
            widest = max((len(str(one)) for one in (before.min(), before.max())), default=1) if len(before) else 1
            dtype = max(dtype, np.dtype(f"U{widest}"), key=lambda one: one.itemsize)
        wide = GrowingArray(self._folder, self._name, dtype)
        for start in range(0, len(before), STEP):
            piece = before[start : start + STEP]
            wide.append(piece if piece.dtype.kind == "U" else as_texts(piece).astype("U"))
        return wide
