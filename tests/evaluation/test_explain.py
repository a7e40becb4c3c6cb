from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError


@pytest.fixture
def data():
    labels = [3, 0, 1, 2, 0, 0, 0, 0]
    return ar.Dataset(np.zeros((8, 1)), labels, qid=[4, 4, 4, 4, 4, 4, 9, 9], document_ids=list("stuvwxyz"))


SCORES = [2, 5, 4, 2, 2, 1, 1, 1]


def test_gains_discounts_and_ideal_add_up(data):
    result = ar.evaluate(SCORES, data, ["ndcg@4", "dcg"], explain=4)
    told = result.explanation
    parts = told.parts["ndcg@4"]
    assert told.ranking["document"] == ["t", "u", "s", "v", "w", "x"]
    assert told.ranking["row"] == [1, 2, 0, 3, 4, 5]
    assert told.ranking["tied ranks"] == ["", "", "3-5", "3-5", "3-5", ""]
    np.testing.assert_allclose(parts["gain"], [0, 1, 10 / 3, 10 / 3, 10 / 3, 0])
    np.testing.assert_allclose(parts["discount"], [1, 1 / np.log2(3), 0.5, 1 / np.log2(5), 0, 0])
    ratio = parts["gain x discount"].sum() / parts["ideal gain x discount"].sum()
    assert ratio == pytest.approx(result.values["ndcg@4"][0], abs=1e-15)
    assert told.parts["dcg"]["gain x discount"].sum() == pytest.approx(result.values["dcg"][0])
    assert "ties expected" in repr(told)
    assert repr(told) in repr(result)


def test_terms_of_other_measures_add_up(data):
    result = ar.evaluate(SCORES, data, ["map", "err", "rbp", "p@3", "eru"], explain="4")
    told = result.explanation
    assert told.parts["map"]["precision if relevant"].sum() / 3 == pytest.approx(result.values["map"][0])
    assert told.parts["err"]["chance to stop / rank"].sum() == pytest.approx(result.values["err"][0])
    worth, relevant = told.parts["rbp"]["(1 - p) p^(i - 1)"], told.parts["rbp"]["relevant"]
    assert worth @ relevant == pytest.approx(result.values["rbp"][0])


def test_undefined_queries_say_so(data):
    told = ar.evaluate(SCORES, data, "ndcg", explain=9).explanation
    assert np.isnan(told.values["ndcg"])
    assert "undefined here, counts as skip" in repr(told)


def test_a_rule_for_ties_shows_its_order(data):
    told = ar.evaluate(SCORES, data, "ndcg", convention="trec", explain=4).explanation
    assert told.ranking["document"] == ["t", "u", "w", "v", "s", "x"]


def test_long_lists_are_cut_in_words_only():
    data = ar.Dataset(np.zeros((50, 1)), np.arange(50) % 3, group=[50])
    told = ar.evaluate(np.arange(50), data, "map", explain=0).explanation
    assert len(told.ranking["rank"]) == 50
    assert repr(told).endswith("… and 20 more ranks")


def test_an_unknown_query(data):
    with pytest.raises(InputError, match="expected the id of a query such as 4, got 'q'"):
        ar.evaluate(SCORES, data, "ndcg", explain="q")
