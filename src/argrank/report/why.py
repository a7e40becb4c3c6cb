"""Why one document ranks above another: every feature's contribution to the difference of their scores."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from argrank._declared import CountFromZero, checked
from argrank._tables import plain, table, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, OptionError
from argrank.models.model import Model, fitted_model
from argrank.rankers.base_ranker import BaseRanker

SHOWN = 12


@dataclass(frozen=True, eq=False)
class Why:
    """Every feature's contribution to ``score of a - score of b``; the result of ``ar.why_above``.

    ``contributions`` is in the order of the features and sums to ``difference``.
    """

    a: str
    b: str
    difference: float
    features: tuple[str, ...]
    contributions: Floats

    @property
    def largest(self) -> list[tuple[str, float]]:
        """The features that matter, the largest contribution of either sign first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        return [(self.features[i], float(self.contributions[i])) for i in order if self.contributions[i] != 0]

    def _rows(self) -> list[tuple[str, float]]:
        """The largest contributions, the sum of the others, and the total."""
        top = self.largest
        rest = sum(value for _, value in top[SHOWN:])
        more = [(f"{len(top) - SHOWN} more features", rest)] if len(top) > SHOWN else []
        return [*top[:SHOWN], *more, ("all together", self.difference)]

    def _head(self) -> str:
        place = "above" if self.difference > 0 else "below" if self.difference < 0 else "level with"
        return f"{self.a} is {place} {self.b}:"

    def __repr__(self) -> str:
        rows = [(name, f"{value:+.4f}") for name, value in self._rows()]
        return f"{self._head()}\n{to_text([table(('feature', 'adds'), rows)])}"

    def _repr_html_(self) -> str:
        rows = self._rows()
        most = max((abs(value) for _, value in rows[:-1]), default=0.0) or 1.0
        body = "".join(
            f"<tr><td>{html.escape(plain(name))}</td><td style='text-align:right'>{value:+.4f}</td>"
            f"<td style='text-align:left'>{_bar(value / most) if place < len(rows) - 1 else ''}</td></tr>"
            for place, (name, value) in enumerate(rows)
        )
        head = "<tr><th>feature</th><th>adds</th><th></th></tr>"
        return f"<p>{html.escape(plain(self._head()))}</p><table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _bar(share: float) -> str:
    """Return a bar as HTML, blue for contributions in favour of the first document, orange for the second."""
    colour, width = ("#0b5cad" if share > 0 else "#b8530a"), round(120 * abs(share))
    return f"<span style='display:inline-block;height:.8em;width:{width}px;background:{colour}'></span>"


@checked
def why_above(ranker: BaseRanker | Model, data: Dataset, a: CountFromZero, b: CountFromZero) -> Why:
    """Explain the order of two documents of one query, exactly, by the model's features.

    Parameters
    ----------
    ranker : fitted ranker or model
        With a model that has contributions of features: linear models, trees and their sums.
    data : Dataset
    a, b : int
        Two of the caller's row numbers, of the same query.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.Dataset([[3.0, 1.0], [1.0, 2.0]], [1, 0], qid=[7, 7], feature_names=["bm25", "price"])
    >>> from argrank.models.linear import LinearModel
    >>> import numpy as np
    >>> ar.why_above(LinearModel(np.array([1.0, -0.5])), data, 0, 1)
    row 0 is above row 1:
    feature           adds
    bm25           +2.0000
    price          +0.5000
    all together   +2.5000
    """
    model = fitted_model(ranker)
    stored = np.arange(data.n_documents) if data.rows is None else np.argsort(data.rows)
    for row in (a, b):
        if not 0 <= row < data.n_documents:
            raise OptionError(f"why_above: expected rows from 0 to {data.n_documents - 1}, got {row!r}")
    rows = stored[[a, b]]
    query, other = np.searchsorted(data.indptr, rows, side="right") - 1
    if query != other:
        raise InputError(f"why_above: expected two rows of one query, got rows of {data.query_ids[[query, other]]}")
    part = data.select([query])
    found = model.explain(part)
    if found is None:
        raise OptionError(f"why_above: {type(model).__name__} has no contributions of features")
    first, second = rows - data.indptr[query]
    matrix = found.toarray() if sparse.issparse(found) else found
    contributions = np.asarray(matrix[first] - matrix[second], np.float64)
    names = data.feature_names or tuple(f"feature {i + data.feature_base}" for i in range(data.n_features))
    return Why(_title(data, rows[0], a), _title(data, rows[1], b), float(contributions.sum()), names, contributions)


def _title(data: Dataset, stored: Any, row: int) -> str:
    if data.titles is not None and data.titles[stored]:
        return f"“{data.titles[stored]}”"
    return f"row {row}" if data.document_ids is None else f"document {data.document_ids[stored]}"
