"""Which column of a table means what: by its name where that is safe, else as the caller says."""

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
TEXTS = ("comment", "query", "title")  # columns in which an empty cell is an empty text, and an absent text is empty

#: Other safe names of these columns, the most specific first; used where the column itself is absent.
ALIASES = {
    "qid": ("query_id", "queryid", "query"),
    "label": ("relevance", "relevance_label", "judgement", "judgment", "grade"),
    "docid": ("doc_id", "docno", "document_id", "product_id", "item_id"),
}
#: Names that may be a label or a feature: never taken for a label unless the caller says so.
WEAK_LABELS = ("rating", "score", "rank", "position", "clicks", "clicked", "click", "rel")
#: Names of ids: the document id where there is no other one, else left out; never a feature.
ID_NAMES = ("product", "product_id", "sku", "item", "item_id", "asin", "url", "id")

#: What pandas calls an index in Parquet files, and a column without a name: no feature, unless the caller says so.
_INDEX = re.compile(r"__index_level_[0-9]+__|Unnamed: [0-9]+(\.[0-9]+)?")

FEATURE = "feature"  # says that a column has no meaning, whatever its name
#: What else a caller may say of a column: what kind of feature it is, or that it is an id or a text to read.
KINDS = (FEATURE, "number", "category", "date", "id", "text")


class Meanings(NamedTuple):
    """What columns are: meanings by name (None: left out), kinds that the caller gave, what to tell, and indexes."""

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
    """Return what columns mean, given what the caller says of them.

    ``features`` are columns without a meaning, and meanings ``known`` from elsewhere are not looked for under other
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
    """Return the names of columns; those without one are called as pandas calls them."""
    made = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    return [made[i] if name or made[i] not in names else f"{made[i]}.1" for i, name in enumerate(names)]


def told_indexes(names: Sequence[str]) -> str:
    """Say that columns are left out."""
    return f"{', '.join(map(repr, names))} left out as {'an index' if len(names) == 1 else 'indexes'}"


def plain_name(name: str) -> str:
    """Return a name in lower case with underscores, by which usual names are found."""
    return str(name).strip().lower().replace("-", "_").replace(" ", "_")


def is_id_name(name: str) -> bool:
    """Tell whether a column of this name holds ids."""
    return plain_name(name) in ID_NAMES


def _click_log(names: Sequence[str], found: Mapping[str, str | None], known: Collection[str]) -> list[str]:
    """Return what to tell where columns without a label look like a log of clicks."""
    plain = {plain_name(name): name for name in names}
    clicks = next((plain[word] for word in ("clicked", "clicks", "click") if word in plain), None)
    place = next((plain[word] for word in ("position", "rank") if word in plain), None)
    if clicks is None or place is None or "label" in known or "label" in found.values():
        return []
    return [f"{clicks!r} beside {place!r} is a click log, not judgements: `argrank clicks` makes judgements of it"]


def label_hint(names: Sequence[str] | None) -> str:
    """Return what to say where labels are needed and none were found: the columns, and the option to paste."""
    if not names:
        return "give y, or a column 'label'"
    listing = ", ".join(names)
    listing = listing if len(listing) <= 200 else listing[:199] + "…"
    option = likely_option("label", names, ("label", "grade", "relev", "judg", *WEAK_LABELS))
    clicks = "".join(f"; {text}" for text in _click_log(names, {}, ()))
    return f"the columns are {listing}: say which one is the label, {option} (columns={{…: 'label'}}){clicks}"


def likely_option(meaning: str, names: Sequence[str], stems: Sequence[str]) -> str:
    """Return an option to paste, with the column whose name looks most like it."""
    likely = next((name for stem in stems for name in names if stem in plain_name(name)), "COLUMN")
    return f"--{meaning} {shlex.quote(str(likely))}"


@functools.lru_cache(maxsize=64)
def tell(text: str) -> None:
    """Say it once: a cross-validation makes many Datasets of the same frame."""
    logger.warning("%s", text)
