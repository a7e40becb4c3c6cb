"""The tools: at their defaults, tuned on the validation part, and tuned by four folds of the training part.

A tool is a function ``(train, watched, plan) -> Fitted``. A plan without a setting is the default. Where queries are
watched, the fit stops when NDCG@10 there has not gained for some rounds.

- *tuned*: six settings, up to 200 trees, stopped after 20 without a gain on the validation part; the setting with the
  best NDCG@10 there is kept.
- *folds*: as `auto` does it, four folds of the training part by query. Three settings, up to 1,000 trees, stopped after
  50 without a gain on the fold's held-out queries; the setting with the best NDCG@10 over all folds is fitted again on
  the whole training part with three seeds, whose scores are added, and the mean number of trees of its folds.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import argrank as ar

Predict = Callable[[Any], Any]
N_TREES, PATIENCE = 200, 20
MOST_TREES, LONG_PATIENCE, N_FOLDS, SEEDS = 1000, 50, 4, (0, 1, 2)


class Setting(NamedTuple):
    """Size of the trees, in leaves or as depth, and the learning rate."""

    n_leaves: int
    depth: int
    rate: float

    def __str__(self) -> str:
        return f"{self.n_leaves} leaves or depth {self.depth}, rate {self.rate:g}"


SETTINGS = [Setting(leaves, depth, rate) for leaves, depth in ((10, 4), (31, 6), (63, 8)) for rate in (0.05, 0.1)]
FEW_SETTINGS = [Setting(10, 4, 0.05), Setting(31, 6, 0.05), Setting(31, 6, 0.1)]


class Plan(NamedTuple):
    """How a tool is trained; a share of rows and features is drawn for every tree where that is below 1."""

    setting: Setting | None = None
    n_trees: int = N_TREES
    patience: int = PATIENCE
    drawn: float = 1.0
    seed: int = 0


class Fitted(NamedTuple):
    """A trained tool: what it predicts, its trees, and the bytes of its file."""

    predict: Predict
    n_trees: int
    n_bytes: int


def ours(name: str) -> Callable[..., Fitted]:
    """Return one of argrank's rankers as a tool."""

    def fit(train: ar.Dataset, watched: ar.Dataset | None, plan: Plan) -> Fitted:
        ranker = ar.make_ranker(name, n_jobs=1, verbose=-1)
        if plan.setting is None:
            ranker.fit(train)
        else:
            ranker.set_params(n_trees=plan.n_trees, early_stopping=plan.patience, n_leaves=plan.setting.n_leaves)
            ranker.set_params(learning_rate=plan.setting.rate).fit(train, eval_set=watched)
        return Fitted(ranker.predict, ranker.n_iter_, len(json.dumps(ranker.model_.to_dict())))

    return fit


def lightgbm(train: ar.Dataset, watched: ar.Dataset | None, plan: Plan) -> Fitted:
    """LGBMRanker, lambdarank."""
    import lightgbm as lgb

    given: dict[str, Any] = {"verbosity": -1, "n_jobs": 1}
    if plan.setting is not None:
        given |= {"n_estimators": plan.n_trees, "num_leaves": plan.setting.n_leaves, "learning_rate": plan.setting.rate}
    if plan.drawn < 1:
        given |= {
            "subsample": plan.drawn,
            "subsample_freq": 1,
            "colsample_bytree": plan.drawn,
            "random_state": plan.seed,
        }
    more: dict[str, Any] = {}
    if watched is not None:
        more = {"eval_at": [10], "eval_set": [(watched.X, watched.y.astype(int))], "eval_group": [watched.sizes]}
        more["callbacks"] = [lgb.early_stopping(plan.patience, verbose=False)]
    model = lgb.LGBMRanker(**given).fit(train.X, train.y.astype(int), group=train.sizes, **more)
    best = model.best_iteration_ or model.booster_.num_trees()
    return Fitted(lambda data: model.predict(data.X), best, len(model.booster_.model_to_string(num_iteration=best)))


def xgboost(train: ar.Dataset, watched: ar.Dataset | None, plan: Plan) -> Fitted:
    """XGBRanker, rank:ndcg."""
    import xgboost as xgb

    given: dict[str, Any] = {"objective": "rank:ndcg", "n_jobs": 1}
    if plan.setting is not None:
        given |= {"n_estimators": plan.n_trees, "max_depth": plan.setting.depth, "learning_rate": plan.setting.rate}
    if plan.drawn < 1:
        given |= {"subsample": plan.drawn, "colsample_bytree": plan.drawn, "random_state": plan.seed}
    more: dict[str, Any] = {}
    if watched is not None:
        given |= {"eval_metric": "ndcg@10", "early_stopping_rounds": plan.patience}
        more = {"eval_set": [(watched.X, watched.y)], "eval_qid": [watched.query_of_row], "verbose": False}
    model = xgb.XGBRanker(**given).fit(train.X, train.y, qid=train.query_of_row, **more)
    n_trees = model.get_booster().num_boosted_rounds() if watched is None else model.best_iteration + 1
    n_bytes = len(model.get_booster()[:n_trees].save_raw())
    return Fitted(lambda data: model.predict(data.X), n_trees, n_bytes)


def catboost(train: ar.Dataset, watched: ar.Dataset | None, plan: Plan) -> Fitted:
    """CatBoostRanker, YetiRank; its own default draws rows and cuts."""
    import catboost as cb

    def pool(data: ar.Dataset) -> Any:
        return cb.Pool(data.X, data.y, group_id=data.query_of_row)

    given: dict[str, Any] = {"loss_function": "YetiRank", "thread_count": 1, "verbose": False}
    given["allow_writing_files"] = False
    if plan.setting is not None:
        given |= {"iterations": plan.n_trees, "depth": plan.setting.depth, "learning_rate": plan.setting.rate}
    if plan.seed:
        given["random_seed"] = plan.seed
    more: dict[str, Any] = {}
    if watched is not None:
        given |= {"eval_metric": "NDCG:top=10", "od_type": "Iter", "od_wait": plan.patience}
        more["eval_set"] = pool(watched)
    model = cb.CatBoostRanker(**given).fit(pool(train), **more)
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(str(Path(folder) / "model"))
        n_bytes = (Path(folder) / "model").stat().st_size
    return Fitted(lambda data: model.predict(pool(data)), model.tree_count_, n_bytes)


#: Name -> the tool, and how it is tuned beside its default.
TOOLS: dict[str, tuple[Callable[..., Fitted], tuple[str, ...]]] = {
    "argrank auto": (ours("auto"), ()),
    "argrank symmetric-mart": (ours("symmetric-mart"), ()),
    "argrank query-mart": (ours("query-mart"), ("tuned",)),
    "argrank lambda-mart": (ours("lambda-mart"), ("tuned",)),
    "LightGBM lambdarank": (lightgbm, ("tuned", "folds")),
    "XGBoost rank:ndcg": (xgboost, ("tuned", "folds")),
    "CatBoost YetiRank": (catboost, ("tuned", "folds")),
}


def warm(name: str, train: ar.Dataset) -> None:
    """Import the library, and load or compile our machine code, before the clock starts."""
    library, *ranker = name.split()
    if library == "argrank":
        few = {"max_trees": 6} if ranker == ["auto"] else {"n_trees": 2}
        part = train.select(range(min(8, train.n_queries)))
        ar.make_ranker(ranker[0], n_jobs=1, verbose=-1, **few).fit(part).predict(part)
    else:
        importlib.import_module(library.lower())


def run_tool(name: str, mode: str, train: ar.Dataset, valid: ar.Dataset) -> tuple[Fitted, str]:
    """Return the fitted tool and the setting that was chosen."""
    fit, _ = TOOLS[name]
    if mode == "default":
        return fit(train, None, Plan()), "default"
    if mode == "folds":
        return _by_folds(fit, train)
    fitted = [fit(train, valid, Plan(setting)) for setting in SETTINGS]
    values = [ar.evaluate(one.predict(valid), valid, "ndcg@10").means["ndcg@10"] for one in fitted]
    best = int(np.argmax(values))
    return fitted[best], str(SETTINGS[best])


def _by_folds(fit: Callable[..., Fitted], train: ar.Dataset) -> tuple[Fitted, str]:
    """Choose setting and number of trees by four folds, and fit three seeds of them on everything."""
    splits = [
        (train.select(one), train.select(two)) for one, two in ar.QueryKFold(N_FOLDS, random_state=0).split(train)
    ]
    found: list[tuple[float, int, Setting]] = []
    for setting in FEW_SETTINGS:
        plan, values, sizes = Plan(setting, MOST_TREES, LONG_PATIENCE, 0.8), [], []
        for part, held in splits:
            fitted = fit(part, held, plan)
            values.append(ar.evaluate(fitted.predict(held), held, "ndcg@10").values["ndcg@10"])
            sizes.append(fitted.n_trees)
        found.append((float(np.nanmean(np.concatenate(values))), max(1, round(np.mean(sizes))), setting))
    _, n_trees, setting = max(found)
    seeds = [fit(train, None, Plan(setting, n_trees, 0, 0.8, seed)) for seed in SEEDS]
    whole = Fitted(lambda data: sum(one.predict(data) for one in seeds), n_trees, sum(one.n_bytes for one in seeds))
    return whole, f"{setting}, {n_trees} trees"
