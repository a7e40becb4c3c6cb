"""Measures of one ranked list, written as the plain loops of their definitions; nothing is shared with the library."""

from __future__ import annotations

import itertools
import math


def orders(scores):
    """Yield every order (row numbers, best first) that sorts the scores, each once."""
    levels = sorted(set(scores), reverse=True)
    groups = [[i for i, s in enumerate(scores) if s == level] for level in levels]
    for choice in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for group in choice for i in group]


def dcg(labels, k=None, gain=lambda y: 2**y - 1, discount=lambda i: 1 / math.log2(i + 1)):
    return sum(gain(y) * discount(i) for i, y in enumerate(labels[:k], 1))


def ndcg(labels, k=None, **how):
    best = dcg(sorted(labels, key=how.get("gain"), reverse=True), k, **how)
    return dcg(labels, k, **how) / best if best > 0 else math.nan


def mean_ndcg(labels):
    return sum(ndcg(labels, k) for k in range(1, len(labels) + 1)) / len(labels)


def average_precision(labels, k=None, rel=1, denominator="relevant"):
    relevant = sum(y >= rel for y in labels)
    if relevant == 0:
        return math.nan
    hits, value = 0, 0.0
    for i, y in enumerate(labels[:k], 1):
        if y >= rel:
            hits += 1
            value += hits / i
    if denominator == "hits":
        return value / hits if hits else 0.0
    return value / (relevant if denominator == "relevant" or k is None else min(relevant, k))


def reciprocal_rank(labels, k=None, rel=1):
    if not any(y >= rel for y in labels):
        return math.nan
    return next((1 / i for i, y in enumerate(labels[:k], 1) if y >= rel), 0.0)


def err(labels, k=None, max_grade=4):
    value, going = 0.0, 1.0
    for i, y in enumerate(labels[:k], 1):
        stop = (2**y - 1) / 2**max_grade
        value += going * stop / i
        going *= 1 - stop
    return value


def precision(labels, k=None, rel=1):
    return sum(y >= rel for y in labels[:k]) / (k or len(labels))


def recall(labels, k=None, rel=1):
    relevant = sum(y >= rel for y in labels)
    return sum(y >= rel for y in labels[:k]) / relevant if relevant else math.nan


def rbp(labels, k=None, p=0.8, rel=1):
    return (1 - p) * sum(p ** (i - 1) for i, y in enumerate(labels[:k], 1) if y >= rel)


def eru(labels, alpha=5.0, d=0.0):
    return sum(2 ** ((1 - i) / (alpha - 1)) * max(y - d, 0) for i, y in enumerate(labels, 1))


def normalised_eru(labels, alpha=5.0, d=0.0):
    best = eru(sorted(labels, reverse=True), alpha, d)
    return eru(labels, alpha, d) / best if best > 0 else math.nan


def wta(labels, rel=1):
    return float(labels[0] >= rel)


def auc(labels, rel=1):
    return graded_auc([float(y >= rel) for y in labels])


def graded_auc(labels):
    pairs = [(a, b) for a, b in itertools.combinations(labels, 2) if a != b]
    return sum(a > b for a, b in pairs) / len(pairs) if pairs else math.nan


#: Name of a measure -> its value of labels in ranked order.
PLAIN = {
    "ndcg": ndcg,
    "ndcg@3": lambda y: ndcg(y, 3),
    "nDCG(gain='linear')@2": lambda y: ndcg(y, 2, gain=lambda label: label),
    "nDCG(gain=(0, 2, 1, 5, 4, 3))@4": lambda y: ndcg(y, 4, gain=lambda label: (0, 2, 1, 5, 4, 3)[int(label)]),
    "nDCG(discount='reciprocal')": lambda y: ndcg(y, discount=lambda i: 1 / i),
    "nDCG(discount='letor')@4": lambda y: ndcg(y, 4, discount=lambda i: 1 / math.log2(max(2, i))),
    "dcg@4": lambda y: dcg(y, 4),
    "MeanNDCG": mean_ndcg,
    "map": average_precision,
    "map@3": lambda y: average_precision(y, 3),
    "AP(rel=2)@4": lambda y: average_precision(y, 4, rel=2),
    "mrr": reciprocal_rank,
    "mrr@2": lambda y: reciprocal_rank(y, 2),
    "RR(rel=3)@4": lambda y: reciprocal_rank(y, 4, rel=3),
    "err": err,
    "err@2": lambda y: err(y, 2),
    "ERR(max_grade=5)@4": lambda y: err(y, 4, 5),
    "p@2": lambda y: precision(y, 2),
    "p@9": lambda y: precision(y, 9),
    "recall@3": lambda y: recall(y, 3),
    "rbp": rbp,
    "RBP(p=0.5, rel=2)@3": lambda y: rbp(y, 3, 0.5, 2),
    "eru": eru,
    "ERU(alpha=2, d=1)": lambda y: eru(y, 2, 1),
    "nERU(alpha=3, d=1)": lambda y: normalised_eru(y, 3, 1),
    "wta": wta,
    "auc": auc,
    "AUC(graded=True)": graded_auc,
}
