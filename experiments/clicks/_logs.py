"""Simulated logs as arrays: sessions by their page, and sums of them, drawn without a loop over sessions.

A query has up to a hundred different pages, drawn around the production ranker's scores with Gumbel noise; a session
draws one of them, and readers follow the position-based model. Rankers that learn from sums get sums; those that need
sessions (LightGBM, XGBoost) get those of the same clicks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import argrank as ar
from argrank.clicks.evidence import evidence_of
from argrank.clicks.matching import numbers_of, pairs_of
from argrank.data.clicks.counts import ClickCounts

K = 10
PAGES = 100  # of a query
VARY = 0.3  # Gumbel noise on the scores, in standard deviations of the query's scores


class Lists(NamedTuple):
    """Rows of shown lists with their clicks and positions from 0; sizes of the lists, and how often each occurred."""

    rows: NDArray[Any]
    click: NDArray[Any]
    position: NDArray[Any]
    sizes: NDArray[Any]
    times: NDArray[Any]


@dataclass(frozen=True)
class Drawn:
    """Pages (rows of the data, -1 where a query has fewer), and the page and the clicks of every session."""

    pages: NDArray[Any]
    page: NDArray[Any]
    click: NDArray[Any]
    counts: ClickCounts

    def clicked_sessions(self, distinct: bool) -> Lists:
        """Return the lists of sessions that have a click, which LambdaRank needs; equal ones once if distinct."""
        some = self.click.any(axis=1)
        page, click, times = self.page[some], self.click[some], np.ones(some.sum(), np.int64)
        if distinct:
            codes, times = np.unique(page * 2**K + click @ 2 ** np.arange(K), return_counts=True)
            page, click = codes // 2**K, (codes[:, None] >> np.arange(K)) & 1
        rows = self.pages[page]
        there = rows >= 0
        position = np.broadcast_to(np.arange(K), rows.shape)
        return Lists(rows[there], click[there].astype(np.int32), position[there], there.sum(axis=1), times)


def attractions(data: ar.Dataset, noise: float) -> NDArray[Any]:
    """Return how much every document attracts, as ``ar.simulate_clicks`` has it."""
    gains = np.exp2(data.y) - 1.0
    return noise + (1.0 - noise) * gains / gains.max()


def draw(
    data: ar.Dataset, scores: NDArray[Any], n_clicks: int, rng: np.random.Generator, eta: float, noise: float
) -> Drawn:
    """Draw a log of about so many clicks."""
    pages = np.full((data.n_queries, PAGES, K), -1)
    for query in range(data.n_queries):
        begin, end = data.indptr[query], data.indptr[query + 1]
        own = scores[begin:end]
        spread = VARY * (own.std() or 1.0)
        order = np.argsort(-(own + spread * rng.gumbel(size=(PAGES, end - begin))), axis=1)[:, :K]
        pages[query, :, : order.shape[1]] = begin + order
    pages = pages.reshape(-1, K)
    theta = np.arange(1, K + 1) ** -eta
    chance = np.where(pages >= 0, attractions(data, noise)[pages] * theta, 0.0)
    n_sessions = max(1, round(n_clicks / chance.sum(axis=1).mean()))
    page = rng.integers(len(pages), size=n_sessions)
    click = rng.random((n_sessions, K), dtype=np.float32) < chance[page].astype(np.float32)
    return Drawn(pages, page, click, _sums(data, pages, page, click))


def _sums(data: ar.Dataset, pages: Any, page: Any, click: Any) -> ClickCounts:
    shown = np.bincount(page, minlength=len(pages))
    clicks = np.stack([np.bincount(page[click[:, k]], minlength=len(pages)) for k in range(K)], axis=1)
    cell = pages * K + np.arange(K)
    there = pages >= 0
    n = data.n_documents * K
    impressions = np.bincount(cell[there], np.broadcast_to(shown[:, None], pages.shape)[there], n)
    of_cell = np.bincount(cell[there], clicks[there], n)
    found = np.flatnonzero(impressions)
    return ClickCounts(
        query_ids=data.query_ids.astype(str),
        document_ids=data.document_ids.astype(str),
        pair_query=np.asarray(data.query_of_row, np.int64),
        pair_document=np.arange(data.n_documents),
        sessions_of_query=np.bincount(page // PAGES, minlength=data.n_queries),
        pair=found // K,
        position=found % K + 1,
        group=np.zeros(len(found), np.uint8),  # one group: no intervals are needed
        impressions=impressions[found].astype(np.int64),
        clicks=of_cell[found].astype(np.int64),
        value=of_cell[found],
    )


def gained(counts: ClickCounts, train: ar.Dataset, method: str, theta: Any, **options: Any) -> ar.Dataset:
    """Return the training data of a method: naive, ips or examinations."""
    if method == "naive":
        theta = ar.propensities(None, "given", values=np.ones(K))
    data = ar.from_clicks(counts, train, propensities=theta, allow_leaks=True, **options)
    if method != "ips":
        return data
    found = evidence_of(counts, theta)
    query = np.repeat(numbers_of(data.query_ids, found.counts.query_ids), data.sizes)
    pair = pairs_of(query, data.document_ids, found.counts)
    return data._but(gains=np.where(pair >= 0, found.worth("ips").gains[pair], 0.0))


def numbered(data: ar.Dataset, X: Any) -> ar.Dataset:
    """Return the data with other features, whose documents are numbered."""
    return ar.Dataset(X, data.y, qid=data.query_ids[data.query_of_row], document_ids=np.arange(data.n_documents))


def production_scores(train: ar.Dataset, rng: np.random.Generator) -> tuple[Any, NDArray[Any]]:
    """Return a ranker trained on 1 % of the training queries, at least three, and its scores."""
    few = np.sort(rng.choice(train.n_queries, max(3, train.n_queries // 100), replace=False))
    production = ar.make_ranker("rank-svm", C=1.0, verbose=-1).fit(train.select(few))
    return production, train.from_caller(production.predict(train))


def ndcg(model: Any, test: ar.Dataset) -> float:
    """Return NDCG@10 of a model."""
    return float(ar.evaluate(model.predict(test), test, "ndcg@10").means["ndcg@10"])
