"""Speed of evaluation: NDCG@10, MAP and MRR@10 of 10,000 queries of 100 documents, ties handled.

Against pytrec_eval-terrier, its ``evaluate`` alone and with the conversion of the arrays into its dictionaries, and
against a loop over scikit-learn's ``ndcg_score``, which gives NDCG@10 alone and is timed on a sample of the queries.
Every repeat runs all of them in turn, so that the machine's load affects all alike; the medians are compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import argrank as ar
from benchmarks._interleaved import medians

MEASURES = ["ndcg@10", "map", "mrr@10"]
SAMPLE = 500  # queries scikit-learn gets in a repeat
WANTED = {"pytrec_eval": 4.0, "pytrec_eval with conversion": 8.0, "scikit-learn loop": 40.0}


def make_data(n_queries: int, n_documents: int, seed: int = 0) -> tuple[ar.Dataset, np.ndarray]:
    """Return lists with labels 0 to 4 and scores of which about one in twenty is tied with another."""
    random = np.random.default_rng(seed)
    n = n_queries * n_documents
    labels = random.choice(5, n, p=[0.55, 0.2, 0.13, 0.08, 0.04]).astype(float)
    scores = labels * 0.3 + random.normal(size=n)
    rounded = random.random(n) < 0.2
    scores[rounded] = np.round(scores[rounded], 1)
    ids = np.array([f"d{row}" for row in range(n)])
    data = ar.Dataset(np.zeros((n, 1), np.float32), labels, group=np.full(n_queries, n_documents), document_ids=ids)
    return data, scores


def to_dictionaries(values: np.ndarray, data: ar.Dataset, number: type) -> dict[str, dict[str, Any]]:
    """Convert one value per row into pytrec_eval's dictionaries."""
    ids, numbers = data.document_ids.tolist(), values.tolist()
    return {
        f"q{query}": dict(zip(ids[start:end], map(number, numbers[start:end]), strict=True))
        for query, (start, end) in enumerate(itertools.pairwise(data.indptr.tolist()))
    }


def run(n_queries: int = 10_000, n_documents: int = 100, repeats: int = 5) -> dict[str, Any]:
    """Time all ways, print a table, return the figures."""
    import pytrec_eval
    from sklearn.metrics import ndcg_score

    data, scores = make_data(n_queries, n_documents)
    by_query = scores.reshape(n_queries, n_documents)
    labels = data.y.reshape(n_queries, n_documents)
    asked = {"ndcg_cut.10", "map", "recip_rank"}
    qrels, run_file = to_dictionaries(data.y, data, int), to_dictionaries(scores, data, float)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked)
    sample = min(SAMPLE, n_queries)

    def with_conversion() -> None:
        judgements, ranking = to_dictionaries(data.y, data, int), to_dictionaries(scores, data, float)
        pytrec_eval.RelevanceEvaluator(judgements, asked).evaluate(ranking)

    def sklearn_loop() -> None:
        for query in range(sample):
            ndcg_score(labels[query : query + 1], by_query[query : query + 1], k=10)

    ways: dict[str, Callable[[], Any]] = {
        "argrank, ties expected": lambda: ar.evaluate(scores, data, MEASURES),
        "argrank, one thread": lambda: ar.evaluate(scores, data, MEASURES, n_jobs=1),
        "argrank, trec convention": lambda: ar.evaluate(scores, data, MEASURES, convention="trec"),
        "pytrec_eval": lambda: evaluator.evaluate(run_file),
        "pytrec_eval with conversion": with_conversion,
        "scikit-learn loop": sklearn_loop,
    }
    seconds = medians(ways, repeats)
    seconds["scikit-learn loop"] *= n_queries / sample
    tied = ar.evaluate(scores, data, MEASURES).n_tied
    own = seconds["argrank, ties expected"]
    print(f"evaluate {', '.join(MEASURES)}: {n_queries:,} queries x {n_documents} documents, {tied:,} with ties")
    for way, taken in seconds.items():
        wanted = f"  (wanted {WANTED[way]:g})" if way in WANTED else ""
        print(f"  {way:28} {taken * 1e3:9.1f} ms  {taken / own:7.1f} times argrank's{wanted}")
    print(f"  medians of {repeats} interleaved runs; scikit-learn: NDCG@10 alone, {sample} queries timed and scaled up")
    return {"seconds": seconds, "ratios": {way: seconds[way] / own for way in WANTED}, "wanted": WANTED, "tied": tied}


if __name__ == "__main__":
    run()
