"""TREC's qrels: lines of query, 0, document and rating, separated by blanks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote, unquote

from argrank._files import write_bytes
from argrank.data.io.text import number_text
from argrank.data.io.trec.files import read_qrels, words_of

EMPTY = "%00"
SAFE = "".join(map(chr, range(33, 127))).replace("%", "")


def read(path: str | os.PathLike[str]) -> dict[str, dict[str, float]]:
    """Read judgements; ids that were written percent-encoded for their blanks are decoded."""
    found: dict[str, dict[str, float]] = {}
    judged = read_qrels(path)
    for query, document, rating in zip(judged.qid.tolist(), judged.docno.tolist(), judged.rel.tolist(), strict=True):
        found.setdefault(_text(str(query)), {})[_text(str(document))] = rating
    return found


def write(judged: Mapping[str, Mapping[str, float]], path: str | os.PathLike[str]) -> None:
    """Write judgements; ids with blanks are percent-encoded."""
    with write_bytes(path) as stream:
        for query, of_query in judged.items():
            for document, rating in of_query.items():
                stream.write(f"{_word(query)} 0 {_word(document)} {number_text(float(rating))}\n".encode())


def _word(text: str) -> str:
    """Return a text as ``words_of`` does; a text that looks like an encoded word is encoded too."""
    return quote(text, safe=SAFE) if unquote(text) != text else words_of([text])[0]


def _text(word: str) -> str:
    """Decode a word; words of other tools are left as they are."""
    text = "" if word == EMPTY else unquote(word)
    return text if _word(text) == word else word
