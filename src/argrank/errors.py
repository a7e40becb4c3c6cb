"""Everything argrank raises or warns about.

::

    ArgrankError
    ├── InputError          arrays, frames or scores that cannot be used        (also a ValueError)
    │   ├── FormatError     a file's contents, with file and line
    │   └── InputTypeError  objects where numbers belong                         (also a TypeError)
    ├── OptionError         an unknown name or a parameter out of range          (also a ValueError)
    ├── ModelError          a model file that is refused
    ├── ClusterError        a cluster that has lost its workers
    └── MissingExtraError   an optional package is needed and not installed      (also an ImportError)

    ArgrankWarning          (a UserWarning)
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any

__all__ = [
    "ArgrankError", "ArgrankWarning", "ClusterError", "FormatError", "InputError", "InputTypeError",
    "MissingExtraError", "ModelError", "OptionError",
]  # fmt: skip

_LINE_END = re.compile(r"\s*\n\s*")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class ArgrankError(Exception):
    """Base class of all exceptions that argrank raises deliberately."""

    def __str__(self) -> str:
        """Return the message, with control characters (perhaps quoted from a file) escaped."""
        return printable(super().__str__())


class InputError(ArgrankError, ValueError):
    """Data that cannot be used; the message says what was expected and what was found."""


class FormatError(InputError):
    """A file whose contents cannot be read: ``FILE:LINE: expected …, got …``."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, expected: str, got: str) -> None:
        self.path, self.line, self.expected, self.got = os.fspath(path), line, expected, got
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: expected {expected}, got {got}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.line, self.expected, self.got)


class InputTypeError(InputError, TypeError):
    """Objects of a type that can never be used, where numbers belong."""


class OptionError(ArgrankError, ValueError):
    """An option's value that is unknown or out of range."""


class ModelError(ArgrankError):
    """A model file that cannot be loaded, with the reason."""


class ClusterError(ArgrankError):
    """A cluster whose workers are gone, or that cannot hold the data."""


class MissingExtraError(ArgrankError, ImportError):
    """An optional package is missing; the message names the extra that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs {package}: pip install "argrank[{extra}]"')


class ArgrankWarning(UserWarning):
    """A probable problem that does not stop the work."""


def warn(message: str) -> None:
    """Warn with the location of the caller's line outside argrank."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "argrank":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, ArgrankWarning, stacklevel=level)


def unknown_name(kind: str, name: object, known: Iterable[str]) -> OptionError:
    """Return the error for a name that is not registered, with the closest known ones."""
    names = sorted(known)
    close = closest(name, names)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names)}"
    return OptionError(f"unknown {kind} {name!r}; {hint}")


def check_name(kind: str, name: object, known: Collection[str]) -> None:
    """Raise unless a name is one of the known ones; a value that is not a string may be unhashable."""
    if not isinstance(name, str) or name not in known:
        raise unknown_name(kind, name, known)


def check_choice(what: str, value: object, known: Iterable[object]) -> None:
    """Raise unless an option's value is one of the known ones; the message lists them and suggests the closest."""
    choices = list(known)
    if not any(value is choice or (isinstance(value, str | int) and value == choice) for choice in choices):
        meant = did_you_mean(value, choices)
        raise OptionError(f"{what}: expected {listed(map(repr, choices))}, got {shown(value)}{meant}")


def listed(texts: Iterable[str]) -> str:
    """Return texts as "a, b or c"."""
    *most, last = (*texts,) or ("",)
    return f"{', '.join(most)} or {last}" if most else last


def did_you_mean(value: object, choices: Iterable[object]) -> str:
    """Return the end of an error message that suggests the closest choices; nothing where none is close."""
    close = closest(value, [one for one in choices if isinstance(one, str)]) if isinstance(value, str) else []
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def closest(name: object, known: Iterable[str]) -> list[str]:
    """Return the known names that are similar to a misspelt one."""
    by_lower = {known_name.lower(): known_name for known_name in known}
    return [by_lower[match] for match in difflib.get_close_matches(str(name).lower(), by_lower, n=3, cutoff=0.5)]


def check_count(name: str, value: object, least: int = 1, most: int = 2**63 - 1) -> None:
    """Raise unless an option's value is a whole number, at least ``least``, that compiled code can hold."""
    if isinstance(value, Integral) and int(value) > most:
        raise OptionError(f"{name}: expected a whole number up to {most}, got {shown(value)}")
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise OptionError(f"{name}: expected a whole number from {least} up, got {shown(value)}")


def check_positive(name: str, value: object) -> None:
    """Raise unless an option's value is a positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not (is_finite(value) and float(value) > 0.0):
        raise OptionError(f"{name}: expected a positive number, got {shown(value)}")


def is_finite(value: object) -> bool:
    """Tell whether a value is a finite number that a float can hold; Python's integers may be too large."""
    most: Any = sys.float_info.max
    return isinstance(value, Real) and bool(-most <= value <= most)


def printable(text: str) -> str:
    """Return a text with control characters (also those of text direction) escaped; line ends and tabs are kept."""
    return _UNPRINTABLE.sub(lambda found: ascii(found[0])[1:-1], text)


def is_text(text: str) -> bool:
    """Tell whether a text can be encoded as UTF-8; it cannot with half a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object, limit: int = 60) -> str:
    """Return a value's repr, cut to fit a one-line message."""
    text = _LINE_END.sub(" ", repr(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"
