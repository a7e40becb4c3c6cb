"""Import scikit-learn and LightGBM without the modules that argrank does not need.

scikit-learn's base class imports pandas, to check a version, and scipy.stats, for one function that rankers never call;
LightGBM imports pandas and all of scikit-learn's model selection, for interfaces that rankers never use. These imports
take more than half of the time of a short command.
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
    """A module that is imported when one of its attributes is first used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        module = importlib.import_module(self.__name__)
        parent, _, child = self.__name__.rpartition(".")
        setattr(sys.modules[parent], child, module)
        return getattr(module, name)


def load_scikit_learn() -> None:
    """Import scikit-learn's base class; modules that it would import are loaded only when they are used."""
    if "sklearn" in sys.modules:
        return
    if "scipy.stats" not in sys.modules:
        later = _Later("scipy.stats")
        later.__spec__ = importlib.util.find_spec("scipy.stats")
        sys.modules["scipy.stats"] = later
    with _hidden("pandas"):
        importlib.import_module("sklearn.base")


def load_lightgbm(ranker: Any) -> None:
    """Import LightGBM for our local tree rankers; LightGBM's own estimators do not work afterwards."""
    from argrank.rankers.boosted.trees.boosted_ranker import BoostedRanker

    if isinstance(ranker, BoostedRanker) and type(ranker).__module__.startswith("argrank."):
        with _hidden("pandas", "sklearn.model_selection"), contextlib.suppress(ImportError):  # the fit reports it
            importlib.import_module("lightgbm")


@contextlib.contextmanager
def _hidden(*names: str) -> Iterator[None]:
    """Make modules that are not imported yet look as if they were not installed."""
    new = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(new))  # type: ignore[arg-type]  # None is what import takes for "not installed"
    try:
        yield
    finally:
        for name in new:
            del sys.modules[name]
