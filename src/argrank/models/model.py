"""The base class of models: score rows, rank documents, save."""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from scipy import sparse

from argrank._declared import Count, checked
from argrank._tables import facts_html
from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.categories import Categories, Dates, align, kinds_of, places, redated
from argrank.data.dataset import Dataset
from argrank.data.document_sources import check_diverse, diverse_rankings
from argrank.data.frames import columns_of, is_frame
from argrank.data.grouping import block_borders, group_by_id, group_by_size, in_callers_order
from argrank.data.prepare.normalise import Normaliser
from argrank.data.prepare.preparation import Preparation
from argrank.errors import InputError, OptionError, shown

MOST_NAMES = 3  # features shown in a model's description

Served = TypeVar("Served", bound="Model")


class Given(NamedTuple):
    """Rows to score: the model's features, query by query, and the caller's row numbers."""

    X: Any
    indptr: Integers | None
    rows: Integers | None


class StoredModel(ABC):
    """A frozen dataclass that a model file can hold: a kind, plain data and the summary of the training."""

    kind: ClassVar[str]
    training: Mapping[str, Any]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data for a model file; JSON keeps floats exactly."""

    @classmethod
    @abstractmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> StoredModel:
        """Make the model from the plain data of a model file, checking every part."""

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``ar.load_model`` reads."""
        from argrank.models.files import save_model

        save_model(self, path)

    def facts(self) -> list[tuple[str, str]]:
        """Return facts about a model, as pairs of name and text."""
        names = ("ranker", "queries", "documents")
        ranker, queries, documents = (self.training.get(name) for name in names)
        if ranker is None:
            return []
        on = f" on {queries:,} queries" if isinstance(queries, int) else ""
        more = f", {documents:,} documents" if isinstance(documents, int) else ""
        stayed, optimised = Stayed.of(self.training), self.training.get("optimised")
        facts = [("trained", f"by {ranker}{on}{more}")]
        facts += [] if optimised is None else [("optimised", str(optimised))]
        return facts if stayed is None else [*facts, ("it", str(stayed))]

    def __repr__(self) -> str:
        return f"{type(self).__name__}: " + "; ".join(f"{word} {text}" for word, text in self.facts())

    def _repr_html_(self) -> str:
        return facts_html(type(self).__name__, self.facts())


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Model(StoredModel):
    """A trained scorer, with its features, preparation and normaliser (applied in this order)."""

    takes_datasets: ClassVar[bool] = True
    spreads_infinity: ClassVar[bool] = False  # whether an infinite feature gives an infinite score
    compares: ClassVar[bool] = False  # whether the score jumps at thresholds of features
    feature_names: tuple[str, ...] | None = None
    categories: Categories = None
    dates: Dates = None
    preparation: Preparation | None = None
    normaliser: Normaliser | None = None
    feature_importances: Floats | None = None  # the share of each feature in the training data, see importance.py
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of columns it was trained on, after the preparation."""

    @property
    def n_features(self) -> int:
        """Number of features a row must have, used or not."""
        return self.width if self.preparation is None else self.preparation.n_raw

    @property
    def kinds(self) -> dict[str, str | None]:
        """The kinds of its columns in a table: categories, dates or numbers."""
        return kinds_of(self.feature_names, self.categories, self.dates)

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """The names of the columns that it was trained on, such as "price is missing" and "brand=acme"."""
        if self.preparation is None:
            return self.feature_names
        return self.preparation.names(self.feature_names, self.categories)

    @property
    def needs_queries(self) -> bool:
        """Whether a score depends on the other documents of the query (per-query normalisation)."""
        return self.normaliser is not None and self.normaliser.needs_queries

    @abstractmethod
    def scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return one score per row of a checked matrix; ``indptr`` where the model needs queries."""

    def part_scores(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the scores as a part of a sum."""
        return self.scores(X, indptr)

    def contributions(self, X: Any, indptr: Integers | None = None) -> Any:
        """Return each feature's contribution to each row's score, an array or CSR matrix; None if the model has none.

        The rows of the result sum to the scores, up to a constant that is the same for all rows. Columns derived from a
        feature, such as those for its texts, count as the feature.
        """
        parts = self._contributions(self.normalised(X, indptr), indptr)
        return parts if parts is None or self.preparation is None else self.preparation.to_raw(parts)

    def _contributions(self, X: Any, indptr: Integers | None) -> Any:
        """Return the contributions of normalised columns."""
        return None

    @checked
    def shap_values(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return the SHAP values of the model's features for every row, in the caller's order.

        A row sums to its score, up to a constant that is the same for all rows. They are exact for linear models
        (weight times value, which is a SHAP value up to a constant per feature), for trees (as in LightGBM, by the
        training documents at every split), and for sums of both.
        """
        given = self._given(X, qid, group)
        return in_callers_order(self.shap_parts(given.X, given.indptr), given.rows)

    def shap_parts(self, X: Any, indptr: Integers | None = None) -> Floats:
        """Return the SHAP values of checked rows whose queries are together."""
        parts = self._shap_parts(self.normalised(X, indptr), indptr)
        return parts if self.preparation is None else np.asarray(self.preparation.to_raw(parts))

    def _shap_parts(self, X: Any, indptr: Integers | None) -> Floats:
        """Return the SHAP values of normalised columns."""
        raise OptionError(
            f"shap_values: expected a linear model, trees, stumps or a sum of them, got a {type(self).__name__}"
        )

    def normalised(self, X: Any, indptr: Integers | None) -> Any:
        """Return the features as used in training: prepared, then normalised.

        For models with thresholds they are always float32, as in training and export: equal numbers must fall on the
        same side of a threshold. For others they keep the type of X, which changes a score only by rounding.
        """
        if self.preparation is not None:
            X = self.preparation.apply(X)
        if self.normaliser is None:
            return X
        kept = places(self.categories, self.feature_names)
        if self.preparation is not None:
            kept = [place for place in kept if place not in self.preparation.texts]
        return self.normaliser.apply(X, indptr, kept, np.float32 if self.compares else None)

    def facts(self) -> list[tuple[str, str]]:
        """Return facts about the model."""
        names = [] if self.feature_names is None else [shown(name) for name in self.feature_names[:MOST_NAMES]]
        more = ["…"] if len(self.feature_names or ()) > MOST_NAMES else []
        listed = f" ({', '.join([*names, *more])})" if names else ""
        found = [("features", f"{self.n_features:,}{listed}")]
        if self.preparation is not None:
            found.append(("prepared", f"into {self.preparation.width:,} columns"))
        if self.normaliser is not None:
            found.append(("normalised", self.normaliser.name))
        if self.feature_importances is not None and self.feature_importances.any():
            order = np.argsort(-self.feature_importances, kind="stable")[:MOST_NAMES]
            labels = self.feature_names or [str(number) for number in range(self.n_features)]
            shares = (f"{shown(labels[i])} {self.feature_importances[i]:.0%}" for i in order)
            found.append(("most important", ", ".join(shares)))
        return [*self._own_facts(), *found, *super().facts()]

    def _own_facts(self) -> list[tuple[str, str]]:
        """Return facts specific to the kind of model."""
        return []

    @checked
    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """Return one score per row, in the caller's row order. Higher is better; only differences are meaningful."""
        if isinstance(X, Dataset):
            return X.to_caller(self._stored_scores(X))
        given = self._given(X, qid, group)
        return in_callers_order(self._checked_scores(given.X, given.indptr), given.rows)

    def _given(self, X: Any, qid: Any, group: Any) -> Given:
        """Return the features of the caller's rows, and their queries if the model needs them."""
        if isinstance(X, Dataset):
            return Given(self.features_of(X), X.indptr, X.rows)
        names, categories, dates = None, None, None
        if is_frame(X):
            known = ["qid", "label"] if qid is not None or group is not None else ["label"]
            columns = columns_of(X, known, self.feature_names, self.kinds)
            X, names, categories = columns["X"], tuple(columns["feature_names"]), columns["categories"]
            dates = columns["dates"]
            qid = columns.get("qid") if qid is None and group is None else qid
        X = checks.features(X, finite=not self.spreads_infinity or self.normaliser is not None)
        X = self._aligned(X, names, categories, dates)
        if not self.needs_queries:
            return Given(X, None, None)
        if qid is None and group is None:
            raise InputError("this model normalises features within queries: expected qid or group, got neither")
        queries = group_by_id(qid, X.shape[0]) if group is None else group_by_size(group, X.shape[0])
        return Given(X if queries.rows is None else X[queries.rows], queries.indptr, queries.rows)

    def _rows_to_rank(self, X: Any, qid: Any, group: Any, sources: Any) -> Dataset:
        """Return rows as a Dataset; from a data frame only the model's columns, without labels."""
        if not is_frame(X):
            return Dataset(X, None, qid, group=group, sources=sources)
        columns = columns_of(X, ["label"], self.feature_names, self.kinds)
        found = {name: columns[name] for name in ("X", "feature_names", "categories", "dates")}
        queries = columns.get("qid") if qid is None and group is None else qid
        return Dataset(
            **found, qid=queries, group=group, sources=columns.get("sources") if sources is None else sources
        )

    @checked
    def rank(
        self,
        X: Any,
        *,
        qid: Any = None,
        group: Any = None,
        sources: Any = None,
        diverse: bool | Count = False,
        k: Count | None = None,
    ) -> list[Integers]:
        """Return, for every query, the caller's row numbers, best first; equal scores keep the order of the rows.

        ``diverse`` allows at most one document (or the given number) of each source in the first k ranks, or with
        k=None as long as there are sources; the others follow by score. It needs ``sources``, one per row, or a Dataset
        that has them.
        """
        if not isinstance(X, Dataset):
            X = self._rows_to_rank(X, qid, group, sources)
        elif sources is not None:
            raise InputError("sources: expected a Dataset that has them, got a Dataset and separate sources")
        scores = self._stored_scores(X)
        caller = np.arange(X.n_documents) if X.rows is None else X.rows
        if diverse is not False:
            return [caller[ranking] for ranking in diverse_rankings(scores, X, k, check_diverse(diverse, k))]
        return [
            caller[start + np.argsort(-scores[start:end], kind="stable")]
            for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]

    def _stored_scores(self, data: Dataset) -> Floats:
        """Return one score per stored row, block by block: mapped features stay on disk."""
        model = self._for(data)
        scores = np.empty(data.n_documents)
        for first, last in itertools.pairwise(block_borders(data.indptr).tolist()):
            part, rows = data.between(first, last), slice(int(data.indptr[first]), int(data.indptr[last]))
            scores[rows] = model._checked_scores(model.features_of(part), part.indptr, rows.start)
        return scores

    def _for(self: Served, data: Dataset) -> Served:
        """Return the model for some data, without normaliser if a pack already holds normalised features."""
        done = self.normaliser is not None and self.normaliser.name == data.normalised
        return replace(self, normaliser=None) if done else self

    def _checked_scores(self, X: Any, indptr: Integers | None, first_row: int = 0) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.scores(X, indptr)
        if self.spreads_infinity and not np.isfinite(scores).all():
            checks.features(X)
        if np.isnan(scores).any() and checks.has_missing(X):
            row = first_row + int(np.argmax(np.isnan(scores)))
            raise InputError(
                f"X: expected no missing values, got NaN in row {row}; train with prepare='always', or "
                "see argrank.impute"
            )
        if not np.isfinite(scores).all():
            row = int(np.argmin(np.isfinite(scores)))
            got = f"got {scores[row]} for row {first_row + row}"
            raise InputError(f"X: expected features with a finite score, {got}")
        return scores

    def features_of(self, data: Dataset) -> Any:
        """Return the model's features of stored rows: matched by name if both have names."""
        return self._aligned(data.X, data.feature_names, data.categories, data.dates)

    def _aligned(self, X: Any, names: tuple[str, ...] | None, categories: Categories, dates: Dates) -> Any:
        X = align(X, names, categories, self.feature_names, self.categories)
        X = redated(X, None if names is None else self.feature_names, dates, self.dates)
        if X.shape[1] != self.n_features:
            expected = f"{type(self).__name__} is expecting {self.n_features} features as input"
            raise InputError(f"X has {X.shape[1]} features, but {expected}")
        return X

    def explain(self, data: Dataset) -> Any:
        """Return the contribution of each column of the data to each stored row's score; None if the model has none."""
        found = self._for(data).contributions(self.features_of(data), data.indptr)
        if found is None or (found.shape[1] == data.n_features and self.feature_names in (None, data.feature_names)):
            return found
        names = data.feature_names or ()
        places = np.array([names.index(name) for name in self.feature_names or () if name in names], np.int64)
        if len(places) != self.n_features:  # the model's names are made up: match columns by position
            return found
        spread = sparse.csr_matrix(found)
        return sparse.csr_matrix(
            (spread.data, places[spread.indices], spread.indptr), (found.shape[0], data.n_features)
        )


class Thresholded:
    """What models that compare columns with thresholds share; it comes before ``Model`` among their bases."""

    compares: ClassVar[bool] = True
    n_columns: int

    @property
    def width(self) -> int:
        """Number of columns, used or not."""
        return self.n_columns


@runtime_checkable
class Fitted(Protocol):
    """A ranker after ``fit``."""

    model_: Model


def fitted_model(given: Any) -> Any:
    """Return the model of a fitted ranker; anything else as it is."""
    return given.model_ if isinstance(given, Fitted) else given


class Stayed(NamedTuple):
    """How close a fit stayed to the model it started from.

    ``distance`` is the distance of the weights from the start, relative to their length, in units of the features'
    spread; 0 if the start was kept. ``gain`` is the mean gain of continuing on held-out queries, None if that could not
    be tried.
    """

    start: str  # the other method
    distance: float = 0.0
    tried: str = ""  # what was tried and not kept
    gain: float | None = None
    error: float | None = None  # its standard error

    @classmethod
    def of(cls, training: Mapping[str, Any]) -> Stayed | None:
        """Read it from the summary of a training."""
        found = training.get("stayed")
        return cls(*(found[name] for name in cls._fields)) if isinstance(found, Mapping) else None

    def __str__(self) -> str:
        if self.distance > 0:
            return f"stayed near {self.start}: its weights are {100 * self.distance:.2g} % of their length away"
        if self.gain is None or np.isnan(self.gain):
            return f"kept its start, {self.start}: too few queries to try {self.tried} on held-out ones"
        chance = "" if self.error is None or self.gain <= 0 else f", less than two standard errors of {self.error:.4f}"
        return f"kept its start, {self.start}: held-out queries gained {self.gain:+.4f} from {self.tried}{chance}"
