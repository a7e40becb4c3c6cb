"""Quepid's CSV: query, docid, rating."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping

from argrank._files import open_bytes, read_all, write_bytes
from argrank.data.io.text import number_text
from argrank.errors import FormatError, InputError, shown

HEADER = ["query", "docid", "rating"]


def is_own(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file has this form, by its header."""
    with open_bytes(path) as stream:
        line = stream.readline(1000).decode("utf-8-sig", "replace")
    return [one.strip().strip('"').lower() for one in line.split(",")] == HEADER


def read(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read judgements; rows without a rating are left out."""
    with open_bytes(path) as stream:
        content = read_all(stream, os.fspath(path))
    try:
        rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        lines = [(rows.line_num, row) for row in rows if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(path, None, "comma-separated values in UTF-8", shown(error)) from error
    if not lines or [one.strip().lower() for one in lines[0][1]] != HEADER:
        raise FormatError(path, 1, "the header query,docid,rating", shown(lines[0][1]) if lines else "an empty file")
    found: dict[str, dict[str, float]] = {}
    for number, row in lines[1:]:
        if len(row) != len(HEADER):
            raise FormatError(path, number, "three cells: query, docid, rating", str(len(row)))
        query, document, text = row
        if text.strip():
            add(found, query, document, text, (path, number))
    return found


def add(
    found: dict[str, dict[str, float]],
    query: str,
    document: str,
    text: str,
    place: tuple[str | os.PathLike[str], int | None],
) -> None:
    """Add a rating; raise if it is not a number, or the second one of a document."""
    of_query = found.setdefault(query, {})
    if document in of_query:
        raise FormatError(*place, f"one rating of document {shown(document)} for query {shown(query)}", "two")
    try:
        rating = float(text)
    except ValueError as error:
        raise FormatError(*place, "a number as rating", shown(text)) from error
    if not abs(rating) < float("inf"):
        raise FormatError(*place, "a finite number as rating", shown(text))
    of_query[document] = rating


def write(judged: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str]) -> None:
    """Write judgements."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    for query, of_query in judged.items():
        rows.writerows((query, document, number_text(float(rating))) for document, rating in of_query.items())
    try:
        content = text.getvalue().encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{os.fspath(path)}: expected ids that UTF-8 can hold, got others") from error
    with write_bytes(path) as stream:
        stream.write(content)
