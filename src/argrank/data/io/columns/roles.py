"""The meanings of a table's columns: by name where that is safe, else as given by the caller."""

from __future__ import annotations

import functools
import logging
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from argrank.errors import unknown_name

logger = logging.getLogger(__name__)

#: Columns with a meaning, in files and frames alike: column name -> argument of Dataset. All others are features.
COLUMNS = {
    "label": "y",
    "qid": "qid",
    "docid": "document_ids",
    "comment": "comments",
    "sample_weight": "sample_weight",
    "query_weight": "query_weight",
    "source": "sources",
    "query": "query_texts",
    "title": "titles",
}
NUMBERS = ("label", "query_weight", "sample_weight")  # columns with a meaning that are numbers from 0 up
TEXTS = ("comment", "query", "title")  # columns in which a missing text is an empty text

#: Alternative names of these columns, the most specific first; used if the column itself does not exist.
ALIASES = {
    "qid": ("query_id", "queryid", "query"),
    "label": ("relevance", "relevance_label", "judgement", "judgment", "grade"),
    "docid": ("doc_id", "docno", "document_id", "product_id", "item_id"),
}
#: Names that may be a label or a feature: used as a label only if the caller says so.
WEAK_LABELS = ("rating", "score", "rank", "position", "clicks", "clicked", "click", "rel")
#: Names of ids: the document id if there is no other one, else left out; never a feature.
ID_NAMES = ("product", "product_id", "sku", "item", "item_id", "asin", "url", "id")

#: Names of a pandas index in Parquet files, and of unnamed columns: features only if the caller says so.
_INDEX = re.compile(r"__index_level_[0-9]+__|Unnamed: [0-9]+(\.[0-9]+)?")

FEATURE = "feature"  # declares that a column has no meaning, whatever its name
#: Other declarations of a column: the kind of feature, or that it is an id or a text to read.
KINDS = (FEATURE, "number", "category", "date", "id", "text")


class Meanings(NamedTuple):
    """Meanings of columns by name (None: left out), kinds given by the caller, log messages, and indexes."""

    roles: dict[str, str | None]
    kinds: dict[str, str]
    told: list[str]
    indexes: list[str]


def meanings_of(
    names: Sequence[str],
    given: Mapping[str, str | None] | None = None,
    known: Collection[str] = (),
    features: Collection[str] = (),
) -> Meanings:
    """Return the meanings of columns, given the caller's declarations.

    ``features`` are columns without a meaning; meanings ``known`` from elsewhere are not searched for under other
    names.
    """
    for meaning in (given or {}).values():
        if meaning is not None and meaning not in (*COLUMNS, *KINDS):
            raise unknown_name("meaning of a column", meaning, [*COLUMNS, *KINDS])
    kinds = {name: meaning for name, meaning in (given or {}).items() if meaning in KINDS}
    found = {name: meaning for name, meaning in (given or {}).items() if meaning not in KINDS}
    free = [name for name in names if name not in found and name not in kinds and name not in features]
    found |= {name: None if name in known else name for name in free if name in COLUMNS}
    told = []
    for meaning, others in ALIASES.items():
        if meaning in known or meaning in found.values():
            continue
        spelled = {plain_name(name): name for name in reversed(free) if found.get(name, name) == name}
        taken = next((spelled[other] for other in (meaning, *others) if other in spelled), None)
        if taken is not None:
            found[taken] = meaning
            told.append(f"{meaning} from column {taken!r}")
    indexes = [name for name in free if name not in found and _INDEX.fullmatch(str(name))]
    found |= dict.fromkeys(indexes)
    told += ([told_indexes(indexes)] if indexes else []) + _click_log(names, found, known)
    return Meanings(found, kinds, told, indexes)


def named(names: Sequence[str]) -> list[str]:
    """Return the names of columns; unnamed ones get pandas' names."""
    made = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    return [made[i] if name or made[i] not in names else f"{made[i]}.1" for i, name in enumerate(names)]


def told_indexes(names: Sequence[str]) -> str:
    """Return the log message about indexes that are left out."""
    return f"{', '.join(map(repr, names))} left out as {'an index' if len(names) == 1 else 'indexes'}"


def plain_name(name: str) -> str:
    """Return a name in lower case with underscores, to compare it with known names."""
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def is_id_name(name: str) -> bool:
    """Tell whether a column of this name holds ids."""
    return plain_name(name) in ID_NAMES


def _click_log(names: Sequence[str], found: Mapping[str, str | None], known: Collection[str]) -> list[str]:
    """Return a hint if columns without a label look like a click log."""
    plain = {plain_name(name): name for name in names}
    clicks = next((plain[word] for word in ("clicked", "clicks", "click") if word in plain), None)
    place = next((plain[word] for word in ("position", "rank") if word in plain), None)
    if clicks is None or place is None or "label" in known or "label" in found.values():
        return []
    return [f"{clicks!r} beside {place!r} is a click log, not judgements: `argrank clicks` makes judgements from it"]


def listing(names: Sequence[str]) -> str:
    """Return names for a message."""
    text = ", ".join(names)
    return text if len(text) <= 200 else text[:199] + "…"


def label_hint(names: Sequence[str] | None) -> str:
    """Return advice for missing labels: the columns, and the option to paste."""
    if not names:
        return "give y, or a column 'label'"
    option = likely_option("label", names, ("label", "grade", "relev", "judg", *WEAK_LABELS))
    clicks = "".join(f"; {text}" for text in _click_log(names, {}, ()))
    return f"the columns are {listing(names)}: name the label with {option} (columns={{…: 'label'}}){clicks}"


def likely_option(meaning: str, names: Sequence[str], stems: Sequence[str]) -> str:
    """Return an option to paste, with the column of the most similar name."""
    likely = next((name for stem in stems for name in names if stem in plain_name(name)), "COLUMN")
    return f"--{meaning} {shlex.quote(str(likely))}"


@functools.lru_cache(maxsize=64)
def tell(text: str) -> None:
    """Log a message once: a cross-validation makes many Datasets from the same frame."""
    logger.warning("%s", text)
