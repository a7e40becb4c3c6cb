"""Arrays of a pack that nobody has looked at: their sums are compared when a Dataset is first asked for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from argrank.data.mapped import row_view


class Untouched(NamedTuple):
    """Rows of an array on the disk, and what raises where their bytes are damaged."""

    values: Any
    check: Callable[[int, int], None]
    start: int
    end: int
    by_column: bool = False

    def touched(self) -> Any:
        """Return the values, once they are known to be what was written."""
        self.check(self.start, self.end)
        return self.values

    def part(self, rows: slice) -> Untouched:
        """Return some adjacent rows, still not looked at."""
        if self.by_column:  # one row of the data lies in all rows of the file
            return self._replace(values=self.values[:, rows])
        view = row_view(self.values, rows)
        return self._replace(values=view, start=self.start + rows.start, end=self.start + rows.stop)


class Later(NamedTuple):
    """Values of rows that are made when somebody asks for them, such as the texts of a file's ids."""

    make: Callable[[], Any]

    def touched(self) -> Any:
        """Return the values."""
        return self.make()

    def part(self, rows: slice) -> Later:
        """Return some adjacent rows, still not made."""
        return Later(lambda: self.make()[rows])


class OnTouch:
    """A field of a Dataset that may be Untouched; from the first time on it is an attribute like any other."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, data: Any, owner: type) -> Any:
        found = None if data is None else data.__dict__.get("untouched", {}).get(self._name)
        if found is None:
            return None
        values = data.__dict__[self._name] = found.touched()
        return values
