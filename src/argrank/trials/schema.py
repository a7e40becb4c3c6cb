"""Read a TOML document strictly: keys must be known, values must have their type, and errors name the location."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from argrank._files import refuse_endless
from argrank.errors import FormatError, InputError, OptionError, shown, unknown_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_REQUIRED: Any = object()
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the contents of a TOML file: texts, finite numbers, true, false, lists and tables."""
    refuse_endless(path)
    try:
        values = tomllib.loads(Path(path).read_bytes().decode())
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(path, None, "text in UTF-8", f"byte {error.object[error.start]:#04x}") from error
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        line = int(found[1]) if found else None
        raise FormatError(path, line, "TOML", _LINE.sub("", str(error))) from error
    _refuse_others(values, os.fspath(path))
    return values


def _refuse_others(value: Any, place: str) -> None:
    """Raise for dates, infinity and NaN, which are not used here."""
    if isinstance(value, dict):
        for key, part in value.items():
            _refuse_others(part, f"{place}: {key}")
    elif isinstance(value, list):
        for part in value:
            _refuse_others(part, place)
    elif not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{place}: expected a text or a finite number, got {shown(value)}")


class Section:
    """A table of a document that may have the given keys and no others."""

    def __init__(self, values: Any, place: str, keys: Sequence[str]) -> None:
        self.place = place
        if not isinstance(values, Mapping):
            raise InputError(f"{place}: expected a table, got {shown(values)}")
        for key in values:
            if key not in keys:
                raise InputError(f"{place}: {unknown_name('key', key, keys)}; allowed: {', '.join(keys)}")
        self._values = values

    def error(self, key: str, expected: str, got: Any) -> InputError:
        """Return the error for an invalid value."""
        return InputError(f"{self.place}: {key}: expected {expected}, got {shown(got)}")

    def take(self, key: str, kind: type | tuple[type, ...], expected: str, default: Any = _REQUIRED) -> Any:
        """Return the value of a key, checked for its type; a key without default is required."""
        if key not in self._values:
            if default is _REQUIRED:
                raise InputError(f"{self.place}: expected a key {key!r} ({expected}), got none")
            return default
        value = self._values[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(key, expected, value)
        return value

    def text(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a text that is not empty."""
        value = self.take(key, str, "a text", default)
        if value == "" and value is not default:
            raise self.error(key, "a text", value)
        return value

    def number(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a number."""
        return self.take(key, (int, float), "a number", default)

    def texts(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a list of at least one text."""
        return self._list(key, str, "a list of texts", default)

    def whole_numbers(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a list of at least one whole number."""
        return self._list(key, int, "a list of whole numbers", default)

    def table(self, key: str, default: Any = _REQUIRED) -> Any:
        """Return a table with keys of its own."""
        return self.take(key, dict, "a table", default)

    def sections(self, key: str, keys: Sequence[str], default: Any = _REQUIRED) -> list[Section]:
        """Return an array of tables with these keys, each a Section with its number."""
        values = self.take(key, list, f"tables [[{key}]]", default)
        return [Section(value, f"{self.place}: {key} {number}", keys) for number, value in enumerate(values, 1)]

    def has(self, key: str) -> bool:
        """Return whether a key is given."""
        return key in self._values

    def _list(self, key: str, kind: type, expected: str, default: Any) -> Any:
        values = self.take(key, list, expected, default)
        if values is default:
            return values
        if not values or not all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            raise self.error(key, expected, values)
        return values


def known(place: str, kind: str, name: str, names: Sequence[str]) -> str:
    """Return a known name, or raise with its location and similar names."""
    if name not in names:
        raise OptionError(f"{place}: {unknown_name(kind, name, names)}")
    return name
