"""Parts of models as the plain data of a model file, and back, every part checked.

Arrays are base64 of the numbers' bytes, little-endian and in C order, with their kind and shape, which load much faster
than lists::

    {"float64": "AAAAAAAA8D8AAAAAAAAAQA==", "shape": [2]}
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats
from argrank.data.categories import is_date
from argrank.data.prepare.normalise import Normaliser
from argrank.data.prepare.preparation import Preparation
from argrank.errors import ModelError

if TYPE_CHECKING:
    from argrank.models.model import Model

MOST_FEATURES = 1 << 31


def stored_array(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as plain data for a model file, exactly."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {array.dtype.name: base64.b64encode(little.tobytes()).decode("ascii"), "shape": list(array.shape)}


def stored_finite(array: NDArray[Any], name: str) -> dict[str, Any]:
    """Return an array of finite numbers as plain data for a model file."""
    if not np.isfinite(array).all():
        raise ModelError(f"expected a model of finite numbers, got NaN or infinity in {name}")
    return stored_array(array)


def read_array(fields: Mapping[str, Any], name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Read an array of a kind and a shape from the plain data of a model file; None allows any length of an axis."""
    given = fields.get(name)
    text, lengths = (given.get(kind), given.get("shape")) if isinstance(given, dict) else (None, None)
    if not isinstance(text, str) or not isinstance(lengths, list):
        raise ModelError(f"{name}: expected an array of {kind}")
    right = len(lengths) == len(shape) and all(type(length) is int and length >= 0 for length in lengths)
    if not right or any(wanted not in (None, length) for wanted, length in zip(shape, lengths, strict=True)):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ModelError(f"{name}: expected the shape [{wanted}], got {lengths!r:.60}")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ModelError(f"{name}: expected base64: {error}") from error
    dtype = np.dtype(kind).newbyteorder("<")
    count = math.prod(lengths)
    if len(content) != count * dtype.itemsize:
        raise ModelError(f"{name}: expected {count:,} numbers of {dtype.itemsize} bytes, got {len(content):,} bytes")
    if kind == "bool" and content.translate(None, b"\0\1"):
        raise ModelError(f"{name}: expected 0 or 1")
    return np.frombuffer(content, dtype).reshape(lengths).astype(kind)


def read_finite(fields: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Read an array of finite float64 from the plain data of a model file."""
    array = read_array(fields, name, "float64", shape)
    if not np.isfinite(array).all():
        raise ModelError(f"{name}: expected finite numbers")
    return array


def read_within(
    fields: Mapping[str, Any], name: str, kind: str, shape: tuple[int | None, ...], least: int, greatest: int
) -> NDArray[Any]:
    """Read an array of whole numbers between two from the plain data of a model file."""
    array = read_array(fields, name, kind, shape)
    if array.size and not least <= array.min() <= array.max() <= greatest:
        raise ModelError(f"{name}: expected whole numbers from {least} to {greatest}")
    return array


def served_fields(model: Model) -> dict[str, Any]:
    """Return names, normaliser and, where there are any, texts and preparation as plain data for a model file."""
    texts = {name: list(one) for name, one in (model.categories or {}).items()}
    preparation, shares = model.preparation, model.feature_importances
    return {
        **({"categories": texts} if texts else {}),
        **({"dates": dict(model.dates)} if model.dates else {}),
        **({} if preparation is None else {"preparation": preparation.to_dict()}),
        **({} if shares is None else {"feature_importances": shares.tolist()}),
        **scaled_fields(model.feature_names, model.normaliser),
    }


def scaled_fields(names: tuple[str, ...] | None, normaliser: Normaliser | None) -> dict[str, Any]:
    """Return names and normaliser as plain data for a model file."""
    return {
        "feature_names": None if names is None else list(names),
        "normaliser": None if normaliser is None else normaliser.to_dict(),
    }


def read_served(fields: Mapping[str, Any], width: int) -> dict[str, Any]:
    """Read names, texts, preparation and normaliser of a model of some columns from the plain data of a model file."""
    names, normaliser, texts = (fields.get(name) for name in ("feature_names", "normaliser", "categories"))
    given = fields.get("preparation")
    n_features = width
    if isinstance(given, dict) and isinstance(given.get("fill"), list):
        n_features = len(given["fill"])
    named = isinstance(names, list) and len(names) == n_features and all(isinstance(name, str) for name in names)
    if names is not None and not named:
        raise ModelError(f"expected {n_features} feature names")
    if texts is not None and not (isinstance(texts, dict) and all(_are_texts(name, names, texts) for name in texts)):
        raise ModelError("categories: expected different texts for names of features")
    dates = fields.get("dates")
    right = isinstance(dates, dict) and all(name in (names or ()) and is_date(one) for name, one in dates.items())
    if dates is not None and not right:
        raise ModelError("dates: expected dates such as 2025-12-31 for names of features")
    known = None if names is None else tuple(names)
    categories = None if texts is None else {name: tuple(one) for name, one in texts.items()}
    preparation = None if given is None else Preparation.from_dict(given, categories, known)
    if preparation is not None and preparation.width != width:
        raise ModelError(f"preparation: expected to make {width} columns, got {preparation.width}")
    shares = read_numbers(fields, "feature_importances") if "feature_importances" in fields else None
    if shares is not None and len(shares) != n_features:
        raise ModelError(f"feature_importances: expected {n_features} numbers, got {len(shares)}")
    return {
        "feature_names": known,
        "categories": categories,
        "dates": dates,
        "preparation": preparation,
        "feature_importances": shares,
        "normaliser": None if normaliser is None else Normaliser.from_dict(normaliser),
    }


def _are_texts(name: str, names: Any, texts: Mapping[str, Any]) -> bool:
    own = texts[name]
    right = isinstance(own, list) and all(isinstance(text, str) for text in own) and len(set(own)) == len(own)
    return right and name in (names or ())


def read_width(fields: Mapping[str, Any]) -> int:
    """Read the number of features from the plain data of a model file."""
    n_features = fields.get("n_features")
    if type(n_features) is not int or not 1 <= n_features <= MOST_FEATURES:
        raise ModelError(f"n_features: expected a whole number from 1 up, got {n_features!r:.60}")
    return n_features


def read_numbers(fields: Mapping[str, Any], name: str) -> Floats:
    """Read a list of numbers from the plain data of a model file."""
    values = fields.get(name)
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise ModelError(f"{name}: expected a list of numbers")
    return np.array(values, np.float64)
