"""Base classes of results: rendered as tables with notes in every format, as plain data, as data frames."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from argrank._declared import checked
from argrank._tables import FORMATS, Table, render
from argrank.errors import MissingExtraError, unknown_name


def check_format(format: str) -> None:  # noqa: A002 (what the command line calls it)
    """Raise if a format is unknown."""
    if format != "json" and format not in FORMATS:
        raise unknown_name("format", format, [*FORMATS, "json"])


def frame_of(package: str, columns: Mapping[str, Any], purpose: str) -> Any:
    """Return columns as a data frame of pandas or polars."""
    try:
        library = __import__(package)
    except ImportError as error:
        raise MissingExtraError(package, "frames", purpose) from error
    return library.DataFrame(dict(columns))


class Rendered(ABC):
    """A result that can be rendered as tables with notes, or returned as plain data."""

    @abstractmethod
    def _shown(self) -> tuple[Sequence[Table], Sequence[str]]:
        """Return the tables and the notes below them."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""

    @checked
    def render(self, format: str = "text") -> str:  # noqa: A002 (what the command line calls it)
        """Return tables and notes as "text", "markdown", "latex" or "html", or ``to_dict()`` as "json"."""
        check_format(format)
        return self.to_json() if format == "json" else render(format, *self._shown())

    def to_text(self) -> str:
        """Return aligned tables, and the notes."""
        return self.render("text")

    def to_markdown(self) -> str:
        """Return the same as Markdown."""
        return self.render("markdown")

    def to_latex(self) -> str:
        """Return the same as LaTeX tabulars; no package is needed."""
        return self.render("latex")

    def to_json(self) -> str:
        """Return ``to_dict()`` as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        return self.render("text")

    def _repr_html_(self) -> str:
        return self.render("html")


class Framed(ABC):
    """A result that is also a table of columns."""

    @abstractmethod
    def columns(self) -> Mapping[str, Any]:
        """Return the columns by name."""

    def to_pandas(self) -> Any:
        """Return the columns as a pandas data frame."""
        return frame_of("pandas", self.columns(), f"the data frame of {type(self).__name__}")

    def to_polars(self) -> Any:
        """Return the same as a polars data frame."""
        return frame_of("polars", self.columns(), f"the data frame of {type(self).__name__}")
