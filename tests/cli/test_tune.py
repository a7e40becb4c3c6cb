"""argrank tune: from runs and judgements, and from a table."""

from __future__ import annotations

import json

import numpy as np
import pytest

import argrank as ar
from argrank.cli import main
from argrank.data.io.trec.files import write_qrels, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    data = ar.make_ranking(30, 8, 3, noise=0.3, random_state=3)
    write_qrels(data, folder / "q.qrels")
    for column, name in enumerate(("bm25", "embedding", "popularity")):
        write_run(data.X[:, column] * 100.0**column, data, folder / f"{name}.run")
    rows = ["qid,label,bm25,embedding"]
    rows += [
        f"{query},{label:g},{x[0]!r},{x[1]!r}"
        for query, label, x in zip(data.query_of_row.tolist(), data.y.tolist(), data.X.tolist(), strict=True)
    ]
    (folder / "table.csv").write_text("\n".join(rows) + "\n")
    return folder


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["tune", *map(str, arguments)])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def test_runs(capsys, folder):
    runs = [folder / f"{name}.run" for name in ("bm25", "embedding", "popularity")]
    chosen = [
        "--normalise",
        "minmax",
        "--bounds",
        "0:",
        "--cv",
        "2",
        "--formula",
        "opensearch",
        "--requests",
        folder / "hybrid",
    ]
    files = ["-o", folder / "weights.json", "--plot", folder / "weights.png"]
    code, out, err = run(capsys, folder / "q.qrels", *runs, "-m", "ndcg@5", *chosen, *files, "-j", 1)
    assert (code, err) == (0, "")
    assert "reciprocal-rank fusion" in out
    assert '"technique": "min_max"' in out
    weights = json.loads((folder / "weights.json").read_text())
    assert min(weights["weights"].values()) >= 0
    assert (folder / "weights.png").read_bytes().startswith(b"\x89PNG")
    by_name = {name: folder / f"{name}.run" for name in ("bm25", "embedding", "popularity")}
    tuned = ar.tune_weights(by_name, folder / "q.qrels", "ndcg@5", normalise="minmax", engine="opensearch", cv=None)
    assert weights["weights"] == tuned.weights
    assert weights["engine"] == {"name": "opensearch", "way": "minmax", "window": 100, "constant": 0}
    assert json.loads((folder / "hybrid" / "pipeline.json").read_text()) == json.loads(tuned.formula("opensearch"))


def test_a_table_with_one_column_per_system(capsys, folder):
    arguments = [folder / "table.csv", "--column", "bm25,embedding", "--cv", "0", "--normalise", "none", "--json"]
    code, out, _ = run(capsys, *arguments, "--fix", "bm25=1", "--bounds", "embedding=0:5")
    found = json.loads(out)
    assert code == 0
    assert found["weights"]["bm25"] == 1
    assert 0 <= found["weights"]["embedding"] <= 5
    table = ar.load(folder / "table.csv")
    fused = table.X @ np.array(list(found["weights"].values()))
    assert ar.evaluate(fused, table, "ndcg@10").means["ndcg@10"] == pytest.approx(found["value"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["q.qrels"], "expected runs after the judgements"),
        (["table.csv", "--column", "bm"], "--column: expected one of bm25, embedding"),
        (["q.qrels", "bm25.run", "--column", "a"], "--column: expected no runs"),
        (["q.qrels", "bm25.run", "--fix", "bm25"], "--fix: expected NAME=VALUE"),
        (["q.qrels", "bm25.run", "--bounds", "0"], "--bounds: expected LOW:HIGH"),
        (["q.qrels", "bm25.run", "--bounds", "x:1"], "--bounds: expected LOW:HIGH"),
        (["q.qrels", "bm25.run", "--bounds", "0:", "--bounds", "bm25=0:1"], "--bounds: expected one LOW:HIGH"),
        (["q.qrels", "bm25.run", "--engine", "lucene"], "unknown engine"),
        (["q.qrels", "bm25.run", "--engine", "opensearch@1.2"], "expected opensearch from 2.10 up"),
        (["q.qrels", "bm25.run", "--requests", "x"], "--requests: expected --engine"),
        (["q.qrels", "bm25.run", "--normalise", "rank", "--normalise", "bm25=none"], "--normalise: expected one NAME"),
        (["q.qrels", "bm25.run", "--missing", "top"], "missing: expected"),
    ],
)
def test_mistakes_end_in_one_line(capsys, folder, monkeypatch, arguments, text):
    monkeypatch.chdir(folder)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert text in err
    assert err.count("\n") == 1
