"""Modules that are imported when they are first used, since importing them takes long."""

from __future__ import annotations

import importlib
from typing import Any


class LazyModule:
    """A module by its name: ``pa = LazyModule("pyarrow")`` imports it for the first of its attributes.

    It stands in the ``else`` of an ``if TYPE_CHECKING:`` with the plain import, which type checkers see.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # asked by doctest and inspect of everything in a module
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
