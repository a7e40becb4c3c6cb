from __future__ import annotations

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import argrank as ar
from argrank import cli

DATA = """\
2 qid:1 1:0.1 2:1 #docid = a
0 qid:2 1:0.5 2:0 #docid = b
1 qid:1 1:0.9 2:0 #docid = c
0 qid:1 1:0.2 2:1 #docid = d
1 qid:2 1:0.4 2:1 #docid = e
0 qid:3 1:0.3 2:0 #docid = f
0 qid:3 1:0.7 2:0 #docid = g
"""
SCORES = [0.5, 0.25, 1.0, -2.0, 0.125, 3.0, 1.0]  # one a row of DATA, whose queries are not in one piece


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text(DATA)
    (tmp_path / "scores.txt").write_text("".join(f"{score}\n" for score in SCORES))
    return tmp_path


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(["evaluate", *arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def expected(measures, **rules):
    return ar.evaluate(SCORES, ar.load("data.txt"), measures, **rules)


def test_default_measures(files, capsys):
    code, out, err = run(capsys, "data.txt", "scores.txt")
    assert (code, err) == (0, "")
    assert out == f"{expected(['ndcg@10', 'map', 'mrr@10'])!r}\n"
    assert "undefined" in out


def test_quiet_prints_names_as_asked_and_exact_means(files, capsys):
    code, out, err = run(capsys, "data.txt", "scores.txt", "-q", "-m", "nDCG@2, map", "-m", "AP(rel=2, undefined=0)")
    assert (code, err) == (0, "")
    names, values = zip(*(line.split("\t") for line in out.splitlines()), strict=True)
    assert names == ("nDCG@2", "map", "AP(rel=2, undefined=0)")
    assert [float(value) for value in values] == list(expected(list(names)).means.values())


def test_convention_and_json(files, capsys):
    code, out, _ = run(capsys, "data.txt", "scores.txt", "-m", "ndcg@10", "--convention", "letor3", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["convention"] == "letor3"
    assert found["means"] == expected("ndcg@10", convention="letor3").means
    assert found["undefined"] == {"ndcg@10": 1}


def test_per_query_values(files, capsys):
    code, _, _ = run(capsys, "data.txt", "scores.txt", "-m", "map,ndcg@1", "--per-query", "values.csv")
    assert code == 0
    with open("values.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["qid", "map", "ndcg@1"]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[2][1:] == ["", ""]  # undefined
    result = expected(["map", "ndcg@1"])
    for position, name in enumerate(("map", "ndcg@1"), 1):
        np.testing.assert_array_equal([float(row[position]) for row in rows[:2]], result.values[name][:2])


def test_explain(files, capsys):
    code, out, _ = run(capsys, "data.txt", "scores.txt", "-m", "ndcg@10", "--explain", "2")
    assert code == 0
    assert "query 2: 2 documents" in out
    code, out, err = run(capsys, "data.txt", "scores.txt", "--explain", "99")
    assert (code, out) == (2, "")
    assert "'99'" in err
    assert run(capsys, "data.txt", "scores.txt", "--explain", "2", "--json")[0] == 2


def test_run_and_table_give_the_same_as_plain_scores(files, capsys):
    lines = [line.split() for line in DATA.splitlines()]
    run_lines = [
        f"{line[1].removeprefix('qid:')} Q0 {line[-1]} 0 {score} tag\n"
        for line, score in zip(lines, SCORES, strict=True)
    ]
    (files / "system.run").write_text("".join(reversed(run_lines)))
    (files / "table.csv").write_text("x,bm25\n" + "".join(f"0,{score}\n" for score in SCORES))
    plain = run(capsys, "data.txt", "scores.txt", "-q")
    assert plain[0] == 0
    assert run(capsys, "data.txt", "system.run", "-q") == plain
    assert run(capsys, "data.txt", "table.csv", "--column", "bm25", "-q") == plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.txt", "absent.txt"], "absent.txt: cannot be read"),
        (["absent.txt", "scores.txt"], "absent.txt"),
        (["data.txt", "short.txt"], "short.txt: expected 7 scores, one for each row of the data, got 1"),
        (["data.txt", "wrong.txt"], "wrong.txt:2: expected a finite number as score, got 'x'"),
        (["data.txt", "scores.txt", "-m", "ndgc@10"], "'ndgc@10'"),
        (["data.txt", "scores.txt", "-m", "map,"], "-m: expected names of measures, got 'map,'"),
        (["data.txt", "scores.txt", "--convention", "letro3"], "unknown convention 'letro3'; did you mean letor3"),
        (["data.txt", "scores.txt", "--column", "score"], "is not a table"),
        (["data.txt", "scores.txt", "--per-query", "no/such/folder.csv"], "cannot be written"),
        (["data.txt"], "SCORES"),
    ],
)
def test_mistakes_are_one_line(files, capsys, arguments, message):
    (files / "short.txt").write_text("1\n")
    (files / "wrong.txt").write_text("1\nx\n")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("argrank: ")
    assert err.count("\n") == 1
    assert message in err


def test_scores_from_standard_input_in_a_process_of_its_own(files):
    done = subprocess.run(
        [sys.executable, "-m", "argrank", "evaluate", "data.txt", "-", "-q", "-m", "map"],
        input=(files / "scores.txt").read_text(),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == f"map\t{expected('map').means['map']!r}\n"
    assert done.returncode == 0


# ---- runs and judgements ------------------------------------------------------------------------------------------

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "c": 0}, "q3": {"d": 1}}
RUNS = {
    "one": {"q1": {"x": 3.0, "a": 2.0}, "q2": {"a": 2.0, "c": 1.0}},
    "two": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1.0}},
}


@pytest.fixture
def trec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{qid} 0 {docid} {label}\n" for qid, held in QRELS.items() for docid, label in held.items()]
    (tmp_path / "judged.qrels").write_text("".join(lines))
    for name, run_of in RUNS.items():
        lines = [f"{qid} Q0 {docid} 1 {score} t\n" for qid, held in run_of.items() for docid, score in held.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "segments.csv").write_text("qid,segment\nq1,head\nq2,tail\nq3,tail\n")
    return tmp_path


def test_a_run_against_judgements(trec, capsys):
    code, out, err = run(capsys, "judged.qrels", "one.run", "-m", "ndcg@10,map,judged@10")
    assert (code, err) == (0, "")
    assert out == f"{ar.evaluate(RUNS['one'], QRELS, ['ndcg@10', 'map', 'judged@10'])!r}\n"
    assert "1 of 4 returned documents are not judged and count as not relevant" in out
    assert "1 judged queries have no document in the run and count as empty lists" in out
    code, out, _ = run(
        capsys, "judged.qrels", "one.run", "-m", "map", "-q", "--judged-only", "--convention", "trec_eval"
    )
    assert (code, out) == (0, "map\t1.0\n")


def test_unjudged_documents_of_a_run_lower_the_figures_on_data_too(files, capsys):
    """They used to vanish: a run with a new document above each judged one was as good as without."""
    data = ar.load("data.txt")
    rows = list(
        zip(np.repeat(data.query_ids, data.sizes), data.document_ids, data.from_caller(np.array(SCORES)), strict=True)
    )
    plain = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)
    (files / "plain.run").write_text(plain)
    (files / "new.run").write_text(plain + "".join(f"{q} Q0 new-{d} 1 {s + 0.01} t\n" for q, d, s in rows))
    options = ("-m", "ndcg@10", "--convention", "trec", "-q")
    before, after = (run(capsys, "data.txt", file, *options)[1] for file in ("plain.run", "new.run"))
    assert before == run(capsys, "data.txt", "scores.txt", *options)[1]
    assert float(after.split("\t")[1]) < float(before.split("\t")[1])
    assert run(capsys, "data.txt", "new.run", *options, "--judged-only")[1] == before


def test_a_table_of_scores_is_found_by_row_where_the_data_has_no_ids(files, capsys):
    (files / "plain.txt").write_text("\n".join(line.partition(" #")[0] for line in DATA.splitlines()) + "\n")
    rows = "".join(f"{number},x{number},{score}\n" for number, score in enumerate(SCORES))
    (files / "table.csv").write_text(f"qid,docid,score\n{rows}")
    assert run(capsys, "plain.txt", "table.csv", "-q") == run(capsys, "plain.txt", "scores.txt", "-q")


def test_data_with_a_feature_called_score_is_data(files, capsys):
    rows = "".join(f"{q},d{d},{d % 2},{d / 3}\n" for q in range(4) for d in range(5))
    (files / "shop.csv").write_text(f"query_id,doc_id,relevance,score\n{rows}")
    with pytest.raises(SystemExit) as ended:
        cli.main(["inspect", "shop.csv"])
    assert ended.value.code == 0
    assert "4 queries, 20 documents" in capsys.readouterr().out
    runs = "".join(f"{q},d{d},{d}\n" for q in range(4) for d in range(5))
    (files / "run.csv").write_text(f"query_id,doc_id,score\n{runs}")
    code, out, _ = run(capsys, "shop.csv", "run.csv", "-m", "p@1", "-q")
    assert (code, out) == (0, "p@1\t0.0\n")


def test_several_runs(trec, capsys):
    code, out, _ = run(capsys, "judged.qrels", "one.run", "second=two.run", "-m", "map", "-q")
    expected = {"one": ar.evaluate(RUNS["one"], QRELS, "map"), "second": ar.evaluate(RUNS["two"], QRELS, "map")}
    assert out == "".join(f"{name}\tmap\t{found.means['map']!r}\n" for name, found in expected.items())
    code, out, _ = run(capsys, "judged.qrels", "one.run", "two.run", "--json", "--per-query", "values.csv")
    assert code == 0
    assert json.loads(out)["two"]["coverage"]["unjudged"] == 0
    with open("values.csv", newline="") as stream:
        assert next(csv.reader(stream))[:2] == ["system", "qid"]
    assert run(capsys, "judged.qrels", "one.run", "two.run", "--explain", "q1")[0] == 2


def test_segments(trec, capsys):
    code, out, _ = run(capsys, "judged.qrels", "two.run", "-m", "map", "--by", "segments.csv")
    assert code == 0
    assert "head" in out
    code, _, err = run(capsys, "judged.qrels", "two.run", "--by", "two.run")
    assert code == 2
    assert "expected a table" in err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "damaged.run: expected lines of qid Q0 docno rank score tag, got an empty file"),
        ("q1 Q0 d1 1 2\n", "damaged.run:1: expected 6 fields (qid Q0 docno rank score tag), got 5: 'q1 Q0 d1 1 2'"),
        ("q 1 Q0 d 1 2 x\n", "damaged.run:1: expected 6 fields (qid Q0 docno rank score tag), got 7: 'q 1 Q0 d 1 2 x'"),
    ],
)
def test_a_damaged_run_is_named_with_its_line(trec, capsys, text, why):
    (trec / "damaged.run").write_text(text)
    assert run(capsys, "judged.qrels", "damaged.run") == (2, "", f"argrank: {why}\n")


def test_scores_cannot_be_measured_against_judgements_alone(trec, capsys):
    (trec / "scores.txt").write_text("1\n2\n")
    code, _, err = run(capsys, "judged.qrels", "scores.txt")
    assert code == 2
    assert "judgements (qrels) need runs" in err


def test_compare_and_inspect_and_report(trec, capsys):
    def call(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        assert ended.value.code == 0
        return capsys.readouterr().out

    found = ar.compare(
        {"one": RUNS["one"], "two": RUNS["two"]}, QRELS, "map", by={"q1": "head", "q2": "tail", "q3": "tail"}
    )
    given = ("judged.qrels", "one.run", "two.run", "-m", "map", "--by", "segments.csv")
    assert call("compare", *given) == f"{found.to_text()}\n"
    seen = json.loads(call("inspect", "judged.qrels", "one.run", "two.run", "--json"))
    assert seen["qrels"] == {"queries": 3, "documents": 5, "labels": {"0": 2, "1": 2, "2": 1}, "without_relevant": 0}
    assert seen["runs"]["one"]["unjudged"] == 1
    assert seen["runs"]["one"]["missing"] == 1
    assert "Judgements: 3 queries" in call("inspect", "judged.qrels", "one.run")
    assert "equal scores" in call("inspect", "one.run")
    call("report", *given, "-o", "report.html")
    page = (trec / "report.html").read_text()
    for words in ('id="coverage"', 'id="segments"', "head", f"{found.means['two']['map']:.4f}"):
        assert words in page


def test_trusted_judgements_correct_cheap_ones(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (40, 6))
    for name, labels, every in (
        ("cheap", np.clip(grades + rng.integers(0, 2, grades.shape), 0, 2), 1),
        ("expert", grades, 4),
    ):
        lines = [f"q{q} 0 d{d} {labels[q, d]}\n" for q in range(0, 40, every) for d in range(6)]
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    run = [f"q{q} Q0 d{d} 1 {grades[q, d] + rng.normal():.4f} x\n" for q in range(40) for d in range(6)]
    (tmp_path / "ours.run").write_text("".join(run))
    (tmp_path / "chances.csv").write_text("qid,probability\n" + "".join(f"q{q},0.25\n" for q in range(0, 40, 4)))
    arguments = ["evaluate", "cheap.qrels", "ours.run", "-m", "ndcg@5", "--trusted", "expert.qrels", "--json"]
    found = []
    for further in ([], ["--probability", "0.25"], ["--probability", "chances.csv"]):
        with pytest.raises(SystemExit) as ended:
            cli.main([*arguments, *further])
        assert ended.value.code == 0
        found.append(json.loads(capsys.readouterr().out))
    truth = ar.evaluate("ours.run", "cheap.qrels", "ndcg@5", trusted="expert.qrels")
    for one in found:
        assert one["means"] == pytest.approx(truth.means)
        assert one["low"] == pytest.approx(truth.low)
        assert one["n_trusted"] == 10


def test_a_range_of_cutoffs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text(DATA)
    (tmp_path / "scores.txt").write_text("".join(f"{n}\n" for n in range(DATA.count("\n"))))
    with pytest.raises(SystemExit):
        cli.main(["evaluate", "data.txt", "scores.txt", "-m", "ndcg@1..3,map", "-q"])
    out = capsys.readouterr().out
    assert [line.split("\t")[0] for line in out.splitlines()] == ["ndcg@1", "ndcg@2", "ndcg@3", "map"]


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_large_runs_are_read_with_the_judgements(trec, capsys, monkeypatch, command):
    words = [command, "judged.qrels", "one.run", "two.run", "-m", "map,ndcg@2", "--convention", "trec"]
    printed = []
    for smallest in (1 << 30, 0):
        monkeypatch.setattr("argrank.data.io.trec.file_words.SMALLEST", smallest)
        if smallest == 0:
            monkeypatch.setattr("argrank.evaluation.systems.as_qrels", None)
            monkeypatch.setattr("argrank.evaluation.systems.join_runs", None)
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == 0
        printed.append(capsys.readouterr())
    assert printed[0] == printed[1]
    assert "one" in printed[0].out
