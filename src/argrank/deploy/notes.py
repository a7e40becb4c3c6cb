"""Notes on each target, printed with every export."""

from __future__ import annotations

import re

from argrank.data.categories import Dates
from argrank.deploy.options import Files, Options, Term
from argrank.deploy.plain import Plain

LARGE = 20_000_000  # bytes
MOST_TEXTS = 20  # of a feature that are listed
TAKE_TEXTS = ("python", "vespa")  # targets that accept texts
WRITES_TERMS = ("elastic", "elasticsearch", "opensearch", "solr")  # whose files define the columns of categories

PLUGIN_MISSING = {
    "elasticsearch": (
        "A feature whose query does not match is missing: 0 in Elasticsearch plugins before v1.5.9-es8.11.4, the "
        '"missing" branch since.'
    ),
    "opensearch": (
        "A feature whose query does not match is missing: 0 in OpenSearch up to 3.1; in 3.2/3.3 until July 2026 always "
        'the "no" branch; the "missing" branch since.'
    ),
}
MODES = {
    "as-trained": "This file treats missing values as in training.",
    "zero": "This file treats missing values as 0, which has the same result in every version.",
}
DEFAULT_QUERY = (
    "Safe in all versions: give every feature a query that always matches (function_score or script_score with a "
    "default)."
)


def notes(to: str, model: Plain, missing: str, files: Files) -> list[str]:
    """Return the sentences for one export."""
    plugin, linear, trees = to in PLUGIN_MISSING, model.linear is not None, model.forest is not None
    rescores, size = plugin or to == "elastic", max(len(content) for content in files.values())
    lifts = "; shift=True (--shift) shifts the scores of trees so that none is negative." if trees else "."
    folded = model.linear is not None and model.linear.normalises
    said = (
        (plugin and trees, f"{PLUGIN_MISSING.get(to)} {MODES[missing]}"),
        (plugin and trees, DEFAULT_QUERY),
        (
            linear and (plugin or to in ("solr", "ranklib")),
            "A missing feature is 0, and is normalised like any other value.",
        ),
        (rescores, f"Scores may be negative: documents of the rescore window can sink below others{lifts}"),
        (rescores, "You provide the queries of the features: replace match_all, keep names and order."),
        (to == "solr", "You provide the queries of the features: replace the constant, keep the names."),
        (
            to == "solr" and trees and missing == "as-trained",
            'Missing branches need Solr 9.2 or later; missing="zero" writes a file for every version.',
        ),
        (
            to == "ranklib",
            "RankLib has no missing values: an absent feature is 0. Features go by number, 1 first.",
        ),
        (
            to == "ranklib" and folded,
            "The normaliser is folded into the weights: scores omit a constant, which changes no ranking.",
        ),
        (
            to == "vespa",
            "Written from Vespa's source, not tested on Vespa. Names of features must be rank features of the schema.",
        ),
        (to == "elastic", "Scores like eland's definition; not tested on a server: verify before use."),
        (to == "xgboost", "Both search plugins read this file too, as model/xgboost+json+raw."),
        (
            to == "onnx" and trees,
            "ONNX runtimes add leaves in their own order: scores agree up to rounding in float32.",
        ),
        (
            size > LARGE,
            f"The model has {size / 1e6:.0f} MB: OpenSearch takes 50 million characters, servers 100 MB a request.",
        ),
    )
    return [sentence for holds, sentence in said if holds]


def name_notes(options: Options, to: str) -> list[str]:
    """Warn of names such as f1, which readers of XGBoost's files take as feature numbers, if the numbers differ."""
    misread = [
        (i, name) for i, name in enumerate(options.features) if re.fullmatch("f[0-9]+", name) and name != f"f{i}"
    ]
    if to != "xgboost" or not misread:
        return []
    place, name = misread[0]
    return [
        f"{name} is feature {place + 1} here, but eland reads {name} as feature {int(name[1:]) + 1}, whatever the file "
        "says: give other names (features=, --features) for it."
    ]


def date_notes(dates: Dates, to: str) -> list[str]:
    """Return for every date feature the number that the target must receive."""
    return [
        f"{name} was a date in training; give {to} the number of days from it to {newest}: 0 on that day, 7 a week "
        "before, negative after it."
        for name, newest in (dates or {}).items()
    ]


def category_notes(options: Options, to: str) -> list[str]:
    """Return for every categorical feature what the engine must receive."""
    found = []
    for feature, texts in options.texts.items():
        name = options.features[feature]
        if to in TAKE_TEXTS:
            found.append(f"{name} is a text, as in training; other texts than those count as missing.")
            continue
        numbers = ", ".join(f"{text!r} is {number}" for number, text in enumerate(texts[:MOST_TEXTS]))
        more = f" … ({len(texts):,} texts, in the order of the model file)" if len(texts) > MOST_TEXTS else ""
        found.append(f"{name} was a text in training; give {to} its number: {numbers}{more}. Others are missing.")
    by_field: dict[str, list[Term]] = {}
    for term in options.terms.values():
        by_field.setdefault(term.field, []).append(term)
    for name, terms in by_field.items():
        columns = "1 column" if len(terms) == 1 else f"{len(terms):,} columns"
        asks = f"{columns} ({terms[0].name}{', …' if len(terms) > 1 else ''}), 1 where it is that value, else 0"
        if to in WRITES_TERMS:
            how = f"their queries are written, on a keyword field {name!r}: features= (--features) names another field."
        else:
            how = "the caller of the model has to compute them."
        found.append(f"{name} has categories: the model uses {asks}; {how}")
    return found
