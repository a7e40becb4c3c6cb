"""Weights tuned for an engine: the value stated is that of the engine, read back from its request, loop by loop."""

import json
import re

import numpy as np
import pytest

import argrank as ar
from argrank.deploy.hybrid import ENGINES
from argrank.errors import InputError, OptionError

F = np.float32
WINDOW = 6


def problem(seed, n_queries=6, n_systems=3):
    """Return runs that overlap in part, and judgements, some of documents that no run returned."""
    rng = np.random.default_rng(seed)
    runs = {f"s{i}": {} for i in range(n_systems)}
    qrels = {}
    for q in range(n_queries):
        quality = rng.normal(size=14)
        qrels[f"q{q}"] = {f"d{d}": int(max(0, round(quality[d]))) for d in range(14)}
        for i, run in enumerate(runs.values()):
            scores = 3 * i + 8 + quality * (1 + i) + rng.normal(size=14) * 2
            returned = rng.permutation(14)[: rng.integers(4, 11)]
            run[f"q{q}"] = {f"d{d}": float(max(scores[d], 0.01)) for d in returned}
    return runs, qrels


def best_first(run, window):
    return sorted(run.items(), key=lambda one: -one[1])[:window]


def as_elasticsearch(files, lists):
    ((kind, body),) = json.loads(files["search.json"])["retriever"].items()
    total = {}
    for part, run in zip(body["retrievers"], lists, strict=True):
        found = best_first(run, body["rank_window_size"])
        scores = np.array([F(score) for _, score in found])
        for rank, (document, score) in enumerate(found, 1):
            if kind == "rrf":
                value = F(1) / F(body["rank_constant"] + rank)
            elif part["normalizer"] == "minmax":
                low, high = scores.min(), scores.max()
                value = low if abs(low - high) < F(1e-6) else (F(score) - low) / (high - low)
            elif part["normalizer"] == "l2_norm":
                value = F(np.float64(F(score)) / np.sqrt(sum(np.float64(one * one) for one in scores)))
            else:
                value = F(score)
            total[document] = total.get(document, F(0)) + F(part["weight"]) * value
    return total


def as_opensearch(files, lists):
    processor = json.loads(files["pipeline.json"])["phase_results_processors"][0]
    window = json.loads(files["search.json"])["query"]["hybrid"]["pagination_depth"]
    ((kind, body),) = processor.items()
    weights = [F(one) for one in body["combination"]["parameters"]["weights"]]
    assert sum(weights) == pytest.approx(1, abs=1e-6)
    by_document = {}
    for i, run in enumerate(lists):
        found = best_first(run, window)
        scores = np.array([F(score) for _, score in found])
        for rank, (document, score) in enumerate(found, 1):
            if kind == "score-ranker-processor":
                value = F(f"{1 / (body['combination']['rank_constant'] + rank):.10f}")
            elif body["normalization"]["technique"] == "min_max":
                span = scores.max() - scores.min()
                value = F(1) if span == 0 else (F(score) - scores.min()) / span
                value = F(0.001) if value == 0 else value
            elif body["normalization"]["technique"] == "l2":
                squares = F(0)
                for one in scores:
                    squares += one * one
                value = F(score) / F(np.sqrt(np.float64(squares)))
            else:
                mean, deviation = F(np.mean(scores, dtype=float)), F(np.std(scores.astype(float), ddof=1))
                value = (F(score) - mean) / deviation
                value = scores.max() if F(score) == mean else max(value, F(0.001))
            by_document.setdefault(document, [F(0)] * len(lists))[i] = value
    technique = body["combination"]["technique"]
    return {document: _combined(technique, values, weights) for document, values in by_document.items()}


def _combined(technique, values, weights):
    total = share = F(0)
    for value, weight in zip(values, weights, strict=True):
        if technique in ("rrf", "arithmetic_mean"):
            total, share = total + value * weight, share + weight
        elif value > 0:
            share = share + weight
            if technique == "harmonic_mean":
                total = total + weight / value
            else:
                total = F(np.float64(total) + np.float64(weight) * np.log(np.float64(value)))
    if technique == "rrf":
        return total
    if technique == "harmonic_mean":
        return share / total if total > 0 else F(0)
    if technique == "geometric_mean":
        return F(np.exp(np.float64(total / share))) if share > 0 else F(0)
    return total / share


def as_solr(files, lists):
    search = json.loads(files["search.json"])
    total = {}
    if "queries" in search:
        for run in lists:
            for rank, (document, _) in enumerate(best_first(run, search["limit"]), 1):
                value = F(1) / F(int(search["params"]["combiner.rrf.k"]) + rank)
                total[document] = total.get(document, F(0)) + value
        return total
    rank = search["params"]["rank"]
    terms = re.findall(r"product\(([^,]+),(scale\()?query", rank)
    for (weight, scaled), run in zip(terms, lists, strict=True):
        greatest = max(F(score) for score in run.values())
        for document, score in run.items():
            value = F(score) * (F(1) / greatest) if scaled else F(score)
            total[document] = total.get(document, F(0)) + F(weight) * value
    return total


def as_vespa(files, lists):
    expression = re.search(r"global-phase.*expression: (.*?)\n", files["hybrid.profile"], re.S).group(1)
    terms = re.findall(r"(-? ?[\d.e+-]+) \* (\w+)(?:\((\w+)(?:, (\d+))?\))?", expression)
    kept = [dict(best_first(run, WINDOW)) for run in lists]
    documents = sorted({document for run in kept for document in run})
    total = dict.fromkeys(documents, 0.0)
    for (weight, kind, _, constant), run in zip(terms, kept, strict=True):
        scores = {document: run.get(document, 0.0) for document in documents}
        low, high = min(scores.values()), max(scores.values())
        order = sorted(documents, key=lambda document: -scores[document])
        for document, score in scores.items():
            if kind == "normalize_linear":
                value = 0.5 + (1 / (high - low)) * (score - (low + high) * 0.5)
            elif kind == "reciprocal_rank":
                value = 1 / (int(constant) + 1.0 + order.index(document))
            else:
                value = score
            total[document] += float(weight.replace(" ", "")) * value
    return total


SIMULATED = {
    "elasticsearch": as_elasticsearch, "opensearch": as_opensearch, "solr": as_solr, "vespa": as_vespa
}  # fmt: skip


def served(engine, files, runs):
    """Return the run that the engine answers with."""
    queries = next(iter(runs.values()))
    return {
        qid: {d: float(score) for d, score in SIMULATED[engine](files, [run[qid] for run in runs.values()]).items()}
        for qid in queries
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_the_value_is_that_of_the_engine(engine):
    """20 random problems, each in a way of its own; vespa's ranks tie where documents are absent, so see below."""
    ways = [name for name in ENGINES[engine].ways if (engine, name) != ("vespa", "rrf")]
    for seed in range(20):
        runs, qrels = problem(seed)
        way = ways[seed % len(ways)] + f" {seed + 1}" * (ways[seed % len(ways)] == "rrf")
        tuned = ar.tune_weights(
            runs, qrels, "ndcg@5", engine=engine, window=WINDOW, normalise=way, cv=None, random_state=seed
        )
        run = served(engine, tuned.requests(), runs)
        found = ar.evaluate(run, qrels, "ndcg@5").means["ndcg@5"]
        assert found == pytest.approx(tuned.value, abs=1e-9), (way, seed)
        fused = ar.evaluate(tuned.fuse(runs), qrels, "ndcg@5").means["ndcg@5"]
        assert fused == pytest.approx(tuned.value, abs=1e-9)
        assert tuned.value >= max(tuned.single.values()) - 0.2  # it was searched


def test_vespa_ranks_of_documents_that_all_systems_return():
    for seed in range(20):
        runs, qrels = problem(seed)
        rng = np.random.default_rng(seed)
        runs = {
            name: {q: {f"d{d}": float(rng.uniform(1, 9)) for d in range(6)} for q in run} for name, run in runs.items()
        }
        tuned = ar.tune_weights(runs, qrels, "ndcg@5", engine="vespa", window=WINDOW, normalise="rrf 7", cv=None)
        run = served("vespa", tuned.requests(), runs)
        assert ar.evaluate(run, qrels, "ndcg@5").means["ndcg@5"] == pytest.approx(tuned.value, abs=1e-9)


def test_auto_tries_every_way_and_constant():
    runs, qrels = problem(3, n_queries=12)
    tuned = ar.tune_weights(runs, qrels, "ndcg@5", engine="opensearch", window=WINDOW, cv=3)
    names = set(tuned.by_normaliser)
    assert {"minmax", "zscore", "l2-harmonic", "minmax-geometric", "rrf 1", "rrf 60"} <= names
    chosen = tuned.fusion.way.name + (f" {tuned.fusion.constant}" if tuned.fusion.constant else "")
    assert tuned.by_normaliser[chosen] == max(tuned.by_normaliser.values())
    run = served("opensearch", tuned.requests(), runs)
    assert ar.evaluate(run, qrels, "ndcg@5").means["ndcg@5"] == pytest.approx(tuned.value, abs=1e-9)
    assert "opensearch's arithmetic" in repr(tuned)


def test_means_that_are_no_sums_are_searched_as_well_as_a_fine_grid():
    for way in ("minmax-geometric", "minmax-harmonic"):
        for seed in range(3):
            runs, qrels = problem(seed, n_systems=2)
            tuned = ar.tune_weights(runs, qrels, "ndcg@5", engine="opensearch", window=WINDOW, normalise=way, cv=None)
            grid = []
            for share in np.linspace(0, 1, 101):
                files = tuned.fusion.requests({"s0": share, "s1": 1 - share})
                grid.append(ar.evaluate(served("opensearch", files, runs), qrels, "ndcg@5").means["ndcg@5"])
            assert tuned.value >= max(grid) - 0.01


def test_segments_keep_the_global_weights_unless_a_test_says_otherwise():
    rng = np.random.default_rng(0)
    n, size = 80, 12
    quality = rng.normal(size=n * size)
    first = np.repeat(np.arange(n) % 2 == 0, size)
    good = quality + 0.3 * rng.normal(size=n * size)
    noise = rng.normal(size=n * size)
    data = ar.Dataset(np.zeros((n * size, 1)), np.clip(np.round(quality), 0, 3), group=[size] * n)
    segment = np.where(np.arange(n) % 2 == 0, "head", "tail")
    split = {"a": np.where(first, good, noise), "b": np.where(first, noise, good)}
    tuned = ar.tune_weights(split, data, "ndcg@5", normalise="zscore", by=segment, bounds=(0, None))
    assert [one.keep_global for one in tuned.segments] == [False, False]
    assert tuned.segments[0].weights["a"] > 0.8 > 0.2 > tuned.segments[1].weights["a"]
    assert "own weights are better" in repr(tuned)
    same = {"a": good, "b": noise}
    tuned = ar.tune_weights(same, data, "ndcg@5", normalise="minmax", by=segment, engine="vespa")
    assert [one.keep_global for one in tuned.segments] == [True, True]
    assert all(one.p_value > 0.05 or one.difference <= 0 for one in tuned.segments)
    assert "keep the global weights" in repr(tuned)
    assert set(tuned.requests(segment="head")) == {"hybrid.profile", "README.txt"}
    with pytest.raises(OptionError, match="by: expected cv"):
        ar.tune_weights(same, data, "ndcg@5", by=segment, cv=None)
    with pytest.raises(OptionError, match="at least two segments"):
        ar.tune_weights(same, data, "ndcg@5", by=["x"] * n)


def test_what_does_not_go_together_is_said():
    runs, qrels = problem(0)
    with pytest.raises(OptionError, match="missing: expected none with engine"):
        ar.tune_weights(runs, qrels, "ndcg@5", engine="solr", missing=0.0)
    with pytest.raises(OptionError, match="normalisation of solr"):
        ar.tune_weights(runs, qrels, "ndcg@5", engine="solr", normalise="zscore")
    for wrong in ("rrf sixty", "max 60", "auto 60", "rrf 0"):
        with pytest.raises(OptionError, match="normalise: expected a constant"):
            ar.tune_weights(runs, qrels, "ndcg@5", engine="solr", normalise=wrong)
    with pytest.raises(OptionError, match="window: expected at least the cut-off"):
        ar.tune_weights(runs, qrels, "ndcg@10", engine="solr", window=5)
    with pytest.raises(OptionError, match="weights from 0 up"):
        ar.tune_weights(runs, qrels, "ndcg@5", engine="opensearch", fixed={"s0": -1.0})
    with pytest.raises(OptionError, match="expected cv from 3 up"):
        ar.tune_weights(runs, qrels, "ndcg@5", engine="opensearch", cv=None)
    plain = ar.tune_weights(runs, qrels, "ndcg@5", cv=None)
    with pytest.raises(InputError, match="expected the name of an engine"):
        plain.requests()
    tuned = ar.tune_weights(runs, qrels, "ndcg@5", engine="solr", normalise="max", cv=None)
    with pytest.raises(InputError, match="expected solr"):
        tuned.requests("vespa")
