"""From a trained ranker to files that an engine loads, with the proof that they score the same."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from argrank._declared import checked
from argrank._files import make_folder, write_bytes
from argrank._tables import counted
from argrank.data.dataset import Dataset
from argrank.deploy.deployment import deployment
from argrank.deploy.notes import category_notes, date_notes, name_notes, notes
from argrank.deploy.options import Files, Missing
from argrank.deploy.parity import Parity, compare
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
