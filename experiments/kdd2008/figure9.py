"""Make the tables of Figure 9: ours beside the paper's, the paired tests behind its claims.

    python -m experiments.kdd2008.figure9 results/figure9 results/figure9_standins results/figure9_trec

The arguments are the output folders of ``argrank experiment`` for the three files figure9*.toml, by whose names the
tables are called.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from argrank.trials.store import slug
from experiments._common import at_an_end
from experiments.kdd2008._common import HERE

MEASURES = ("mrr@10", "ndcg@10", "map")
INTRODUCTION = """Means over five folds, convention kdd2008, parameters chosen by validation MAP. The best of each
column is in bold, the best of the paper's rankers in italics: the rows above "other rankers" that are not ours.
"Folds at w = 0" counts the folds in which the chosen model gives all documents one score, so that the row shows what
a random order reaches; `collapse.csv` has the proofs that the optimum of the convex bound is there. "Chosen" is C
unless it says what else, from the smallest to the largest of the folds. "At an end" counts the folds whose choice is
the smallest or largest value of a grid of one parameter, unless the next value ranks the validation part equally well
(small C: all models are multiples of one); a model at w = 0 is the same for every C and is not counted.
McRank chooses leaves (4, 10, 31) and learning rate (0.05, 0.2) at 30 rounds, LambdaMART leaves (10, 31) and learning
rate (0.05, 0.1, 0.3) at 100."""
#: Rankers that the paper does not have; their rows stand under a heading of their own.
OTHERS = (
    "regression",
    "log-mle",
    "log-convex, NDCG@10",
    "listnet",
    "rank-cosine",
    "lambdarank",
    "adarank, MAP",
    "rankboost",
    "direct-rank, NDCG@10",
    "smooth-grad, NDCG",
    "orm, NDCG@10, tight",
    "lambda-mart, NDCG@10",
    "frank",
    "softrank, NDCG",
)
#: The paper's rows for OHSUMED.
PAPER = {
    "AUC": (0.799, 0.635, 0.582),
    "MAP": (0.808, 0.642, 0.586),
    "NDCG": (0.790, 0.636, 0.581),
    "NDCG-NC": (0.818, 0.640, 0.582),
    "MRR": (0.795, 0.623, 0.570),
    "COMBO MAP+NDCG+NDCG-NC+MRR": (0.813, 0.635, 0.578),
    "DORM": (0.807, 0.637, 0.583),
    "McRank": (0.701, 0.565, 0.527),
}
#: Pairs that the paper's claims compare; where the convex form collapses, the tight or the pairs form stands in.
PAIRS = (
    ("NDCG-NC", "NDCG"),
    ("NDCG-NC", "DORM"),
    ("NDCG-NC", "DORM, tight (ours)"),
    ("NDCG", "DORM"),
    ("NDCG, tight (ours)", "DORM, tight (ours)"),
    ("MAP", "AUC"),
    ("MAP", "NDCG-NC"),
    ("MRR, tight (ours)", "MRR, pairs map"),
    ("MAP", "MRR, pairs map"),
    ("COMBO MAP+NDCG+NDCG-NC", "COMBO MAP+NDCG+NDCG-NC, shared"),
    ("COMBO MAP+NDCG+NDCG-NC", "MRR, pairs map"),
    ("COMBO MAP+NDCG+NDCG-NC", "MRR"),
    ("COMBO MAP+NDCG+NDCG-NC", "MAP"),
    ("COMBO MAP+NDCG+NDCG-NC", "NDCG-NC"),
    ("MAP", "RankSVM (ours)"),
    ("MAP", "McRank"),
    ("COMBO MAP+NDCG+NDCG-NC", "McRank"),
    ("COMBO MAP+NDCG-NC", "McRank"),
    *((other, "MAP") for other in OTHERS),
)


def main(folders: list[Path]) -> None:
    for folder in folders:
        results = json.loads((folder / "results.json").read_text())
        lines = [f"# {results['title']}", "", INTRODUCTION, ""]
        for data, rows in results["means"].items():
            lines += table(data, rows, results["runs"], folder / "scores" / slug(data))
            lines += tests(folder / "per_query" / f"{slug(data)}.csv")
        (HERE / f"{folder.name}.md").write_text("\n".join(lines).rstrip() + "\n")


def table(data: str, rows: dict[str, dict[str, float]], runs: list[dict[str, Any]], scores: Path) -> list[str]:
    """Return the means of five folds, the best of all and of the paper's marked, and the paper's for OHSUMED."""
    paper = data == "OHSUMED"
    best = {name: max(row[name] for row in rows.values()) for name in MEASURES}
    first = {name: max(row[name] for ranker, row in rows.items() if is_papers(ranker)) for name in MEASURES}
    head = [
        "trained on",
        *MEASURES,
        "folds at w = 0",
        "chosen",
        "at an end",
        *(f"paper {name}" for name in MEASURES if paper),
    ]
    folds = sorted({run["fold"] for run in runs if run["data"] == data})
    which = "" if len(folds) == 5 else f", fold {', '.join(map(str, folds))} only"
    lines = [f"## {data}{which}", "", f"| {' | '.join(head)} |", f"|---|{'--:|' * (len(head) - 1)}"]
    for ranker, row in rows.items():
        if ranker == OTHERS[0]:
            lines.append(f"| other rankers |{' |' * (len(head) - 1)}")
        own = [run for run in runs if (run["data"], run["ranker"]) == (data, ranker)]
        files = [scores / f"{slug(ranker)}-fold{run['fold']}.txt" for run in own]
        zero = [len(set(np.loadtxt(file))) == 1 for file in files]
        border = sum(is_end(run) for run, flat in zip(own, zero, strict=True) if not flat)
        marks = {
            name: "**" * (row[name] == best[name]) + "*" * (is_papers(ranker) and row[name] == first[name])
            for name in MEASURES
        }
        values = [f"{marks[name]}{row[name]:.3f}{marks[name]}" for name in MEASURES]
        theirs = [f"{value:.3f}" for value in PAPER[ranker]] if ranker in PAPER else ["", "", ""]
        lines.append(
            f"| {' | '.join([ranker, *values, str(sum(zero)), span(own), str(border), *(theirs if paper else [])])} |"
        )
    return [*lines, ""]


def is_papers(ranker: str) -> bool:
    """Tell whether a row is one of the paper's rankers."""
    return ranker not in OTHERS and not ranker.endswith("(ours)")


def span(runs: list[dict[str, Any]]) -> str:
    """Return from where to where the folds' choices go, of C or of what is named."""
    ranges = []
    for parameter in runs[0]["params"]:
        chosen = sorted(run["params"][parameter] for run in runs)
        ends = f"{chosen[0]:.3g}" if chosen[0] == chosen[-1] else f"{chosen[0]:.3g}-{chosen[-1]:.3g}"
        ranges.append(ends if parameter == "C" else f"{parameter.replace('_', ' ')} {ends}")
    return ", ".join(ranges)


def is_end(run: dict[str, Any]) -> bool:
    """Tell whether a fold chose an end of a grid of one parameter."""
    if len(run["params"]) != 1:
        return False
    ((parameter, chosen),) = run["params"].items()
    return at_an_end({point["params"][parameter]: point["value"] for point in run["grid"]}, chosen)


def tests(path: Path) -> list[str]:
    """Return mean differences over all test queries with standard errors and Wilcoxon's p, not corrected."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: {name: [] for name in MEASURES})
    with path.open() as stream:
        for row in csv.DictReader(stream):
            for name in MEASURES:
                values[row["ranker"]][name].append(float(row[name] or "nan"))
    lines = [f"| difference | {' | '.join(MEASURES)} |", f"|---|{'--:|' * len(MEASURES)}"]
    for one, other in PAIRS:
        if one in values and other in values:
            cells = []
            for name in MEASURES:
                difference = np.subtract(values[one][name], values[other][name])
                p = wilcoxon(difference).pvalue if difference.any() else 1.0
                error = difference.std(ddof=1) / len(difference) ** 0.5
                shown = "< .01" if p < 0.01 else f"{p:.2f}"
                cells.append(f"{difference.mean():+.3f} ± {error:.3f} (p {shown})")
            lines.append(f"| {one} less {other} | {' | '.join(cells)} |")
    return [
        *lines,
        "",
        f"Paired over {len(difference)} queries: mean ± standard error, p of Wilcoxon, not corrected.",
        "",
    ]


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
