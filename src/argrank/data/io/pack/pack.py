"""Write a pack: data from anywhere, converted once, to be read by memory map from then on."""

from __future__ import annotations

import os
from typing import Any

from argrank._files import write_folder
from argrank.data.dataset import Dataset
from argrank.data.io.pack.contents import DESCRIPTION, Contents
from argrank.data.io.pack.sources import dataset_chunks
from argrank.data.io.pack.writer import Writer


def pack(source: Dataset, path: str | os.PathLike[str], *, dtype: Any = None) -> Contents:
    """Write data as a pack: a folder of plain ``.npy`` files that `ar.load` maps into memory, whole or not at all.

    Parameters
    ----------
    source : Dataset
    path : path
        Name of the folder, by custom with the ending ``.pack``. An older pack of that name is replaced.
    dtype : "float64" or "float32", optional
        Of the features; by default as they are.

    Examples
    --------
    >>> import tempfile, argrank as ar
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     contents = ar.pack(ar.load_bundled(), f"{folder}/train.pack")
    ...     ar.load(f"{folder}/train.pack").n_queries
    300
    """
    with write_folder(path, DESCRIPTION) as folder:
        writer = Writer(folder, dtype)
        try:
            for chunk in dataset_chunks(source):
                writer.append(chunk)
            return writer.finish(source.feature_names, source.feature_base, source.categories)
        finally:
            writer.close()
