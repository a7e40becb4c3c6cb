"""Trees on a cluster: LightGBM's own distributed training, on the gradients of our losses.

LightGBM cuts features into bins and draws rows on every worker by itself, so trees depend on the partitions, unlike
linear models. Nor can it continue without a worker: ``lightgbm.dask`` binds one task to every worker, Dask keeps the
task of a dead worker until that worker comes back, which it does not, and LightGBM waits in a socket. So the workers
are monitored, and if one is lost, its tasks are cancelled some seconds later.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from argrank._types import Floats
from argrank.data.checks import has_missing
from argrank.data.dataset import Dataset
from argrank.engines import DistributedDataset
from argrank.errors import ClusterError, InputError, OptionError
from argrank.evaluation.evaluate import mean_of
from argrank.models.formats.lightgbm import read
from argrank.models.linear import LinearModel
from argrank.models.model import Model
from argrank.models.tree import Tree
from argrank.rankers.boosted.trees.boosting import Draw, Loss
from argrank.rankers.boosted.trees.lightgbm import load_lightgbm, rounded
from argrank.rankers.boosted.trees.linear_start import RIDGE, centred, joined
from argrank.rankers.cheap_models import regression
from argrank.rankers.estimator import Measured
from argrank.rankers.trace import Outcome, Watcher

if TYPE_CHECKING:
    from argrank.rankers.boosted.trees.lightgbm_ranker import LightGBMRanker


HERE_ONLY = ("early_stopping", "callbacks", "init_model", "categorical_features", "monotone")
#: LightGBM's parameters by the names that its estimators have for them
NAMES = {
    "min_data_in_leaf": "min_child_samples",
    "lambda_l1": "reg_alpha",
    "lambda_l2": "reg_lambda",
    "feature_fraction": "colsample_bytree",
    "bagging_fraction": "subsample",
    "bagging_freq": "subsample_freq",
}


def train(ranker: LightGBMRanker, data: DistributedDataset, seeds: list[int], watcher: Watcher) -> Outcome:
    """Grow the trees of every seed; the model is their mean, on top of a linear start if the ranker has one."""
    _refuse(ranker, data)
    load_lightgbm()
    from lightgbm.dask import DaskLGBMRanker

    alone = clone(ranker).set_params(n_jobs=1, verbose=-1)
    start = _linear_start(data) if ranker.start == "linear" else None
    offset = sum(data.map_blocks(functools.partial(_offset, alone, start))) / data.n_documents
    X, y, group = (data.arrays(attrgetter(name)) for name in ("X", "y", "sizes"))
    init = data.arrays(functools.partial(_begin, start, offset))
    parameters = {NAMES.get(name, name): value for name, value in ranker._parameters(cast(Dataset, data)).items()}
    for name in ("objective", "metric", "num_threads"):
        del parameters[name]
    trees: list[Tree] = []
    for seed in seeds:
        objective = Gradients(alone, seed)
        grown = DaskLGBMRanker(
            client=data.client, objective=objective, n_estimators=ranker.n_trees, random_state=seed, **parameters
        )
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore", UserWarning)  # on ports and threads
            guarded(data, functools.partial(grown.fit, X, y, group=group, init_score=init))
        found = read(grown.booster_.model_to_string()).trees
        trees += [tree.with_values(tree.value / len(seeds)) for tree in found]

    trees = trees or [Tree.constant(0.0, data.n_documents)]
    trees[0] = trees[0].with_values(trees[0].value + offset)
    model = joined(start, trees, data.n_features)
    value = _total(alone, model, data)
    watcher.record([part.scores_of(model) for part in watcher.validations], {"objective": value})
    return Outcome(model, value, np.nan, ranker.n_trees)


class Gradients:
    """A ranker's loss as LightGBM calls it on every worker, for the queries that the worker holds."""

    def __init__(self, ranker: LightGBMRanker, seed: int) -> None:
        self._ranker, self._seed = ranker, seed
        self._loss: Loss | None = None
        self._number = 0

    def __getstate__(self) -> dict[str, Any]:
        return {"_ranker": self._ranker, "_seed": self._seed, "_loss": None, "_number": 0}

    def __call__(self, y_true: Any, y_pred: Any, weight: Any, group: Any) -> tuple[Floats, Floats]:
        """Return gradient and curvature by the scores."""
        if self._loss is None:
            labels = np.asarray(y_true, np.float64)
            self._loss = self._ranker._loss(Dataset(np.zeros((len(labels), 1)), labels, group=np.asarray(group)))
        self._number += 1
        scores = np.asarray(y_pred, np.float64)[:, None]
        gradient, curvature = self._loss.slopes(scores, Draw(self._seed, self._number))
        return rounded(gradient), rounded(curvature)


def _refuse(ranker: LightGBMRanker, data: DistributedDataset) -> None:
    for name in HERE_ONLY:
        if getattr(ranker, name) is not None:
            raise OptionError(f"{name}: expected None on a cluster, where LightGBM does the training, got a value")
    if data.query_weight is not None or data.has_row_weights:
        raise InputError("trees on a cluster: expected queries and rows without weights, got some")
    if data.categories:
        raise InputError("trees on a cluster: expected features that are numbers, got texts")


def _linear_start(data: DistributedDataset) -> LinearModel | None:
    """Return the ridge regression from which trees start, scaled to the labels' differences within queries."""
    if any(data.map_blocks(_lacks)):
        return None
    weights = regression(cast(Dataset, data), "linear", RIDGE, False, None).w
    sums = data.map_blocks(functools.partial(_along, weights))
    square, along = sum(one[0] for one in sums), sum(one[1] for one in sums)
    if not 0.0 < square < np.inf or along <= 0.0:
        return None
    return LinearModel(weights * (along / square))


def _total(ranker: LightGBMRanker, model: Model, data: DistributedDataset) -> float:
    """Return the loss on all rows: a sum over blocks, or 1 - measure if only gradients are defined."""
    if isinstance(ranker, Measured):
        return 1.0 - mean_of(model, data, ranker.measure)
    return float(sum(data.map_blocks(functools.partial(_value, ranker, model))))


# ---- on the workers ---------------------------------------------------------------------------------------------


def _lacks(data: Dataset) -> bool:
    return bool(has_missing(data.X))


def _along(weights: Floats, data: Dataset) -> tuple[float, float]:
    scores = centred(np.asarray(data.X @ weights), data)
    return float((scores * scores).sum()), float((scores * centred(data.y, data)).sum())


def _scores(model: Model | None, data: Dataset) -> Floats:
    return np.zeros(data.n_documents) if model is None else model.scores(data.X, data.indptr)


def _offset(ranker: LightGBMRanker, start: Model | None, data: Dataset) -> float:
    return data.n_documents * ranker._loss(data).offset(_scores(start, data))


def _value(ranker: LightGBMRanker, model: Model, data: Dataset) -> float:
    return ranker._loss(data).value(_scores(model, data)[:, None])


def _begin(start: Model | None, offset: float, data: Dataset) -> Floats:
    return _scores(start, data) + offset


LOOK = 0.5  # seconds between two checks of the workers
GRACE = 5.0  # seconds for LightGBM to fail by itself, with its own message
LAST = 10.0  # seconds for cancelled tasks to end


def guarded(data: DistributedDataset, fit: Callable[[], Any]) -> None:
    """Call a fit of lightgbm.dask; raise ClusterError within GRACE + LAST seconds after Dask knows of a lost worker."""
    from distributed import Future
    from lightgbm.basic import LightGBMError

    failed: list[BaseException] = []
    lost: set[str] = set()
    needed, gone_since = data.holders(), None
    thread = threading.Thread(target=_run, args=(data.client, fit, failed), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(LOOK)
        if data.client.status != "running":
            raise ClusterError("lost the scheduler while LightGBM trained; start it and its workers again")
        lost = needed - set(data.client.scheduler_info(n_workers=-1)["workers"])
        if not lost or not thread.is_alive():
            continue
        gone_since = gone_since or time.monotonic()
        if time.monotonic() - gone_since > GRACE:
            running = [key for key in list(data.client.futures) if "_train_part" in str(key)]  # of lightgbm.dask
            data.client.cancel([Future(key, data.client) for key in running], force=True)
            thread.join(LAST)
            break
    if thread.is_alive() or (lost and failed):
        names = ", ".join(sorted(lost))
        raise ClusterError(
            f"lost the worker {names}, without which LightGBM cannot continue; fit again on the remaining ones"
        )
    for error in failed:
        if isinstance(error, LightGBMError | OSError | asyncio.TimeoutError | CancelledError):
            raise ClusterError(f"LightGBM could not train on the cluster; it cannot lose a worker: {error}") from error
        raise error


def _run(client: Any, fit: Callable[[], Any], failed: list[BaseException]) -> None:
    try:
        with client.as_current():  # LightGBM waits for that of the thread
            fit()
    except BaseException as error:  # raised again in the thread that waits
        failed.append(error)
