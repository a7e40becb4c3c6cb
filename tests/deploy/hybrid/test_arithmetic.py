"""The engines' arithmetic against examples of their own tests and documentation."""

import json

import numpy as np
import pytest

from argrank.deploy.hybrid import ENGINES, find_engine
from argrank.deploy.hybrid.engine import Fusion
from argrank.deploy.hybrid.lists import within_window
from argrank.errors import OptionError

NAN = np.nan


def fused(engine, way, lists, weights, constant=0):
    """Return the scores of one query's documents; a list for each system, NaN where it did not return one."""
    fusion = Fusion(ENGINES[engine], ENGINES[engine].ways[way], 100, constant)
    raw = np.array(lists, float)
    return fusion.combine(fusion.prepare(raw, np.array([0, raw.shape[1]])), np.array(weights, float))


def ready(engine, way, scores, constant=0):
    fusion = Fusion(ENGINES[engine], ENGINES[engine].ways[way], 100, constant)
    return fusion.prepare(np.array([scores], float), np.array([0, len(scores)]))[0]


def test_elasticsearch_linear_as_in_its_rest_tests():
    """Cases of 10_linear_retriever.yml (rank-rrf): weights, interleaved lists, minmax of 10, 9 and 5."""
    assert fused("elasticsearch", "none", [[10, NAN], [NAN, 1]], [0.5, 2]).tolist() == [5, 2]
    two = fused("elasticsearch", "none", [[10, 5, NAN, NAN], [NAN, NAN, 5, 4]], [2, 3])
    assert two.tolist() == [20, 10, 15, 12]
    assert fused("elasticsearch", "minmax", [[10, 9, 5]], [10]).tolist() == [10, 8, 0]
    assert ready("elasticsearch", "minmax", [3, 3]).tolist() == [1, 1]  # all equal, since June 2025 (PR 128689)
    assert ready("elasticsearch", "minmax", [7]).tolist() == [1]
    assert ready("elasticsearch", "l2", [3, 4]) == pytest.approx([0.6, 0.8], abs=1e-7)


def test_elasticsearch_weighted_rrf_is_its_documented_formula():
    scores = fused("elasticsearch", "rrf", [[9, 8, NAN], [NAN, 1, 2]], [2, 1], constant=60)
    assert scores == pytest.approx([2 / 61, 2 / 62 + 1 / 62, 1 / 61], abs=1e-8)


def test_opensearch_normalises_as_in_its_unit_tests():
    """MinMax-, ZScore- and L2ScoreNormalizationTechniqueTests of neural-search."""
    assert ready("opensearch", "minmax", [0.9, 0.7, 0.1]) == pytest.approx([1, 0.75, 0.001], abs=1e-6)
    assert ready("opensearch", "minmax", [0.5]).tolist() == [1]
    assert ready("opensearch", "zscore", [2, 7, 8]) == pytest.approx([0.001, 0.41478074, 0.72586626], abs=1e-6)
    assert ready("opensearch", "zscore", [4, 5, 10])[2] == pytest.approx(1.1406468, abs=1e-6)
    assert ready("opensearch", "zscore", [1]).tolist() == [1]
    assert ready("opensearch", "l2", [0.5, 0.2]) == pytest.approx(np.array([0.5, 0.2]) / np.hypot(0.5, 0.2), abs=1e-6)


@pytest.mark.parametrize(
    ("way", "constant", "expected"),
    [
        ("minmax", 0, [0.5, 0.5005, 0.4595588, 0.0005]),
        ("l2", 0, [0.41810414, 0.5882375, 0.30787408, 0.23790273]),
        ("zscore", 0, [0.35355347, 0.32481128, 0.2515067, 0.0005]),
        ("rrf", 1, [0.5 / 2, 0.8333334 / 2, 0.33333334 / 2, 0.25 / 2]),
    ],
)
def test_opensearch_gives_the_scores_of_its_documented_example(way, constant, expected):
    """The five products of the pages on the normalization processor and on rank fusion (OpenSearch 3.9).

    Ranks have no weights there, which is a weight of 1 each; ours are shares, so that all scores are half of those.
    """
    lists = [[0.8167638, 0.5356597, NAN, NAN], [NAN, 1.0, 0.98039216, 0.7575758]]
    assert fused("opensearch", way, lists, [0.5, 0.5], constant) == pytest.approx(expected, rel=3e-7)


@pytest.mark.parametrize(
    ("way", "scores", "expected"),
    [
        ("minmax-harmonic", [1.0, 0.5, 0.3], 0.48),
        ("minmax-harmonic", [1.0, 0.0, 0.6], 0.7611),
        ("minmax-geometric", [1.0, 0.5, 0.3], 0.5567),
        ("minmax-geometric", [1.0, 0.0, 0.6], 0.7863),
        ("minmax", [1.0, 0.5, 0.3], 0.645),  # 0.45 + 0.075 + 0.12
        ("minmax", [1.0, 0.0, 0.6], 0.69),  # a document that a clause lacks keeps the divisor (neural-search 1830)
    ],
)
def test_opensearch_combines_as_in_its_unit_tests(way, scores, expected):
    """Harmonic- and GeometricMeanScoreCombinationTechniqueTests: weights .45, .15, .4; 0 is a document not returned."""
    combine = ENGINES["opensearch"].ways[way].combine
    found = combine(np.array(scores)[:, None], np.array([0.45, 0.15, 0.4]))
    assert found[0] == pytest.approx(expected, abs=1e-4)


def test_opensearch_ranks_with_ten_decimals():
    assert ready("opensearch", "rrf", [5, 4], 60).tolist() == [np.float32(0.0163934426), np.float32(0.0161290323)]


def test_vespa_normalises_as_in_its_unit_tests():
    """NormalizerTestCase; and a hit that a system did not find has 0, which is normalised and ranked, too."""
    assert ready("vespa", "minmax", [-4, -1, -5, -3]).tolist() == [0.25, 1, 0, 0.5]
    assert ready("vespa", "minmax", [2, 2]).tolist() == [0.5, 0.5]
    assert ready("vespa", "rrf", [-4.1, 11, -50, -3], 4) == pytest.approx([1 / 7, 1 / 5, 1 / 8, 1 / 6])
    assert ready("vespa", "minmax", [4, 2, NAN]).tolist() == [1, 0.5, 0]
    assert ready("vespa", "rrf", [4, 2, NAN], 60) == pytest.approx([1 / 61, 1 / 62, 1 / 63])


def test_solr_scales_by_the_greatest_score_and_ranks_without_weights():
    assert ready("solr", "max", [4, 3, NAN]).tolist() == [1, 0.75, 0]
    scores = fused("solr", "rrf", [[2, 1], [NAN, 7]], [1, 1], constant=20)
    assert scores == pytest.approx([1 / 21, 1 / 22 + 1 / 21], abs=1e-7)  # id2 first, as in ReciprocalRankFusionTest
    assert not ENGINES["solr"].ways["rrf"].has_weights


def test_a_window_keeps_the_best_and_ties_do_not_depend_on_labels():
    raw = np.array([[3.0, 1, 2, NAN, 5, 4]])
    kept = within_window(raw, np.array([0, 4, 6]), 2)
    assert np.isnan(kept).tolist() == [[False, True, False, True, False, False]]
    tied = np.ones((1, 1000))
    chosen = np.flatnonzero(~np.isnan(within_window(tied, np.array([0, 1000]), 500)[0]))
    assert 200 < np.count_nonzero(chosen < 500) < 300


def test_versions_restrict_the_ways():
    assert set(find_engine("opensearch@2.19").ways) == {
        "minmax", "l2", "minmax-geometric", "minmax-harmonic", "l2-geometric", "l2-harmonic"
    }  # fmt: skip
    assert "rrf" not in find_engine("elasticsearch@9.1").ways
    assert "rrf" in find_engine("elasticsearch@9.2.1").ways
    with pytest.raises(OptionError, match=r"expected elasticsearch from 8\.18 up"):
        find_engine("elasticsearch@7.10")
    with pytest.raises(OptionError, match="expected a version such as"):
        find_engine("vespa@eight")


@pytest.mark.parametrize("engine", ENGINES)
def test_names_of_systems_cannot_break_requests(engine):
    weights = {'a"b\n}': 0.25, "über": 0.75, "bm25(title)": 0.0}
    for way in ENGINES[engine].ways.values():
        files = Fusion(ENGINES[engine], way, 50, way.constants[-1]).requests(weights)
        for name, text in files.items():
            if name.endswith(".json"):
                json.loads(text)
        if engine == "vespa":
            assert files["hybrid.profile"].count("{") == files["hybrid.profile"].count("}")
            assert "bm25(title)" in files["hybrid.profile"]


def test_requests_that_an_engine_would_refuse():
    minmax = Fusion(ENGINES["opensearch"], ENGINES["opensearch"].ways["minmax"])
    with pytest.raises(OptionError, match="at most 5 systems"):
        minmax.requests(dict.fromkeys("abcdef", 0.1))
    with pytest.raises(OptionError, match="no negative weights"):
        minmax.requests({"a": -0.5, "b": 0.5})
