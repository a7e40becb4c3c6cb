"""LambdaMART: as good as LightGBM's ranker for NDCG, and better for the measure it is trained on."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning, OptionError
from argrank.rankers.boosted.trees.lambda_mart import LambdaMART


@pytest.fixture(scope="module")
def data():
    return ar.make_ranking(150, (20, 60), 10, truth="nonlinear", random_state=3).split(0.6, 0.4)


def test_it_is_as_good_as_lightgbms_ranker(data):
    train, test = data
    theirs = lgb.LGBMRanker(verbosity=-1, num_threads=1).fit(train.X, train.y, group=train.sizes).predict(test.X)
    plain = {"n_trees": 100, "learning_rate": 0.1, "feature_fraction": 1.0, "bagging_fraction": 1.0}
    ours = LambdaMART(**plain, extra_trees=False, lambda_norm=True).fit(train).predict(test)
    means = [ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"] for scores in (ours, theirs)]
    assert abs(means[0] - means[1]) < 0.02
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95  # only the first tree, of equal scores, is really another one


@pytest.mark.parametrize("measure", ["ndcg@10", "map", "mrr@10", "err@10"])
def test_every_measure_is_learned_and_the_objective_is_its_loss(data, measure):
    train, test = data
    ranker = LambdaMART(measure=measure, n_trees=30, n_leaves=15).fit(train, eval_set=test)
    nothing = ar.evaluate(np.zeros(test.n_documents), test, measure).means[measure]
    assert ranker.score(test) > nothing + 0.1
    assert ranker.objective_ == pytest.approx(1 - ranker.score(train), abs=1e-12)
    assert ranker.trace_["validation"][-1] == ranker.score(test)


def test_early_stopping(data):
    train, test = data
    ranker = LambdaMART(early_stopping=5, learning_rate=0.5).fit(train, eval_set=test)
    assert ranker.n_iter_ == len(ranker.model_.trees) == np.argmax(ranker.trace_["validation"]) + 1


@pytest.mark.filterwarnings("ignore:.*nothing to learn")
def test_data_without_a_pair_gives_equal_scores():
    with pytest.warns(ArgrankWarning, match="no tree found a split"):
        ranker = LambdaMART().fit(np.eye(4), [0, 0, 0, 0], qid=[1, 1, 2, 2])
    assert ranker.predict(np.eye(4)).tolist() == [0.0] * 4
    assert ranker.objective_ == 1.0


def test_measures_without_lambdas_are_refused(data):
    with pytest.raises(OptionError, match="AUC"):
        LambdaMART(measure="auc").fit(data[0])
