"""Options of writers, and the writing of numbers and names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank.errors import ModelError, OptionError, shown

OTHER_NAMES = "give features=[…] (--features)"  # advice where a target cannot take a name


class Term(NamedTuple):
    """A column that is 1 if a field has a value, else 0."""

    field: str
    value: str

    @property
    def name(self) -> str:
        """The name of the column."""
        return f"{self.field}={self.value}"


@dataclass(frozen=True)
class Options:
    """The model's name in the engine, the names of its columns, and the treatment of missing values."""

    name: str
    features: tuple[str, ...]
    missing: str = "as-trained"
    terms: Mapping[int, Term] = field(default_factory=dict)  # the columns of single categories
    texts: Mapping[int, tuple[str, ...]] = field(default_factory=dict)  # of features by category, their numbers' names


Files = dict[str, bytes]
Missing = Literal["as-trained", "zero"]  # treatments of missing values


def singles(values: NDArray[Any], what: str) -> list[float]:
    """Return numbers as float32; raise for those beyond its range."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(values, np.float64).astype(np.float32)
    if not np.isfinite(rounded).all():
        worst = float(np.asarray(values)[~np.isfinite(rounded)][0])
        raise ModelError(f"{what}: expected numbers within float32, as the engine has them, got {worst!r}")
    return [float(value) for value in rounded.tolist()]


def to_json(value: Any, indent: int | None = None) -> bytes:
    """Return JSON text; infinities, which no engine reads, cannot be in it."""
    separators = None if indent else (",", ":")
    return (
        json.dumps(value, indent=indent, separators=separators, allow_nan=False, ensure_ascii=False) + "\n"
    ).encode()


def from_json(files: Mapping[str, bytes], name: str = "model.json") -> Any:
    """Return what a written file says."""
    return json.loads(files[name])


def names_of(model_names: Sequence[str] | None, given: Any, n_features: int) -> tuple[str, ...]:
    """Return one name for each feature: the given ones, the model's, or feature_1, feature_2 and so on.

    Not f1 and f2: XGBoost counts f0, f1, …, and so do readers of its files (eland ignores the names in a file).
    """
    if given is None:
        made_up = (f"feature_{i}" for i in range(1, n_features + 1))
        return tuple(made_up) if model_names is None else tuple(model_names)
    names = list(given) if not isinstance(given, str) else None
    if names is None or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise OptionError(f"features: expected {n_features} names, got {shown(given)}")
    return tuple(names)


def check_names(names: Sequence[str], target: str) -> None:
    """Raise for empty and repeated names, and for names with a NUL, which truncates names in many engines."""
    ended = next((name for name in names if "\0" in name), None)
    if ended is not None:
        raise ModelError(f"{target}: expected names of features without NUL, got {shown(ended)}; {OTHER_NAMES}")
    if not all(name.strip() for name in names):
        raise ModelError(f"{target}: expected a name for every feature, got an empty one; {OTHER_NAMES}")
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise ModelError(f"{target}: expected different names of features, got {shown(repeated)} twice; {OTHER_NAMES}")
