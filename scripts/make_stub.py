"""Write what editors and type checkers know of names that are loaded lazily: ``python scripts/make_stub.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import argrank.rankers
from argrank.rankers import registry

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "argrank"


def stubs() -> dict[Path, str]:
    """Return the stubs by file: argrank's own names, and those of ``argrank.rankers`` with every registered class."""
    public = [("argrank", "errors"), ("argrank", "trials"), ("argrank._version", "__version__")]
    public += [(module, name) for name, module in argrank._HOME.items()]
    places = [line.place.split(":") for line in registry.RANKERS.own().values()]
    rankers = [
        ("argrank.rankers.base_ranker", "BaseRanker"),
        ("argrank.rankers.linear.linear_ranker", "LinearRanker"),
        *(("argrank.rankers.registry", name) for name in argrank.rankers._FUNCTIONS),
        *((module, name) for module, name in places),
    ]
    return {PACKAGE / "__init__.pyi": _stub(public), PACKAGE / "rankers" / "__init__.pyi": _stub(rankers)}


def _stub(names: Iterable[tuple[str, str]]) -> str:
    imports = (f"from {module} import {name} as {name}" for module, name in sorted(names))
    return "\n".join(("# Written by scripts/make_stub.py.", *imports, ""))


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, "utf-8")
