"""Open packs without reading them: as a Dataset of memory maps, whole or some of its blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from argrank._types import Integers
from argrank.data.checks import LARGEST_LABEL
from argrank.data.dataset import Dataset
from argrank.data.grouping import objects
from argrank.data.io.pack.array_file import SUFFIX, Guard, open_array, stored_of
from argrank.data.io.pack.chunks import NUMBERS
from argrank.data.io.pack.contents import DESCRIPTION, LARGEST_DESCRIPTION, Contents, ContentsError
from argrank.data.mapped import Untouched, csr_view
from argrank.errors import FormatError, InputError, check_choice, check_count

CHECK_VALUES = 1 << 20  # numbers of a mapped array to check at a time
IDS = {"docids": "document_ids", "sources": "sources"}
BY_QUERY = ("indptr", "query_ids", "query_weight")
Verify = Literal["lazy", "open", "never"]


class Pack:
    """An open pack: its description, and its arrays as read-only memory maps.

    Everything that compiled code relies on is checked for the loaded part: sizes, query offsets, the columns of a
    sparse matrix, labels. With ``verify="lazy"`` every array is compared with its checksums on first use, which for
    features and document ids is later than for the rest; "open" compares everything now, "never" nothing. With
    ``gives_back`` compared data does not stay in memory.
    """

    def __init__(self, path: str | os.PathLike[str], verify: str = "lazy", gives_back: bool = False) -> None:
        check_choice("verify", verify, get_args(Verify))
        self.path, self._lazy = Path(path), verify == "lazy"
        try:
            self.contents = self._read_contents()
            opened = self.contents.arrays.items()
            self.arrays = {name: open_array(self.path, name, stored) for name, stored in opened}
            if verify == "open":
                self._verify()
            if self._lazy:
                self._guards = {
                    name: Guard(self.path / f"{name}{SUFFIX}", self.arrays[name], stored, gives_back)
                    for name, stored in opened
                }
                for name in BY_QUERY:
                    self._check_sums(name, 0, self.contents.queries + (name == "indptr"))
            _check_borders("indptr", self.arrays["indptr"], self.contents.shape[0], 1)
            if self.contents.sparse:
                self._check_sums("X.indptr", 0, self.contents.shape[0] + 1)
                _check_borders("X.indptr", self.arrays["X.indptr"], len(self.arrays["X.data"]), 0)
        except ContentsError as wrong:
            raise FormatError(path, None, wrong.expected, wrong.got) from wrong

    @property
    def borders(self) -> Integers:
        """The query numbers at which blocks begin, and the number of queries."""
        return np.asarray(self.contents.blocks, np.int64)

    @property
    def n_blocks(self) -> int:
        """Number of blocks of whole queries; the cuts depend on the sizes of the queries alone."""
        return len(self.contents.blocks) - 1

    @property
    def query_ids(self) -> NDArray[Any]:
        """The ids of the queries, as a Dataset has them."""
        return _ids(self.arrays["query_ids"])

    def dataset(self) -> Dataset:
        """Return all of it; the caller's rows are those of the source."""
        return self._part(0, self.n_blocks)

    def part(self, first: int, last: int) -> Dataset:
        """Return the blocks from ``first`` up to, but not including, ``last``; rows and queries count from 0."""
        check_count("first", first, 0, self.n_blocks - 1)
        check_count("last", last, first + 1, self.n_blocks)
        return self._part(first, last)

    def _part(self, first: int, last: int) -> Dataset:
        contents, arrays = self.contents, self.arrays
        a, b = contents.blocks[first], contents.blocks[last]
        start, end = int(arrays["indptr"][a]), int(arrays["indptr"][b])
        whole = (first, last) == (0, self.n_blocks)
        try:
            self._check_part(start, end, a, b)
            if whole and "rows" in arrays:
                self._check_rows()
        except ContentsError as wrong:
            raise FormatError(self.path, None, wrong.expected, wrong.got) from wrong
        fields: dict[str, Any] = {name: arrays[name][start:end] for name in NUMBERS if name in arrays}
        fields["query_weight"] = arrays["query_weight"][a:b] if "query_weight" in arrays else None
        fields["query_ids"] = _ids(arrays["query_ids"][a:b])
        fields["indptr"] = arrays["indptr"][a : b + 1] - start
        fields["y"] = arrays["y"][start:end]
        fields |= {name: getattr(contents, name) for name in ("feature_names", "feature_base", "categories")}
        fields["normalised"] = contents.normalise
        later = self._later(start, end)
        fields |= {"untouched": later} if self._lazy else {name: one.values for name, one in later.items()}
        fields["longest"] = int(np.diff(arrays["indptr"]).max())  # of all queries: parts give bit-identical results
        if whole:
            fields |= {"rows": arrays.get("rows"), "fingerprint": contents.fingerprint}
        return Dataset._assemble(**fields)

    def _later(self, start: int, end: int) -> dict[str, Untouched]:
        """Return the large fields, which are checked only when they are used."""
        later = {field: self._untouched(name, start, end) for name, field in IDS.items() if name in self.arrays}
        if "XT" in self.arrays:
            values = self.arrays["XT"][:, start:end]
            later["XT"] = Untouched(values, self._check_of("XT"), 0, self.contents.shape[1], by_column=True)
        if not self.contents.sparse:
            return later | {"X": self._untouched("X", start, end)}
        borders, check = self.arrays["X.indptr"], self._check_of("X.data")
        features = self.arrays["X.data"], self.arrays["X.indices"], borders[start : end + 1]
        X = csr_view(*features, self.contents.shape[1])
        by_row = lambda first, last: check(int(borders[first]), int(borders[last]))  # noqa: E731
        return later | {"X": Untouched(X, by_row, start, end)}

    def _untouched(self, name: str, start: int, end: int) -> Untouched:
        return Untouched(self.arrays[name][start:end], self._check_of(name), start, end)

    def _check_of(self, name: str) -> Callable[[int, int], None]:
        return self._guards[name].check if self._lazy else lambda start, end: None

    def _check_sums(self, name: str, start: int, end: int) -> None:
        if self._lazy and name in self._guards:
            self._guards[name].check(start, end)

    # ---- checks -----------------------------------------------------------------------------------------------

    def _read_contents(self) -> Contents:
        path = self.path / DESCRIPTION
        if not path.is_file() or path.is_symlink():
            raise ContentsError(f"a pack: a folder with a file {DESCRIPTION}", "none")
        size = path.stat().st_size
        if size > LARGEST_DESCRIPTION:
            raise ContentsError(f"{DESCRIPTION} of at most {LARGEST_DESCRIPTION:,} bytes", f"{size:,}")
        with open(path, "rb") as stream:
            return Contents.from_json(stream.read(size))

    def _check_part(self, start: int, end: int, a: int, b: int) -> None:
        """Check what compiled code relies on, of the rows from ``start`` to ``end`` and the queries from a to b."""
        contents, arrays = self.contents, self.arrays
        for name in ("y", *NUMBERS, "rows"):
            self._check_sums(name, start, end)
        for block in _blocks(arrays["y"][start:end]):
            fits = np.isnan(block).all() if contents.label is None else ((block >= 0) & (block <= LARGEST_LABEL)).all()
            if not fits:
                raise ContentsError("y: labels from 0 up" if contents.label else "y: no labels", "other values")
        for name, where in (*((one, slice(start, end)) for one in NUMBERS), ("query_weight", slice(a, b))):
            least = -np.inf if name == "gains" else 0.0
            for block in _blocks(arrays.get(name, np.zeros(0))[where]):
                if not ((block >= least) & (np.abs(block) < np.inf)).all():
                    raise ContentsError(f"{name}: numbers{'' if name == 'gains' else ' from 0 up'}", "other values")
        if contents.sparse:
            self._check_columns(start, end)

    def _check_columns(self, start: int, end: int) -> None:
        indptr, indices = self.arrays["X.indptr"], self.arrays["X.indices"]
        self._check_sums("X.indices", int(indptr[start]), int(indptr[end]))
        for first in range(start, end, CHECK_VALUES):
            begins = indptr[first : min(first + CHECK_VALUES, end) + 1]
            columns = indices[begins[0] : begins[-1]]
            if not len(columns):
                continue
            _check_range("X.indices", columns, self.contents.shape[1])
            rising = np.diff(columns) > 0
            inner = begins[(begins > begins[0]) & (begins < begins[-1])] - begins[0]
            rising[inner - 1] = True  # from one row to the next
            if not rising.all():
                raise ContentsError("X.indices: columns that rise within a row", "others")

    def _check_rows(self) -> None:
        seen = np.zeros(self.contents.shape[0], bool)
        for block in _blocks(self.arrays["rows"]):
            _check_range("rows", block, len(seen))
            seen[block] = True
        if not seen.all():
            raise ContentsError("rows: every row once", "some twice")

    def _verify(self) -> None:
        for name, stored in self.contents.arrays.items():
            found = stored_of(self.arrays[name]).sha256
            if found != stored.sha256:
                raise ContentsError(f"{name}{SUFFIX}: values with SHA-256 {stored.sha256[:12]}…", f"{found[:12]}…")


def load_pack(path: str | os.PathLike[str], verify: str = "lazy") -> Dataset:
    """Open a pack as a Dataset of memory maps; ``verify`` says when it is compared with its checksums."""
    return Pack(path, verify).dataset()


def load_part(
    path: str | os.PathLike[str], first: int, last: int, fingerprint: str | None = None, gives_back: bool = False
) -> Dataset:
    """Open the blocks from ``first`` up to, but not including, ``last`` of a pack as a Dataset of memory maps.

    With a ``fingerprint``, a different pack of the same name is an error.
    """
    opened = Pack(path, gives_back=gives_back)
    if fingerprint is not None and opened.contents.fingerprint != fingerprint:
        raise InputError(
            f"{os.fspath(path)}: expected the same pack as when it was placed on the cluster, got another one"
        )
    return opened.part(first, last)


def _ids(stored: NDArray[Any]) -> NDArray[Any]:
    """Return query ids as they were: integers, or Python's strings."""
    if stored.dtype.kind == "i":
        return stored
    try:
        return objects([text.decode() for text in stored.tolist()])
    except UnicodeDecodeError as error:
        raise InputError(f"query_ids: expected UTF-8, got {error}") from error


def _blocks(values: NDArray[Any]) -> Any:
    return (values[start : start + CHECK_VALUES] for start in range(0, len(values), CHECK_VALUES))


def _check_borders(name: str, indptr: NDArray[Any], end: int, least: int) -> None:
    """Check that offsets begin at 0, rise by at least ``least`` and end where the values do."""
    rises = all(
        (np.diff(indptr[at : at + CHECK_VALUES + 1]) >= least).all() for at in range(0, len(indptr), CHECK_VALUES)
    )
    if indptr[0] != 0 or indptr[-1] != end or not rises:
        raise ContentsError(f"{name}: offsets that rise from 0 to {end:,}", "others")


def _check_range(name: str, values: NDArray[Any], end: int) -> None:
    if values.min() < 0 or values.max() >= end:
        raise ContentsError(f"{name}: numbers from 0 to {end - 1:,}", f"{values.min()} to {values.max()}")
