"""RankLib's random forests: the mean of tree rankers, each grown on a new sample of the queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import OptionError, check_count
from argrank.evaluation.evaluate import mean_of
from argrank.models.trees import TreesModel
from argrank.rankers.boosted.trees.boosted_ranker import LeafwiseRanker
from argrank.rankers.boosted.trees.lambda_mart import LambdaMART
from argrank.rankers.boosted.trees.mart import MART
from argrank.rankers.trace import Outcome, Watcher


@dataclass(eq=False, repr=False, kw_only=True)
class RandomForests(LeafwiseRanker):
    """The mean of ``n_bags`` rankers of ``n_trees`` trees each, MART (``member=0``) or LambdaMART (6).

    Every one is grown on a share ``query_fraction`` of the queries, drawn with replacement. ``objective_`` is 1 - the
    training measure.
    """

    n_bags: int = 300
    query_fraction: float = 1.0
    member: int = 0
    measure: Any = "ndcg@10"

    def _train(self, data: Dataset, watcher: Watcher, start: Floats | None) -> Outcome:
        check_count("n_bags", self.n_bags)
        if not 0 < self.query_fraction <= 1:
            raise OptionError(f"query_fraction: expected a share above 0, at most 1, got {self.query_fraction!r}")
        rng = np.random.default_rng(self.random_state)
        n_drawn = max(1, round(self.query_fraction * data.n_queries))
        trees = []
        for bag in range(self.n_bags):
            drawn = np.bincount(rng.integers(data.n_queries, size=n_drawn), minlength=data.n_queries)
            weight = drawn if data.query_weight is None else drawn * data.query_weight
            part = data.select(drawn > 0)._but(query_weight=weight[drawn > 0].astype(np.float64))
            shared: dict[str, Any] = {
                "bagging_fraction": 1.0, "extra_trees": False,
                "n_trees": self.n_trees, "n_leaves": self.n_leaves, "learning_rate": self.learning_rate,
                "min_documents": self.min_documents, "feature_fraction": self.feature_fraction, "n_jobs": self.n_jobs,
                "random_state": self.random_state + bag, "verbose": -1,
            }  # fmt: skip
            one = MART(**shared) if self.member == 0 else LambdaMART(measure=self.measure, lambda_norm=True, **shared)
            model = cast(TreesModel, one.fit(part).model_)
            trees += [tree.with_values(tree.value / self.n_bags) for tree in model.trees]
        whole = TreesModel(tuple(trees), data.n_features)
        value = mean_of(data.to_caller(whole.scores(data.X)), data, self.measure)
        watcher.record([whole.scores(part.data.X) for part in watcher.validations], {"objective": 1.0 - value})
        return Outcome(whole, 1.0 - value, np.nan, self.n_bags)
