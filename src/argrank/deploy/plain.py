"""What writers see of a model: one weight for each feature, and trees that split raw features.

Kinds of model end here. Normalisers of trees vanish into the cuts; linear parts of a sum become one, in the units of
the first normaliser, as engines that sum in float32 need the features shifted before they are weighed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.prepare.normalise import Normaliser
from argrank.deploy import cuts
from argrank.deploy.splits import nan_sides, needs_chains, plain_splits
from argrank.errors import ModelError
from argrank.models.forest import Forest
from argrank.models.kernel import KernelModel
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.stumps import StumpsModel
from argrank.models.sum import SumModel
from argrank.models.tree import Tree
from argrank.models.tree_classes import TreeClassesModel, expected, probabilities
from argrank.models.trees import TreesModel


@dataclass(frozen=True, eq=False)
class Linear:
    """Score = sum of weight * (x - shift) / scale; features of scale 0 have weight 0 and scale 1."""

    weights: Floats
    shift: Floats
    scale: Floats

    @property
    def normalises(self) -> bool:
        """Whether any feature is shifted or scaled."""
        return bool((self.shift != 0).any() or (self.scale != 1).any())

    def magnitudes(self, X: Floats) -> Floats:
        """Return the sum of absolute terms of every row, the scale of rounding errors."""
        sizes = (np.abs(np.nan_to_num(X)) + np.abs(self.shift)) * (np.abs(self.weights) / self.scale)
        return np.asarray(sizes.sum(axis=1))


@dataclass(frozen=True, eq=False)
class Classes:
    """How several sums of trees become one score: the expected gain of the label, by its probabilities.

    Tree i belongs to sum i modulo their number; each has its slope times the linear part, too.
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

    Where there are classes, the trees do not add up to the score: they are several sums.
    """

    n_features: int
    linear: Linear | None
    forest: Forest | None
    doubles: Forest | None  # the same trees with cuts for engines that compare float64
    constant: float  # what the parts' sum lacks; it moves no document
    trained_with_missing: bool
    classes: Classes | None = None

    @property
    def kind(self) -> str:
        """One of "linear", "trees", "sum" and "classes"."""
        if self.classes is not None:
            return "classes"
        return "sum" if self.linear and self.forest else "linear" if self.linear else "trees"

    def used_features(self) -> list[int]:
        """Return the features that scores depend on."""
        weighed = [] if self.linear is None else np.flatnonzero(self.linear.weights).tolist()
        split = [] if self.forest is None else self.forest.feature.tolist()
        return sorted({*weighed, *split})

    def magnitudes(self, X: Floats) -> Floats:
        """Return for every row how large the numbers are that are summed to its score."""
        total = np.zeros(len(X))
        if self.linear is not None:
            total += self.linear.magnitudes(X) * (1.0 if self.classes is None else np.abs(self.classes.slopes).max())
        if self.forest is not None:
            total += self.forest.magnitudes(X.astype(np.float32))
        if self.classes is not None:  # a score moves by no more than a sum does times the range of the gains
            total = total * np.ptp(self.classes.gains) + np.abs(self.classes.gains).max()
        return total


def plain(model: Any, missing: str, shift: bool = False) -> Plain:
    """Return the parts of a model, or refuse it with the reason and the remedy."""
    linear: list[tuple[float, Floats, Normaliser | None]] = []
    trees: list[tuple[Tree, Normaliser | None]] = []
    seen_missing, classes = False, None
    for weight, part, normaliser in _parts(model):
        if normaliser is not None and normaliser.needs_queries:
            raise ModelError(
                f"this model normalises within queries ({normaliser.name}), which no engine can do: a document is "
                'scored alone; train with normalise="standard" or "minmax"'
            )
        if isinstance(part, LinearModel):
            linear.append((weight, part.weights, normaliser))
        elif isinstance(part, KernelModel) and part.kernel.name == "linear":
            linear.append((weight, part.support.T @ part.coefficients, normaliser))
        elif isinstance(part, StumpsModel):
            trees += [(tree, normaliser) for tree in _stumps(part, weight)]
        elif isinstance(part, TreesModel):
            trees += [(tree.with_values(tree.value * weight), normaliser) for tree in part.trees]
            seen_missing |= any((tree.missing > 0).any() for tree in part.trees)
        elif isinstance(part, TreeClassesModel) and part is model:
            trees += [(tree, normaliser) for tree in part.trees]
            seen_missing |= any((tree.missing > 0).any() for tree in part.trees)
            if part.weights is not None:
                linear.append((1.0, part.weights, normaliser))
            slopes = np.zeros(part.n_outputs) if part.slopes is None else part.slopes
            # ordinal trees of a single label have a sum all the same, and so a second probability, which has no gain
            n_chances = part.n_outputs + (part.link == "ordinal")
            classes = Classes(part.link, np.pad(part.gains, (0, n_chances - len(part.gains))), slopes)
        else:
            raise ModelError(_refusal(part))
    own, constant = _one_linear(linear, model.n_features) if linear else (None, 0.0)
    singles = doubles = None
    if trees:
        trees = [(plain_splits(tree) if needs_chains(tree) else tree, normaliser) for tree, normaliser in trees]
        if shift:
            trees, classes, lift = _lifted(trees, classes)
            constant -= lift
        singles, doubles = _forests(trees, missing)
    return Plain(model.n_features, own, singles, doubles, constant, seen_missing, classes)


def _lifted(
    trees: Sequence[tuple[Tree, Normaliser | None]], classes: Classes | None
) -> tuple[list[tuple[Tree, Normaliser | None]], Classes | None, float]:
    """Return trees and classes of which no score is below 0, and the constant that was added."""
    if classes is not None:
        lift = max(0.0, -float(classes.gains.min()))
        return list(trees), replace(classes, gains=classes.gains + lift), lift
    lift = max(0.0, -sum(float(tree.value.min()) for tree, _ in trees))
    (first, normaliser), *others = trees
    return [(first.with_values(first.value + lift), normaliser), *others], None, lift


def _parts(model: Any) -> Iterator[tuple[float, Any, Normaliser | None]]:
    """Yield weight, model and normaliser of every part of a sum, or of the model alone."""
    if not isinstance(model, Model):
        raise ModelError(_refusal(model))
    if not isinstance(model, SumModel):
        yield 1.0, model, model.normaliser
        return
    for weight, member in zip(model.weights.tolist(), model.members, strict=True):
        if model.normaliser is not None and member.normaliser is not None:
            raise ModelError("a sum that normalises twice cannot be exported; normalise in the members alone")
        yield weight, member, member.normaliser or model.normaliser


def _refusal(model: Any) -> str:
    kind = getattr(model, "kind", type(model).__name__)
    if kind == "kernel":
        return (
            f"a kernel model ({model.kernel.name}) compares documents with support vectors, which no target can say; "
            'train with kernel="linear", or a linear or boosted ranker'
        )
    if kind == "tree-classes":
        return (
            "a model of kind 'tree-classes' turns several sums of trees into probabilities, which no target can say as "
            "part of a sum; export it alone to onnx or python, or blend mart or lambda-mart instead"
        )
    reasons = {
        "factors": "scores pairs of users and items by their factors",
        "slots": "matches documents with slots",
        "ensemble": "holds scikit-learn objects",
    }
    reason = reasons.get(kind, "is no argrank model")
    advice = "targets take linear models, trees, stumps and their sums: train rank-svm, mart or lambda-mart, say"
    return f"a model of kind {kind!r} {reason}, which no target can say yet; {advice}"


def _stumps(model: StumpsModel, weight: float) -> Iterator[Tree]:
    for feature, threshold, step in zip(model.features, model.thresholds, model.steps, strict=True):
        yield Tree(
            np.array([feature]), np.array([threshold]), np.array([True]), np.array([0]), np.array([-1]),
            np.array([-2]), np.zeros(1), np.array([0.0, step * weight]), np.zeros(2, np.int64), {},
        )  # fmt: skip


def _one_linear(parts: Sequence[tuple[float, Floats, Normaliser | None]], n: int) -> tuple[Linear, float]:
    """Return one linear part and the constant that it lacks; each feature keeps the first normaliser that moves it."""
    shift, scale, open_ = np.zeros(n), np.ones(n), np.ones(n, bool)
    for _, _, normaliser in parts:
        if normaliser is not None and normaliser.shift is not None and normaliser.scale is not None:
            take = open_ & (normaliser.scale > 0)
            shift[take], scale[take] = normaliser.shift[take], normaliser.scale[take]
            open_ &= ~take
    total, constant = np.zeros(n), 0.0
    for factor, weights, normaliser in parts:
        own_shift, own_scale = np.zeros(n), np.ones(n)
        used = weights != 0
        if normaliser is not None and normaliser.shift is not None and normaliser.scale is not None:
            own_shift, used = normaliser.shift, used & (normaliser.scale > 0)
            own_scale = np.where(normaliser.scale > 0, normaliser.scale, 1.0)
        alike = (own_shift == shift) & (own_scale == scale)
        moved = factor * np.where(used, weights, 0.0)
        total += np.where(alike, moved, moved / own_scale * scale)
        constant += float((np.where(alike, 0.0, moved / own_scale) * (shift - own_shift)).sum())
    return Linear(total, np.where(total == 0, 0.0, shift), np.where(total == 0, 1.0, scale)), constant


def _forests(trees: Sequence[tuple[Tree, Normaliser | None]], missing: str) -> tuple[Forest, Forest]:
    """Return all trees in flat arrays, twice: with float32 cuts and with float64 cuts; a missing category is no 0."""
    node_at = np.cumsum([0, *(len(tree.feature) for tree, _ in trees)])
    leaf_at = np.cumsum([0, *(tree.n_leaves for tree, _ in trees)])
    pairs = list(zip(trees, node_at[:-1], leaf_at[:-1], strict=True))

    def child(name: str) -> Any:
        parts = [
            np.where(getattr(tree, name) < 0, getattr(tree, name) - leaf, getattr(tree, name) + node)
            for (tree, _), node, leaf in pairs
        ]
        return np.concatenate(parts).astype(np.int64)

    feature, threshold, nan_left, value = (
        np.concatenate([part(tree) for tree, _ in trees])
        for part in (lambda t: t.feature, lambda t: t.threshold, nan_sides, lambda t: t.value)
    )
    roots = np.array([-1 - leaf if tree.n_leaves == 1 else node for (tree, _), node, leaf in pairs], np.int64)
    single, double = np.zeros(len(feature), np.float32), np.zeros(len(feature))
    owner = np.repeat([id(normaliser) for _, normaliser in trees], np.diff(node_at))
    for normaliser in {id(one): one for _, one in trees}.values():
        own = owner == id(normaliser)
        single[own] = cuts.single_cuts(feature[own], threshold[own], normaliser)
        double[own] = cuts.double_cuts(feature[own], threshold[own], normaliser)
    left, right = child("left"), child("right")
    members = {int(node) + own: kept for (tree, _), node, _ in pairs for own, kept in tree.categories.items()}
    single[list(members)] = double[list(members)] = np.inf
    if missing == "zero":
        nan_left = single >= 0
        nan_left[list(members)] = False
    return (
        Forest(roots, feature, single, nan_left, left, right, value, members),
        Forest(roots, feature, double, nan_left, left, right, value, members),
    )
