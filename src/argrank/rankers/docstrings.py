"""Docstrings of rankers: a parameter is described once, where it is declared, and shown by every class that has it.

Its type and range come from its declaration; an entry gives them only if the declaration does not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

from argrank._declared import Declared, fields_of

HEADING = "Parameters\n----------\n"
_WRITTEN: dict[type, str] = {}  # the original docstrings of classes
_ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
_SECTION = re.compile(r"^\S[^\n]*\n-{3,}\n", re.MULTILINE)


def complete(cls: type) -> None:
    """Add the descriptions of inherited parameters to the docstring of a class."""
    _WRITTEN[cls] = cls.__doc__ or ""
    before, own, after = _parts(_WRITTEN[cls])
    known = fields_of(cls)
    seen = {name for entry in own for name in names_of(entry)}
    inherited = []
    for base in cls.__mro__[1:]:
        for entry in _parts(_WRITTEN.get(base, base.__doc__) or "")[1]:
            new = [name for name in names_of(entry) if name in known and name not in seen]
            if new:
                inherited.append(_only(entry, new))
                seen.update(new)
    if own or inherited:
        entries = "".join(_with_type(entry, known) for entry in (*own, *inherited))
        cls.__doc__ = f"{before}{HEADING}{entries}{after}".rstrip() + "\n"


def names_of(entry: str) -> list[str]:
    """Return the parameters that an entry describes: those of its first line."""
    return [name.strip() for name in entry.split("\n", 1)[0].split(" : ")[0].split(",")]


def _with_type(entry: str, known: Mapping[str, Declared]) -> str:
    """Return an entry with type and range as declared, unless it has them itself."""
    first, _, rest = entry.partition("\n")
    heads = {known[name].head for name in names_of(entry) if name in known}
    said = " : " in first or len(heads) != 1 or not any(heads)
    return entry if said else f"{first} : {heads.pop()}\n{rest}"


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
