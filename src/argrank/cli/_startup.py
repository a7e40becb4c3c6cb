"""Load scikit-learn without what it loads for nothing.

Its base class imports pandas, to look at a version, and scipy.stats, for one function that rankers never call:
together more than half of the time a short command takes.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is imported when somebody first asks it for something."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        parent, _, child = self.__name__.rpartition(".")
        setattr(sys.modules[parent], child, module)
        return getattr(module, name)


def load_scikit_learn() -> None:
    """Import scikit-learn's base class; what it would load beside it stays away until it is used."""
    if "sklearn" in sys.modules:
        return
    if "scipy.stats" not in sys.modules:
        later = _Later("scipy.stats")
        later.__spec__ = importlib.util.find_spec("scipy.stats")
        sys.modules["scipy.stats"] = later
    hidden = "pandas" not in sys.modules
    if hidden:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # what import takes for "not installed"
    try:
        importlib.import_module("sklearn.base")
    finally:
        if hidden:
            del sys.modules["pandas"]
