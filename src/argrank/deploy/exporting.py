"""From a trained ranker to files that an engine loads, with notes on it and the proof that they score the same."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argrank._declared import checked
from argrank._files import make_folder, write_bytes
from argrank._tables import counted
from argrank.data.categories import Dates
from argrank.data.dataset import Dataset
from argrank.deploy.deployment import deployment
from argrank.deploy.options import Files, Missing, Options, Term
from argrank.deploy.parity import Parity, compare
from argrank.deploy.plain import Plain
from argrank.deploy.registry import TARGETS, writer
from argrank.errors import OptionError, shown

RECORD = Path(__file__).with_name("proofs.json")  # what scripts/prove_targets.py found
NOTHING_RUN = "Proof: argrank's simulation alone; no engine has scored such files."
CANCELS = 1e-3  # of the spread of scores in a query; float32 changes ordinary linear models by 1e-5 or less


@dataclass(frozen=True)
class Export:
    """The files of a target by name, how their scores compare with argrank's, and notes."""

    to: str
    files: Files
    parity: Parity
    notes: list[str]

    @checked
    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the files, each atomically, into a folder, which is created if necessary."""
        path = make_folder(folder)
        for name, content in self.files.items():
            with write_bytes(path / name) as stream:
                stream.write(content)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name} ({len(content):,} bytes)" for name, content in self.files.items())
        return "\n".join([f"{self.to}: {listed}", *self.parity.lines(), *self.notes])


@checked
def export(
    model: Any,
    to: str,
    *,
    name: str = "argrank",
    check: Dataset | None = None,
    missing: Missing = "as-trained",
    features: Sequence[str] | None = None,
    shift: bool = False,
) -> Export:
    """Write a model for the engine that will serve it, and prove that it scores the same there.

    Parameters
    ----------
    model : ranker, Model or path of a model file
    to : str
        One of `ar.targets()`: "elasticsearch", "opensearch", "solr", "ranklib", "xgboost", "lightgbm", "vespa",
        "onnx", "elastic", "python".
    name : str
        The model's name in the engine.
    check : Dataset, optional
        Rows to compare on, for instance the test data. Rows on, below and above all cuts are always compared.
    missing : "as-trained" or "zero"
        How trees treat missing values: as in training, or as 0.
    features : list of str, optional
        Names of the features in the engine, if the model has none or different ones.
    shift : bool
        Add a constant to the trees, so that no score is below 0.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.load_bundled()
    >>> ranker = ar.make_ranker("rank-svm", normalise="standard").fit(data)
    >>> files = ar.export(ranker, "opensearch", check=data).files
    >>> sorted(files)
    ['README.txt', 'featureset.json', 'model.json']
    """
    line = TARGETS[to]
    if not name.strip() or any(ord(letter) < 32 for letter in name) or "/" in name:
        raise OptionError(f"name: expected a plain name, got {shown(name)}")
    made = deployment(model, to, name, missing, features, shift)
    served, parts, arithmetic = made.served, made.parts, writer(to)
    if check is not None:
        names: dict[str, Any] = {"feature_names": served.feature_names, "categories": served.categories}
        check = check._but(X=served.features_of(check), dates=served.dates, **names)
    misses = arithmetic.misses(parts)
    reachable = None if misses is None else misses == 0
    how = (made.score, made.constant, made.missing, check, arithmetic.seen, reachable, line.singles)
    parity = compare(served, parts, *how)
    said = notes(to, parts, missing, made.files)
    if misses is not None and misses.any():
        said.append(
            f"{np.count_nonzero(misses):,} of {len(misses):,} cuts cannot be expressed exactly in {line.title}'s "
            f"arithmetic: values within {misses.max():.1e} below them take the other branch."
        )
    said += [*name_notes(made.options, to), *category_notes(made.options, to), *date_notes(served.dates, to)]
    if line.singles and parts.forest is not None and parity.rounded_reordered:
        reordered = counted(parity.rounded_reordered, "query is", "queries are")
        said.append(
            f"{reordered} reordered by rounding the features to float32, before any engine sees them: values lie on "
            "thresholds. Train with --target (auto: target=), which keeps thresholds off such values."
        )
    if line.singles and parts.linear is not None and parity.relative > CANCELS:
        said.insert(
            0,
            f"CAREFUL: sums in float32 change scores by up to {parity.relative:.2g} of their spread in a query, and "
            f"reorder {parity.reordered} of {counted(parity.queries, 'query', 'queries')}: large terms of this model "
            f"cancel, for instance of nearly equal features. Train with regularisation (ridge=1 for regression, else a "
            "smaller C), or use a target that computes in double: onnx, python.",
        )
    return Export(to, made.files, parity, [*said, proof_of(to)])


class Proof(NamedTuple):
    """Which program scored a target's files, and how the scores compare with the target's ``simulate``."""

    by: str
    models: int
    rows: int
    within: float  # relative to the largest score; 0 if bit-identical

    @property
    def sentence(self) -> str:
        """The sentence printed with an export."""
        how = "exactly the same" if self.within == 0 else f"the same within {self.within:.0e} of the largest"
        return (
            f"Proof: {self.by} scored the files of {self.models} models; on {self.rows} rows the simulated scores are "
            f"{how}."
        )


def recorded() -> dict[str, Proof]:
    """Return the recorded proofs, by target."""
    return {name: Proof(**line) for name, line in json.loads(RECORD.read_text("utf-8")).items()}


def proof_of(to: str) -> str:
    """Return what was run to prove a target, as a sentence; ``scripts/prove_targets.py`` writes the record."""
    proof = recorded().get(to)
    return NOTHING_RUN if proof is None else proof.sentence


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
            'Missing branches need Solr 9.2 or later; missing="zero" (--missing zero) writes a file for every version.',
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
