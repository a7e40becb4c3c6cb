"""The one-shot sample: valid rankings drawn once for every query, before anything is optimised.

Drawing anew at every iteration would give the optimiser a different function each time, and its line search fails
(LogRank, section 4). A ranking is kept as a row of whole numbers, half the coefficients of dphi: worse documents above
minus better documents below. The first is the best ranking, without which objectives would have no lower bound.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.errors import InputError
from argrank.measures.structure import level_numbers
from argrank.objectives.conditional.content_hashes import document_keys
from argrank.objectives.conditional.losses import RankingLoss
from argrank.objectives.conditional.valid_rankings import Query, Sampling, rankings_of

LARGEST_SAMPLE = 4 << 30  # bytes; more is refused


@dataclass(frozen=True)
class Sample:
    """Rankings of all queries. Those of query q are the numbers ``samples[q]`` … ``samples[q + 1] - 1``.

    ``rows`` holds their coefficients one after the other, those of query q from ``cells[q]`` on, a column for every
    stored row; ``losses`` and ``log_weights`` one number a ranking; ``n_pairs`` the pairs of every query.
    """

    rows: NDArray[Any]
    cells: Integers
    samples: Integers
    losses: Floats
    log_weights: Floats
    n_pairs: Floats

    @property
    def nbytes(self) -> int:
        """Memory that the sample takes."""
        return self.rows.nbytes + self.losses.nbytes + self.log_weights.nbytes

    def of(self, query: int) -> tuple[NDArray[Any], Floats]:
        """Return the coefficient rows and the losses of a query's rankings."""
        n_rankings = int(self.samples[query + 1] - self.samples[query])
        rows = self.rows[self.cells[query] : self.cells[query + 1]].reshape(n_rankings, -1)
        return rows, self.losses[self.samples[query] : self.samples[query + 1]]


def queries_of(data: Dataset, loss: RankingLoss, labels: Floats) -> list[Query]:
    """Return every query's documents by level and content."""
    levels = level_numbers(loss.levels(labels), data.indptr).astype(np.int64)
    keys = document_keys(data.X)
    return [Query(levels[a:b], labels[a:b], keys[a:b]) for a, b in itertools.pairwise(data.indptr.tolist())]


def draw(data: Dataset, loss: RankingLoss, labels: Floats, sampling: Sampling) -> Sample:
    """Draw the sample of all queries; refuse one that would not fit into memory."""
    dtype = np.dtype(np.int16 if data.sizes.max() <= np.iinfo(np.int16).max else np.int32)
    needed = data.n_documents * sampling.n_samples * dtype.itemsize
    if needed > LARGEST_SAMPLE:
        raise InputError(
            f"n_samples={sampling.n_samples}: the rankings of {data.n_documents:,} documents would take "
            f"{needed / 2**30:.1f} GiB, expected at most {LARGEST_SAMPLE / 2**30:.1f} GiB; take fewer"
        )
    rows, losses, weights, n_pairs = [], [], [], []
    for query in queries_of(data, loss, labels):
        ranked, coefficients = rankings_of(query, loss, sampling)
        stored = np.empty(coefficients.shape, dtype)
        stored[:, query.place] = coefficients
        rows.append(stored.reshape(-1))
        losses.append(loss(ranked, query.labels))
        weights.append(_log_importance(ranked, query.n_pairs) if sampling.importance else np.zeros(len(ranked)))
        n_pairs.append(float(query.n_pairs))
    counts = np.array([len(part) for part in losses])
    return Sample(
        rows=np.concatenate(rows),
        cells=np.concatenate(([0], np.cumsum(counts * data.sizes))),
        samples=np.concatenate(([0], np.cumsum(counts))),
        losses=np.concatenate(losses),
        log_weights=np.concatenate(weights),
        n_pairs=np.array(n_pairs),
    )


def inverted_pairs(ranked: Integers) -> Integers:
    """Return, for rankings given by level, the pairs of which the worse document stands above."""
    inverted = np.zeros(len(ranked), np.int64)
    for level in range(1, int(ranked.max()) + 1):
        worse_above = np.cumsum(ranked < level, axis=1)
        inverted += np.where(ranked == level, worse_above, 0).sum(axis=1)
    return inverted


def _log_importance(ranked: Integers, n_pairs: int) -> Floats:
    """Return log(number of y with as many inverted pairs / sampled rankings with as many)."""
    inverted = inverted_pairs(ranked)
    alike = np.bincount(inverted)[inverted]
    ways: Floats = gammaln(n_pairs + 1) - gammaln(inverted + 1) - gammaln(n_pairs - inverted + 1)
    return ways - np.log(alike)
