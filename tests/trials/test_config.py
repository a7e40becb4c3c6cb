from __future__ import annotations

import re
from pathlib import Path

import pytest

from argrank.errors import ArgrankError, FormatError
from argrank.rankers.registry import default_grid
from argrank.trials.config import Expected, read_config

GOOD = """
title = "a title"
convention = "letor3"
measures = ["ndcg@1", "map"]
select_by = "map"

[[data]]
name = "mine"
folds = [1]
preprocess = [{ impute = "zero", features = [0] }, { normalise = "query-minmax" }, { clean = "kdd2008", cosine = 0.9 }]
[[data.files]]
train = "train.txt"
valid = "vali.txt"
test = "/elsewhere/test.txt"

[[ranker]]
name = "svm"
ranker = "rank-svm"
parameters = { tol = 1e-4 }
grid.C = [0.5, 5]

[[ranker]]
name = "regression"
grid = { ridge = [0, 1] }

[[expected]]
data = "mine"
ranker = "svm"
measure = "map"
value = 0.5
tolerance = 0.01
source = "nowhere"

[[expected]]
data = "mine"
ranker = "regression"
values = { "map" = 0.4, "ndcg@1" = 1 }
tolerance = 0.1
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        return path

    return write


def test_a_good_configuration(write, tmp_path):
    config = read_config(write(GOOD))
    assert (config.title, config.convention, config.select_by) == ("a title", "letor3", "map")
    assert config.measures == ("ndcg@1", "map")
    (data,) = config.data
    assert data.files == (
        {"train": tmp_path / "train.txt", "valid": tmp_path / "vali.txt", "test": Path("/elsewhere/test.txt")},
    )
    assert data.preprocess == (
        {"impute": "zero", "features": [0]},
        {"normalise": "query-minmax"},
        {"clean": "kdd2008", "cosine": 0.9},
    )
    svm, regression = config.rankers
    assert (svm.name, svm.ranker, svm.parameters) == ("svm", "rank-svm", {"tol": 1e-4})
    assert svm.grid == {"C": [0.5, 5]}
    assert (regression.ranker, regression.grid) == ("regression", {"ridge": [0, 1]})
    assert config.expected == (
        Expected("mine", "svm", "map", 0.5, 0.01, "nowhere"),
        Expected("mine", "regression", "map", 0.4, 0.1, ""),
        Expected("mine", "regression", "ndcg@1", 1.0, 0.1, ""),
    )


def test_none_is_no_value(write):
    text = GOOD.replace("{ tol = 1e-4 }", '{ normalise = "none" }').replace("[0.5, 5]", '[0.5, "none"]')
    svm = read_config(write(text)).rankers[0]
    assert (svm.parameters, svm.grid) == ({"normalise": None}, {"C": [0.5, None]})


def test_collections_have_their_name_and_all_their_folds(write, tmp_path):
    head = GOOD[: GOOD.index("[[data]]")] + GOOD[GOOD.index("[[ranker]]") : GOOD.index("[[expected]]")]
    config = read_config(
        write(head + '[[data]]\ncollection = "ohsumed-letor3"\n[[data]]\nfolder = "own"\nfolds = [2]\n')
    )
    known, own = config.data
    assert (known.name, known.collection, known.folds) == ("OHSUMED-LETOR3", "OHSUMED-LETOR3", (1, 2, 3, 4, 5))
    assert (own.name, own.folder, own.folds) == ("own", tmp_path / "own", (2,))


def test_standins_say_that_they_are_generated(write):
    head = GOOD[: GOOD.index("[[data]]")] + GOOD[GOOD.index("[[ranker]]") : GOOD.index("[[expected]]")]
    (data,) = read_config(write(head + '[[data]]\nstandin = "td2003"\nname = "TD2003"\n')).data
    assert (data.name, data.standin, data.folds) == ("TD2003 (generated)", "td2003", (1, 2, 3, 4, 5))
    with pytest.raises(ArgrankError, match="unknown stand-in 'td2005'; did you mean td2004"):
        read_config(write(head + '[[data]]\nstandin = "td2005"\n'))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "titel =", "unknown key 'titel'; did you mean title?; allowed: title, convention, measures"),
        ('convention = "letor3"', "", "expected a key 'convention' (a text), got none"),
        ('"letor3"', '"letor33"', "unknown convention 'letor33'; did you mean letor3"),
        ('name = "mine"', 'name = "mine"\nconvention = "letor44"', "unknown convention 'letor44'; did you mean letor4"),
        ('["ndcg@1", "map"]', '"map"', "measures: expected a list of texts, got 'map'"),
        ('["ndcg@1", "map"]', '["ndcg@1", "mapp"]', "measures: unknown measure 'mapp'"),
        ('select_by = "map"', "select_by = 3", "select_by: expected a text, got 3"),
        ("folds = [1]", "folds = [2]", "data 1: folds: expected different numbers from 1 to 1, got [2]"),
        ("folds = [1]", "folds = [true]", "data 1: folds: expected a list of whole numbers, got [True]"),
        ("folds = [1]", "flods = [1]", "data 1: unknown key 'flods'; did you mean folds"),
        (
            "folds = [1]",
            'collection = "MQ2008"',
            "data 1: expected a collection, a folder, tables of files or a standin",
        ),
        ("folds = [1]", 'standin = "td2003"', "data 1: expected a collection, a folder, tables of files or a standin"),
        ('train = "train.txt"', "", "data 1: files 1: expected a key 'train'"),
        ('"query-minmax"', '"query-max"', "data 1: preprocess 2: unknown normalisation 'query-max'"),
        ("cosine = 0.9", "features = [1]", "data 1: preprocess 3: 'features' is not an option of clean"),
        ('{ normalise = "query-minmax" }', "{}", "data 1: preprocess 2: expected one of binarise, clean, impute"),
        ('{ normalise = "query-minmax" }', '{ binarise = "1" }', "preprocess 2: binarise: expected a number, got '1'"),
        ('ranker = "rank-svm"', 'ranker = "rank-svn"', "ranker 1: unknown ranker 'rank-svn'; did you mean rank-svm"),
        ("tol = 1e-4", "tool = 1", "ranker 1: parameters: rank-svm has no parameter 'tool'"),
        ("tol = 1e-4", "tol = inf", "ranker: parameters: tol: expected a text or a finite number, got inf"),
        ("tol = 1e-4", "tol = 2020-01-01", "tol: expected a text or a finite number, got datetime.date"),
        ("tol = 1e-4", "C = 1", "ranker 1: 'C' is fixed by parameters and varied by grid"),
        ("grid.C", "grid.D", "ranker 1: grid: rank-svm has no parameter 'D'"),
        ("[0.5, 5]", "{ values = [1] }", "ranker 1: grid.C: expected a list of values, got {'values': [1]}"),
        ("[0.5, 5]", "[]", "ranker 1: grid.C: expected a list of values, got []"),
        (
            "grid = { ridge = [0, 1] }",
            'grid = "defalt"',
            "ranker 2: grid: expected a table of parameters and their values",
        ),
        ("ridge = [0, 1]", "ridge = 1", "ranker 2: grid.ridge: expected a list of values, got 1"),
        (
            'name = "regression"',
            'name = "svm"\nranker = "regression"',
            "ranker: expected names that differ as file names, got 'svm' twice",
        ),
        ('ranker = "svm"', 'ranker = "smv"', "expected 1: unknown ranker 'smv'; did you mean svm"),
        ('measure = "map"', 'measure = "ndcg@3"', "expected 1: unknown measure of this experiment 'ndcg@3'"),
        ("value = 0.5", 'value = "0.5"', "expected 1: value: expected a number, got '0.5'"),
        ("tolerance = 0.01", "", "expected 1: expected a key 'tolerance'"),
    ],
)
def test_mistakes_are_named_with_their_place(write, old, new, message):
    assert GOOD.count(old) >= 1
    path = write(GOOD.replace(old, new, 1))
    with pytest.raises(ArgrankError, match=f"^{re.escape(str(path))}: .*{re.escape(message)}"):
        read_config(path)


def test_broken_toml_is_named_with_its_line(write):
    path = write('title = "x"\nmeasures = = 3')
    with pytest.raises(FormatError) as caught:
        read_config(path)
    assert (caught.value.line, caught.value.expected) == (2, "TOML")


def test_files_that_are_no_text(write, tmp_path):
    path = write("")
    path.write_bytes(b"title = '\xff'")
    with pytest.raises(FormatError, match="expected text in UTF-8, got byte 0xff"):
        read_config(path)
    with pytest.raises(ArgrankError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('test = "z"', "unknown test 'z'"),
        ('correction = "bonferroni"', "unknown correction 'bonferroni'"),
        ('baseline = "svn"', "unknown ranker 'svn'; did you mean svm"),
    ],
)
def test_mistakes_in_what_compares_rankers(write, line, message):
    with pytest.raises(ArgrankError, match=message):
        read_config(write(f"{line}\n{GOOD}"))


def test_the_default_grid_leaves_out_what_is_fixed(write):
    text = GOOD.replace("grid.C = [0.5, 5]", "grid = 'default'")
    assert read_config(write(text)).rankers[0].grid == default_grid("rank-svm")
    fixed = text.replace("tol = 1e-4", "tol = 1e-4, C = 3.0")
    assert "C" not in read_config(write(fixed)).rankers[0].grid
