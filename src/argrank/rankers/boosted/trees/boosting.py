"""Interfaces of gradient boosting: a loss, and boosters that grow trees on its gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from argrank._types import Floats
from argrank.data.dataset import Dataset

Starts = Sequence[Floats] | None  # the scores to begin with, of the training data and of every part; None for 0
State = Mapping[str, Any] | None  # from which boosters resume, if they do


class Draw(NamedTuple):
    """The inputs of a loss's random numbers: the seed of the booster and the number of the round."""

    seed: int
    number: int


class Loss:
    """What boosted trees minimise. Scores have a column for every output; so have gradients and curvatures."""

    n_outputs: int = 1
    cheap: ClassVar[bool] = True  # whether the loss is cheap compared with a tree, so that every round may report it

    def slopes(self, scores: Floats, draw: Draw) -> tuple[Floats, Floats]:
        """Return gradient and curvature by the scores."""
        raise NotImplementedError

    def value(self, scores: Floats) -> float:
        """Return the loss on the training data."""
        raise NotImplementedError

    def scale(self, scores: Floats) -> float:
        """Return the initial factor of a linear start's scores, which are in the units of the labels."""
        return 1.0

    def offset(self, scores: Floats) -> float:
        """Return the initial constant, added to the scores of the start."""
        return 0.0

    def score(self, sums: Floats) -> Floats:
        """Return one score for each row of the outputs."""
        return sums[:, 0]


class Boosters(ABC):
    """One booster for every seed, on the rows of the training data and of further parts.

    A round grows one tree for every booster and output, so that the mean over the seeds is known after every round.
    """

    boosters: Sequence[Any] = ()  # LightGBM's boosters, for its callbacks

    @property
    @abstractmethod
    def sizes(self) -> list[int]:
        """How many rounds each booster has grown trees in."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state from which another process can grow the same next round."""

    @abstractmethod
    def grow(self) -> bool:
        """Grow a round; tell whether any booster found a split. With random draws, a few more are tried."""

    @abstractmethod
    def training_scores(self) -> Floats:
        """Return the outputs for the training rows, the mean over the seeds."""

    @abstractmethod
    def scores(self) -> list[Floats]:
        """Return the outputs for the rows of every part, the mean over the seeds."""

    @abstractmethod
    def outputs(self, sizes: Sequence[int], data: Dataset) -> Floats:
        """Return the sum of the first rounds' trees for the training data."""
