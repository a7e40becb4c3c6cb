"""A module whose name begins with an underscore is private to its folder; those of the package itself are for all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import argrank

PACKAGE = Path(argrank.__file__).parent


def imported(source: str) -> Iterator[str]:
    """Yield the full names that a module imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def foreign(source: str, folder: tuple[str, ...]) -> list[str]:
    """Return the private modules of other folders of argrank that a module of this folder imports."""
    found = []
    for name in imported(source):
        parts = tuple(name.split("."))
        private = [at for at, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
        found += [name for at in private if parts[0] == "argrank" and at > 1 and parts[:at] != folder]
    return found


def test_private_modules_are_imported_from_their_own_folder_alone():
    broken = {}
    for path in PACKAGE.rglob("*.py"):
        folder = path.relative_to(PACKAGE.parent).parent.parts
        if names := foreign(path.read_text("utf-8"), folder):
            broken[str(path.relative_to(PACKAGE))] = names
    assert broken == {}


def test_what_breaks_the_rule_is_seen():
    inside = ("argrank", "rankers")
    assert foreign("from argrank.solvers._steps import step", inside) == ["argrank.solvers._steps.step"]
    assert foreign("import argrank.rankers.climbing._steps", inside) == ["argrank.rankers.climbing._steps"]
    assert foreign("from argrank.cli import _startup", inside) == ["argrank.cli._startup"]
    assert foreign("from argrank.rankers._archive import x\nfrom argrank._jit import kernel", inside) == []
