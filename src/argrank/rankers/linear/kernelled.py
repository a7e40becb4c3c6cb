"""Linear rankers in the feature space of a kernel, and around given weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from argrank._declared import Count, Positive
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.prepare.normalise import Normaliser
from argrank.engines import is_distributed
from argrank.errors import OptionError
from argrank.models.kernel import Kernel
from argrank.models.linear import LinearModel
from argrank.rankers.cheap_models import weights_of
from argrank.rankers.linear._kernel import KernelFeatures
from argrank.rankers.linear.linear_ranker import LinearRanker
from argrank.rankers.outcome import Outcome
from argrank.rankers.trace import Watcher


@dataclass(eq=False, repr=False, kw_only=True)
class Kernelled(LinearRanker):
    """A linear ranker that can stay near given weights, or learn kernel expansions.

    Parameters
    ----------
    w0 : array or "regression", optional
        Weights near which to stay; "regression" takes least squares on the labels. For small data with
        bound="tight", as in the paper's experiment on OHSUMED.
    kernel : "linear", "rbf", "poly" or "precomputed", optional
        For small data: scores are kernel expansions instead of linear functions. With "precomputed" X is the Gram
        matrix of the training rows, and at prediction the kernel of the new rows with all training rows.
    gamma, degree, coef0
        exp(-gamma |x - z|²) and (gamma x·z + coef0)^degree, as in scikit-learn; choose them by validation with C.
    """

    penalty: Literal["l2", "l1"] = "l2"
    signs: Any = None
    w0: Any = None
    kernel: str | None = None
    gamma: Positive = 1.0
    degree: Count = 3
    coef0: float = 1.0

    def _scaled(self, scaling: Normaliser, data: Dataset) -> Dataset:
        return super()._scaled(scaling, data) if self.kernel is None else scaling.transform(data)

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        if self.kernel is None:
            return super()._train(data, watcher, start)
        if is_distributed(data):
            raise OptionError("kernel: expected None on a cluster, where the Gram matrix of all rows would not fit")
        if self.penalty != "l2" or self.signs is not None:
            raise OptionError(
                "kernel: expected penalty='l2' and no signs, since a kernel's weights are not of features"
            )
        features = KernelFeatures(Kernel(self.kernel, self.gamma, self.degree, self.coef0), data)
        outcome = super()._train(features.data, cast(Watcher, _KernelWatcher(features, watcher)), None)
        return outcome._replace(model=features.model(cast(LinearModel, outcome.model).weights))

    def _centre(self, data: Dataset) -> Floats | None:
        return None if self.w0 is None else weights_of(self.w0, data, self.n_jobs)


class _KernelWatcher:
    """Watches a solver whose weights are those of the kernel's features."""

    def __init__(self, features: KernelFeatures, watcher: Watcher) -> None:
        self._features, self._watcher = features, watcher
        self.keeper, self.notes = watcher.keeper, watcher.notes

    def __call__(self, w: Floats, facts: Mapping[str, float]) -> None:
        model = self._features.model(w)
        self._watcher.record([model.scores(part.data.X) for part in self._watcher.validations], facts)
