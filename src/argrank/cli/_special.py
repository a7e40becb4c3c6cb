"""Training and predicting with other data than judged documents in memory: ratings, slots, streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from argrank.cli import arguments
from argrank.errors import InputError, OptionError

if TYPE_CHECKING:
    from argrank.data.dataset import Dataset

GAIN = "gain"  # prefix of the columns that hold a document's gain at each slot

Files = Mapping[str, str | None]
Means = dict[str, dict[str, float]]


def train_factors(ranker: Any, files: Files, names: list[str], convention: str, epochs: int) -> Means:
    """Train on ratings; evaluate by user."""
    from argrank.data.io.triples import read_triples
    from argrank.rankers.factors.factor_ranker import Triples

    parts = {role: read_triples(path) for role, path in files.items() if path is not None}
    ranker.fit(parts["train"], eval_set=parts.get("valid"))
    return {
        role: arguments.means_of(
            ranker.predict(part.users, part.items), Triples.of(part).as_dataset(), names, convention
        )
        for role, part in parts.items()
    }


def train_slots(ranker: Any, files: Files, names: list[str], convention: str, epochs: int) -> Means:
    """Train a ranker of slots; report the gain of its pages, absolute and as a share of the best pages'."""
    from argrank.models.slots import fill

    parts = {role: _with_gains(path) for role, path in files.items() if path is not None}
    ranker.fit(*parts["train"])
    means: Means = {}
    for role, (data, gains) in parts.items():
        earned = _earned(ranker.match(data), gains)
        best = _earned(fill(data, data.from_caller(gains)), gains)
        means[role] = {"gain of a page": earned, "of the best page": earned / best if best else float("nan")}
    return means


def train_stream(ranker: Any, files: Files, names: list[str], convention: str, epochs: int) -> Means:
    """Train on a file that is read in pieces; evaluate on the other files."""
    from argrank.rankers import ORM

    if not isinstance(ranker, ORM):
        raise OptionError("--stream: expected -r orm, which learns query by query, got another ranker")
    ranker.fit_stream(str(files["train"]), epochs=epochs)
    means: Means = {}
    for role in ("valid", "test"):
        path = files[role]
        if path is not None:
            data = arguments.load_wide(path, ranker.model_.n_features)
            means[role] = arguments.means_of(ranker.predict(data), data, names, convention)
    return means


TRAIN: dict[str, Callable[[Any, Files, list[str], str, int], Means]] = {
    "factors": train_factors,
    "slots": train_slots,
    "stream": train_stream,
}


def predict_pairs(model: Any, path: str) -> list[str]:
    """Return the score of every line's user and item."""
    from argrank.data.io.triples import read_triples

    pairs = read_triples(path, rated=False)
    return [repr(score) for score in model.predict(pairs.users, pairs.items).tolist()]


def predict_pages(model: Any, path: str) -> list[str]:
    """Return a line for every slot of every query: query, slot and document (its id, or else its row, from 1)."""
    data, _ = _with_gains(path, known=False)
    names = None if data.document_ids is None else data.to_caller(data.document_ids)
    lines = []
    for query, page in zip(data.query_ids.tolist(), model.match(data), strict=True):
        for slot, row in enumerate(page.tolist(), 1):
            document = "" if row < 0 else row + 1 if names is None else names[row]
            lines.append(f"{query}\t{slot}\t{document}")
    return lines


def _with_gains(path: str, known: bool = True) -> tuple[Dataset, Any]:
    """Read a table; return its documents without the gain columns, and the gains at every slot as a matrix."""
    data = arguments.load_wide(path, None)
    is_gain = np.array([name.lower().startswith(GAIN) for name in data.feature_names or ()], bool)
    if known and not is_gain.any():
        raise InputError(f"{path}: expected columns whose names begin with {GAIN!r}, one per slot, got none")
    if not is_gain.any():
        return data, None
    names = np.array(data.feature_names)[~is_gain].tolist()
    for name, texts in (data.categories or {}).items():
        if known and name not in names:
            raise InputError(f"{path}: expected numbers in column {name!r}, got {texts[0]!r}")
    categories = {name: texts for name, texts in (data.categories or {}).items() if name in names}
    documents = data._but(X=data.X[:, ~is_gain], feature_names=tuple(names), categories=categories or None)
    return documents, data.to_caller(np.asarray(data.X[:, is_gain]))


def _earned(pages: list[Any], gains: Any) -> float:
    slots = np.arange(gains.shape[1])
    return float(np.mean([gains[page, slots][page >= 0].sum() for page in pages]))
