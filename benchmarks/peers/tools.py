"""The tools: at their defaults, and at six settings with early stopping, all with the same budget.

A tool is a function ``(train, valid, setting) -> predict``; ``setting`` None is the default, which sees the training
part alone. Tuned tools grow up to 200 trees, stop after 20 without a gain in NDCG@10 on the validation part, and the
setting with the best validation NDCG@10 is kept, as argrank measures it for all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import argrank as ar

Predict = Callable[[Any], Any]
N_TREES, PATIENCE = 200, 20


class Setting(NamedTuple):
    """Size of the trees, in leaves or as depth, and the learning rate."""

    n_leaves: int
    depth: int
    rate: float


SETTINGS = [Setting(leaves, depth, rate) for leaves, depth in ((10, 4), (31, 6), (63, 8)) for rate in (0.05, 0.1)]


def ours(name: str) -> Callable[..., Predict]:
    """Return one of argrank's rankers as a tool."""

    def fit(train: ar.Dataset, valid: ar.Dataset, setting: Setting | None) -> Predict:
        ranker = ar.make_ranker(name, n_jobs=1, verbose=-1)
        if setting is None:
            return ranker.fit(train).predict
        ranker.set_params(n_trees=N_TREES, early_stopping=PATIENCE, n_leaves=setting.n_leaves)
        return ranker.set_params(learning_rate=setting.rate).fit(train, eval_set=valid).predict

    return fit


def lightgbm(train: ar.Dataset, valid: ar.Dataset, setting: Setting | None) -> Predict:
    """LGBMRanker, lambdarank."""
    import lightgbm as lgb

    if setting is None:
        model = lgb.LGBMRanker(verbosity=-1, n_jobs=1).fit(train.X, train.y.astype(int), group=train.sizes)
    else:
        model = lgb.LGBMRanker(
            verbosity=-1, n_jobs=1, n_estimators=N_TREES, num_leaves=setting.n_leaves, learning_rate=setting.rate
        )
        model.fit(
            train.X, train.y.astype(int), group=train.sizes, eval_at=[10],
            eval_set=[(valid.X, valid.y.astype(int))], eval_group=[valid.sizes],
            callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
        )  # fmt: skip
    return lambda data: model.predict(data.X)


def xgboost(train: ar.Dataset, valid: ar.Dataset, setting: Setting | None) -> Predict:
    """XGBRanker, rank:ndcg."""
    import xgboost as xgb

    common = {"objective": "rank:ndcg", "n_jobs": 1}
    if setting is None:
        model = xgb.XGBRanker(**common).fit(train.X, train.y, qid=train.query_of_row)
    else:
        model = xgb.XGBRanker(
            **common, n_estimators=N_TREES, max_depth=setting.depth, learning_rate=setting.rate,
            eval_metric="ndcg@10", early_stopping_rounds=PATIENCE,
        )  # fmt: skip
        model.fit(
            train.X, train.y, qid=train.query_of_row, eval_set=[(valid.X, valid.y)], eval_qid=[valid.query_of_row],
            verbose=False,
        )  # fmt: skip
    return lambda data: model.predict(data.X)


def catboost(train: ar.Dataset, valid: ar.Dataset, setting: Setting | None) -> Predict:
    """CatBoostRanker, YetiRank."""
    import catboost as cb

    def pool(data: ar.Dataset) -> Any:
        return cb.Pool(data.X, data.y, group_id=data.query_of_row)

    common = {"loss_function": "YetiRank", "thread_count": 1, "verbose": False, "allow_writing_files": False}
    if setting is None:
        model = cb.CatBoostRanker(**common).fit(pool(train))
    else:
        model = cb.CatBoostRanker(
            **common, iterations=N_TREES, depth=setting.depth, learning_rate=setting.rate,
            eval_metric="NDCG:top=10", od_type="Iter", od_wait=PATIENCE,
        )  # fmt: skip
        model.fit(pool(train), eval_set=pool(valid))
    return lambda data: model.predict(pool(data))


#: Name -> the tool, and whether it has settings to choose from.
TOOLS: dict[str, tuple[Callable[..., Predict], bool]] = {
    "argrank auto": (ours("auto"), False),
    "argrank query-mart": (ours("query-mart"), True),
    "argrank lambda-mart": (ours("lambda-mart"), True),
    "LightGBM lambdarank": (lightgbm, True),
    "XGBoost rank:ndcg": (xgboost, True),
    "CatBoost YetiRank": (catboost, True),
}


def warm(name: str, train: ar.Dataset) -> None:
    """Import the library, and load or compile our machine code, before the clock starts."""
    library, *ranker = name.split()
    if library == "argrank":
        few = {"max_trees": 6} if ranker == ["auto"] else {"n_trees": 2}
        ar.make_ranker(ranker[0], n_jobs=1, verbose=-1, **few).fit(train.select(range(min(8, train.n_queries))))
    else:
        importlib.import_module(library.lower())


def run_tool(name: str, mode: str, train: ar.Dataset, valid: ar.Dataset) -> tuple[Predict, str]:
    """Return the fitted tool's prediction and the setting that was chosen."""
    fit, _ = TOOLS[name]
    if mode == "default":
        return fit(train, valid, None), "default"
    best: tuple[float, Predict, str] | None = None
    for setting in SETTINGS:
        predict = fit(train, valid, setting)
        value = ar.evaluate(predict(valid), valid, "ndcg@10").means["ndcg@10"]
        if best is None or value > best[0]:
            best = (value, predict, f"{setting.n_leaves} leaves or depth {setting.depth}, rate {setting.rate:g}")
    assert best is not None
    return best[1], best[2]
