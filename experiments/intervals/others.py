"""Intervals that argrank does not use, for comparison: one for each column of (n_queries, n_columns)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, stdtrit

from argrank._types import Floats

LEVEL = 0.05
N_RESAMPLES = 1000


def bca(values: Floats) -> Floats:
    """The bias-corrected and accelerated bootstrap (Efron 1987), which argrank used before."""
    n, n_columns = values.shape
    drawn = np.random.default_rng(0).integers(0, n, (N_RESAMPLES, n)) + n * np.arange(N_RESAMPLES)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=N_RESAMPLES * n).reshape(N_RESAMPLES, n)
    mean = values.mean(axis=0)
    centred = values - mean
    resampled = np.sort(counts @ centred / n, axis=0)
    squares = (centred**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = np.nan_to_num((centred**3).sum(axis=0) / (6 * squares**1.5))
    below = ((resampled < -1e-12).mean(axis=0) + (resampled <= 1e-12).mean(axis=0)) / 2
    bias = ndtri(np.clip(below, 0.5 / N_RESAMPLES, 1 - 0.5 / N_RESAMPLES))
    ends = []
    for z in (ndtri(LEVEL / 2), ndtri(1 - LEVEL / 2)):
        place = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z))) * (N_RESAMPLES - 1)
        ends.append(resampled[np.round(place).astype(int), np.arange(n_columns)])
    return np.stack(ends, axis=1) + mean[:, None]


def student(values: Floats) -> Floats:
    """Student's t."""
    n, mean = len(values), values.mean(axis=0)
    half = stdtrit(n - 1, 1 - LEVEL / 2) * values.std(axis=0, ddof=1) / np.sqrt(n)
    return np.stack([mean - half, mean + half], axis=1)


def imagined(differences: Floats, size: float, ties: bool = False) -> Floats:
    """Student's t with two imagined queries, as argrank's but at another share of 1, or fading with ties counted."""
    n, mean = differences.shape[0], differences.mean(axis=0)
    differ = n if ties else np.count_nonzero(differences, axis=0)
    variance = differences.var(axis=0, ddof=1) + 2 * size**2 * np.maximum(0, 1 - differ / 50) / n
    half = stdtrit(n - 1, 1 - LEVEL / 2) * np.sqrt(variance / n)
    unseen = 1 - (LEVEL / 2) ** (1 / n)  # of differences that are all equal, as argrank's
    ends = np.stack([mean - half, mean + half], axis=1)
    equal = np.stack([mean - unseen * (mean + 1), mean + unseen * (1 - mean)], axis=1)
    return np.where((np.ptp(differences, axis=0) <= 1e-12)[:, None], equal, ends)


def studentised(values: Floats) -> Floats:
    """The studentised bootstrap: quantiles of (mean - true mean) / standard error over resamples."""
    n, mean = len(values), values.mean(axis=0)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), N_RESAMPLES).astype(float)
    means, squares = counts @ values / n, counts @ values**2 / n
    errors = np.sqrt(np.maximum(squares - means**2, 0) / n)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(errors > 1e-12, (means - mean) / errors, np.sign(means - mean) * np.inf)
    t = np.sort(np.nan_to_num(t, posinf=1e9, neginf=-1e9), axis=0)
    first, last = round(LEVEL / 2 * (N_RESAMPLES - 1)), round((1 - LEVEL / 2) * (N_RESAMPLES - 1))
    error = values.std(axis=0) / np.sqrt(n)
    return np.stack([mean - t[last] * error, mean - t[first] * error], axis=1)


def korn_graubard(values: Floats) -> Floats:
    """The interval of Clopper and Pearson with an effective number of queries (Korn and Graubard 1998)."""
    n, mean = len(values), values.mean(axis=0)
    equal = np.ptp(values, axis=0) == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = mean * (1 - mean) * n / values.var(axis=0, ddof=1)
    ratio = (ndtri(1 - LEVEL / 2) / stdtrit(n - 1, 1 - LEVEL / 2)) ** 2
    effective = np.where(equal, n, effective * ratio)
    hits, misses = effective * mean, effective * (1 - mean)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), misses + 1, LEVEL / 2), 0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1e-9), 1 - LEVEL / 2), 1)
    return np.stack([low, high], axis=1)


def betting(values: Floats, n_places: int = 200) -> Floats:
    """Hedged capital (Waudby-Smith and Ramdas 2024), valid for any bounded values; the ends are on a grid."""
    n = len(values)
    order = np.arange(1, n + 1)[:, None]
    running = (0.5 + np.cumsum(values, axis=0)) / (order + 1)
    variance = (0.25 + np.cumsum((values - running) ** 2, axis=0)) / (order + 1)
    before = np.vstack([np.full((1, values.shape[1]), 0.25), variance[:-1]])
    stake = np.sqrt(2 * np.log(2 / LEVEL) / (n * before))
    inside = np.zeros((n_places + 1, values.shape[1]), bool)
    for number, place in enumerate(np.linspace(0, 1, n_places + 1)):
        up = np.minimum(stake, 0.5 / max(place, 1e-9)) * (values - place)
        down = np.minimum(stake, 0.5 / max(1 - place, 1e-9)) * (values - place)
        capital = np.maximum(np.log1p(up).cumsum(axis=0).max(axis=0), np.log1p(-down).cumsum(axis=0).max(axis=0))
        inside[number] = capital < np.log(2 / LEVEL)
    first, last = inside.argmax(axis=0), n_places - inside[::-1].argmax(axis=0)
    return np.stack([np.maximum(first - 1, 0), np.minimum(last + 1, n_places)], axis=1) / n_places


OTHERS: dict[str, Callable[[Floats], Floats]] = {
    "BCa bootstrap": bca,
    "studentised bootstrap": studentised,
    "Student's t": student,
    "Korn and Graubard": korn_graubard,
    "hedged capital": betting,
}
