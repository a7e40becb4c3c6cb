"""Values as tables show them and as JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from argrank.trials.grid import Params, is_number


def four(value: float) -> str:
    """Return a value with four digits, as tables of this field have them."""
    return "-" if np.isnan(value) else f"{value:.4f}"


def params_text(params: Params) -> str:
    """Return chosen parameters in a few words."""
    words = (f"{name}={value:.4g}" if is_number(value) else f"{name}={value}" for name, value in params.items())
    return ", ".join(words) or "-"


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: NumPy's numbers as Python's, what is not finite as None."""
    if is_number(value):
        number = value.item() if isinstance(value, np.generic) else value
        return number if np.isfinite(number) else None
    return value if value is None or isinstance(value, str | bool) else repr(value)


def plain_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dict of such values."""
    return {name: plain_value(value) for name, value in values.items()}
