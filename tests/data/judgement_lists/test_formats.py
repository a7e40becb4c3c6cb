"""Lists of judgements go to other tools' files and back."""

from __future__ import annotations

import json

import pytest

from argrank.data.judgement_lists import FORMATS, read_judgements, read_query_set, write_judgements, write_query_set
from argrank.errors import FormatError, InputError, OptionError

JUDGED = {
    "big tv": {"a 1": 3.0, "b": 0.0},
    'caf\u00e9 "x", y': {"b": 1.0},
    "100%": {"\u4e2d": 2.0, "a%20b": 1.0, "": 1.0},
}


@pytest.mark.parametrize("name", FORMATS)
def test_there_and_back(name, tmp_path):
    path = tmp_path / f"judged{FORMATS[name].suffix}"
    write_judgements(JUDGED, path, name)
    assert read_judgements(path) == JUDGED
    assert read_judgements(path, name) == JUDGED
    assert [one for one in FORMATS if FORMATS[one].is_own(path)] == [name]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "rre"])
def test_values_keep_all_their_digits(name, tmp_path):
    path = tmp_path / f"judged{FORMATS[name].suffix}"
    write_judgements({"q": {"d": 2 / 3}}, path, name)
    assert read_judgements(path) == {"q": {"d": 2 / 3}}


def test_the_samples_of_the_workbench(real_data, tmp_path):
    folder = real_data / "clicks" / "ubi-esci"
    judged = read_judgements(folder / "esci_us_judgments.json.xz")
    assert judged["t towels kitchen"]["B07QLRTGVQ"] == 10.0
    write_judgements(judged, tmp_path / "again.json", "workbench")
    assert read_judgements(tmp_path / "again.json") == judged
    queries = read_query_set(folder / "esci_us_queryset.json.xz")
    assert queries[0] == "t towels kitchen"
    write_query_set(queries, tmp_path / "queries.json")
    assert read_query_set(tmp_path / "queries.json") == queries
    (tmp_path / "queries.txt").write_text("big tv\n\nradio\n")
    assert read_query_set(tmp_path / "queries.txt") == ["big tv", "radio"]


def test_both_forms_of_relevant_documents(tmp_path):
    group = {"queries": [{"placeholders": {"$query": "tv"}}, {"placeholders": {"$q": "television"}}]}
    content = {"topics": [{"query_groups": [{**group, "relevant_documents": {"3": ["a"], "1": ["b", "c"]}}]}]}
    (tmp_path / "r.json").write_text(json.dumps(content))
    judged = read_judgements(tmp_path / "r.json")
    assert judged == {one: {"a": 3.0, "b": 1.0, "c": 1.0} for one in ("tv", "television")}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("j.csv", "query,docid,rating\nq,d\n", "j.csv:2: expected three cells"),
        ("j.csv", "query,docid,rating\nq,d,good\n", "j.csv:2: expected a number as rating, got 'good'"),
        ("j.csv", "query,docid,rating\nq,d,1\nq,d,2\n", "j.csv:3: expected one rating of document 'd'"),
        ("j.csv", "query,docid,rating\nq,d,inf\n", "finite number"),
        ("j.csv", "a,b\n1,2\n", "expected a list of judgements"),
        ("j.json", '{"judgmentRatings": [{"query": 1}]}', "expected 'query' in every entry"),
        ("j.json", '{"topics": [{"query_groups": [{}]}]}', "expected 'relevant_documents' in every entry"),
        ("j.json", "[" * 100_000, "a JSON object"),
        ("j.json", "[]", "a JSON object"),
    ],
)
def test_damaged_lists_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_judgements(tmp_path / name)


def test_what_a_tool_cannot_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"expected a whole number, which RRE needs, got 0\.5"):
        write_judgements({"q": {"d": 0.5}}, tmp_path / "j.json", "rre")
    with pytest.raises(InputError, match="expected a rating, got nan"):
        write_judgements({"q": {"d": float("nan")}}, tmp_path / "j.csv", "quepid")
    with pytest.raises(OptionError, match=r"ends with .csv"):
        write_judgements(JUDGED, tmp_path / "j.txt", "quepid")
    with pytest.raises(OptionError, match="unknown format of judgements 'quepit'; did you mean quepid"):
        write_judgements(JUDGED, tmp_path / "j.csv", "quepit")
    (tmp_path / "e.csv").write_text("")
    with pytest.raises(FormatError, match="header query,docid,rating"):
        read_judgements(tmp_path / "e.csv", "quepid")


def test_qrels_keep_every_printable_character_but_the_percent_sign(tmp_path):
    name = "".join(map(chr, range(33, 127))) + "%41"  # which would be taken for an A
    write_judgements({name: {"d": 1.0}}, tmp_path / "a.qrels", "qrels")
    assert (tmp_path / "a.qrels").read_text().split()[0] == name.replace("%", "%25")
    assert read_judgements(tmp_path / "a.qrels") == {name: {"d": 1.0}}
