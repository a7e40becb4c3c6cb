"""Which decay orm should have by default, 1/sqrt(i) or the measure's own discounts: decay.csv, decay.md.

    ARGRANK_DATA=/folder/with/the/collections python -m experiments.defaults.decay [--sets A B]

Both are fitted on the training part of every fold, one after the other, and judged query by query on its validation
part; test parts are not touched. It takes about ten minutes; what is in decay.csv is not computed again.
"""

from __future__ import annotations

import argparse

import numpy as np

import argrank as ar
from experiments.defaults._common import HERE, SETS, Store, fitted_on, fold_of, judged

DECAYS = ("sqrt", "measure")
VALUES = (30.0, 100.0)  # of C
MEASURE = "ndcg@10"


def compute(store: Store, sets: list[str]) -> None:
    """Fit what is missing; a difference is "measure" minus "sqrt"."""
    for decay in DECAYS:  # so that no row's time includes compilation
        fitted_on(ar.make_ranking(20, 30, 4, random_state=0), "orm", {"decay": decay})
    for name in sets:
        for fold in range(1, SETS[name][1] + 1):
            for C in VALUES:
                key = {"data": name, "fold": fold, "C": C}
                if store.has(key):
                    continue
                parts, values, seconds = fold_of(name, fold), {}, {}
                for decay in DECAYS:
                    fitted, seconds[decay] = fitted_on(parts.train, "orm", {"decay": decay, "C": C})
                    values[decay] = judged(fitted, parts.valid)[0][MEASURE]
                known = ~np.isnan(values["sqrt"])
                gains = (values["measure"] - values["sqrt"])[known]
                means = {decay: float(values[decay][known].mean()) for decay in DECAYS}
                times = {f"{decay} seconds": seconds[decay] for decay in DECAYS}
                error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
                store.add({**key, "queries": len(gains), **means, "difference": gains.mean(), "error": error, **times})


def summary(rows: list[dict[str, str]]) -> list[float]:
    """Return both means, the difference and its standard error over the queries of some folds, and CPU seconds."""
    queries = np.array([float(row["queries"]) for row in rows])
    share = queries / queries.sum()
    both = [float(share @ [float(row[name]) for row in rows]) for name in (*DECAYS, "difference")]
    error = float(np.sqrt(np.sum((share * [float(row["error"]) for row in rows]) ** 2)))
    return [*both, error, *(sum(float(row[f"{decay} seconds"]) for row in rows) for decay in DECAYS)]


def table(store: Store) -> str:
    """Return one row per C and set, folds joined, and one for the mean of sets, whose error takes the sets as given."""
    lines = ["| C | data | folds | sqrt | measure | measure minus sqrt | CPU s, sqrt | CPU s, measure |"]
    lines.append("|--:|---|" + "--:|" * 6)
    for C in VALUES:
        found = []
        for name in SETS:
            if rows := [row for row in store.rows if row["data"] == name and float(row["C"]) == C]:
                found.append(summary(rows))
                lines.append(_line(f"{C:g} | {name} | {len(rows)}", found[-1]))
        means, n = np.array(found), len(found)
        mean = [*means[:, :3].mean(axis=0), np.sqrt(np.sum(means[:, 3] ** 2)) / n, *means[:, 4:].sum(axis=0)]
        lines.append(_line(f"{C:g} | **mean of {n} sets** | ", mean))
    return "\n".join(lines) + "\n"


def _line(begin: str, figures: list[float]) -> str:
    sqrt, measure, difference, error, *seconds = figures
    times = " | ".join(f"{one:.1f}" for one in seconds)
    return f"| {begin} | {sqrt:.4f} | {measure:.4f} | {difference:+.4f} ± {error:.4f} | {times} |"


def main() -> None:
    """Compute what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    asked = parser.parse_args()
    store = Store(HERE / "decay.csv", ("data", "fold", "C"))
    compute(store, asked.sets)
    (HERE / "decay.md").write_text(table(store), "utf-8")


if __name__ == "__main__":
    main()
