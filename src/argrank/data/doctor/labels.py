"""Checks of labels, of features that order them alone, and of queries that teach or measure nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from argrank._tables import counted
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.data.doctor.diagnosis import Finding
from argrank.data.doctor.facts import Facts, sampled
from argrank.data.io.columns.roles import ALIASES

LARGEST_ELSEWHERE = 31  # LightGBM and XGBoost refuse larger labels with their exponential gain
LARGEST_EXPONENT = 1023  # 2 to a larger power is beyond float64


ENOUGH = 20  # minimum number of documents above the lowest label of their query to suspect a feature
SURE = 0.97  # AUC above which a feature is suspected: judges do not agree better with each other


def label_like(facts: Facts) -> Iterator[Finding]:
    """Report features that alone rank the documents nearly like the labels, or that have the name of a label."""
    data = facts.data
    words = {"label", *ALIASES["label"]}
    names = [name.lower() for name in data.feature_names or ()]
    named = [at for at, name in enumerate(names) if words & {name, *re.split(r"[^a-z]+", name)}]
    shares = _shares(facts)
    order = np.argsort(-shares, kind="stable").tolist()
    found = [*(at for at in order if shares[at] >= SURE), *named]
    found = sorted(dict.fromkeys(found), key=order.index)
    if found:
        have = "feature looks" if len(found) == 1 else "features look"
        what = f"{len(found):,} {have} like a label: {', '.join(_share(facts, at, shares) for at in found)}"
        rest = [at for at in order if at not in found and shares[at] > 0]
        what += f"; the next best: {_share(facts, rest[0], shares)}" if rest else ""
        advice = "if it is computed from judgements it is a leak: leave it out (columns={…: None}, --drop)"
        yield Finding("label-like", "warning", what, len(found), "", advice, facts.name)


def _share(facts: Facts, at: int, shares: Floats) -> str:
    return facts.feature(at) + (f" (AUC {shares[at]:.3f})" if shares[at] > 0 else "")


def _shares(facts: Facts) -> Floats:
    """Return how well every feature orders the labels of a sample of queries; 0 if there is too little data."""
    data = facts.data
    none = np.zeros(data.n_features)
    if data.is_sparse or not data.is_judged:
        return none
    sample = sampled(data)
    lowest = np.repeat(np.minimum.reduceat(sample.y, sample.indptr[:-1]), sample.sizes)
    shares = order_of_labels(sample) if (sample.y > lowest).sum() >= ENOUGH else none
    return np.where(facts.features.varying > 0, shares, 0.0)


def label_range(facts: Facts) -> Iterator[Finding]:
    """Report labels that are missing, too large for gains, not whole numbers, or all relevant."""
    y = facts.data.y
    if not facts.data.is_judged:
        advice = "enough to predict; add labels to train or evaluate"
        yield Finding("labels", "note", "there are no labels", facts.data.n_documents, "", advice, facts.name)
        return
    highest = facts.row(int(np.argmax(y)))
    if y.max() > LARGEST_EXPONENT:
        what = f"labels up to {y.max():g}: the gain 2^label - 1 overflows"
        advice = 'use gain="linear" or a table of gains, or map the labels to a few grades'
        yield Finding("labels", "error", what, int((y > LARGEST_EXPONENT).sum()), highest, advice, facts.name)
    elif y.max() > LARGEST_ELSEWHERE:
        what = f"labels up to {y.max():g}: with the gain 2^label - 1 the largest outweigh all others"
        advice = 'use gain="linear" or a table of gains, or map the labels to a few grades'
        yield Finding("labels", "warning", what, int((y > LARGEST_ELSEWHERE).sum()), highest, advice, facts.name)
    fractional = y != np.floor(y)
    if fractional.any():
        example = facts.row(int(np.argmax(fractional)))
        what = counted(int(fractional.sum()), "label is not a whole number", "labels are not whole numbers")
        advice = "fine here; LightGBM and XGBoost need whole numbers"
        yield Finding("labels", "note", what, int(fractional.sum()), example, advice, facts.name)
    if y.min() >= facts.relevant_at:
        what = f"every document is relevant: the lowest label is {y.min():g}"
        advice = f"if {y.min():g} means irrelevant, subtract it or set relevant_at; MAP, MRR and Prec@k are 1 otherwise"
        yield Finding("labels", "warning", what, len(y), "", advice, facts.name)


def without_relevant(facts: Facts) -> Iterator[Finding]:
    """Report queries without a relevant document."""
    if not facts.data.is_judged:
        return
    empty = np.maximum.reduceat(facts.data.y, facts.data.indptr[:-1]) < facts.relevant_at
    if empty.all():
        what = f"no document of any query has a label of {facts.relevant_at:g} or more"
        advice = "check the label column and relevant_at: nothing can be learned or measured"
        yield Finding("without-relevant", "error", what, len(empty), "", advice, facts.name)
    elif empty.any():
        advice = "evaluation skips and counts them by default, other tools call them 0 or 1; drop them with ar.clean"
        yield _of_queries(facts, "without-relevant", "warning", empty, "no relevant document", advice)


def one_label(facts: Facts) -> Iterator[Finding]:
    """Report queries whose documents are all relevant to the same grade."""
    if not facts.data.is_judged:
        return
    starts = facts.data.indptr[:-1]
    low, high = np.minimum.reduceat(facts.data.y, starts), np.maximum.reduceat(facts.data.y, starts)
    same = (low == high) & (low >= facts.relevant_at) & (facts.data.sizes > 1)
    if same.any():
        advice = "they hold no pair to learn from, and every ranking of them is perfect"
        yield _of_queries(facts, "one-label", "warning", same, "documents of one label only", advice)


def single_documents(facts: Facts) -> Iterator[Finding]:
    """Report queries of a single document."""
    single = facts.data.sizes == 1
    if single.any():
        advice = "there is nothing to rank: they raise every mean; drop them, or check that qid is the query's id"
        yield _of_queries(facts, "single-documents", "warning", single, "a single document", advice)


def _of_queries(facts: Facts, check: str, severity: str, found: NDArray[np.bool_], words: str, advice: str) -> Finding:
    count = int(found.sum())
    what = f"{count:,} of {len(found):,} queries {'has' if count == 1 else 'have'} {words}"
    return Finding(check, severity, what, count, facts.query(int(np.argmax(found))), advice, facts.name)


PAIRS = 100  # of a query that are compared


def order_of_labels(data: Dataset) -> Floats:
    """Return the AUC of every feature: the share of pairs with different labels that it ranks correctly.

    It is the mean over the queries that have such pairs, ties and missing values count half, and 1 - AUC is used for a
    feature that ranks them in reverse. Without such pairs it is NaN.
    """
    generator = np.random.default_rng(0)
    total, n_queries = np.zeros(data.n_features), 0
    for start, end in zip(data.indptr[:-1].tolist(), data.indptr[1:].tolist(), strict=True):
        labels = data.y[start:end]
        better, worse = np.nonzero(labels[:, None] > labels[None, :])
        if not len(better):
            continue
        if len(better) > PAIRS:
            some = generator.choice(len(better), PAIRS, replace=False)
            better, worse = better[some], worse[some]
        X = data.X[start:end]
        X = X.toarray() if data.is_sparse else X
        signs = np.sign(X[better] - X[worse])
        total += np.where(np.isnan(signs), 0.0, signs).mean(axis=0)
        n_queries += 1
    shares = 0.5 + total / (2 * n_queries) if n_queries else np.full(data.n_features, np.nan)
    return np.asarray(np.maximum(shares, 1 - shares), np.float64)
