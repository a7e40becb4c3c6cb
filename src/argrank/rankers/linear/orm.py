"""ORM: any measure of the form a · b, with convex and tighter bounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from argrank._declared import Count, Positive
from argrank.data.dataset import Dataset
from argrank.data.io.kinds import kind_of
from argrank.data.io.letor.stream import CHUNK, stream_letor
from argrank.engines import AnyRisk, make_risk
from argrank.errors import FormatError, InputError, OptionError, shown
from argrank.measures.measure import Measure
from argrank.models.linear import LinearModel
from argrank.objectives.structured.hinge import Assignment, Bound, Reference
from argrank.rankers.estimator import ProductMeasure
from argrank.rankers.linear.structured_ranker import StructuredRanker
from argrank.rankers.trace import Watcher
from argrank.rankers.training_data import check_training
from argrank.solvers import SOLVERS, online


@dataclass(eq=False, repr=False, kw_only=True)
class ORM(ProductMeasure, StructuredRanker):
    """Linear ranker for any measure of the form a · b (Le, Smola, Chapelle and Teo, Optimization of Ranking Measures).

    It minimises ``|w - w0|² / (2C) + risk``, where the risk is the mean over the queries of an upper bound of the
    ranking's loss against the best one. The paper's lambda, in a sum over m queries, is m / C. The default is the tight
    bound, started from RankSVM, with C = 100, chosen on validation parts: the convex bound has its optimum at w = 0 on
    data like OHSUMED, for every C.

    Parameters
    ----------
    decay : optional
        c, the weight of the ranks in the score of a ranking: "measure" (default), c = a, which one sort solves, "sqrt"
        1/sqrt(i), a power d for i^-d, "linear" max(k + 1 - i, 0), "log2", "loglog" or a vector that never rises. On
        validation parts "sqrt" was no better, and took two to ten times as long on most.
    reference
        The ideal ranking of the convex bound: the mean of all ideal ones, one that keeps equal labels in their order,
        or the order of the rows.
    bound
        Equations 20, 21 and 22 of the paper, each closer to the loss than the one before; the last two are not convex,
        and are solved by successive convex approximation (Algorithm 2).
    assignment
        The cheapest exact search for the most violated ranking of each query, or the plain n x n assignment, which is
        slower, for comparisons.
    diverse : bool or int
        Train for rankings with at most one document (or the given number) of each source in the first k ranks; the
        data needs ``sources``. ``rank(data, diverse=True, k=…)`` ranks that way.
    solver : "auto", "bundle", "cutting-plane", "frank-wolfe", "online" or "l-bfgs"
        For the convex bound; "online" (stochastic subgradients) works for every bound. "cutting-plane" is the n-slack
        quadratic program with column generation; "l-bfgs" ignores that the objective has kinks.
    penalty, signs
        ``|w - w0|₁ / C`` instead of the squares, and constraints on the signs of weights; see ``StructuredRanker``.
        Signs also work with solver="online".
    batch_size
        Queries in a step of solver="online". Larger ones are more stable and slower.

    Examples
    --------
    >>> import argrank as ar
    >>> import numpy as np
    >>> data = ar.make_ranking(50, 20, 5, random_state=0)
    >>> ranker = ar.make_ranker("orm", a=[1.0, 0.5, 0.25], b=[0, 1, 5, 10, 20], bound="tight").fit(data)
    >>> ranker.rank(data)[0][:3].tolist() == np.argsort(-ranker.predict(data)[:20])[:3].tolist()
    True
    """

    takes_gains: ClassVar[bool] = True
    ranker: ClassVar[str] = "orm"

    C: Positive = 100.0
    bound: Bound = "tight"
    decay: Any = "measure"
    reference: Reference = "averaged"
    assignment: Assignment = "auto"
    diverse: bool | int = False
    batch_size: Count = 1

    def _own(self) -> dict[str, Any]:
        return {"batch_size": self.batch_size}

    def _hinge_options(self) -> dict[str, Any]:
        positions = {"normalised": False, "feature_map": "positions", "scale": None, "decay": self.decay}
        return {**positions, "reference": self.reference, "assignment": self.assignment, "diverse": self.diverse}

    @property
    def _asked(self) -> Measure:
        return self._optimised

    def fit_stream(
        self,
        source: str | os.PathLike[str] | Callable[[], Iterable[Dataset]],
        *,
        epochs: int = 1,
        chunk_bytes: int = CHUNK,
        n_features: int | None = None,
    ) -> ORM:
        """Learn online from data larger than memory: stochastic subgradients, query by query (ORM section 4.4).

        Parameters
        ----------
        source : path or callable
            A LETOR file, or a function that returns an iterable of Datasets of whole queries, from the beginning, at
            every call.
        epochs : int
            Passes over the data; one more computes ``objective_``.
        chunk_bytes : int
            Bytes of a file's text in memory at a time.
        n_features : int, optional
            Number of features of a file, if the last ones may not occur in the first chunk.

        Queries have equal weights; ``normalise`` may be a per-query one. ``solver`` is not used.
        """
        for name, value in (("kernel", self.kernel), ("w0", self.w0)):
            if value is not None:
                raise OptionError(
                    f"fit_stream: expected no {name}, which needs all data at once, got {name}={shown(value)}"
                )
        objective = self._objective()
        counted = {"queries": 0, "documents": 0}
        parts = source if callable(source) else _reader(source, chunk_bytes, n_features, self.n_jobs)
        first = next(iter(parts()), None)
        if first is None:
            raise InputError("fit_stream: expected at least one query, got an empty stream")
        scaling = self._scaling(first)
        if scaling is not None and not scaling.needs_queries:
            raise OptionError(f"fit_stream: expected a normaliser that works within queries, got {self.normalise!r}")

        regulariser = self._regulariser(first)
        if option := SOLVERS["online"].refuses(regulariser):
            raise OptionError(f"{option}: expected fit with solver='bundle', got fit_stream, which does not support it")

        def risks() -> Iterator[AnyRisk]:
            counted.update(queries=0, documents=0)
            for part in parts():
                check_training(self, part)
                counted["queries"] += part.n_queries
                counted["documents"] += part.n_documents
                yield make_risk(part if scaling is None else self._scaled(scaling, part), objective, self.n_jobs)

        with Watcher(type(self).__name__, [], self.verbose) as watcher:
            result = online.minimise_stream(
                risks, first.n_features, self.C, epochs, self.random_state, self.batch_size, watcher, regulariser
            )
        self._remember_features(first, first)
        self.objective_, self.gap_, self.n_iter_ = result.objective, result.gap, result.n_iter
        self.trace_ = watcher.trace
        summary = self._summary(first) | counted | {"data": "stream"}
        self.model_ = LinearModel(result.w, feature_names=first.feature_names, normaliser=scaling, training=summary)
        return self


def _reader(
    path: str | os.PathLike[str], chunk_bytes: int, n_features: int | None, n_jobs: int | None
) -> Callable[[], Iterator[Dataset]]:
    if (kind := kind_of(path)) != "letor":
        raise FormatError(path, None, "LETOR text, which can be read in pieces", f"{kind}; see argrank convert")
    return lambda: stream_letor(path, chunk_bytes=chunk_bytes, n_features=n_features, n_jobs=n_jobs)
