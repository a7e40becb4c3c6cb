"""argrank clicks: from judged data to a log, its curve and judgements, without leaving the shell."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import argrank as ar
from argrank import cli


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


@pytest.fixture
def shop(tmp_path):
    data = ar.make_ranking(n_queries=30, random_state=0)
    ar.dump(data, tmp_path / "data.csv")
    return tmp_path


def test_the_whole_way(capsys, shop):
    name = ar.load(shop / "data.csv").feature_names[0]
    log, theta, judged = shop / "log.parquet", shop / "theta.json", shop / "judged.qrels"
    simulate = ("clicks", "simulate", shop / "data.csv", "--system", name, "--sessions", 4000, "-o", log)
    code, out, err = run(capsys, *simulate)
    assert (code, err) == (0, "")
    assert "4,000 sessions" in out
    assert run(capsys, "clicks", "inspect", log)[0] == 0
    code, out, _ = run(capsys, "clicks", "inspect", log, "--json")
    assert json.loads(out)["rates"]["impressions"][0] == 4000
    code, out, _ = run(capsys, "clicks", "propensities", log, "-o", theta)
    assert (code, "Propensities by harvest" in out) == (0, True)
    np.testing.assert_array_equal(ar.read_propensities(theta).values, ar.propensities(ar.load_clicks(log)).values)
    judge = ("clicks", "judge", log, "--method", "examinations", "--propensities", theta, "--levels", 5)
    code, out, _ = run(capsys, *judge, "-o", judged)
    assert (code, out.endswith("judgements\n")) == (0, True)
    assert set(ar.read_judgements(judged)["1"].values()) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert run(capsys, *judge, "-o", shop / "judged.json", "--format", "workbench")[0] == 0
    assert ar.read_judgements(shop / "judged.json") == ar.read_judgements(judged)
    code, out, _ = run(capsys, "clicks", "propensities", log, "--sums", "--by", "ranker")
    assert code == 2


def test_a_model_may_be_simulated_and_a_run_is_refused(capsys, shop):
    data, model, run_file = shop / "data.csv", shop / "model.json", shop / "ranked.csv"
    judged = ar.load(data)
    ranker = ar.make_ranker("regression").fit(judged)
    ranker.save(model)
    simulate = ("clicks", "simulate", data, "--sessions", 200, "-o", shop / "log.parquet")
    assert run(capsys, *simulate, model)[0] == 0
    expected = ar.simulate_clicks(judged, {"model": ranker.predict(judged)}, n_sessions=200, vary=1.0)
    assert ar.load_clicks(shop / "log.parquet").click.tolist() == expected.click.tolist()
    assert run(capsys, "predict", model, data, "-o", run_file)[0] == 0
    code, _, err = run(capsys, *simulate, run_file)
    assert (code, err) == (2, f"argrank: {run_file}: expected a model, or one score for each row, got a run\n")


def test_mistakes_are_one_line(capsys, shop):
    (shop / "log.csv").write_text("session,query,sku,rank,click\n1,tv,a,0,1\n1,tv,b,1,0\n")
    code, out, err = run(capsys, "clicks", "inspect", shop / "log.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "expected columns for docid" in err
    code, out, err = run(capsys, "clicks", "inspect", shop / "log.csv", "--column", "sku=docid", "-q")
    assert code == 0
    assert "error\tposition-zero\t1" in out
    for wrong in (("clicks", "inspekt"), ("clicks", "propensities", shop / "log.csv", "--method", "harvst")):
        code, out, err = run(capsys, *wrong)
        assert (code, err.count("\n")) == (2, 1)
    code, out, err = run(capsys, "clicks")
    assert (code, "propensities" in out) == (0, True)


def test_a_log_in_the_place_of_judgements(capsys, tmp_path):
    data = ar.make_ranking(n_queries=30, random_state=0)
    data = ar.Dataset(data.X, data.y, qid=[f"q{one}" for one in data.qid], document_ids=np.arange(data.n_documents))
    table, log, theta, model = (tmp_path / one for one in ("data.csv", "log.parquet", "theta.json", "model.json"))
    ar.dump(data, table)
    clicks = ar.simulate_clicks(ar.load(table), data.X[:, 0], n_sessions=4000, vary=1.0)
    ar.write_clicks(clicks, log)
    ar.propensities(clicks).write(theta)
    runs = []
    for place in (0, 1):
        rows = zip(data.qid, data.document_ids, data.X[:, place], strict=True)
        runs.append(tmp_path / f"system{place}.run")
        runs[-1].write_text("".join(f"{qid} Q0 {docid} 0 {score} x\n" for qid, docid, score in rows))
    asked = ("--clicks", log, "--propensities", theta)
    code, out, err = run(capsys, "train", table, *asked, "-r", "rank-svm", "-o", model, "-q")
    assert (code, err) == (0, "")
    assert "dcg@10" in out
    code, out, err = run(
        capsys, "evaluate", *asked, model, "--candidates", table, "-m", "dcg@10,clicks@10", "--json", "--min-clicks", 0
    )
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["logged"]["clicks@10"] == pytest.approx(clicks.n_clicks / clicks.n_sessions, abs=1e-12)
    assert found["low"]["dcg@10"] < found["means"]["dcg@10"] < found["high"]["dcg@10"]
    code, out, _ = run(capsys, "compare", *asked, *runs, "--format", "json", "--min-clicks", 0)
    assert (code, len(json.loads(out)["pairs"])) == (0, 1)
    code, out, _ = run(capsys, "tune", *asked, *runs, "--cv", 0, "--normalise", "none", "--min-clicks", 0)
    assert (code, "effective clicks; the logged pages" in out) == (0, True)
    page = tmp_path / "report.html"
    assert run(capsys, "report", table, model, *asked, "-o", page)[0] == 0
    drawn = re.search(r"How much a rank is seen.*?>(rank -?\d+)", page.read_text(), re.DOTALL)
    assert drawn is not None
    assert drawn[1] == "rank 1"
    lists = tmp_path / "lists.csv"
    assert run(capsys, "clicks", "interleave", *runs, "-o", lists)[0] == 0
    assert lists.read_text().startswith("qid,docid,position,team\n")
    code, out, err = run(capsys, "clicks", "preference", log)
    assert (code, "column 'team'" in err) == (2, True)
    code, out, err = run(capsys, "evaluate", *asked, runs[0], "--by", "x.csv")
    assert (code, "--by" in err) == (2, True)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "empty log"),
        ("1,tv,a,-1,0\n", "expected whole numbers from 1 to 100000, got -1 in row 0"),
        ("1,tv,,1,0\n", "docid: expected an id in every row"),
        ("1,tv,a,1,0\n1,tv,,2,1\n", "docid: expected an id in every row, got an empty one in row 1"),
        ("1,tv,a,first,0\n", "position: expected numbers"),
        ("1,tv,a,1,0\n1,tv,a,2,1\n", "got document 'a' twice in session"),
        ("1,tv,a,1,3\n", "click: expected 0 or 1, got 3 in row 0"),
        ("1,tv,a,1,1\n2,tv,b,1,0\n", "got rank 1 alone"),
        ("1,tv,a,0,1\n1,tv,b,1,0\n", "expected positions from 1 up, got 0"),
    ],
)
def test_bad_logs_are_refused_in_one_line(capsys, tmp_path, rows, message):
    (tmp_path / "log.csv").write_text("session,qid,docid,position,click\n" + rows)
    code, out, err = run(capsys, "clicks", "propensities", tmp_path / "log.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
