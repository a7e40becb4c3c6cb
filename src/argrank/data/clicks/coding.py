"""Encode ids of any type as integers, in order of first appearance; fast for many millions of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._lazy import LazyModule
from argrank._types import Filled, Integers
from argrank.errors import InputError, shown

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = LazyModule("pyarrow")


N_GROUPS = 64  # number of groups of sessions, for intervals


class Coded(NamedTuple):
    """Ids in order of first appearance, and for every row the number of its id."""

    ids: NDArray[Any]
    codes: Integers


def coded(what: str, values: Any) -> Coded:
    """Encode ids as integers; raise for a missing id, with its row."""
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else _arrow(what, values)
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise InputError(f"{what}: expected an id in every row, got none in row {row}")
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    codes = array.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    ids = np.asarray(array.dictionary.to_numpy(zero_copy_only=False))
    if pa.types.is_string(array.dictionary.type) or pa.types.is_large_string(array.dictionary.type):
        empty = codes == array.dictionary.index("").as_py()  # an empty cell of a CSV file
        if empty.any():
            raise InputError(f"{what}: expected an id in every row, got an empty one in row {int(np.argmax(empty))}")
    return in_order_of_appearance(ids, codes)


def in_order_of_appearance(ids: NDArray[Any], codes: Integers) -> Coded:
    """Drop ids that no row has, and number the others by first appearance."""
    first = np.full(len(ids), len(codes), np.int64)
    _first_rows(codes, first)
    order = np.argsort(first, kind="stable")
    order = order[: int(np.count_nonzero(first < len(codes)))]
    if len(order) == len(ids) and np.array_equal(order, np.arange(len(ids))):
        return Coded(ids, codes)
    number = np.full(len(ids), -1, np.int64)
    number[order] = np.arange(len(order))
    return Coded(ids[order], number[codes])


def paired(first: Integers, second: Integers) -> Coded:
    """Encode pairs of numbers as one number, with ids ``first * n_second + second``."""
    n_second = int(second.max(initial=-1)) + 1
    keys = pa.array(first * n_second + second).dictionary_encode()
    return Coded(keys.dictionary.to_numpy(zero_copy_only=False), keys.indices.to_numpy().astype(np.int64))


def groups_of(ids: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the group of every id, by a hash of its text: the same in every process and for every part of a log."""
    texts = [str(one).encode("utf-8", "surrogatepass") for one in ids.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    groups = np.empty(len(texts), np.uint8)
    _hash_texts(np.frombuffer(b"".join(texts), np.uint8), ends, groups)
    return groups


def _arrow(what: str, values: Any) -> Any:
    try:
        array = np.asarray(values)
        if array.ndim != 1:
            raise InputError(f"{what}: expected one id for each row, got shape {array.shape}")
        return pa.array(values if array.dtype.kind in "OU" else array, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what}: expected ids of one type, got {shown(error)}") from error


@kernel()
def _first_rows(codes: Integers, first: Filled[np.int64]) -> None:
    for row in range(len(codes) - 1, -1, -1):
        first[codes[row]] = row


@kernel()
def _hash_texts(text: NDArray[np.uint8], ends: Integers, groups: Filled[np.uint8]) -> None:
    """FNV-1a with 32 bits, with its upper half folded in, because its lowest bits are poorly mixed."""
    begin = 0
    for number in range(len(ends)):
        value = np.int64(2166136261)
        for at in range(begin, ends[number]):
            value = ((value ^ np.int64(text[at])) * np.int64(16777619)) & np.int64(0xFFFFFFFF)
        groups[number] = (value ^ (value >> np.int64(16))) & np.int64(63)
        begin = ends[number]
