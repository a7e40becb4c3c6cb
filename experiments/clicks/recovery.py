"""Every propensity method and every click model on logs of its own kind: bias, and coverage of 95 % intervals.

    python -m experiments.clicks.recovery               # writes recovery.md beside this file
    python -m experiments.clicks.recovery pbm "model ubm"  # computes these rows again, keeps the others

Two rankers, six ranks, three sessions a user, 4,000 sessions unless said otherwise. Coverage is over 1,000 logs, bias
over the first 200 of them. A z is a mean error over its standard error: of the mean over all parameters of a kind, and
the largest of a single parameter, beside its limit: three standard errors, corrected for the number of parameters
(Bonferroni).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats
from tests.clicks.test_models import pages, parameters
from tests.clicks.test_propensities import fixed_pages, trusting_log, with_devices
from tests.clicks.test_recovery import identified

import argrank as ar
from argrank._tables import table, to_markdown
from argrank.clicks.models import CLICK_MODELS

N_BIAS, N_LOGS = 200, 1_000
RANKS = 1.0 / np.arange(1, 7)
OF_METHODS = ("method", "logs", "z, all ranks", "largest z of a rank", "logs", "bias", "coverage")
OF_MODELS = ("model", "parameters", "number", "z, all", "largest z of one", "largest bias")
Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # estimates, truth, ends of intervals


def shown(data: ar.Dataset, seed: int, **changes: object) -> ar.Clicks:
    """Return a log of two rankers."""
    settings = {"n_sessions": 4000, "n_results": 6, "vary": 0.7, "sessions_per_user": 3.0, "random_state": seed}
    return ar.simulate_clicks(data, {"a": data.X[:, 0], "b": data.X[:, 1]}, **(settings | changes))


def ends(curve: ar.Propensities, truth: np.ndarray) -> Found:
    """Return a curve from rank 2 on, beside the truth; ranks without a value left out."""
    kept = ~np.isnan(curve.values)
    kept[0] = False
    return curve.values[kept], truth[kept], curve.low[kept], curve.high[kept]


def linked(method: str, **options: object) -> Callable[[int], Found]:
    """Return a log's curve by a method that learns from links."""
    data = ar.make_ranking(n_queries=40, random_state=1)
    return lambda seed: ends(ar.propensities(shown(data, seed), method, **options), RANKS)


def missing_rank(method: str) -> Callable[[int], Found]:
    """Return curves of logs with an advertisement at rank 3."""
    data = ar.make_ranking(n_queries=40, random_state=1)
    truth = np.array([1, 1 / 2, np.nan, 1 / 3, 1 / 4, 1 / 5, 1 / 6])

    def one(seed: int) -> Found:
        log = shown(data, seed)
        return ends(
            ar.propensities(replace(log, position=np.array([0, 1, 2, 4, 5, 6, 7])[log.position]), method), truth
        )

    return one


def by_device(method: str) -> Callable[[int], Found]:
    """Return the curves of two devices, one after the other."""
    data = ar.make_ranking(n_queries=20, random_state=1)

    def one(seed: int) -> Found:
        log = with_devices(shown(data, seed, n_sessions=12_000, n_results=4), seed)
        found = ar.propensities(log, method, by="device")
        parts = [ends(found[name], np.arange(1, 5) ** -power) for name, power in (("desk", 1.0), ("phone", 2.0))]
        return tuple(np.concatenate(one) for one in zip(*parts, strict=True))

    return one


def of_sums(seed: int) -> Found:
    """Return the curve of sums without sessions."""
    data = ar.make_ranking(n_queries=40, random_state=1)
    return ends(ar.propensities(replace(shown(data, seed).counts(), group=None), "harvest"), RANKS)


def swapped(seed: int) -> Found:
    """Return the ratio of two ranks on pages in random order."""
    data = ar.make_ranking(n_queries=20, random_state=1)
    nothing = np.zeros(data.n_documents)
    log = ar.simulate_clicks(data, nothing, n_sessions=4000, n_results=3, vary=1.0, random_state=seed)
    return ends(ar.propensities(log, "swap", ranks=(1, 3)), RANKS[:3])


def by_features(seed: int) -> Found:
    """Return the curve of pages that never vary, from features."""
    data, log = fixed_pages(np.random.default_rng(seed), n_queries=50)
    return ends(ar.propensities(log, "pbm", features=data), RANKS[:4])


@cache
def trusted_pages(number: int) -> tuple[ar.Clicks, np.ndarray, np.ndarray]:
    """Return one of a few sets of pages, with the chances of clicks by readers who trust high ranks, and the slopes."""
    data, log, slopes, _ = trusting_log(120_000, number)
    gains = np.exp2(data.y) - 1.0
    attraction = dict(zip(map(str, range(data.n_documents)), 0.05 + 0.95 * gains / gains.max(), strict=True))
    of_row = np.array([attraction[str(one)] for one in log.document_ids])[log.pair_document][log.pair]
    rank = log.position
    return log, (of_row + (1.0 - of_row) * 0.3 / rank) / rank, slopes


def trusting(seed: int) -> Found:
    """Return the slopes of a log whose readers trust high ranks: clicks anew for each log, pages of ten sets."""
    log, chance, slopes = trusted_pages(seed % 10)
    click = np.random.default_rng(seed).random(log.n_rows) < chance
    return ends(ar.propensities(replace(log, click=click), "trust"), slopes)


METHODS: dict[str, Callable[[int], Found]] = {
    "harvest": linked("harvest"),
    "harvest, documents weigh the same": linked("harvest", weigh="equal"),
    "harvest, no rank 3": missing_rank("harvest"),
    "harvest, by device (12,000 sessions)": by_device("harvest"),
    "harvest, sums without sessions": of_sums,
    "pbm": linked("pbm"),
    "pbm, no rank 3": missing_rank("pbm"),
    "pbm, by device (12,000 sessions)": by_device("pbm"),
    "pbm with features (5,000 sessions, fixed pages)": by_features,
    "swap (pages in random order)": swapped,
    "trust (120,000 sessions)": trusting,
}


def z_of(errors: np.ndarray) -> tuple[float, float, float]:
    """Return z of the mean over parameters, the largest of one parameter, and its limit."""
    n, m = errors.shape
    means = errors.mean(axis=1)
    z = errors.mean(axis=0) / np.maximum(errors.std(axis=0, ddof=1), 1e-300) * np.sqrt(n)
    limit = stats.t.isf(stats.norm.sf(3) / m, n - 1)
    return float(means.mean() / means.std(ddof=1) * np.sqrt(n)), float(z[np.argmax(np.abs(z))]), float(limit)


def of_method(name: str) -> tuple[str, ...]:
    """Return a row of the table of methods."""
    errors, relative, inside = [], [], []
    for seed in range(N_LOGS):
        value, truth, low, high = METHODS[name](seed)
        errors.append(value - truth)
        relative.append(value / truth - 1)
        inside.append((low <= truth) & (truth <= high))
    z, largest, limit = z_of(np.array(errors[:N_BIAS]))
    bias = 100 * float(np.mean(relative))
    return (
        name, str(N_BIAS), f"{z:+.1f}", f"{largest:+.1f} of {limit:.1f}", f"{N_LOGS:,}", f"{bias:+.2f} %",
        f"{np.mean(inside):.3f}",
    )  # fmt: skip


def of_model(name: str) -> list[tuple[str, ...]]:
    """Return rows of the table of click models, one for each kind of parameter."""
    log = pages(20_000, 6, 4, 5, n_queries=2)
    model = ar.click_model(name).assume(log, **parameters(name, log, 6))
    truth = identified(name, model.parameters)
    errors: dict[str, list[np.ndarray]] = {kind: [] for kind in truth}
    for seed in range(N_BIAS):
        fitted = ar.click_model(name, prior_weight=1e-6, max_iter=2000, tol=1e-7).fit(model.simulate(log, seed))
        for kind, values in identified(name, fitted.parameters).items():
            errors[kind].append(values - truth[kind])
    rows = []
    for kind, of_kind in errors.items():
        z, largest, limit = z_of(np.array(of_kind))
        bias = np.abs(np.mean(of_kind, axis=0)).max()
        rows.append((name, kind, str(truth[kind].size), f"{z:+.1f}", f"{largest:+.1f} of {limit:.1f}", f"{bias:.4f}"))
    return rows


def main() -> None:
    """Write both tables, or the rows of the methods and models that are named into them."""
    chosen = sys.argv[1:]
    path = Path(__file__).with_name("recovery.md")
    lines = path.read_text("utf-8").splitlines() if chosen else []
    done = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if line.startswith("| ")]
    methods = {row[0]: row for row in done if row[0] in METHODS and len(row) == len(OF_METHODS)}
    models = {row[:2]: row for row in done if len(row) == len(OF_MODELS) and row[0] in CLICK_MODELS}
    for name in chosen or (*METHODS, *(f"model {one}" for one in CLICK_MODELS)):
        if name in METHODS:
            methods[name] = of_method(name)
        else:
            models |= {row[:2]: row for row in of_model(name.removeprefix("model "))}
        first = [methods[one] for one in METHODS if one in methods]
        second = sorted(models.values(), key=lambda row: list(CLICK_MODELS).index(row[0]))
        path.write_text(to_markdown([table(OF_METHODS, first, 1), table(OF_MODELS, second, 2)]) + "\n", "utf-8")
        print(name, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("error", ar.errors.ArgrankWarning)
    main()
