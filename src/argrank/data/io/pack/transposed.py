"""The features of a pack a second time, column by column, for the rankers that read columns."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from argrank.data.io.pack.array_file import SUFFIX, open_array, sum_of
from argrank.data.io.pack.contents import Contents, Stored
from argrank.errors import OptionError

NAME = "XT"


def write_transposed(folder: Path, contents: Contents, n_bytes: int) -> Contents:
    """Write ``XT.npy`` beside ``X.npy``, about ``n_bytes`` at a time; return the description with it."""
    if contents.sparse:
        raise OptionError("columns: expected dense features, got sparse ones, which are stored by row alone")
    X = open_array(folder, "X", contents.arrays["X"])
    shape = X.shape[::-1]
    with open(folder / f"{NAME}{SUFFIX}", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.lib.format.dtype_to_descr(X.dtype), "fortran_order": False, "shape": shape}
        )
        begin, size = file.tell(), X.dtype.itemsize
        step = max(1, n_bytes // X[:1].nbytes)
        for start in range(0, len(X), step):
            for column, values in enumerate(np.ascontiguousarray(X[start : start + step].T)):
                file.seek(begin + (column * len(X) + start) * size)
                file.write(values.data)
    stored = Stored(X.dtype.str, shape, "")
    whole = dataclasses.replace(stored, sha256=sum_of(open_array(folder, NAME, stored)))
    return dataclasses.replace(contents, arrays={**contents.arrays, NAME: whole})
