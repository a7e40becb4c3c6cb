"""Importances, dependence and reasons, as plots, in the report and on the command line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.cli import main


@pytest.fixture(scope="module")
def data() -> ar.Dataset:
    frame = ar.make_ranking(30, 12, 3, random_state=4).to_pandas()
    rng = np.random.default_rng(0)
    frame["price"] = np.where(rng.random(len(frame)) < 0.2, np.nan, rng.random(len(frame)) - 0.2 * frame["label"])
    frame["brand"] = rng.choice(["acme", "<b>bold</b>", "zen"], len(frame))
    frame["qid"] = [f"query {one} & more" for one in frame["qid"]]
    return ar.Dataset(frame)


@pytest.fixture(scope="module")
def ranker(data: ar.Dataset) -> Any:
    return ar.make_ranker("auto", members=["rank-svm", "mart"], max_trees=40, verbose=-1).fit(data)


def command(capsys: Any, *arguments: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    return str(capsys.readouterr().out)


def test_the_command_explains(data: ar.Dataset, ranker: Any, tmp_path: Any, capsys: Any) -> None:
    ranker.save(tmp_path / "model.json")
    data.to_pandas().drop(columns="label").to_csv(tmp_path / "new.csv", index=False)
    files = [str(tmp_path / "model.json"), str(tmp_path / "new.csv")]
    query = str(data.query_ids[3])
    said = command(capsys, "explain", *files, "--query", query, "--top", "2")
    assert f"Query {query}: " in said
    assert "all together" in said
    assert said.split("\n\n")[0].count("%") == 2
    plain = json.loads(command(capsys, "explain", *files, "--json"))
    assert sum(plain["importances"].values()) == pytest.approx(1.0)
    first, second = ranker.rank(data.select([0]))[0][:2]
    scores = ranker.predict(data.select([0]))
    assert sum(plain["why"]["adds"].values()) == pytest.approx(scores[first] - scores[second], abs=1e-9)
    with pytest.raises(SystemExit) as end:
        main(["explain", *files, "--query", "unknown"])
    assert end.value.code == 2


def test_the_report_has_importances_with_directions_and_links(data: ar.Dataset, ranker: Any, tmp_path: Any) -> None:
    folds = ar.cross_validate("rank-svm", data, "ndcg@10", n_folds=3, progress=False)
    for path, given in ((tmp_path / "a.html", (data, {"auto": ranker})), (tmp_path / "b.html", (folds,))):
        text = ar.write_report(path, *given).read_text()
        assert "most important features of" in text
        assert 'id="feature-' in text
        assert "↑" in text
        assert "<b>bold" not in text.split('<script type="application/json"')[0]


def test_why_is_a_table_in_notebooks(data: ar.Dataset, ranker: Any) -> None:
    why = ar.why_above(ranker, data, 0, 1)
    html = why._repr_html_()
    assert html.count("<tr>") == len(why.largest) + 2
    assert "all together" in html


def test_plots_work_for_what_a_ranker_has(data: ar.Dataset, ranker: Any, tmp_path: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    linear = ar.make_ranker("rank-svm").fit(data)
    assert len(ar.plot.weights(linear).patches) == len(linear.coef_)
    assert len(ar.plot.weights(linear.model_, top=3).patches) == 3
    assert ar.plot.weights(ranker).get_xlabel() == ar.plot.importances(ranker).get_xlabel()
    assert ar.plot.importances(ar.permutation_importance(linear, data, n_repeats=1)).get_xlabel() == "loss of ndcg@10"
    assert ar.plot.dependence(ranker, data, "price").get_xlabel() == "price"
    assert ar.plot.dependence(ranker, data, "brand").get_ylabel() == "brand"
    for one in (ranker, linear, ar.make_ranker("lambda-mart", n_trees=3).fit(data, eval_set=data)):
        assert len(ar.plot.trace(one).lines) == 1
    with pytest.raises(ar.errors.OptionError):
        ar.plot.dependence(ranker, data, 99)
