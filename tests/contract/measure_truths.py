"""What every measure says of a ranked list, by the plain loops of its definition: a measure brings its own line here.

A truth is a function of the labels in ranked order, all judged and none tied, and of the cut-off (None without one). It
shares nothing with the library. Where an outside tool is the truth, a function of the same form asks it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from scipy.stats import kendalltau
from tests.contract.measure_checks import in_order, values, variants
from tests.measures import enumeration as plain

import argrank as ar


def relevant(labels):
    return [y >= 1 for y in labels]


def over(total, number):
    return total / number if number else math.nan


def r_precision(labels, k):
    good = relevant(labels)
    return over(sum(good[: sum(good)]), sum(good))


def mean_ndcg(labels, k):
    depth = min(k or len(labels), len(labels))
    return sum(plain.ndcg(labels, cut) for cut in range(1, depth + 1)) / depth


def bpref(labels, k):
    good = relevant(labels)
    n_good, n_bad = sum(good), len(good) - sum(good)
    most = max(min(n_good, n_bad), 1)
    terms = [1 - min(good[:i].count(False), n_good) / most for i, one in enumerate(good) if one]
    return over(sum(terms), n_good)


def inferred_ap(labels, k, small=1e-5):
    good = relevant(labels)
    terms = [(1 + i * (sum(good[:i]) + small) / (i + 2 * small)) / (i + 1) for i, one in enumerate(good) if one]
    return over(sum(terms), sum(good))


def eleven_points(labels, k):
    good = relevant(labels)
    if not any(good):
        return math.nan
    precisions = [(sum(good[:i]), sum(good[:i]) / i) for i in range(1, len(good) + 1)]
    needed = [math.floor(point / 10 * sum(good) + 0.9) for point in range(11)]
    return sum(max(p for found, p in precisions if found >= least) for least in needed) / 11


def tau(labels, k):
    """SciPy's tau-b."""
    return kendalltau(labels, [-i for i in range(len(labels))]).statistic if len(set(labels)) > 1 else math.nan


def set_f(labels, k):
    precision, found = sum(relevant(labels)) / len(labels), 1.0
    return 2 * precision * found / (precision + found) if precision else math.nan


#: Spelling of a measure -> its value of labels in ranked order, with a cut-off or None.
TRUTHS: dict[str, Callable[[list[float], int | None], float]] = {
    "AP": plain.average_precision,
    "AUC": lambda y, k: plain.auc(y),
    "Bpref": bpref,
    "DCG": plain.dcg,
    "ERR": plain.err,
    "ERU": lambda y, k: plain.eru(y),
    "IPrec": eleven_points,
    "Judged": lambda y, k: 1.0,
    "MeanNDCG": mean_ndcg,
    "NumRel": lambda y, k: sum(relevant(y)),
    "NumRelRet": lambda y, k: sum(relevant(y)),
    "NumRet": lambda y, k: len(y),
    "P": plain.precision,
    "R": plain.recall,
    "RBP": plain.rbp,
    "RR": plain.reciprocal_rank,
    "Rprec": r_precision,
    "SetF": set_f,
    "SetP": lambda y, k: sum(relevant(y)) / len(y),
    "SetR": lambda y, k: 1.0 if any(relevant(y)) else math.nan,
    "Success": lambda y, k: float(any(relevant(y)[:k])),
    "WTA": lambda y, k: plain.wta(y),
    "infAP": inferred_ap,
    "nDCG": plain.ndcg,
    "tau": tau,
}


def check_truth(name: str) -> None:
    """A measure has a truth, and is equal to it on all lists of up to four documents, and on some longer ones."""
    assert name in TRUTHS, f"{name}: expected a truth in tests/contract/measure_truths.py"
    random = np.random.default_rng(3)
    short = [one for n in (1, 2, 3, 4) for one in itertools.product([0.0, 1.0, 2.0], repeat=n)]
    lists = [*short, *(tuple(random.integers(0, 5, n).astype(float)) for n in (6, 9, 14) for _ in range(5))]
    for measure in variants(ar.measure(name)):
        found = values(measure, [in_order(np.array(labels)) for labels in lists])
        expected = [TRUTHS[name](list(labels), measure.cutoff) for labels in lists]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=f"{measure} is not its truth")
