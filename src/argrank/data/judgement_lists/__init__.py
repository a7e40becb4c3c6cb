"""Read and write judgement lists of other tools: query -> document -> rating.

To add a format: a module with ``read(path)`` and ``write(judged, path)``, and its name here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from argrank._declared import checked
from argrank._files import split_suffixes
from argrank.data.io.trec.forms import is_qrels_file
from argrank.data.judgement_lists import qrels, quepid, rre, workbench
from argrank.data.judgement_lists.workbench import read_query_set, write_query_set
from argrank.errors import InputError, OptionError, check_name, is_finite, shown

__all__ = ["FORMATS", "Judged", "read_judgements", "read_query_set", "write_judgements", "write_query_set"]

Judged = dict[str, dict[str, float]]


class Format(NamedTuple):
    """How a judgement list is read and written, and how its files are recognised."""

    read: Callable[[str | os.PathLike[str]], Judged]
    write: Callable[[Mapping[str, Mapping[str, float]], str | os.PathLike[str]], None]
    suffix: str
    is_own: Callable[[str | os.PathLike[str]], bool]


FORMATS: dict[str, Format] = {
    "qrels": Format(qrels.read, qrels.write, ".qrels", is_qrels_file),
    "quepid": Format(quepid.read, quepid.write, ".csv", quepid.is_own),
    "workbench": Format(workbench.read, workbench.write, ".json", workbench.is_own),
    "rre": Format(rre.read, rre.write, ".json", rre.is_own),
}


@checked
def read_judgements(path: str | os.PathLike[str], format: str | None = None) -> Judged:  # noqa: A002
    """Read a list of judgements: query -> document -> rating, as ``ar.evaluate`` takes them.

    Parameters
    ----------
    path : path
        A file.
    format : str, optional
        "qrels" (TREC), "quepid" (CSV with query, docid, rating), "workbench" (JSON of OpenSearch's Search Relevance
        Workbench) or "rre" (JSON of the Rated Ranking Evaluator); by default detected from the contents.
    """
    if format is not None:
        check_name("format of judgements", format, FORMATS)
        return FORMATS[format].read(path)
    for one in FORMATS.values():
        if one.is_own(path):
            return one.read(path)
    raise InputError(
        f"{os.fspath(path)}: expected a list of judgements (qrels, Quepid's CSV, JSON of the Search Relevance "
        "Workbench or of RRE), got a file of another format"
    )


@checked
def write_judgements(judged: Mapping[str, Mapping[Any, Any]], path: str | os.PathLike[str], format: str) -> None:  # noqa: A002
    """Write judgements, query -> document -> rating, for another tool; formats as in ``ar.read_judgements``."""
    check_name("format of judgements", format, FORMATS)
    suffix = split_suffixes(path)[0]
    if suffix != FORMATS[format].suffix:
        raise OptionError(f"{os.fspath(path)}: expected a name that ends with {FORMATS[format].suffix}")
    for query, of_query in judged.items():
        for document, rating in of_query.items():
            if not is_finite(rating):
                raise InputError(f"query {shown(query)}, document {shown(document)}: expected a rating, got {rating}")
    FORMATS[format].write(judged, path)
