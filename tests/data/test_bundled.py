from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import argrank as ar

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    return ar.load_bundled()


def test_facts(data):
    assert data.n_queries == 300
    assert 20 <= data.sizes.min() <= data.sizes.max() <= 40
    assert 12 <= data.n_features <= 18
    assert set(np.unique(data.y)) == {0, 1, 2, 3, 4}
    assert {"bm25_title", "price_rank", "rating", "in_stock"} <= set(data.feature_names)
    assert len(set(data.query_texts.tolist())) == 300
    assert len(set(data.sources.tolist())) == 20
    assert all(title.startswith(brand) for title, brand in zip(data.titles, data.sources, strict=True))


def test_a_product_is_at_most_once_in_a_query(data):
    pairs = set(zip(data.query_of_row.tolist(), data.document_ids.tolist(), strict=True))
    assert len(pairs) == data.n_documents


def test_the_doctor_finds_no_error(data):
    diagnosis = ar.doctor(data)
    assert not diagnosis.of("error")
    assert {finding.check for finding in diagnosis} >= {"without-relevant", "constant-in-queries"}


def test_small_enough_to_ship():
    assert sum(entry.stat().st_size for entry in Path(str(files("argrank.data.bundled"))).glob("*.gz")) < 1_000_000


def test_the_script_reproduces_the_file():
    """Byte for byte before compression; how well zlib compresses differs between its versions."""
    script = ROOT / "scripts" / "make_bundled_data.py"
    spec = importlib.util.spec_from_file_location("make_bundled_data", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        made = module.make_csv()
    finally:
        del sys.modules[spec.name]
    assert made == gzip.decompress((files("argrank.data.bundled") / "shop.csv.gz").read_bytes())


def test_linear_models_rank_it_well_but_not_perfectly(data):
    train, test = data.split(0.6, 0.4)

    def ndcg(scores) -> float:
        return ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"]

    line = ndcg(LinearRegression().fit(train.X, train.y).predict(test.X))
    best_feature = max(ndcg(sign * test.X[:, column]) for column in range(test.n_features) for sign in (1, -1))
    assert 0.80 < line < 0.88
    assert best_feature < line - 0.1


def test_trees_rank_it_better_than_linear_models(data):
    lightgbm = pytest.importorskip("lightgbm")
    train, test = data.split(0.6, 0.4)
    trees = lightgbm.LGBMRegressor(n_estimators=100, num_leaves=15, verbose=-1, n_jobs=1).fit(train.X, train.y)
    line = LinearRegression().fit(train.X, train.y)
    result = ar.compare({"trees": trees.predict(test.X), "line": line.predict(test.X)}, test, "ndcg@10")
    assert "trees" in repr(result)
    values = [ar.evaluate(model.predict(test.X), test, "ndcg@10").means["ndcg@10"] for model in (trees, line)]
    assert values[0] > values[1] + 0.01


def test_loads_without_numba_or_scikit_learn():
    code = "import sys, argrank as ar; ar.load_bundled(); print(*({'numba', 'polars', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")
