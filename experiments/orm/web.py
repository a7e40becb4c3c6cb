"""Figures 1 to 3: the two web sets, which are not available, by generated stand-ins of their published size.

    python -m experiments.orm.web [set-1 set-2 choice-of-c]

- set-1: NDCG@k, one model for each k, c = max(k+1-i, 0) and c = a, against RankSVM, regression and SmoothGrad.
- set-2: c = i^-d with d and C chosen together on the validation part, and every c by itself.
- choice-of-c: Figure 3, the greatest difference in NDCG@10 between the choices of c, against the number m of training
  queries (several draws for the smaller m), with a power of m fitted to it.

The convex bound, as in the paper; convention "default". A fit ends at a gap of 1e-3 (choice-of-c: 1e-2) or after 200
passes. The column "at_an_end" counts the choices that are an end of their grid.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import argrank as ar
from argrank.trials.select import Selection
from experiments._common import at_an_end
from experiments.orm._common import (
    CUTOFFS,
    MEASURES,
    Floats,
    choose,
    difference,
    per_query,
    save_figure,
    web_set,
    write_csv,
)

ORM: dict[str, Any] = {"verbose": -1, "max_iter": 200, "n_jobs": 1, "bound": "convex"}
POWERS = {"1/4": 0.25, "1/3": 1 / 3, "1/2": 0.5, "1": 1.0, "2": 2.0, "3": 3.0}
DECAYS: dict[str, Any] = {**{f"i^-{name}": d for name, d in POWERS.items()}, "log2": "log2", "loglog": "loglog"}
VALUES = [0.01, 0.1, 1.0, 10.0, 100.0, 1e3]
SORTED = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4]
LINEAR = [1e-3, 0.01, 0.1, 1.0, 10.0, 100.0]  # c = k+1-i is up to ten times the others, its best w as much smaller
RIVALS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "regression": ("regression", {}, {"ridge": [0.0, 0.01, 1.0, 10.0, 100.0, 1e3, 1e4]}),
    "RankSVM": ("rank-svm", {}, {"C": [0.05, 0.5, 5.0, 50.0, 500.0, 5e3, 5e4]}),
    "SmoothGrad": (
        "smooth-grad",
        {"verbose": -1, "n_jobs": 1, "max_iter": 300, "w0": "regression"},
        {"C": [0.01, 0.1, 1.0, 10.0, 100.0, 1e3]},
    ),
}
#: training queries -> draws of them
SIZES = {32: 3, 64: 3, 125: 2, 250: 2, 500: 1, 1000: 1}


Choices = dict[str, list[Selection]]  # ranker -> what validation chose


def rivals(train: ar.Dataset, valid: ar.Dataset, test: ar.Dataset) -> tuple[dict[str, Floats], Choices]:
    """Return NDCG@1 … NDCG@10 of every test query, and the choice, by ranker."""
    chosen = {
        title: [choose(name, parameters, grid, train, valid)] for title, (name, parameters, grid) in RIVALS.items()
    }
    return {title: per_query(found.ranker.predict(test), test) for title, (found,) in chosen.items()}, chosen


def facts(choices: list[Selection]) -> dict[str, Any]:
    """Return what was chosen, and how often it is an end of its grid."""
    ends, values = 0, []
    for found in choices:
        ((name, value),) = found.params.items()
        ends += at_an_end({point.params[name]: point.value for point in found.points}, value)
        values.append(f"{value:g}")
    return {"at_an_end": ends, "chosen": " ".join(values)}


def set_1() -> None:
    """Train one model for every cut-off."""
    train, valid, test = web_set("orm-web-1")
    values, chosen = rivals(train, valid, test)
    for title, decay, grid in (("ORM, c = k+1-i", "linear", LINEAR), ("ORM, c = a", "measure", SORTED)):
        columns = []
        for k in CUTOFFS:
            parameters = {**ORM, "decay": decay, "measure": f"ndcg@{k}"}
            found = choose("orm", parameters, {"C": grid}, train, valid, f"ndcg@{k}")
            chosen.setdefault(title, []).append(found)
            columns.append(per_query(found.ranker.predict(test), test)[:, k - 1])
            print(title, k, found.params, np.nanmean(columns[-1]), flush=True)
        values[title] = np.column_stack(columns)
    _report("set-1", values, chosen, ("ORM, c = k+1-i", "ORM, c = a"))


def set_2() -> None:
    """Choose d and C together, and C for every c."""
    train, valid, test = web_set("orm-web-2")
    values, choices = rivals(train, valid, test)
    best = {}
    for title, decay in {**DECAYS, "a": "measure"}.items():
        found = choose("orm", {**ORM, "decay": decay}, {"C": SORTED if decay == "measure" else VALUES}, train, valid)
        values[f"ORM, c = {title}"] = per_query(found.ranker.predict(test), test)
        best[title], choices[f"ORM, c = {title}"] = found.value, [found]
        print(title, found.params, found.value, np.nanmean(values[f"ORM, c = {title}"], axis=0)[-1], flush=True)
    chosen = max((title for title in best if title.startswith("i^")), key=best.__getitem__)
    values = {"ORM, d chosen": values[f"ORM, c = {chosen}"], **values}
    choices["ORM, d chosen"] = choices[f"ORM, c = {chosen}"]
    print("chosen", chosen, flush=True)
    _report("set-2", values, choices, ("ORM, d chosen", "ORM, c = a"))


def choice_of_c() -> None:
    """Measure how much c matters with m training queries."""
    train, valid, test = web_set("orm-web-2")
    rng, rows = np.random.default_rng(0), []
    for m, draws in SIZES.items():
        for draw in range(draws):
            part = train.select(np.sort(rng.permutation(train.n_queries)[:m]))
            found, choices = {}, []
            first = sum(m >= size for size in (250, 500))  # the best C grows with m
            grid = VALUES[first : first + 4]
            for title, decay in DECAYS.items():
                choices.append(choose("orm", {**ORM, "decay": decay, "tol": 1e-2}, {"C": grid}, part, valid))
                scores = choices[-1].ranker.predict(test)
                found[title] = ar.evaluate(scores, test, "ndcg@10").means["ndcg@10"]
            spread = max(found.values()) - min(found.values())
            rows.append({"m": m, "draw": draw, "spread": spread, **found, **facts(choices)})
            print(rows[-1], flush=True)
            write_csv("choice-of-c.csv", rows)
    _draw_choice(rows)


def _report(name: str, values: dict[str, Floats], chosen: Choices, ours: tuple[str, ...]) -> None:
    means = {title: np.nanmean(one, axis=0) for title, one in values.items()}
    rows = [
        {"ranker": title, **dict(zip(MEASURES, one.tolist(), strict=True)), **facts(chosen[title])}
        for title, one in means.items()
    ]
    write_csv(f"web-{name}.csv", rows)
    tests = [
        {"ranker": own, "against": title, **difference(values[own], other)}
        for own in ours
        for title, other in values.items()
        if title != own
    ]
    write_csv(f"web-{name}-tests.csv", tests)
    _draw_set(name, means)


def _draw_set(name: str, means: dict[str, Floats]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    for title, one in means.items():
        if "c = i^" not in title and "log" not in title:
            axes.plot(CUTOFFS, one, marker=".", label=title)
    axes.set(xlabel="k", ylabel="NDCG@k", xticks=CUTOFFS, title=f"Web {name.replace('-', ' ')}, generated stand-in")
    axes.legend(fontsize=8)
    save_figure(figure, f"web-{name}.png")


def _draw_choice(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    sizes, spreads = np.array([row["m"] for row in rows]), np.array([row["spread"] for row in rows])
    means = {m: spreads[sizes == m].mean() for m in SIZES}
    power, level = np.polyfit(np.log(list(means)), np.log(list(means.values())), 1)
    print(f"spread ~ m^{power:.2f}", flush=True)
    write_csv("choice-of-c-power.csv", [{"power_of_m": float(power), **{f"m={m}": one for m, one in means.items()}}])
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(1 / np.sqrt(sizes), 100 * spreads, ".", label="a draw of m queries")
    at = np.geomspace(min(SIZES), max(SIZES), 50)
    axes.plot(1 / np.sqrt(list(means)), 100 * np.array(list(means.values())), "o-", label="mean")
    axes.plot(1 / np.sqrt(at), 100 * np.exp(level) * at**power, "--", label=f"m^{power:.2f}")
    axes.set(
        xlabel="1/sqrt(m)",
        ylabel="greatest difference in NDCG@10 (points)",
        title="Eight choices of c, generated set 2",
    )
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.legend()
    save_figure(figure, "figure3.png")


SCRIPTS = {"set-1": set_1, "set-2": set_2, "choice-of-c": choice_of_c}

if __name__ == "__main__":
    for name in sys.argv[1:] or SCRIPTS:
        SCRIPTS[name]()
