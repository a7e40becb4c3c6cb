"""Stand-ins: generated data with the published counts of collections that are not available.

They share the sizes, the number of relevant documents and the grades of the originals, and nothing else, so a result on
a stand-in says nothing about the original. Their query ids begin with ``generated-``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._declared import Seed, checked
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.data.generated.synthetic import draw_features, noisy_truth
from argrank.data.grouping import offsets
from argrank.data.prepare.normalise import normalise
from argrank.errors import check_name


@dataclass(frozen=True)
class Standin:
    """Published counts. ``counts[g]`` is the number of documents with label g; ``even`` lists are equally long.

    The number of features of the TREC sets and of the web sets is not published (for the web sets: "several hundred");
    nor are the grades of the web sets, so each grade is half as frequent as the one below.
    """

    n_queries: int
    counts: tuple[int, ...]
    n_features: int
    source: str
    even: bool = False

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return sum(self.counts)


STANDINS = {
    "orm-web-1": Standin(1500, (25_000, 13_333, 6_667, 3_333, 1_667), 300, "ORM, section 6.1"),
    "orm-web-2": Standin(3000, (75_000, 40_000, 20_000, 10_000, 5_000), 300, "ORM, section 6.2", even=True),
    "td2003": Standin(50, (48_655, 516), 44, "KDD 2008, section 4.1"),
    "td2004": Standin(75, (73_726, 444), 44, "KDD 2008, section 4.1"),
    "trec2000": Standin(50, (218_766, 2_120), 50, "KDD 2008, section 4.1"),
    "trec2001": Standin(50, (203_507, 2_892), 50, "KDD 2008, section 4.1"),
}


@checked
def make_standin(name: str, *, random_state: Seed = 0) -> Dataset:
    """Generate a stand-in, in its published size, for a collection that is not available.

    Parameters
    ----------
    name : "td2003", "td2004", "trec2000", "trec2001", "orm-web-1" or "orm-web-2"
        The first four have about 1 % relevant documents, binary labels, and from one to many relevant documents per
        query. "orm-web-1" has 1,500 queries, 50,000 pairs and five grades (the paper trains on three fifths, validates
        and tests on one fifth each). "orm-web-2" has 3 x 1000 queries of 50 documents: ``data.split(1/3, 1/3, 1/3,
        random_state=None)``.
    random_state : int

    Returns
    -------
    Dataset
        Features are float32, correlated, and scaled to [0, 1] within each query as in the papers. Labels
        follow a partly nonlinear truth with much noise. Query ids say that the data is generated.
    """
    check_name("stand-in", name, STANDINS)
    counts = STANDINS[name]
    rng = np.random.default_rng([random_state, sorted(STANDINS).index(name)])
    total, n_queries = counts.n_documents, counts.n_queries
    sizes = np.full(n_queries, total // n_queries) if counts.even else _parts(rng, total, n_queries, 0.1, 2)
    indptr = offsets(sizes)
    X = draw_features(rng, total, counts.n_features, 0.3, None).astype(np.float32)
    score = noisy_truth(rng, X, "linear", 0.6) + 0.5 * noisy_truth(rng, X, "nonlinear", 0.6)
    if len(counts.counts) == 2:
        y = _best_of_queries(score, indptr, _parts(rng, counts.counts[1], n_queries, 1.0, 1))
    else:
        y = np.empty(total)
        y[np.argsort(score, kind="stable")] = np.repeat(np.arange(len(counts.counts)), counts.counts)
    ids = np.array([f"generated-{name}-{query}" for query in range(1, n_queries + 1)], object)
    return normalise(Dataset(X, y, qid=np.repeat(ids, sizes)), "query-minmax")


def _parts(rng: np.random.Generator, total: int, n: int, spread: float, least: int) -> Integers:
    """Divide a total into n whole numbers that vary by a log-normal factor, none below ``least``."""
    weights = np.exp(spread * rng.standard_normal(n))
    ideal = weights / weights.sum() * (total - least * n)
    parts: Integers = np.floor(ideal).astype(np.int64) + least
    parts[np.argsort(parts - ideal, kind="stable")[: total - parts.sum()]] += 1
    return parts


def _best_of_queries(score: Floats, indptr: Integers, good: Integers) -> Floats:
    """Label the best documents of each query 1, ``good[q]`` of them in query q."""
    query = np.repeat(np.arange(len(good)), np.diff(indptr))
    order = np.lexsort((-score, query))  # query by query, best first
    rank = np.arange(len(score)) - np.repeat(indptr[:-1], np.diff(indptr))
    labels = np.zeros(len(score))
    labels[order] = rank < good[query]
    return labels
