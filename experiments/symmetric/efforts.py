"""Cost and gain of the efforts of `auto`: NDCG@10 against CPU seconds; efforts.csv, efforts.md, a plot of the guide.

`auto` is trained on training parts and generated queries, and judged on validation parts and 400 further generated
queries; no test part is read. ``python -m experiments.symmetric.efforts`` resumes where it was stopped.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from argrank.evaluation.evaluate import evaluate
from experiments._common import fit, read_csv, write_csv
from experiments.symmetric.data import parts
from experiments.symmetric.members import generated

HERE = Path(__file__).parent
FIGURES, PAGE = HERE / "efforts.csv", HERE / "efforts.md"
PLOT = HERE.parents[1] / "docs" / "guide" / "efforts.png"
EFFORTS = ("fast", "default", "best")
REAL = ("shop (bundled)", "MQ2008", "OHSUMED-LETOR3")
MADE = {"asymmetric trees": 150, "interactions": 1250}  # kind -> training queries of 40 documents


def line(name: str, effort: str, default: np.ndarray | None) -> tuple[dict[str, Any], np.ndarray]:
    """Return cost and gain of one effort on a set, and its values query by query."""
    found = parts(f"{name} | 1") if name in REAL else generated(name, 31, MADE[name], 40)
    assert found is not None
    train, judged = found
    begin = time.process_time()
    ranker = fit("auto", train, effort=effort, n_jobs=1)
    cpu = time.process_time() - begin
    (values,) = evaluate(ranker.predict(judged), judged, "ndcg@10").values.values()
    gap = np.asarray(values if default is None else values - default)
    gap = gap[~np.isnan(gap)]
    row = {"set": name, "documents": train.n_documents, "effort": effort, "cpu": f"{cpu:.1f}"}
    row |= {"ndcg10": f"{np.nanmean(values):.5f}", "difference": "0" if default is None else f"{gap.mean():.5f}"}
    return row | {"error": "0" if default is None else f"{gap.std(ddof=1) / np.sqrt(len(gap)):.5f}"}, np.asarray(values)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table in Markdown, and the means over sets."""
    lines = ["| set | documents | effort | CPU s | NDCG@10 | against default |", "|---|--:|---|--:|--:|--:|"]
    for row in rows:
        gap = "" if row["effort"] == "default" else f"{float(row['difference']):+.4f} ± {float(row['error']):.4f}"
        cells = (
            row["set"],
            f"{int(row['documents']):,}",
            row["effort"],
            row["cpu"],
            f"{float(row['ndcg10']):.4f}",
            gap,
        )
        lines.append(f"| {' | '.join(cells)} |")
    n_sets = len(rows) // len(EFFORTS)
    lines += ["", f"Means over the {n_sets} sets:", "", "| effort | CPU s | NDCG@10 against default |", "|---|--:|--:|"]
    for effort in EFFORTS:
        own = [row for row in rows if row["effort"] == effort]
        cpu = np.exp(np.mean([np.log(float(row["cpu"])) for row in own]))
        mean = np.mean([float(row["difference"]) for row in own])
        error = np.sqrt(sum(float(row["error"]) ** 2 for row in own)) / len(own)
        gap = "" if effort == "default" else f"{mean:+.4f} ± {error:.4f}"
        lines.append(f"| {effort} | {cpu:.1f} | {gap} |")
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, Any]]) -> None:
    """Draw the difference to the default against CPU seconds, a line for every set, thick for their mean."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FormatStrFormatter, NullFormatter

    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    axis = figure.subplots()
    names = list(dict.fromkeys(row["set"] for row in rows))
    points = {
        name: [(float(row["cpu"]), float(row["difference"])) for row in rows if row["set"] == name] for name in names
    }
    for name, own in points.items():
        axis.plot(*zip(*own, strict=True), "o-", markersize=4, linewidth=1, label=name)
    each = np.array(list(points.values()))
    middle = np.exp(np.log(each[:, :, 0]).mean(axis=0)), each[:, :, 1].mean(axis=0)
    axis.plot(*middle, "ks-", linewidth=3, label="mean")
    for effort, x, y in zip(EFFORTS, *middle, strict=True):
        axis.annotate(effort, (x, y), textcoords="offset points", xytext=(8, -14), weight="bold")
    axis.set(xscale="log", xlabel="CPU seconds of fit", ylabel="NDCG@10 against the default effort")
    axis.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(PLOT, dpi=110)


def main() -> None:
    """Compute what is missing, and write table and plot."""
    rows = [dict(row) for row in read_csv(FIGURES)] if FIGURES.exists() else []
    for name in (*REAL, *MADE):
        if any(row["set"] == name for row in rows):
            continue
        middle, values = line(name, "default", None)
        rows += [line(name, "fast", values)[0], middle, line(name, "best", values)[0]]
        write_csv(FIGURES, rows)
        print(*rows[-3:], sep="\n", flush=True)
    PAGE.write_text("# What the efforts of auto cost and give\n\n" + (__doc__ or "") + "\n" + page(rows))
    plot(rows)


if __name__ == "__main__":
    main()
