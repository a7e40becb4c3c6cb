"""Features logged -> model trained -> exported -> verified against the next log, on simulated responses."""

import json

import numpy as np
import pytest

import argrank as ar
from argrank.deploy.deployment import deployment
from argrank.deploy.verification import verify
from argrank.errors import FormatError, InputError, OptionError

NAMES = ["title", "price", "brand=acme"]
VESPA_NAMES = ["bm25(title)", "attribute(price)", "attribute(is_acme)"]


def plugin(rows):
    def entry(name, value):
        return {"name": name} if np.isnan(value) else {"name": name, "value": float(value)}

    hits = [
        {
            "_id": docid,
            "_score": score,
            "fields": {"_ltrlog": [{"log_entry1": [entry(*pair) for pair in zip(NAMES, x, strict=True)]}]},
        }
        for docid, score, x in rows
    ]
    return {"took": 1, "hits": {"total": {"value": len(hits)}, "hits": hits}}


def solr(rows):
    docs = [
        {"id": docid, "score": score, "[features]": ",".join(f"{n}={v:.9g}" for n, v in zip(NAMES, x, strict=True))}
        for docid, score, x in rows
    ]
    return {"responseHeader": {"status": 0}, "response": {"numFound": len(docs), "docs": docs}}


def vespa(rows):
    children = [
        {
            "id": f"id:shop:product::{docid}",
            "relevance": score,
            "fields": {
                "matchfeatures": {n: float(v) for n, v in zip(VESPA_NAMES, x, strict=True) if not np.isnan(v)},
                "summaryfeatures": {"vespa.summaryFeatures.cached": 0.0},
            },
        }
        for docid, score, x in rows
    ]
    return {"root": {"id": "toplevel", "relevance": 1.0, "children": children}}


RESPONSES = {"opensearch": plugin, "elasticsearch": plugin, "solr": solr, "vespa": vespa}


def documents(seed, n_queries=12):
    """Return the rows of every query: float32 features, every seventh title missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries, 8, 3)).astype(np.float32)
    X[:, :, 2] = X[:, :, 2] > 0
    X[rng.random((n_queries, 8)) < 1 / 7, 0] = np.nan
    return X


def write(path, engine, X, score):
    with open(path, "w") as stream:
        for q, rows in enumerate(X):
            found = [(f"p{d}", float(score(x)), x) for d, x in enumerate(rows)]
            stream.write(json.dumps({"qid": f"query {q}", "response": RESPONSES[engine](found)}) + "\n")


@pytest.mark.parametrize("engine", RESPONSES)
@pytest.mark.parametrize("ranker", ["mart", "rank-svm"])
def test_the_circle(tmp_path, engine, ranker):
    X = documents(1)
    write(tmp_path / "first.jsonl", engine, X, lambda x: 1.0)
    lines = ["query,docid,rating"]
    for q, rows in enumerate(X):
        for d, x in enumerate(rows[:-1]):  # the last document of each query is not judged
            lines.append(f"query {q},p{d},{int(np.nan_to_num(x[0]) + x[2] > 0) + int(x[2])}")
    (tmp_path / "judged.csv").write_text("\n".join(lines) + "\n")
    data = ar.load_logged(tmp_path / "first.jsonl", engine=engine, judgements=tmp_path / "judged.csv")
    assert list(data.feature_names) == (VESPA_NAMES if engine == "vespa" else NAMES)
    assert (data.n_queries, data.n_documents) == (12, 12 * 7)
    assert np.isnan(data.X).sum() == np.isnan(X[:, :-1, 0]).sum()
    model = ar.make_ranker(ranker, **({"n_trees": 5} if ranker == "mart" else {"prepare": None}))
    if ranker == "rank-svm":
        data = data.with_features(np.nan_to_num(data.X))  # as the engines do: a linear model takes 0
    model.fit(data)
    model.save(tmp_path / "model.json")
    exported = ar.export(model, engine, check=data)
    assert exported.parity.holds
    made = deployment(ar.load_model(tmp_path / "model.json"), engine)
    later = documents(2)
    if ranker == "rank-svm":
        later = np.nan_to_num(later)
    write(tmp_path / "next.jsonl", engine, later, lambda x: made.score(x[None].astype(float))[0])
    assert verify(tmp_path / "model.json", tmp_path / "next.jsonl", to=engine).holds
    write(tmp_path / "wrong.jsonl", engine, later, lambda x: made.score(x[None].astype(float)[:, [1, 0, 2]])[0])
    found = verify(tmp_path / "model.json", tmp_path / "wrong.jsonl", to=engine)
    assert not found.holds
    assert any("query" in line and "line" in line for line in found.lines)


def test_judgements_of_every_kind_and_order_of_features(tmp_path):
    X = documents(3, 3)
    write(tmp_path / "log.jsonl", "solr", X, lambda x: 0.5)
    qrels = {f"query {q}": {"p0": 2, "p3": 0} for q in range(3)}
    by_mapping = ar.load_logged(tmp_path / "log.jsonl", judgements=qrels, features=["price", "title"])
    assert list(by_mapping.feature_names) == ["price", "title"]
    assert by_mapping.y.tolist() == [2, 0] * 3
    assert np.array_equal(by_mapping.X[:, 1], X[:, [0, 3], 0].ravel(), equal_nan=True)
    for form, name in (("workbench", "j.json"), ("quepid", "j.csv"), ("rre", "k.json")):
        ar.write_judgements(qrels, tmp_path / name, form)
        assert ar.load_logged(tmp_path / "log.jsonl", judgements=tmp_path / name).y.tolist() == [2, 0] * 3
    bare = ar.load_logged(tmp_path / "log.jsonl")
    assert not bare.is_judged
    assert bare.n_documents == 24


def test_a_response_may_bring_its_query_itself(tmp_path):
    response = solr([("a", 1.0, [1.0, 2.0, 0.0])])
    response["responseHeader"]["params"] = {"q": "red shoes"}
    second = {"qid": 7, **plugin([("b", 1.0, [1.0, 2.0, 0.0])])}
    (tmp_path / "log.jsonl").write_text(f"{json.dumps(response)}\n\n{json.dumps(second)}\n")
    data = ar.load_logged(tmp_path / "log.jsonl")
    assert sorted(data.query_ids.tolist()) == ["7", "red shoes"]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", ":1: expected a response in JSON"),
        ("[1]", ":1: expected an object"),
        ('{"hits": {"hits": []}}', "expected the query as"),
        ('{"qid": "a", "response": {"took": 1}}', "expected a response of"),
        ('{"qid": "a", "response": {"hits": {"hits": [{"_id": "1"}]}}}', "expected 'fields', an object"),
        ('{"qid": "a", "response": {"hits": {"hits": [{"_id": "1", "fields": {}}]}}}', "expected '_ltrlog', a list"),
        ('{"qid": "a", "response": {"response": {"docs": [{"id": "1"}]}}}', "expected '\\[features\\]'"),
        (
            '{"qid": "a", "response": {"response": {"docs": [{"id": "1", "[features]": "f=x"}]}}}',
            "a number for feature 'f'",
        ),
        ('{"qid": "a", "response": {"root": {"children": [{"id": "1", "fields": {}}]}}}', "expected 'summaryfeatures'"),
        ('{"qid": "a", "response": {"root": {}}}', "expected responses with documents"),
        ('{"qid": "a", "response": ' + "[" * 100_000, "expected a response in JSON"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path, line, text):
    (tmp_path / "log.jsonl").write_text(line + "\n")
    with pytest.raises(FormatError, match=text):
        ar.load_logged(tmp_path / "log.jsonl")


def test_mistakes(tmp_path):
    X = documents(4, 2)
    write(tmp_path / "log.jsonl", "vespa", X, lambda x: 0.5)
    with pytest.raises(OptionError, match="unknown engine"):
        ar.load_logged(tmp_path / "log.jsonl", engine="lucene")
    with pytest.raises(FormatError, match="expected a response of solr"):
        ar.load_logged(tmp_path / "log.jsonl", engine="solr")
    with pytest.raises(InputError, match="expected grades of logged documents"):
        ar.load_logged(tmp_path / "log.jsonl", judgements={"other": {"p0": 1}})
    with pytest.raises(FormatError, match="feature 'colour' in the log"):
        ar.load_logged(tmp_path / "log.jsonl", features=["colour"])
    X[1, 0, 1] += 1
    with open(tmp_path / "log.jsonl", "a") as stream:
        rows = [("p0", 1.0, X[1, 0])]
        stream.write(json.dumps({"qid": "query 1", "response": vespa(rows)}) + "\n")
    with pytest.raises(FormatError, match=":3: expected document 'p0' of query 'query 1' with the features of line 2"):
        ar.load_logged(tmp_path / "log.jsonl")
