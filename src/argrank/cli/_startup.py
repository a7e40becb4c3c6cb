"""Load scikit-learn and LightGBM without what they load for nothing.

scikit-learn's base class imports pandas, to look at a version, and scipy.stats, for one function that rankers never
call; LightGBM imports pandas and all of scikit-learn's model selection, for interfaces that rankers never use. Together
that is more than half of the time a short command takes.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
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
    with _hidden("pandas"):
        importlib.import_module("sklearn.base")


def load_lightgbm(ranker: Any) -> None:
    """Import LightGBM for one of our rankers that grows trees here; its own estimators then do not work."""
    from argrank.rankers.boosted.trees.boosted_ranker import BoostedRanker

    if isinstance(ranker, BoostedRanker) and type(ranker).__module__.startswith("argrank."):
        with _hidden("pandas", "sklearn.model_selection"), contextlib.suppress(ImportError):  # which the fit explains
            importlib.import_module("lightgbm")


@contextlib.contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """Let modules that nobody has imported yet seem not to be installed."""
    new = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(new))  # type: ignore[arg-type]  # None is what import takes for "not installed"
    try:
        yield
    finally:
        for name in new:
            del sys.modules[name]
