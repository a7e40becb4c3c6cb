"""Rankers as scikit-learn estimators: an objective, a model and a solver put together.

Every registered ranker is made by name, ``make_ranker("svm-map")``, or imported as a class,
``from argrank.rankers import SVMmap``. The classes are imported when they are first asked for; ``__init__.pyi``, which
``scripts/make_stub.py`` writes from the registry, tells editors and type checkers about them.
"""

from __future__ import annotations

from typing import Any

from argrank.rankers.registry import RANKERS, make_ranker, objective, ranker_class, ranker_names

_NAME_OF_CLASS = {line.home.split(":")[1]: name for name, line in RANKERS.items()}

__all__ = ["make_ranker", "objective", "ranker_names", "BaseRanker", *sorted(_NAME_OF_CLASS)]


def __getattr__(name: str) -> Any:
    if name in _NAME_OF_CLASS:
        return ranker_class(_NAME_OF_CLASS[name])
    if name == "BaseRanker":
        from argrank.rankers.base_ranker import BaseRanker

        return BaseRanker
    raise AttributeError(f"module 'argrank.rankers' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
