"""Docstrings of rankers: a parameter is described once, where it is declared, and shown by every class that has it."""

from __future__ import annotations

import inspect
import re

HEADING = "Parameters\n----------\n"
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
_SECTION = re.compile(r"^\S[^\n]*\n-{3,}\n", re.MULTILINE)


def complete(cls: type) -> None:
    """Add to the docstring of a class what its bases say about the parameters that it has."""
    before, own, after = _parts(cls.__doc__ or "")
    seen = {name for entry in own for name in names_of(entry)}
    declared = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    inherited = []
    for base in cls.__mro__[1:]:
        for entry in _parts(base.__doc__ or "")[1]:
            new = [name for name in names_of(entry) if name in declared and name not in seen]
            if new:
                inherited.append(_only(entry, new))
                seen.update(new)
    if own or inherited:
        cls.__doc__ = f"{before}{HEADING}{''.join([*own, *inherited])}{after}".rstrip() + "\n"


def names_of(entry: str) -> list[str]:
    """Return the parameters that an entry describes: those of its first line."""
    return [name.strip() for name in entry.split("\n", 1)[0].split(" : ")[0].split(",")]


def _parts(doc: str) -> tuple[str, list[str], str]:
    """Split a docstring at its parameters: what comes before, the entries, what comes after."""
    text = inspect.cleandoc(doc) + "\n"
    before, heading, rest = text.partition(HEADING)
    if not heading:
        summary, _, more = text.partition("\nExamples\n--------\n")
        return summary.rstrip() + "\n\n", [], f"\nExamples\n--------\n{more}" if more else ""
    following = _SECTION.search(rest)
    body, after = (rest, "") if following is None else (rest[: following.start()], "\n" + rest[following.start() :])
    entries = [entry.rstrip() + "\n" for entry in _ENTRY.split(body) if entry.strip()]
    return before, entries, after


def _only(entry: str, names: list[str]) -> str:
    """Return an entry for some of its parameters."""
    first, _, rest = entry.partition("\n")
    kind = first.partition(" : ")[2]
    return f"{', '.join(names)}{f' : {kind}' if kind else ''}\n{rest}"
