"""Dataset: judged query–document pairs, grouped by query, frozen."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._declared import Count, CountFromZero, IsData, Seed, checked
from argrank._tables import facts_html
from argrank._types import Floats, Integers
from argrank.data import checks
from argrank.data.categories import Categories, Dates, align, places, redated
from argrank.data.checks import Preferences
from argrank.data.facts import facts_of
from argrank.data.frames import columns_of, is_frame
from argrank.data.grouping import adjacent_queries, in_callers_order
from argrank.data.io.columns.roles import COLUMNS
from argrank.data.mapped import Later, OnTouch, Untouched
from argrank.data.subsets import fields_of_rows, joined_fields
from argrank.errors import InputError, OptionError

CACHED = ("fingerprint", "longest")  # computed on first use, not given


class Dataset(IsData):
    """Judged query–document pairs: features, labels and which rows belong to one query.

    Rows are stored query by query, queries by first appearance, rows of a query in the caller's order. Everything the
    library returns per row, such as scores, is in the caller's order: ``to_caller`` and ``from_caller`` convert.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_documents, n_features)
        float32 and float64 are kept, other numbers become float64; sparse becomes CSR; NaN means missing. A writable
        array is copied; a read-only one is shared (set ``X.flags.writeable = False`` to avoid the copy), and so is an
        ``np.memmap``, which stays on disk. A data frame's columns ``label, qid, docid, source, query, title, comment,
        sample_weight, query_weight`` are used as the corresponding arguments, unless the argument is given; all other
        columns are features. If there is no such column, common alternatives are used and logged: ``query_id`` or
        ``query`` for qid, ``relevance``, ``judgement`` or ``grade`` for label, ``doc_id``, ``docno``, ``product_id`` or
        ``item_id`` for docid. Texts become categories, ids or titles.
    y : array of shape (n_documents,)
        Labels, any real numbers from 0 up. None for data without judgements (then labels are NaN).
    qid : array of shape (n_documents,)
        Query id per row: any hashable type, rows in any order. "single" means that all rows are one query.
    group : array of shape (n_queries,)
        Sizes of the queries instead of ``qid``, for rows that are already together.
    document_ids, comments, sources, titles : arrays of shape (n_documents,), optional
        Ids of any type; the text after ``#`` in a LETOR file; a group per document (site, brand) for diversity; texts.
    query_texts : array of shape (n_documents,) or (n_queries,), optional
        What was searched for.
    feature_names : sequence of str, optional
    categories : dict of feature name -> texts, optional
        Categorical features: X holds the index of each text in its list, NaN if missing.
    dates : sequence of str, optional
        Columns of a data frame that are dates: they become the number of days before the newest date, which a model
        stores as its reference. With an array, a dict of feature name -> reference date ("2025-12-31").
    sample_weight : array of shape (n_documents,), optional
    gains : array of shape (n_documents,), optional
        The gain of every row, instead of labels, as estimated by ``ar.from_clicks``. The ``gain`` of labels is not
        applied; rankers and measures that need labels refuse such data.
    examinations : array of shape (n_documents,), optional
        How often the document of every row was examined: the evidence for its gain.
    query_weight : array of shape (n_queries,), in order of first appearance, or one per row, optional
    preferences : array of shape (m, 2) or (m, 3), optional
        Pairs of rows (better, worse) with an optional weight, by the caller's row numbers.
    feature_base : int
        Number of the first feature in LETOR files, 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset(np.eye(4), [1, 0, 2, 0], qid=["b", "a", "b", "a"])
    >>> data
    Dataset: 2 queries, 4 documents (2 to 2 a query), 4 features, float64; labels 0: 2, 1: 1, 2: 1
    >>> data.query_ids.tolist(), data.y.tolist()
    (['b', 'a'], [1.0, 2.0, 0.0, 0.0])
    >>> data.to_caller(data.y).tolist()
    [1.0, 0.0, 2.0, 0.0]
    """

    X = OnTouch()
    y: Floats
    indptr: Integers
    query_ids: NDArray[Any]
    rows: Integers | None = None
    document_ids = OnTouch()
    comments: NDArray[Any] | None = None
    sources = OnTouch()
    titles: NDArray[Any] | None = None
    query_texts: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    categories: Categories = None
    dates: Dates = None
    XT = OnTouch()  # the features by column, if the pack has them
    untouched: ClassVar[dict[str, Untouched | Later]] = {}  # fields of a pack that were not checked when it was opened
    normalised: str | None = None  # the per-query normaliser that the pack was written with
    sample_weight: Floats | None = None
    gains: Floats | None = None
    examinations: Floats | None = None
    query_weight: Floats | None = None
    preferences: Preferences | None = None
    feature_base: int = 1

    @checked
    def __init__(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        document_ids: Any = None,
        comments: Any = None,
        sources: Any = None,
        titles: Any = None,
        query_texts: Any = None,
        feature_names: Sequence[str] | None = None,
        categories: Categories = None,
        dates: Dates | Sequence[str] = None,
        sample_weight: Any = None,
        gains: Any = None,
        examinations: Any = None,
        query_weight: Any = None,
        preferences: Any = None,
        feature_base: Literal[0, 1] = 1,
    ) -> None:
        given: dict[str, Any] = {
            "y": y, "qid": qid, "document_ids": document_ids, "comments": comments, "sources": sources,
            "titles": titles, "query_texts": query_texts, "feature_names": feature_names, "categories": categories,
            "sample_weight": sample_weight, "query_weight": query_weight,
        }  # fmt: skip
        if is_frame(X):
            known = [meaning for meaning, argument in COLUMNS.items() if given[argument] is not None]
            asked = dict.fromkeys(dates or (), "date")
            found = columns_of(X, [*known, *(["qid"] if group is not None else [])], given=asked)
            X, dates = found.pop("X"), found.pop("dates")
            if group is not None:
                found.pop("qid", None)
            given |= {name: value for name, value in found.items() if given[name] is None}
        given |= {"group": group, "preferences": preferences, "gains": gains, "examinations": examinations}
        fields = checks.fields(X, **given)
        self._freeze(feature_base=feature_base, dates=checks.dates(dates, fields["feature_names"]), **fields)

    @classmethod
    def _assemble(cls, **fields: Any) -> Dataset:
        """Make a Dataset of checked parts that are already grouped by query; all but X, y and queries may be absent."""
        data = object.__new__(cls)
        data._freeze(**fields)
        return data

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields, with mapped ones read into memory."""
        for name in self.not_touched:
            getattr(self, name)
        return {name: value for name, value in self.__dict__.items() if name != "untouched"}

    def _freeze(self, **fields: Any) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.view()
                value.flags.writeable = False
            self.__dict__[name] = value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Dataset is frozen: {name} cannot be set; make a new one")

    # ---- size -------------------------------------------------------------------------------------------------

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.indptr) - 1

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1])

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self._any_features.shape[1])

    @property
    def not_touched(self) -> dict[str, Untouched | Later]:
        """Fields that have not been used yet, by name: damage to their file is found on first use."""
        return {name: one for name, one in self.untouched.items() if name not in self.__dict__}

    @property
    def _any_features(self) -> Any:
        """X without checking its contents, for its shape and dtype."""
        later = self.not_touched
        return cast(Untouched, later["X"]).values if "X" in later else self.X

    @property
    def sizes(self) -> Integers:
        """Number of documents of every query."""
        return np.diff(self.indptr)

    @functools.cached_property
    def longest(self) -> int:
        """Number of documents of the longest query; in a part of larger data, of all its queries."""
        return int(self.sizes.max())

    @property
    def is_sparse(self) -> bool:
        """Whether X is a CSR matrix."""
        return bool(sparse.issparse(self._any_features))

    @property
    def is_judged(self) -> bool:
        """Whether there are labels."""
        return not np.isnan(self.y[0])

    @property
    def targets(self) -> Floats:
        """The gain of every stored row if the data has gains, else its label."""
        return self.y if self.gains is None else self.gains

    @property
    def qid(self) -> NDArray[Any]:
        """The query id of every stored row, beside ``X`` and ``y``."""
        return np.asarray(self.query_ids[self.query_of_row])

    @property
    def query_of_row(self) -> Integers:
        """The query's index (0, 1, …) for every stored row."""
        return np.repeat(np.arange(self.n_queries), self.sizes)

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256 of features, labels and query offsets; equal for equal data."""
        X = self.X
        parts = (X.data, X.indices, X.indptr.astype(np.int64)) if self.is_sparse else (X,)
        sums = [
            hashlib.sha256(np.ascontiguousarray(part).data).hexdigest() for part in (*parts, self.targets, self.indptr)
        ]
        return fingerprint_of(X.shape, X.dtype, sums)

    # ---- the caller's rows ------------------------------------------------------------------------------------

    @checked
    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder one value per stored row to the caller's row order."""
        return in_callers_order(values, self.rows)

    @checked
    def from_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Reorder one value per row from the caller's order to the stored order."""
        return values if self.rows is None else values[self.rows]

    # ---- parts ------------------------------------------------------------------------------------------------

    @checked
    def select(self, queries: Any) -> Dataset:
        """Return the given queries (numbers or a mask), in the order given, as a Dataset of its own.

        Its rows are numbered from 0 in stored order. Adjacent queries share memory with this Dataset.
        """
        chosen = checks.numbers_of(queries, self.n_queries, "select", "query", "queries")
        if len(np.unique(chosen)) != len(chosen):
            raise InputError("select: expected every query at most once")
        return self._take(chosen)

    @checked
    def between(self, first: CountFromZero, last: CountFromZero) -> Dataset:
        """Return the queries first … last - 1, sharing memory, as a part with bit-identical results.

        It knows the length of the longest query of all data, by which objectives choose their algorithm.
        """
        if not first < last <= self.n_queries:
            raise InputError(f"between: expected queries from 0 to {self.n_queries}, got {first} to {last}")
        return self._take(np.arange(first, last))._but(longest=self.longest)

    def _take(self, chosen: NDArray[Any]) -> Dataset:
        adjacent = bool((np.diff(chosen) == 1).all())
        rows: Any
        if adjacent:
            rows = slice(int(self.indptr[chosen[0]]), int(self.indptr[chosen[-1] + 1]))
        else:
            rows = np.concatenate([np.arange(self.indptr[q], self.indptr[q + 1]) for q in chosen])
        some: Any = slice(int(chosen[0]), int(chosen[-1]) + 1) if adjacent else chosen
        return Dataset._assemble(**fields_of_rows(self, rows, some, self.sizes[chosen]))

    @checked
    def keep(self, rows: Any) -> Dataset:
        """Return the stored rows of a mask as a new Dataset, without queries that have no rows left."""
        mask = checks.as_array(rows, "keep")
        if mask.dtype != bool or mask.shape != (self.n_documents,) or not mask.any():
            raise InputError(f"keep: expected a mask of {self.n_documents} rows with at least one to keep")
        sizes = np.add.reduceat(mask.astype(np.int64), self.indptr[:-1])
        return Dataset._assemble(**fields_of_rows(self, np.flatnonzero(mask), np.flatnonzero(sizes), sizes[sizes > 0]))

    @checked
    def split(self, *shares: float, random_state: Seed | None = 0) -> tuple[Dataset, ...]:
        """Split by query into random parts: ``train, valid, test = data.split(0.6, 0.2, 0.2)``.

        Shares add up to 1; queries keep their order inside a part; ``random_state=None`` does not shuffle.
        """
        if not shares or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-9:
            raise OptionError(f"split: expected positive shares that add up to 1, got {shares}")
        cuts = np.round(np.cumsum(shares) * self.n_queries).astype(int)
        sizes = np.diff(np.concatenate(([0], cuts)))
        if (sizes == 0).any():
            raise InputError(f"split: expected a query in every part, got {sizes.tolist()} of {self.n_queries} queries")
        order = np.arange(self.n_queries)
        if random_state is not None:
            order = np.random.default_rng(random_state).permutation(self.n_queries)
        return tuple(self._take(np.sort(order[end - size : end])) for size, end in zip(sizes, cuts, strict=True))

    @checked
    def batches(self, n_documents: Count) -> Iterator[Dataset]:
        """Yield adjacent queries in order, in batches of about n_documents rows and at least one query."""
        for first, last in adjacent_queries(self.indptr, n_documents):
            yield self._take(np.arange(first, last))

    @staticmethod
    @checked
    def concatenate(parts: Sequence[Dataset]) -> Dataset:
        """Join Datasets of different queries and the same features, in order."""
        return Dataset._assemble(**joined_fields(parts))

    @checked
    def with_features(self, X: Any) -> Dataset:
        """Return the same queries, documents and labels with other features, given in stored row order.

        The features are not copied, so they must not be changed afterwards. If their number is the same, they keep
        their names, and category columns that have not changed stay categories.
        """
        X = checks.features(X)
        if X.shape[0] != self.n_documents:
            raise InputError(f"X: expected {self.n_documents} rows, got {X.shape[0]}")
        if X.shape[1] != self.n_features:
            return self._but(X=X, feature_names=None, categories=None, dates=None)
        if not self.categories or sparse.issparse(X):
            return self._but(X=X, categories=None)
        columns = zip(self.categories, places(self.categories, self.feature_names), strict=True)
        same = [name for name, place in columns if np.array_equal(X[:, place], self.X[:, place], equal_nan=True)]
        return self._but(X=X, categories={name: self.categories[name] for name in same} or None)

    @checked
    def with_labels(self, y: Any) -> Dataset:
        """Return the same queries, documents and features with other labels, given in stored row order."""
        return self._but(y=checks.labels(y, self.n_documents), gains=None, examinations=None)

    @checked
    def aligned(self, other: Dataset) -> Dataset:
        """Return the same rows with the features of another Dataset: by name, in its order, with its categories."""
        return self._like(other)

    def _like(self, other: Any) -> Dataset:
        """Return the same rows aligned to the features of other data, which may be on a cluster."""
        names, categories, dates = other.feature_names, other.categories, other.dates
        if (self.feature_names, self.categories, self.dates) == (names, categories, dates):
            return self
        X = align(self.X, self.feature_names, self.categories, names, categories)
        X = redated(X, names or self.feature_names, self.dates, dates)
        if X is self.X:
            return self
        return self._but(X=X, feature_names=names, categories=categories, dates=dates)

    def to_pandas(self) -> Any:
        """Return a pandas data frame in the caller's row order that ``ar.Dataset(frame)`` takes back."""
        import pandas as pd

        return pd.DataFrame(self.to_columns())

    def to_polars(self) -> Any:
        """Return a polars data frame in the caller's row order that ``ar.Dataset(frame)`` takes back."""
        import polars as pl

        columns = self.to_columns().items()
        return pl.DataFrame({name: one.tolist() if one.dtype == object else one for name, one in columns})

    def to_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table in the caller's row order: label, qid and so on, then the features."""
        from argrank.data.io.columns.of_dataset import columns_of_data

        return columns_of_data(self)

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Raise an error that says what to use instead; scikit-learn's searches try to convert data to an array."""
        raise InputError(
            "expected arrays or a data frame, got a Dataset; give data.X, data.y and qid=data.qid (with metadata "
            "routing), or data.to_pandas()"
        )

    def _but(self, **changed: Any) -> Dataset:
        gone = (*CACHED, "XT", "normalised", "untouched") if "X" in changed else CACHED
        fields = {name: value for name, value in self.__dict__.items() if name not in gone}
        return Dataset._assemble(**{**fields, **changed})

    # ---- words ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return "Dataset: " + "; ".join(text for _, text in facts_of(self))

    def _repr_html_(self) -> str:
        return facts_html("Dataset", facts_of(self))


def fingerprint_of(shape: tuple[int, ...], dtype: Any, sums: Sequence[str]) -> str:
    """Return the fingerprint of data, given the SHA-256 of the arrays of its features, its labels and its indptr."""
    return hashlib.sha256(" ".join([str(tuple(shape)), str(dtype), *sums]).encode()).hexdigest()
