"""The output of ``argrank explain``: importances, dependence, why the first document is above the second."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from argrank._tables import Table, table
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_count, unknown_name
from argrank.models.importance import Dependence, dependence, directions, importances, label
from argrank.models.model import Model
from argrank.report.why import Why, why_above

POINTS = 5  # values of each feature in the table of dependence
CLEAR = 0.5  # a correlation of values and contributions that counts as a direction


class Explained(NamedTuple):
    """Importances of features on some data, dependence of scores on the first ones, and one pair of documents."""

    features: tuple[str, ...]
    shares: Floats
    directions: Floats
    dependences: tuple[Dependence, ...]
    query: str
    why: Why | None

    def tables(self, top: int) -> list[Table]:
        """Return the importances and the dependence as tables."""
        order = [int(i) for i in np.argsort(-self.shares, kind="stable")[:top] if self.shares[i] > 0]
        words = ["raises" if sign > CLEAR else "lowers" if sign < -CLEAR else "-" for sign in self.directions]
        rows = [(self.features[i], f"{self.shares[i]:.1%}", words[i]) for i in order]
        found = [table(("feature", "share", "a greater value"), rows)]
        if self.dependences:
            head = ("mean score, less its mean, if", *[""] * POINTS)
            found.append(table(head, [_cells(one) for one in self.dependences]))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        order = np.argsort(-self.shares, kind="stable").tolist()
        return {
            "importances": {self.features[i]: float(self.shares[i]) for i in order},
            "directions": {self.features[i]: float(self.directions[i]) for i in order},
            "dependence": {one.feature: _pairs(one) for one in self.dependences},
            "query": self.query,
            "why": None if self.why is None else {"a": self.why.a, "b": self.why.b, "adds": dict(self.why.largest)},
        }


def explained(
    model: Model, data: Dataset, query: str | None = None, top: int = 20, n_dependences: int = 6
) -> Explained:
    """Explain a model on data; ``query`` is an id or the text of a query, by default the first with two documents."""
    check_count("top", top)
    shares = importances(model, data)
    if shares is None:
        raise OptionError("explain: this model has no contributions of features; see ar.permutation_importance")
    order = np.argsort(-shares, kind="stable")[:n_dependences]
    columns = [] if model.needs_queries else [int(i) for i in order if shares[i] > 0]
    number = _query(data, query)
    part = data.select([number])
    ranking = model.rank(part)[0]
    why = None
    if len(ranking) > 1 and model.explain(part) is not None:
        why = why_above(model, part, int(ranking[0]), int(ranking[1]))
    return Explained(
        tuple(label(data, column) for column in range(data.n_features)),
        shares,
        directions(model, data),
        tuple(dependence(model, data, column) for column in columns),
        str(data.query_ids[number]),
        why,
    )


def _query(data: Dataset, given: str | None) -> int:
    if given is None:
        return int(np.argmax(data.sizes > 1))
    ids = [str(one) for one in data.query_ids.tolist()]
    texts = [] if data.query_texts is None else [str(one) for one in data.query_texts.tolist()]
    for known in (ids, texts):
        if given in known:
            return known.index(given)
    raise unknown_name("query", given, [*ids, *texts])


def _pairs(found: Dependence) -> list[tuple[Any, float]]:
    """Return values, or texts, with the mean score; None where the feature is missing."""
    values: list[Any] = list(found.values if found.texts is None else found.texts)
    pairs = list(zip(values, found.scores.tolist(), strict=True))
    return pairs if found.missing is None else [*pairs, (None, found.missing)]


def _cells(found: Dependence) -> list[str]:
    pairs = _pairs(found)
    places = np.unique(np.linspace(0, len(pairs) - 1, POINTS).astype(int)).tolist()
    texts = [
        f"{'missing' if value is None else value if isinstance(value, str) else f'{value:.4g}'}: {score:+.3f}"
        for value, score in (pairs[i] for i in places)
    ]
    return [found.feature, *texts, *[""] * (POINTS - len(texts))]
