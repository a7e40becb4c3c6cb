"""The description of a pack in ``pack.json``: format, sizes, types, starts of blocks, and checksums of every array."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from argrank._json import parse_json
from argrank._version import __version__
from argrank.data.dataset import fingerprint_of
from argrank.errors import is_text, shown

DESCRIPTION = "pack.json"
FORMAT = 1
CHUNK_BYTES = 1 << 22  # bytes of an array with a checksum of their own
LARGEST_DESCRIPTION = 1 << 28  # bytes; 1e9 rows have 42,000 blocks, and names of features are short

#: Per array: the types it may have, and its shape by the numbers of rows, features, queries and values stored (v)
ARRAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "X": (r"<f[48]", ("n", "d")),
    "XT": (r"<f[48]", ("d", "n")),
    "X.data": (r"<f[48]", ("v",)),
    "X.indices": (r"<i[48]", ("v",)),
    "X.indptr": (r"<i8", ("n+1",)),
    "y": (r"<f8", ("n",)),
    "indptr": (r"<i8", ("q+1",)),
    "query_ids": (r"<i8|\|S[1-9]\d{0,5}", ("q",)),
    "query_weight": (r"<f8", ("q",)),
    "docids": (r"<i8|<U[1-9]\d{0,5}", ("n",)),
    "sources": (r"<i8|<U[1-9]\d{0,5}", ("n",)),
    "sample_weight": (r"<f8", ("n",)),
    "gains": (r"<f8", ("n",)),
    "examinations": (r"<f8", ("n",)),
    "rows": (r"<i8", ("n",)),
}
KINDS = {"qid": ("integer", "text"), "label": ("number", None)}


class ContentsError(Exception):
    """An error in a description: what was expected, and what was found."""

    def __init__(self, expected: str, got: Any) -> None:
        self.expected, self.got = expected, got if isinstance(got, str) else shown(got)
        super().__init__(f"expected {expected}, got {self.got}")


@dataclass(frozen=True)
class Stored:
    """One array: its NumPy type, its shape, the SHA-256 of its values (the file without its header), and their CRC-32.

    There is a CRC-32 for every CHUNK_BYTES of the values, except in packs of earlier versions.
    """

    dtype: str
    shape: tuple[int, ...]
    sha256: str
    crc32: tuple[int, ...] | None = None

    @property
    def n_bytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The description of a pack; ``blocks`` are query numbers, from 0 to the number of queries."""

    shape: tuple[int, int]
    queries: int
    dtype: str
    sparse: bool
    label: str | None
    qid: str
    blocks: tuple[int, ...]
    arrays: Mapping[str, Stored]
    feature_names: tuple[str, ...] | None = None
    feature_base: int = 1
    categories: Mapping[str, tuple[str, ...]] | None = None
    normalise: str | None = None
    argrank: str = field(default=__version__)
    format: int = FORMAT

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the Dataset, from the checksums of its arrays."""
        features = ("X.data", "X.indices", "X.indptr") if self.sparse else ("X",)
        sums = [self.arrays[name].sha256 for name in (*features, "gains" if "gains" in self.arrays else "y", "indptr")]
        return fingerprint_of(self.shape, self.dtype, sums)

    @property
    def n_bytes(self) -> int:
        """Bytes of all arrays."""
        return sum(stored.n_bytes for stored in self.arrays.values())

    def to_json(self) -> bytes:
        """Return the text of ``pack.json``."""
        values = asdict(self)
        first = ("format", "argrank", "shape", "queries", "dtype")
        ordered = {name: values.pop(name) for name in first} | values
        lines = (f" {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in ordered.items())
        return ("{\n" + ",\n".join(lines) + "\n}\n").encode()

    @classmethod
    def from_json(cls, text: bytes) -> Contents:
        """Return the description in a text, or raise ContentsError; all sizes are checked for consistency."""
        try:
            values = parse_json(text, "description")
        except (ValueError, RecursionError) as error:
            raise ContentsError("JSON", f"{error}") from error
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            got = values.get("format") if isinstance(values, dict) else values
            raise ContentsError(f"a pack of format {FORMAT}", f"format {shown(got)}; a newer argrank may read it")
        names = set(cls.__dataclass_fields__)
        if set(values) != names:
            raise ContentsError(f"the entries {', '.join(sorted(names))}", ", ".join(sorted(map(str, values)))[:200])
        found = cls(**_plain(values))
        found._check_sizes()
        return found

    def _check_sizes(self) -> None:
        """Check that the arrays are those of the format and that their shapes are those of the data."""
        if not ("X" in self.arrays) != ("X.data" in self.arrays) or ("X.data" in self.arrays) != self.sparse:
            raise ContentsError("features, dense or sparse", sorted(self.arrays))
        needed = {"y", "indptr", "query_ids", *(("X.indices", "X.indptr") if self.sparse else ())}
        if not needed <= set(self.arrays):
            raise ContentsError(f"the arrays {', '.join(sorted(needed))}", sorted(self.arrays))
        n, d = self.shape
        stored = self.arrays["X.data"].shape if self.sparse else (0,)
        lengths = {"n": n, "d": d, "q": self.queries, "v": stored[0] if stored else 0}
        lengths |= {"n+1": n + 1, "q+1": self.queries + 1}
        for name, one in self.arrays.items():
            kinds, shape = ARRAYS[name]
            if not re.fullmatch(kinds, one.dtype):
                raise ContentsError(f"{name} of another type", one.dtype)
            if one.shape != tuple(lengths[length] for length in shape):
                raise ContentsError(f"{name} of shape {tuple(lengths[length] for length in shape)}", one.shape)
            if one.crc32 is not None and len(one.crc32) != -(-one.n_bytes // CHUNK_BYTES):
                raise ContentsError(f"{name}: a CRC-32 for every {CHUNK_BYTES:,} bytes", f"{len(one.crc32):,}")
            if name in ("X", "XT", "X.data") and np.dtype(one.dtype) != np.dtype(self.dtype):
                raise ContentsError(f"{name} of type {self.dtype}", one.dtype)
        if self.arrays["query_ids"].dtype.startswith("|S") != (self.qid == "text"):
            raise ContentsError(f"query ids that are {self.qid}", self.arrays["query_ids"].dtype)
        borders = np.asarray(self.blocks)
        if borders[0] != 0 or borders[-1] != self.queries or (np.diff(borders) <= 0).any():
            raise ContentsError(f"blocks that begin at rising query numbers from 0 to {self.queries}", self.blocks)


def _rules(values: dict[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield the name of every entry, whether its value is right, and what is expected; later ones rely on earlier."""
    yield "shape", _is_counts(values["shape"], 1) and len(values["shape"]) == 2, "two positive numbers"
    (n, d), queries, names, texts = (values[name] for name in ("shape", "queries", "feature_names", "categories"))
    yield "queries", _is_counts([queries], 1) and queries <= n, "a number up to that of rows"
    yield "dtype", values["dtype"] in ("float32", "float64"), "float32 or float64"
    yield "sparse", isinstance(values["sparse"], bool), "true or false"
    for name, kinds in KINDS.items():
        yield name, values[name] in kinds, "a kind that is known"
    yield "blocks", _is_counts(values["blocks"], 0) and len(values["blocks"]) >= 2, "two query numbers or more"
    named = names is None or (_is_texts(names) and len(names) == d == len(set(names)))
    yield "feature_names", named, f"{d} different names"
    yield "feature_base", values["feature_base"] in (0, 1) and type(values["feature_base"]) is not bool, "0 or 1"
    known = isinstance(texts, dict) and names is not None
    known = known and all(name in names and _is_texts(own) for name, own in texts.items())
    yield "categories", texts is None or known, "texts of features"
    yield "normalise", values["normalise"] is None or _is_texts([values["normalise"]]), "a name"
    yield "argrank", _is_texts([values["argrank"]]), "a version"
    yield "arrays", isinstance(values["arrays"], dict), "a table"


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a description with checked types."""
    for name, holds, expected in _rules(values):
        _need(holds, f"{name}: {expected}", values[name])
    arrays = {}
    for name, one in values["arrays"].items():
        _need(name in ARRAYS, f"arrays: names of {', '.join(ARRAYS)}", name)
        keys = {"dtype", "shape", "sha256", "crc32"}
        _need(isinstance(one, dict) and keys - {"crc32"} <= set(one) <= keys, f"{name}: {', '.join(sorted(keys))}", one)
        _need(isinstance(one["dtype"], str) and _is_counts(one["shape"], 0), f"{name}: a type and a shape", one)
        _need(isinstance(one["sha256"], str) and re.fullmatch("[0-9a-f]{64}", one["sha256"]), f"{name}: a SHA-256", one)
        sums = one.get("crc32")
        _need(sums is None or (_is_counts(sums, 0) and all(value < 1 << 32 for value in sums)), f"{name}: CRC-32", sums)
        arrays[name] = Stored(one["dtype"], tuple(one["shape"]), one["sha256"], None if sums is None else tuple(sums))
    names, texts = values["feature_names"], values["categories"]
    return values | {
        "shape": tuple(values["shape"]),
        "blocks": tuple(values["blocks"]),
        "arrays": arrays,
        "feature_names": None if names is None else tuple(names),
        "categories": None if texts is None else {name: tuple(own) for name, own in texts.items()},
    }


def _need(holds: Any, expected: str, got: Any) -> None:
    if not holds:
        raise ContentsError(expected, got)


def _is_counts(values: Any, least: int) -> bool:
    whole = isinstance(values, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in values)
    return whole and all(least <= one < 1 << 60 for one in values)


def _is_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) and is_text(one) for one in values)
