"""What writers are, and what they see of a model: one weight for each feature, and trees that split raw features.

All kinds of model are converted to it. Normalisers and preparations of trees are folded into the cuts and the branches
of missing values; linear parts of a sum become one, in the units of the first normaliser, because engines that sum in
float32 need the features shifted before they are multiplied. The effect of missing values in a linear part becomes a
tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from argrank._types import Floats, Integers
from argrank.data.prepare.preparation import MISSING
from argrank.deploy.linear_part import Linear, Way, linear_and_trees, one_linear
from argrank.deploy.options import Files, Options
from argrank.deploy.raw_forest import forests, needs_chains, plain_splits
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.kernel import KernelModel
from argrank.models.linear import LinearModel
from argrank.models.model import Model, StoredModel
from argrank.models.stumps import StumpsModel
from argrank.models.sum import SumModel
from argrank.models.symmetric import SymmetricTrees
from argrank.models.tree import Tree
from argrank.models.tree_classes import TreeClassesModel, expected, probabilities
from argrank.models.trees import TreesModel


@dataclass(frozen=True, eq=False)
class Classes:
    """How several sums of trees become one score: the expected gain of the label, by its probabilities.

    Tree i belongs to sum i modulo their number; each sum also has its slope times the linear part.
    """

    link: str  # "multi-class" or "ordinal"
    gains: Floats  # one for each probability
    slopes: Floats  # one for each sum; 0 where there is no linear part

    @property
    def n_sums(self) -> int:
        """Number of sums."""
        return len(self.slopes)

    def scores(self, trees: Floats, linear: Floats) -> Floats:
        """Return the score of every row, given its sums of trees and its linear part."""
        sums = trees + np.multiply.outer(linear, self.slopes)
        return expected(probabilities(sums, self.link), self.gains)


@dataclass(frozen=True, eq=False)
class Plain:
    """A model for writers: a linear part, trees with float32 cuts (and with float64 cuts), or both.

    With classes, the trees form several sums instead of the score.
    """

    n_features: int
    linear: Linear | None
    forest: Forest | None
    doubles: Forest | None  # the same trees with cuts for engines that compare float64
    constant: float  # constant missing from the parts' sum; it changes no ranking
    trained_with_missing: bool
    classes: Classes | None = None
    fills: bool = False  # whether the linear part, with the trees, handles missing values
    only_fills: bool = False  # whether the trees serve only that purpose

    @property
    def categories(self) -> dict[int, list[int]]:
        """The categories that scores depend on, by feature."""
        found = {} if self.forest is None else self.forest.categories
        for column in () if self.linear is None else self.linear.columns:
            if column.category is not None:
                found[column.source] = sorted({*found.get(column.source, ()), column.category})
        return dict(sorted(found.items()))

    @property
    def kind(self) -> str:
        """One of "linear", "trees", "sum" and "classes"."""
        if self.classes is not None:
            return "classes"
        return "sum" if self.linear and self.forest else "linear" if self.linear else "trees"

    def used_features(self) -> list[int]:
        """Return the features that scores depend on."""
        columns = [] if self.linear is None else zip(self.linear.columns, self.linear.weights.tolist(), strict=True)
        weighed = [column.source for column, weight in columns if weight != 0]
        split = [] if self.forest is None else self.forest.feature.tolist()
        return sorted({*weighed, *split})

    @property
    def n_summed(self) -> int:
        """The number of terms of a score."""
        return (0 if self.linear is None else len(self.linear.weights)) + (
            0 if self.forest is None else len(self.forest.roots)
        )

    def magnitudes(self, X: Floats, leaves: Integers | None = None) -> Floats:
        """Return for every row the sum of the absolute terms of its score; its leaves may be given."""
        total = np.zeros(len(X))
        if self.linear is not None:
            total += self.linear.magnitudes(X) * (1.0 if self.classes is None else np.abs(self.classes.slopes).max())
        if self.forest is not None:
            total += self.forest.magnitudes(self.forest.leaves(X.astype(np.float32)) if leaves is None else leaves)
        if self.classes is not None:  # a score changes by at most the change of a sum times the range of the gains
            total = total * np.ptp(self.classes.gains) + np.abs(self.classes.gains).max()
        return total


def plain(model: Any, missing: str, shift: bool = False, sets: bool = False) -> Plain:
    """Return the parts of a model, or raise with the reason and a remedy.

    With ``sets``, a linear part's categories become trees, for targets that support sets of categories.
    """
    linear: list[tuple[float, Floats, Way]] = []
    trees: list[tuple[Tree, Way]] = []
    seen_missing, classes = False, None
    for weight, part, way in _parts(model):
        if way.normaliser is not None and way.normaliser.needs_queries:
            raise ModelError(
                f"this model normalises within queries ({way.normaliser.name}), which no engine can do, because "
                'documents are scored independently; train with normalise="standard" or "minmax"'
            )
        if isinstance(part, LinearModel):
            linear.append((weight, part.weights, way))
        elif isinstance(part, KernelModel) and part.kernel.name == "linear":
            linear.append((weight, part.support.T @ part.coefficients, way))
        elif isinstance(part, StumpsModel):
            for feature, threshold, step in zip(part.features, part.thresholds, part.steps, strict=True):
                trees.append((Tree.stump(feature, threshold, True, 0, [0.0, step * weight]), way))
        elif isinstance(part, TreesModel | SymmetricTrees):
            trees += [(tree.with_values(tree.value * weight), way) for tree in part.trees]
            seen_missing |= any((tree.missing > 0).any() for tree in part.trees)
        elif isinstance(part, TreeClassesModel) and part is model:
            trees += [(tree, way) for tree in part.trees]
            seen_missing |= any((tree.missing > 0).any() for tree in part.trees)
            if part.weights is not None:
                linear.append((1.0, part.weights, way))
            slopes = np.zeros(part.n_outputs) if part.slopes is None else part.slopes
            # ordinal trees of a single label also have a sum, and so a second probability, with gain 0
            n_chances = part.n_outputs + (part.link == "ordinal")
            classes = Classes(part.link, np.pad(part.gains, (0, n_chances - len(part.gains))), slopes)
        else:
            raise ModelError(_refusal(part))
        made = way.preparation
        seen_missing |= made is not None and bool((made.code == MISSING).any() or np.nan_to_num(made.fill).any())
    own, constant, fills, only_fills = None, 0.0, False, False
    if linear:
        fills = all(way.preparation is not None for _, _, way in linear)
        own, more, constant = linear_and_trees(one_linear(linear, model.n_features), model.n_features, sets)
        if classes is not None:
            more += [Tree.constant(constant)] if constant else []
            more = [tree.with_values(tree.value * slope) for tree in more for slope in classes.slopes.tolist()]
            constant = 0.0
        only_fills = bool(more) and not trees
        trees += [(tree, Way(None, None)) for tree in more]
    singles = doubles = None
    if trees:
        trees = [(plain_splits(tree) if needs_chains(tree) else tree, way) for tree, way in trees]
        if shift:
            trees, classes, lift = _lifted(trees, classes)
            constant -= lift
        singles, doubles = forests(trees, missing)
    return Plain(model.n_features, own, singles, doubles, constant, seen_missing, classes, fills, only_fills)


def _lifted(
    trees: Sequence[tuple[Tree, Way]], classes: Classes | None
) -> tuple[list[tuple[Tree, Way]], Classes | None, float]:
    """Return trees and classes shifted so that no score is negative, and the constant added."""
    if classes is not None:
        lift = max(0.0, -float(classes.gains.min()))
        return list(trees), replace(classes, gains=classes.gains + lift), lift
    lift = max(0.0, -sum(float(tree.value.min()) for tree, _ in trees))
    (first, way), *others = trees
    return [(first.with_values(first.value + lift), way), *others], None, lift


def _parts(model: Any) -> Iterator[tuple[float, Any, Way]]:
    """Yield weight, model, preparation and normaliser of every part of a sum, or of the model alone."""
    if not isinstance(model, Model):
        raise ModelError(_refusal(model))
    if not isinstance(model, SumModel):
        yield 1.0, model, Way(model.normaliser, model.preparation)
        return
    for weight, member in zip(model.weights.tolist(), model.members, strict=True):
        if model.normaliser is not None and member.normaliser is not None:
            raise ModelError("a sum that normalises twice cannot be exported; normalise in the members alone")
        if model.preparation is not None and member.preparation is not None:
            raise ModelError("a sum that prepares columns twice cannot be exported; prepare in the members alone")
        yield weight, member, Way(member.normaliser or model.normaliser, member.preparation or model.preparation)


def _refusal(model: Any) -> str:
    kind = model.kind if isinstance(model, StoredModel) else type(model).__name__
    if kind == "kernel":
        return (
            f"a kernel model ({model.kernel.name}) compares documents with support vectors, which no target supports; "
            'train with kernel="linear", or a linear or boosted ranker'
        )
    if kind == "tree-classes":
        return (
            "a model of kind 'tree-classes' turns several sums of trees into probabilities, which no target supports "
            "as part of a sum; export it alone to onnx or python, or blend mart or lambda-mart instead"
        )
    reasons = {
        "factors": "scores pairs of users and items by their factors",
        "slots": "matches documents with slots",
        "ensemble": "holds scikit-learn objects",
    }
    reason = reasons.get(kind, "is not an argrank model")
    advice = "targets accept linear models, trees, stumps and their sums: train for example rank-svm or lambda-mart"
    return f"a model of kind {kind!r} {reason}, which no target supports yet; {advice}"


@runtime_checkable
class Writes(Protocol):
    """The simplest writer: a module or an object with two functions."""

    def write(self, plain: Plain, options: Options, /) -> Files:
        """Return the files by name."""
        ...

    def simulate(self, files: Files, options: Options, X: Floats, /) -> Floats:
        """Score rows from the written files, with the engine's arithmetic."""
        ...


@dataclass(frozen=True)
class Writer:
    """The two functions of a target, and further differences of its scores."""

    write: Callable[[Plain, Options], Files]
    simulate: Callable[[Files, Options, Floats], Floats]
    constant: Callable[[Plain], float] = lambda plain: plain.constant  # the constant that the written scores omit
    seen: Callable[[Floats], Floats] = lambda X: X  # the rows as the engine reads them
    misses: Callable[[Plain], Floats | None] = lambda plain: None  # distance of each cut from the engine's nearest
    missing_is_zero: bool = False  # overrides the option
    any_order: bool = False  # whether it adds trees in float32 in an order that is not simulated
