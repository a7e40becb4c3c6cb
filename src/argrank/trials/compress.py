"""One small forest that follows the scores of a large model, and what that costs on held-out queries."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from argrank._declared import Count, Jobs, NotNegative, Positive, Share, checked
from argrank._tables import counted
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import ArgrankWarning, InputTypeError, OptionError
from argrank.evaluation.compare import compare
from argrank.evaluation.comparison import PairResult
from argrank.evaluation.intervals import TOO_FEW
from argrank.measures.names import measure as parse_measure
from argrank.models.linear import LinearModel
from argrank.models.model import Model, fitted_model
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees
from argrank.models.trees import TreeModel
from argrank.rankers.boosted.symmetric.symmetric_boosters import SymmetricBoosters
from argrank.rankers.boosted.symmetric.symmetric_mart import SymmetricMART
from argrank.solvers.problem import Stop

# Chosen by how well the scores of held-out documents were followed (``python -m experiments.compress.choose``):
PASSES, PULL = 5, 100.0  # over the values of all leaves after growing, and the penalty on their change
ROWS = 2  # of copies with values of other documents, for every leaf
LEAST_TREES = 10  # where their number is not given
COPIES = (2, 16)  # least and most copies
MOST_CELLS = 1 << 25  # most values of documents with copies; larger data has fewer, or none


@dataclass(frozen=True, eq=False, repr=False)
class Compression:
    """A small model that replaces a large one; the result of ``ar.compress``.

    Attributes
    ----------
    model : Model
        Symmetric trees, with a linear part if the large model has one without prepared columns.
    follows : float
        The share of the (squared) differences between documents of a training query that the small model explains.
    loss : PairResult or None
        The small model against the large one on ``check``, query by query: difference (negative if the small one is
        worse), interval, p. None without ``check``.
    n_bytes : tuple of int
        The size of a file of the large and of the small model.
    """

    model: Model
    follows: float
    loss: PairResult | None
    n_bytes: tuple[int, int]

    def __repr__(self) -> str:
        before, after = self.n_bytes
        lines = [
            f"{self.model!r}",
            f"File: {after:,} bytes instead of {before:,}.",
            f"Of the differences between documents of a training query {self.follows:.2%} are explained.",
        ]
        if self.loss is None:
            return "\n".join([*lines, "The loss of quality is not known: give held-out queries (check=)."])
        low, high = self.loss.interval
        n_queries = counted(self.loss.n_queries, "held-out query", "held-out queries")
        found = f"{self.loss.difference:+.4f} [{TOO_FEW if np.isnan(low) else f'{low:+.4f}, {high:+.4f}'}]"
        return "\n".join([*lines, f"{self.loss.measure} on {n_queries}: {found}."])


@checked
def compress(
    model: Any,
    train: Dataset,
    *,
    max_trees: Count | None = None,
    check: Dataset | None = None,
    measure: Any = "ndcg@10",
    n_jobs: Jobs = None,
) -> Compression:
    """Return one small forest of symmetric trees that follows the scores of a model, such as the blend of ``auto``.

    The forest is grown on the differences of the model's scores within queries; labels are not used. Then the values of
    all leaves are improved together. It has a linear part if the model has one, unless missing values or texts were
    prepared for it. In addition to the training documents it learns from copies of them in which some values are
    replaced by those of other documents of the query, so that it also follows the model between the documents.

    Parameters
    ----------
    model : fitted ranker or model
    train : Dataset
        The data that the model was trained on, or any data of its kind; labels are not needed.
    max_trees
        Most trees; None for a tenth of those of the model, at least 10, with about a tenth of its size and of its time
        for many documents. Fewer follow it less closely. Give ``check`` to see the loss.
    check : Dataset, optional
        Judged queries that neither model was trained on: the small model's loss there, paired by query, with an
        interval.
    measure : str or Measure
        The measure of the loss.

    Examples
    --------
    >>> import argrank as ar
    >>> train, held_out = ar.make_ranking(60, 30, 5, truth="nonlinear", random_state=1).split(0.7, 0.3)
    >>> large = ar.make_ranker("query-mart").fit(train)
    >>> found = ar.compress(large, train, max_trees=40, check=held_out)
    >>> abs(found.loss.difference) < 0.02, found.n_bytes[0] > found.n_bytes[1]
    (True, True)
    """
    teacher = fitted_model(model)
    if not isinstance(teacher, Model):
        raise InputTypeError(f"model: expected a fitted ranker or a model of argrank, got {type(teacher).__name__}")
    if isinstance(teacher, LinearModel):
        raise OptionError("model: expected one with trees, got a linear model, which is already small")
    parse_measure(measure)  # one, and known, before the forest is grown
    if train.normalised is not None:
        raise OptionError("train: expected features before normalisation, got a pack of normalised ones")
    data = _dataset(teacher.features_of(train), None, train.sizes, teacher)
    scores = centred(teacher.predict(data), data)
    most = max(LEAST_TREES, n_trees_of(teacher) // 10) if max_trees is None else max_trees
    small = follow(teacher, data, most, n_jobs)
    own = centred(small.predict(data), data)
    spread = float((scores * scores).sum())
    follows = 1.0 - float(((scores - own) ** 2).sum()) / spread if spread > 0 else 1.0
    loss = None
    if check is not None:
        (loss,) = compare({"small": small, "large": teacher}, check, measure, baseline="large").pairs
    sizes = tuple(len(json.dumps(one.to_dict())) for one in (teacher, small))
    return Compression(small, follows, loss, (sizes[0], sizes[1]))


@dataclass(eq=False, repr=False, kw_only=True)
class Follower(SymmetricMART):
    """Symmetric trees whose values are all improved once all trees have grown."""

    learning_rate: Positive = 0.3
    feature_fraction: Share = 1.0
    l2: NotNegative = 1.0

    def finished_model(
        self, boosters: SymmetricBoosters, sizes: Sequence[int], start: Model | None, offset: float, data: Dataset
    ) -> Model:
        """Return the model, its values improved."""
        boosters.settle(PASSES, PULL)
        return super().finished_model(boosters, sizes, start, offset, data)


def follow(teacher: Model, train: Dataset, max_trees: int, n_jobs: int | None) -> Model:
    """Return a small forest, with a linear part where the model has one, that follows the model's scores.

    The columns of ``train`` are those of the model. A forest cut short by Ctrl-C does not count.
    """
    data = _copied(train, ROWS * max_trees << Follower.depth)
    scores = teacher.scores(data.X, data.indptr)
    members = teacher.members if isinstance(teacher, SumModel) else (teacher,)
    linear = [member for member in members if isinstance(member, LinearModel)]
    # a prepared linear part supports missing values, a linear start does not
    scored = bool(linear) and all(member.preparation is None for member in linear)
    start: Literal["linear"] | None = "linear" if scored else None
    ranker = Follower(n_trees=max_trees, start=start, n_jobs=n_jobs, verbose=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)  # that Ctrl-C kept some of its trees
        ranker.fit(_dataset(data.X, scores - scores.min(), data.sizes, data))
    if ranker.stop_ is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    found: Model = ranker.model_
    return replace(found, training=teacher.training)


def n_trees_of(model: Model) -> int:
    """Return the number of trees of a model."""
    if isinstance(model, SumModel):
        return sum(map(n_trees_of, model.members))
    if isinstance(model, SymmetricTrees):
        return len(model.values)
    return len(model.trees) if isinstance(model, TreeModel) else 0


def _dataset(X: Any, y: Floats | None, sizes: Any, like: Any) -> Dataset:
    """Return documents alone in their stored order, with the columns of other data or of a model."""
    known: dict[str, Any] = {"feature_names": like.feature_names, "categories": like.categories, "dates": like.dates}
    return Dataset(X, y, group=sizes, **known)


def _copied(data: Dataset, n_rows: int) -> Dataset:
    """Return the documents, and about ``n_rows`` copies with half of the values from other documents of the query."""
    least, most = COPIES
    wanted = min(max(least, n_rows // data.n_documents), most)
    n_copies = min(wanted, MOST_CELLS // (data.n_documents * data.n_features) - 1)
    if n_copies < 1:
        return data
    rng, query = np.random.default_rng(0), data.query_of_row
    X = data.X.toarray() if data.is_sparse else data.X
    parts = [X]
    for _ in range(n_copies):
        other = np.lexsort((rng.random(len(query)), query))
        parts.append(np.where(rng.random(X.shape) < 0.5, X, X[other]))
    return _dataset(np.concatenate(parts), None, np.tile(data.sizes, n_copies + 1), data)


def centred(scores: Floats, data: Dataset) -> Floats:
    """Return scores minus the mean of their query."""
    means = np.add.reduceat(scores, data.indptr[:-1]) / data.sizes
    return np.asarray(scores - np.repeat(means, data.sizes))
