"""A table with a brand, a flag and missing values: trained for OpenSearch, exported strictly, its log verified."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import argrank as ar
from argrank.cli import main
from argrank.deploy.deployment import deployment
from argrank.deploy.one_hot import computed

NAMES = ["bm25", "price", "in_stock", "brand"]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as finished:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert finished.value.code == 0, out + err
    return out


def shop(path, n=600):
    random = np.random.default_rng(2)
    brand = random.integers(0, 12, n)
    bm25, price = random.gamma(2, 3, n).astype(np.float32), random.lognormal(3, 1, n).astype(np.float32)
    grade = np.clip(np.round(random.normal(size=12)[brand] + bm25 / 6 - np.log(price) / 9), 0, 3).astype(int)
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["qid", "label", *NAMES])
        for i in range(n):
            cost = "" if random.random() < 0.2 else repr(float(price[i]))
            name = "" if random.random() < 0.1 else f"Brand {brand[i]:02d} & co"
            table.writerow([f"q{i // 20}", grade[i], repr(float(bm25[i])), cost, i % 2, name])
    return path


@pytest.mark.parametrize("ranker", ["auto", "mart", "rank-svm"])
def test_from_a_table_to_the_engine_and_back(ranker, tmp_path, capsys):
    table, model, folder = shop(tmp_path / "shop.csv"), tmp_path / "model.json", tmp_path / "deploy"
    settings = ["-p", "max_trees=30"] if ranker == "auto" else ["-p", "n_trees=20"] if ranker == "mart" else []
    run(capsys, "train", table, "-r", ranker, *settings, "--target", "opensearch", "-o", model, "-q")
    out = run(capsys, "export", model, "--to", "opensearch", "-o", folder, "--check", table, "--strict")
    assert "0 queries reordered" in out
    assert "brand has categories" in out
    made, data = deployment(model, "opensearch"), ar.load(table)
    X = made.served.features_of(data)
    columns = computed(X, made.columns)
    with (tmp_path / "log.csv").open("w", newline="") as stream:  # as an engine logs it: columns that it computes
        log = csv.writer(stream)
        log.writerow([*made.options.features, "score"])
        for row, score in zip(columns.tolist(), made.score(X).tolist(), strict=True):
            log.writerow(["" if cell != cell else cell for cell in [*row, score]])
    out = run(capsys, "verify", model, tmp_path / "log.csv", "--to", "opensearch")
    assert "within" in out
    assert "would not show" not in out
