"""The structured hinge: the loss of the most violated ranking, a convex bound of the measure's loss.

For one query with scores s, and a feature map whose ``w · phi(ranking)`` is a sum of coefficients times scores,

    h(s) = max over rankings y of [ loss(y) + (coefficients(y) - coefficients(reference)) · s ]

is at least the loss of the ranking by score, and ``coefficients(worst) - coefficients(reference)`` is a subgradient
(KDD 2008, equations 1 and 2; ORM, equation 20). An *oracle* finds the most violated ranking exactly; there is one for
every pair of a feature map and a kind of measure.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.document_sources import check_diverse
from argrank.errors import InputError, OptionError, unknown_name
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure
from argrank.measures.structure import Structure, greatest, level_numbers
from argrank.objectives.objective import (
    Objective,
    Prepared,
    Sum,
    as_value,
    refuse_row_weights,
    require_labels,
    require_targets,
    row_gains,
)
from argrank.objectives.structured.positions.decay import decay_vector

#: Upper bounds of the loss of a ranking; only those of ORM can be "tie-broken".
Bound = Literal["convex", "tie-broken", "tight"]
Scale = Literal["pairs", "cutoff"] | None
Margin = Literal["unit", "labels"]
Reference = Literal["averaged", "any", "given"]
Assignment = Literal["auto", "full"]

GIVEN_TERMS = "terms"  # the kind of a loss given as a user's function
MAX_STATES = 1_000_000  # of a table over how many documents of each level were placed

#: Loss terms of a good document by its index among the goods, its rank (both from 0) and the number of goods.
Terms = Callable[[Floats, Floats, int], Any]

#: Prepares an oracle for some queries alone: their offsets and gains.
Builder = Callable[[Integers, Floats], Prepared]


@dataclass(frozen=True, kw_only=True)
class StructuredHinge(Objective):
    """The hinge of the most violated ranking for a measure, on a feature map.

    The loss of a ranking is ``greatest value - value`` of the measure, or where ``normalised`` that share of the
    greatest value; a measure may also be loss terms ``f(index, rank, n_goods)`` of the good documents, whose sum is the
    loss. Queries without a pair of documents of different level have loss and gradient 0.

    The *convex* bound compares with a fixed ideal ranking, the reference. The *tight* bound subtracts ``max over y of
    (coefficients(y) - coefficients(reference)) · s``, so that it compares with the ranking by score (ORM, equation 22);
    the *tie-broken* bound takes that maximum over ideal rankings alone (equation 21). Each lies below the one before
    and above the loss; the last two are differences of two convex functions.
    """

    name: str = field(compare=False)  # type: ignore[misc]  # of the ranker, for messages
    measure: Measure | Terms
    convention: Convention
    normalised: bool
    feature_map: str
    scale: Scale
    margin: Margin
    decay: Any
    reference: Reference
    assignment: Assignment
    diverse: bool | int
    bound: Bound

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", as_value("decay", self.decay))
        super().__post_init__()
        if self.diverse is not False:
            check_diverse(self.diverse)
            if self.assignment == "full":
                raise OptionError(f"{self.name}: expected assignment='auto' for diverse rankings, got 'full'")
        if self.feature_map != "positions":
            for parameter, given in (("decay", self.decay), ("diverse", self.diverse)):
                if given not in (None, False):
                    raise OptionError(f"{self.name}: expected feature_map='positions' for {parameter}={given!r}")
            if self.bound == "tie-broken":
                raise OptionError(f"{self.name}: expected feature_map='positions' for bound='tie-broken'")
        oracle_for(self)
        if self.feature_map == "positions":
            decay_vector(self, 1)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out cached values; the functions of a structure cannot be sent to a cluster."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether this bound is convex in the scores."""
        return self.bound == "convex"

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the oracle; for non-convex bounds also the subtracted part."""
        refuse_row_weights(data, self.name)
        require_targets(data, self.name)
        hinge = oracle_for(self)(self, data)
        return hinge if self.convex else Sum(hinge, self.subtracted_part().prepare(data), -1.0)

    def convex_part(self) -> StructuredHinge:
        """Return the convex bound; the others are ``convex_part - subtracted_part``."""
        return dataclasses.replace(self, bound="convex")

    def subtracted_part(self) -> SubtractedPart:
        """Return what a bound that is not convex subtracts: the greatest ``w · phi`` less the reference's, convex.

        Its gradient at fixed scores is the linear function by which a successive convex approximation (CCCP)
        replaces it: ``convex_part - gradient · s`` is convex and touches the bound there.
        """
        if self.feature_map not in REFERENCE_PARTS:
            raise OptionError(f"{self.name}: the map {self.feature_map!r} was registered without a tight bound")
        return SubtractedPart(hinge=self)

    # ---- for oracles --------------------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """The kind of measure that the oracle is for, see ``argrank.measures.structure``; "terms" for given terms."""
        return GIVEN_TERMS if self.structure is None else self.structure.kind

    @functools.cached_property
    def structure(self) -> Structure | None:
        """The structure of the measure; if this map has no oracle for its kind, as a product a · b. Cached."""
        if not isinstance(self.measure, Measure):
            return None
        structure = self.measure.structure(self.convention)
        if structure is not None and structure.kind != "additive" and (self.feature_map, structure.kind) in ORACLES:
            return structure
        return self.measure.as_product(self.convention) or structure

    @property
    def k(self) -> int | None:
        """The last rank that counts in the measure, None where all do."""
        return self.measure.cutoff if isinstance(self.measure, Measure) else None

    @property
    def rules(self) -> Convention:
        """The convention with the measure's own parameters."""
        return self.measure.adapt(self.convention) if isinstance(self.measure, Measure) else self.convention

    @property
    def is_normalised(self) -> bool:
        """Whether gains are divided by the greatest value of the query, by the measure or the ranker."""
        return self.normalised or self._structure().divisor == "ideal"

    @property
    def mean_of_pairs(self) -> float:
        """1 where the pairs map is a mean over pairs, 0 where it is a sum; the first constant of every kernel."""
        return 1.0 if self.scale == "pairs" else 0.0

    def relevance(self, data: Dataset) -> Floats:
        """Return 1 for the good documents, whose label reaches ``relevant_at``, and 0 for the bad ones."""
        return (require_labels(data, self.name) >= self.rules.relevant_at).astype(np.float64)

    def discounts(self, n: int) -> Floats:
        """Return the discounts of the ranks 0 … n - 1."""
        values = self._structure().discounts(n)
        if (np.diff(values) > 0).any():
            raise OptionError(f"{self.name}: expected a discount that never rises")
        if self.feature_map != "positions" and (values < 0).any():
            raise OptionError(f"{self.name}: expected a discount that is never negative")
        return values

    def gains(self, data: Dataset) -> Floats:
        """Return the gain of every row; the loss is the greatest sum of gain times discount minus the ranking's.

        Normalised gains are divided by that greatest sum. If it is 0, gains are 0.
        """
        structure = self._structure()
        gains = row_gains(structure, data, self.name)
        if self.is_normalised:
            best = greatest(gains, self.discounts(data.longest), data.indptr)
            factors = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        else:
            factors = structure.factors(data.y, data.indptr)
        return np.asarray(gains * np.repeat(factors, data.sizes))

    def levels(self, data: Dataset) -> Floats:
        """Return the level number of every row: documents of one level form no pair."""
        if self.kind in ("additive", "pairs"):
            return level_numbers(row_gains(self._structure(), data, self.name), data.indptr)
        return level_numbers(self.relevance(data), data.indptr)

    def require_one_relevant(self, data: Dataset) -> None:
        """Raise for queries with several relevant documents if the product equals the measure only for one."""
        refuse_several_relevant(self._structure(), data, self.name)

    def _structure(self) -> Structure:
        structure = self.structure
        if structure is None:
            raise OptionError(f"{self.name}: expected a measure, got the loss terms {self.measure!r}")
        return structure


def refuse_several_relevant(product: Structure, data: Dataset, name: str) -> None:
    """Raise if a product equals its measure only for one relevant document per query, and a query has more."""
    if not product.one_relevant:
        return
    n_goods = np.add.reduceat(product.gains(require_labels(data, name)), data.indptr[:-1])
    worst = int(n_goods.argmax())
    if n_goods[worst] > 1:
        raise InputError(
            f"{name}: expected at most one relevant document per query, since the reciprocal rank as a product "
            f"counts every one, got {n_goods[worst]:.0f} in query {data.query_ids[worst]}; use svm-mrr"
        )


@dataclass(frozen=True, kw_only=True)
class SubtractedPart(Objective):
    """The convex function that a bound subtracts; an objective like any other, so every risk can evaluate it."""

    name: ClassVar[str] = "subtracted part"

    hinge: StructuredHinge

    def prepare(self, data: Dataset) -> Prepared:
        """Prepare the best ranking by ``w · phi`` on the hinge's map."""
        require_targets(data, self.hinge.name)
        return REFERENCE_PARTS[self.hinge.feature_map](self.hinge, data)


# ---- the registry of oracles ---------------------------------------------------------------------------------------

#: Makes an oracle ready for data: its losses are hinges, its gradients coefficients(worst) - coefficients(reference).
Preparation = Callable[[StructuredHinge, Dataset], Prepared]

#: (feature map, kind of measure or a measure's spelling) -> the most violated ranking; see ``register``. A plain dict
#: and not a Registry: the keys are pairs, and users may replace our oracles.
ORACLES: dict[tuple[str, str], Preparation] = {}

#: feature map -> the greatest w · phi(ranking), which the bounds that are not convex subtract.
REFERENCE_PARTS: dict[str, Preparation] = {}


def register(feature_map: str, measure: str, oracle: Preparation, reference_part: Preparation | None = None) -> None:
    """Register your own oracle for a feature map and a loss; every ``svm-*`` ranker then accepts the map by name.

    Parameters
    ----------
    feature_map : str
        A known map or the name of a new one.
    measure : str
        A kind of measure ("additive", "precision", "first", "cascade", "pairs"), the spelling of one measure ("nDCG",
        "AP", …), or "terms" for losses that users pass as a function.
    oracle : callable(StructuredHinge, Dataset) -> Prepared
        Its ``evaluate`` gives, for every query, the hinge of the most violated ranking and the coefficients of that
        ranking minus those of the reference. ``Kernels`` wraps a numba kernel; see ``pairs/discounted.py``.
    reference_part : callable(StructuredHinge, Dataset) -> Prepared, optional
        The greatest ``w · phi`` and its coefficients minus the reference's: what ``bound="tight"`` subtracts.
    """
    ORACLES[feature_map, measure] = oracle
    if reference_part is not None:
        REFERENCE_PARTS[feature_map] = reference_part


def oracle_for(hinge: StructuredHinge) -> Preparation:
    """Return the oracle of a hinge's map and measure."""
    known = sorted(kind for feature_map, kind in ORACLES if feature_map == hinge.feature_map)
    if not known:
        raise unknown_name("feature_map", hinge.feature_map, {feature_map for feature_map, _ in ORACLES})
    if isinstance(hinge.measure, Measure):
        own = ORACLES.get((hinge.feature_map, hinge.measure.spelling))
        if own is not None:
            return own
        if hinge.structure is None:
            raise OptionError(
                f"{hinge.name}: no exact oracle for {hinge.measure}, which is not a sum over ranks; direct-rank and "
                "lambda-mart optimise any function of the labels, and ar.Product(a, b) trains everything"
            )
    if hinge.kind in known:
        return ORACLES[hinge.feature_map, hinge.kind]
    others = sorted({feature_map for feature_map, kind in ORACLES if kind == hinge.kind})
    form = "; this map takes measures of the form a · b" if known == ["additive"] else ""
    raise OptionError(
        f"{hinge.name}: no exact oracle for {hinge.measure} on the map {hinge.feature_map!r}{form}; "
        f"the maps {', '.join(map(repr, others))} have one, see the svm-* rankers"
    )


# ---- queries of different shape take different oracles ---------------------------------------------------------------


def choose(builders: Sequence[Builder], route: Integers, indptr: Integers, gains: Floats) -> Prepared:
    """Assign every query to the oracle of its number; a single oracle needs no routes."""
    if (route == route[0]).all():
        return builders[int(route[0])](indptr, gains)
    return Routes(builders, route, indptr, gains)


class Routes(Prepared):
    """Several oracles, each prepared for the queries it serves.

    The rows of a block are gathered oracle by oracle, so that each is called once per block: calling compiled code for
    short runs of queries would be slow.
    """

    def __init__(self, builders: Sequence[Builder], route: Integers, indptr: Integers, gains: Floats) -> None:
        self.indptr, self._route = indptr, route
        sizes = np.diff(indptr)
        self._row_route = np.repeat(route, sizes)
        self._oracles: dict[int, Prepared] = {}
        self._number = np.empty(len(route), np.int64)  # of a query among those of its oracle
        for chosen in np.unique(route).tolist():
            mine = route == chosen
            self._number[mine] = np.arange(mine.sum())
            offsets = np.concatenate(([0], np.cumsum(sizes[mine])))
            self._oracles[chosen] = builders[chosen](offsets, gains[self._row_route == chosen])
        self.ranks = any(oracle.ranks for oracle in self._oracles.values())

    def evaluate(self, first: int, last: int, scores: Floats, order: Integers, gradient: Floats) -> Floats:
        """Evaluate oracle by oracle."""
        route = self._route[first:last]
        row_route = self._row_route[self.indptr[first] : self.indptr[last]]
        losses = np.empty(last - first)
        for chosen, oracle in self._oracles.items():
            queries = np.flatnonzero(route == chosen)
            if len(queries) == 0:
                continue
            rows = np.flatnonzero(row_route == chosen)
            start, own = self._number[first + queries[0]], np.empty(len(rows))
            own_order = order[rows] if len(order) > 0 else order
            losses[queries] = oracle.evaluate(start, start + len(queries), scores[rows], own_order, own)
            gradient[rows] = own
        return losses


def count_states(sizes: Integers, k: int) -> Integers:
    """Return, for every query, the number of ways to take at most k documents from levels of these sizes.

    For levels of k documents and more it is C(k + L, L). Numbers beyond 2^62 are cut there.

    >>> count_states(np.array([[100, 100, 100, 100, 100], [1, 1, 0, 0, 0]]), 10)
    array([3003,    4])
    """
    different, which = np.unique(np.minimum(sizes, k), axis=0, return_inverse=True)
    counts = np.array([_ways(tuple(row), k) for row in different.tolist()])
    return counts[which.ravel()]


@functools.lru_cache(maxsize=4096)
def _ways(sizes: tuple[int, ...], k: int) -> int:
    ways = [1]  # by the number of documents taken; Python's integers do not overflow
    for size in sizes:
        length = min(len(ways) + size, k + 1)
        ways = [sum(ways[max(taken - size, 0) : taken + 1]) for taken in range(length)]
    return min(sum(ways), 1 << 62)
