"""LogRank's objectives by brute force, over all y or over all valid rankings; written from the paper's definitions."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import logsumexp


def pairs_of(labels):
    """Return the pairs (better, worse)."""
    n = len(labels)
    return [(i, j) for i in range(n) for j in range(n) if labels[i] > labels[j]]


def every_y(pairs):
    """Return all assignments of +1 and -1 to the pairs."""
    return np.array(list(itertools.product([1, -1], repeat=len(pairs))))


def valid_y(labels, pairs):
    """Return each y that some ranking has, once, with one such ranking."""
    found = {}
    for order in itertools.permutations(range(len(labels))):
        rank = np.argsort(order)
        found.setdefault(tuple(1 if rank[i] < rank[j] else -1 for i, j in pairs), order)
    return np.array(list(found)), [np.array(order) for order in found.values()]


def exponents(scores, pairs, ys):
    """Return -w · dphi(y) of the unscaled map: phi(y) - phi(best), phi(y) = sum of y_ij (s_i - s_j)."""
    differences = np.array([scores[i] - scores[j] for i, j in pairs])
    return ys @ differences - differences.sum()


def objectives(exponent, losses, rho=1.0):
    """Return every objective by name, from exponents and losses of the y that are summed over."""
    log_z = logsumexp(exponent)
    chance = np.exp(exponent - log_z)
    expected = chance @ losses
    return {
        "log-mle": log_z,
        "log-gain": -np.log(chance @ (1 - losses)),
        "log-loss": rho * expected,
        "log-loss log": np.log(rho * expected) if expected > 0 else 0.0,
        "log-loss exp": chance @ np.exp(rho * losses),
        "log-loss log exp": np.log(chance @ np.exp(rho * losses)),
        "log-combined": log_z + rho * expected,
        "log-convex": logsumexp(rho * losses + exponent),
    }


#: Names as above -> registered name and parameters.
NAMED = {
    "log-gain": ("log-gain", {}),
    "log-loss": ("log-loss", {}),
    "log-loss log": ("log-loss", {"form": "log-expected"}),
    "log-loss exp": ("log-loss", {"f": "exp"}),
    "log-loss log exp": ("log-loss", {"form": "log-expected", "f": "exp"}),
    "log-combined": ("log-combined", {}),
    "log-convex": ("log-convex", {}),
}


def sum_over_pairs(function, scores, data):
    """The loss of the one query in the data: objectives that are means over pairs divide it by their number."""
    return function(scores, data)[0] / function.query_shares(data)[0]
