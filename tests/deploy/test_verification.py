"""`argrank verify` accepts right deployments and rejects wrong ones; what it prints is what predict gives."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest
from tests.deploy.conftest import random_tree
from tests.deploy.test_categories import TEXTS

import argrank as ar
from argrank.cli import main
from argrank.deploy.deployment import deployment
from argrank.deploy.one_hot import computed
from argrank.deploy.verification import TOLERANCE, verify
from argrank.models.linear import LinearModel
from argrank.models.trees import TreesModel

NAMES = ("bm25", "price", "in_stock", "brand")


@pytest.fixture(scope="module")
def shop():
    """Return a table with missing values and a brand, and trees and a linear model trained on it."""
    random = np.random.default_rng(5)
    n = 1200
    brand = random.integers(0, 40, n)
    X = np.column_stack([random.gamma(2, 3, n), random.lognormal(3, 1, n), random.random(n) < 0.3, brand]).astype(float)
    label = np.clip(np.round(random.normal(size=40)[brand] + X[:, 0] / 6 + np.log(X[:, 1]) / 9), 0, 4)
    X[random.random(n) < 0.2, 1] = np.nan
    X[random.random(n) < 0.1, 3] = np.nan
    data = ar.Dataset(X, label, np.repeat(np.arange(60), 20), feature_names=NAMES, categories={"brand": TEXTS})
    trees = ar.make_ranker("mart", n_trees=20, n_leaves=8).fit(data).model_
    assert any(tree.categories for tree in trees.trees)
    linear = ar.make_ranker("regression", ridge=1.0, normalise="standard", prepare="zero").fit(data).model_
    return data, trees, linear


def log(path, names, rows, scores):
    """Write what an engine logs; NaN is an empty cell."""
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow([*names, "score"])
        for row, score in zip(rows, scores, strict=True):
            cells = ["" if isinstance(cell, float) and np.isnan(cell) else cell for cell in row]
            table.writerow([*cells, repr(float(score))])
    return path


def texts(X):
    """Return rows with brands as texts."""
    return [[*row[:3], "" if np.isnan(row[3]) else TEXTS[int(row[3])]] for row in X.tolist()]


def code(capsys, *arguments):
    with pytest.raises(SystemExit) as finished:
        main([str(one) for one in arguments])
    return finished.value.code, capsys.readouterr().out


# ---- twelve right ones -------------------------------------------------------------------------------------------


def right_lightgbm(shop, path):
    booster = pytest.importorskip("lightgbm").Booster(
        model_str=ar.export(shop[1], "lightgbm").files["model.txt"].decode()
    )
    return shop[1], "lightgbm", log(path, NAMES, texts(shop[0].X), booster.predict(shop[0].X))


def right_lightgbm_numbers(shop, path):
    booster = pytest.importorskip("lightgbm").Booster(
        model_str=ar.export(shop[1], "lightgbm").files["model.txt"].decode()
    )
    return shop[1], "lightgbm", log(path, NAMES, shop[0].X.tolist(), booster.predict(shop[0].X))


def right_xgboost_columns(shop, path):
    xgboost = pytest.importorskip("xgboost")
    made = deployment(shop[1], "xgboost")
    (path.parent / "model.json").write_bytes(made.files["model.json"])
    rows = computed(shop[0].X, made.columns)
    matrix = xgboost.DMatrix(rows, feature_names=list(made.options.features))
    live = xgboost.Booster(model_file=str(path.parent / "model.json")).predict(matrix, output_margin=True)
    return shop[1], "xgboost", log(path, made.options.features, rows.tolist(), live)


def right_xgboost_texts(shop, path):
    model, to, _ = right_xgboost_columns(shop, path)
    live = [float(line.rsplit(",", 1)[1]) for line in path.read_text().splitlines()[1:]]
    return model, to, log(path, NAMES, texts(shop[0].X), live)


def onnx(model, rows):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(ar.export(model, "onnx").files["model.onnx"])
    return session.run(None, {"features": rows.astype(np.float32)})[0][:, 0]


def right_onnx_trees(shop, path):
    return shop[1], "onnx", log(path, NAMES, texts(shop[0].X), onnx(shop[1], shop[0].X))


def right_onnx_linear(shop, path):
    return shop[2], "onnx", log(path, NAMES, texts(shop[0].X), onnx(shop[2], shop[0].X))


def right_python(shop, path):
    names: dict = {}
    exec(ar.export(shop[1], "python").files["model.py"], names)
    return shop[1], "python", log(path, NAMES, texts(shop[0].X), [names["score"](row) for row in texts(shop[0].X)])


def right_frank_in_doubles(shop, path):
    """Thresholds on values of the data: rounding the features would move them to the other side."""
    data = ar.make_ranking(10, 10, 3, random_state=1)
    model = ar.make_ranker("frank", n_rounds=20).fit(data).model_
    return model, "lightgbm", log(path, ("feature_1", "feature_2", "feature_3"), data.X.tolist(), model.scores(data.X))


def right_large_scores(shop, path):
    """Sums in float32 of large numbers: an absolute tolerance would refuse them."""
    model = LinearModel(np.array([1234.5, -98.7]))
    rows = np.random.default_rng(0).random((50, 2)).astype(np.float32)
    scores = rows @ np.array([1234.5, -98.7], np.float32)
    return model, "opensearch", log(path, ("feature_1", "feature_2"), rows.astype(float).tolist(), scores)


def right_long_sum(shop, path):
    """Two thousand equal steps added in float32: errors of one direction, which grow with the number of trees."""
    random = np.random.default_rng(1)
    tree = random_tree(random, 2, 3, [0.5, 1.0])
    steps = [tree.with_values(np.full(tree.n_leaves, 0.1))] * 2000
    model = TreesModel((tree, *steps), 2)
    rows = random.random((30, 2)).astype(np.float32)
    begin = TreesModel((tree,), 2).scores(rows).astype(np.float32)
    scores = np.cumsum(np.vstack([begin, np.full((2000, 30), 0.1, np.float32)]), axis=0, dtype=np.float32)[-1]
    path = log(path, ("feature_1", "feature_2"), rows.astype(float).tolist(), scores)
    assert not verify(model, path, tolerance=TOLERANCE).holds
    return model, None, path


def right_long_sum_of_onnx(shop, path):
    """ONNX Runtime adds trees in an order of its own."""
    random = np.random.default_rng(1)
    tree = random_tree(random, 2, 3, [0.5, 1.0])
    model = TreesModel((tree, *[tree.with_values(np.full(tree.n_leaves, 0.1))] * 2000), 2)
    rows = random.random((30, 2)).astype(np.float32)
    path = log(path, ("feature_1", "feature_2"), rows.astype(float).tolist(), onnx(model, rows))
    assert not verify(model, path, to="onnx", tolerance=TOLERANCE).holds
    return model, "onnx", path


def right_lightgbm_unnamed(shop, path):
    return shop[1], None, right_lightgbm(shop, path)[2]


def right_onnx_unnamed(shop, path):
    return shop[1], None, right_onnx_trees(shop, path)[2]


RIGHT = [right_lightgbm, right_lightgbm_numbers, right_xgboost_columns, right_xgboost_texts, right_onnx_trees,
         right_onnx_linear, right_python, right_frank_in_doubles, right_large_scores, right_long_sum,
         right_long_sum_of_onnx, right_lightgbm_unnamed, right_onnx_unnamed]  # fmt: skip


@pytest.mark.parametrize("right", RIGHT)
def test_right_deployments_are_accepted(right, shop, tmp_path, capsys):
    model, to, path = right(shop, tmp_path / "log.csv")
    model.save(tmp_path / "saved.json")
    found, said = code(capsys, "verify", tmp_path / "saved.json", path, *([] if to is None else ["--to", to]))
    assert found == 0, said


@pytest.mark.parametrize("to", ["opensearch", "elasticsearch", "solr", "ranklib"])
@pytest.mark.parametrize("name", ["linear, standard", "trees", "trees trained with missing values"])
def test_what_the_engines_themselves_gave_is_accepted(to, name, cases, golden, rows, rows_missing, tmp_path, capsys):
    model, case = cases[name]
    if to not in case:
        pytest.skip(f"the golden file has no {to} scores of this model")
    model.save(tmp_path / "saved.json")
    constant = ["--constant"] if to == "ranklib" and name.startswith("linear") else []
    missing = ["--missing", "zero"] if to == "ranklib" and name.endswith("missing values") else []
    for own, scores in ((rows, case[to]), (rows_missing, case.get(f"{to}_missing"))):
        if scores is None:
            continue
        path = log(tmp_path / "log.csv", golden["names"], own.astype(np.float32).astype(float).tolist(), scores)
        found, said = code(capsys, "verify", tmp_path / "saved.json", path, "--to", to, *constant, *missing)
        assert found == 0, said


# ---- twelve wrong ones -------------------------------------------------------------------------------------------


def swapped(X, score, _):
    return score(X[:, [1, 0, 2, 3]])


def missing_as_0(X, score, _):
    return score(np.column_stack([np.nan_to_num(X[:, :3]), X[:, 3]]))


def three_digits(X, score, _):
    return np.round(score(X), 3)


def shifted(X, score, _):
    return score(X) + 0.5


def stale(X, score, shop):
    return deployment(TreesModel(shop[1].trees[:-1], 4, feature_names=NAMES, categories={"brand": TEXTS}),
                      "opensearch").score(X)  # fmt: skip


def logistic(X, score, _):
    return 1 / (1 + np.exp(-score(X)))


def rate_twice(X, score, _):
    return 0.1 * score(X)


def next_row(X, score, _):
    return np.roll(score(X), 1)


def other_codes(X, score, _):
    return score(np.column_stack([X[:, :3], 39 - X[:, 3]]))


def no_brands(X, score, _):
    return score(np.column_stack([X[:, :3], np.full(len(X), np.nan)]))


def rounded_features(X, score, _):
    return score(np.column_stack([np.round(X[:, :2]), X[:, 2:]]))


def upside_down(X, score, _):
    return -score(X)


def other_units(X, score, _):
    return score(X * [1, 100, 1, 1])


WRONG = [swapped, missing_as_0, three_digits, shifted, stale, logistic, rate_twice, next_row, other_codes, no_brands,
         rounded_features, upside_down, other_units]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("given", [("--to", "opensearch"), ()])
def test_wrong_deployments_are_rejected(wrong, given, shop, tmp_path, capsys):
    data, trees, _ = shop
    trees.save(tmp_path / "saved.json")
    scores = wrong(data.X, deployment(trees, "opensearch").score, shop)
    path = log(tmp_path / "log.csv", NAMES, texts(data.X), scores)
    found, said = code(capsys, "verify", tmp_path / "saved.json", path, *given)
    assert found == 1, said


# ---- what it says ------------------------------------------------------------------------------------------------


def test_features_that_the_log_does_not_exercise_are_named(tmp_path):
    model = LinearModel(np.array([1.0, -2.0, 3.0, 0.0]), feature_names=("a", "b", "c", "d"))
    rows = np.array([[1.0, 5.0, 7.0, 1.0], [2.0, 5.0, 7.0, 2.0]])
    found = verify(model, log(tmp_path / "log.csv", "abcd", rows.tolist(), model.scores(rows)), to="solr")
    assert found.holds
    assert (found.exercised, found.idle) == (("a",), ("b", "c"))
    assert found.lines[2] == (
        "The log exercises 1 of the 3 features that the model uses; errors in others would not show: b, c."
    )


def test_without_a_target_it_says_what_it_compared_with(tmp_path):
    tree = random_tree(np.random.default_rng(0), 1, 2, [0.1])
    model = TreesModel((tree,), 1, feature_names=("a",))
    rows = np.array([[0.1], [0.2]])  # 0.1 as float32 is above the threshold
    doubles = verify(model, log(tmp_path / "log.csv", "a", rows.tolist(), model.scores(rows)))
    singles = verify(model, log(tmp_path / "log.csv", "a", rows.tolist(), model.scores(rows.astype(np.float32))))
    assert doubles.holds
    assert "not rounded: these are nearer" in doubles.lines[1]
    assert singles.holds
    assert "rounded to float32 as in most engines" in singles.lines[1]
    assert f"argrank predicts {float(model.predict(rows)[0])!r}." in doubles.lines[0]


def test_names_of_the_engine_and_its_own_columns(shop, tmp_path, capsys):
    data, trees, _ = shop
    trees.save(tmp_path / "saved.json")
    (tmp_path / "names.txt").write_text("title_score\nprice\nin_stock\nbrand.keyword\n")
    made = deployment(trees, "opensearch", features=["title_score", "price", "in_stock", "brand.keyword"])
    rows = computed(data.X, made.columns)
    path = log(tmp_path / "log.csv", made.options.features, rows.tolist(), made.score(data.X))
    arguments = ("verify", tmp_path / "saved.json", path, "--to", "opensearch", "--features", tmp_path / "names.txt")
    assert code(capsys, *arguments)[0] == 0
    rows[0, [name.startswith("brand.keyword=") for name in made.options.features]] = 2.5
    log(path, made.options.features, rows.tolist(), made.score(data.X))
    assert code(capsys, *arguments)[0] == 2


def test_strict_counts_reorderings_whatever_their_cause(tmp_path, capsys):
    data = ar.make_ranking(20, 15, 3, random_state=0)
    ranker = ar.make_ranker("frank", n_rounds=20).fit(data)
    ranker.save(tmp_path / "m.json")
    ar.dump(data, tmp_path / "test.txt")
    parity = ar.export(ranker, "solr", check=data).parity
    assert parity.reordered > 0
    assert parity.reordered_beyond_rounding == 0
    command = ("export", tmp_path / "m.json", "--to", "solr", "-o", tmp_path / "s", "--check", tmp_path / "test.txt")
    assert code(capsys, *command, "--strict")[0] == 1
    assert code(capsys, *command, "--strict=beyond-rounding")[0] == 0
    assert code(capsys, *command, "--strict=often")[0] == 2
    assert code(capsys, *command[:3], "python", *command[4:], "--strict")[0] == 0


# ---- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["log.parquet", "log.arrow", "log.tsv", "log.csv.gz", "german.csv"])
def test_every_table_that_is_loaded_is_verified(shop, name, tmp_path):
    data, trees, _ = shop
    frame = pd.DataFrame(texts(data.X), columns=NAMES).assign(score=trees.scores(data.X), qid=data.qid)
    frame["in_stock"] = frame["in_stock"] == 1
    path, wrong = tmp_path / name, tmp_path / f"wrong-{name}"
    for where, table in ((path, frame), (wrong, frame.assign(bm25=frame["bm25"].to_numpy()[::-1]))):
        if name == "log.parquet":
            table.to_parquet(where)
        elif name == "log.arrow":
            table.to_feather(where)
        else:
            options = {"sep": ";", "decimal": ","} if name == "german.csv" else {}
            table.to_csv(where, index=False, **({"sep": "\t"} if name == "log.tsv" else options))
    assert verify(trees, path, to="lightgbm").holds
    found = verify(trees, wrong, to="lightgbm")
    assert not found.holds
    assert ", qid " in found.lines[0]
    assert ("row " if name in ("log.parquet", "log.arrow") else "line ") in found.lines[0]


def test_dates_are_logged_as_dates_or_as_days(tmp_path):
    random = np.random.default_rng(0)
    days = pd.Timestamp("2025-06-30") - pd.to_timedelta(random.integers(0, 300, 120), unit="D")
    frame = pd.DataFrame({"qid": np.repeat(np.arange(12), 10), "label": random.integers(0, 3, 120), "listed": days})
    data = ar.Dataset(frame, dates=["listed"])
    model = ar.make_ranker("regression").fit(data).model_
    log = frame.assign(score=model.predict(data))
    for number, listed in enumerate((log["listed"].dt.strftime("%d.%m.%Y"), log["listed"], data.X[:, 0])):
        path = tmp_path / f"{number}.parquet"
        log.assign(listed=listed).iloc[20:].to_parquet(path)
        assert verify(model, path).holds
    log.assign(listed=log["listed"] + pd.Timedelta(days=1)).to_parquet(path)
    assert not verify(model, path).holds
