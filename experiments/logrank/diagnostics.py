"""Figures 4 to 8 and the line search of section 4, on the stand-in of TD2003.

    python -m experiments.logrank.diagnostics

The paper draws them for HP2004, which is not available; the stand-in too has lists of a thousand documents with few
relevant ones. Writes figures4to8.png and the data of each part as CSV. ConvexLoss-NDCG, trained on fold 1, C = 50,000.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from argrank.errors import ArgrankWarning
from experiments import _common as shared
from experiments.logrank import sampler_plots
from experiments.logrank import sampling_diagnostics as diagnostics
from experiments.logrank.resampling import resampling

HERE = Path(__file__).parent
C = 5e4
MEASURES = ["map", "ndcg@10"]
SEEDS = (0, 1, 2)
SAMPLES = [10, 30, 100, 300]
NAMED = ["best", "mixed", "worst"]
SKEWS = [-30.0, -10.0, -3.0, 0.0, 3.0, 10.0]


def write_csv(name: str, rows: shared.Rows) -> None:
    """Write the data of a figure."""
    shared.write_csv(HERE / name, rows, digits=5)


def main() -> None:
    warnings.simplefilter("ignore", ArgrankWarning)
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    fold = shared.read_fold("td2003", 1)
    train, test = fold.train, fold.test
    common = {"convention": "letor3", "C": C, "n_jobs": 1, "seeds": SEEDS}
    figure, axes = plt.subplots(2, 4, figsize=(18, 8), layout="constrained")

    rows = diagnostics.accuracy("n_samples", SAMPLES, train, test, MEASURES, **common)
    write_csv("figure4.csv", rows)
    sampler_plots.sampling_accuracy(rows, "n_samples", "ndcg@10", axes=axes[0, 0]).set_title("Figure 4: sample size")

    rows = diagnostics.accuracy("skew", NAMED, train, test, MEASURES, **common)
    write_csv("figure5.csv", rows)
    sampler_plots.sampling_accuracy(rows, "skew", "ndcg@10", axes=axes[0, 1]).set_title("Figure 5: best or worst")

    rows = diagnostics.accuracy("skew", SKEWS, train, test, MEASURES, **common)
    write_csv("figure6.csv", rows)
    sampler_plots.sampling_accuracy(rows, "skew", "ndcg@10", axes=axes[0, 2]).set_title("Figure 6: skew k")

    for place, measure in ((axes[0, 3], "map"), (axes[1, 0], "ndcg@10")):
        rows = diagnostics.smear(train, measure)
        write_csv(
            f"figure7-{measure.partition('@')[0]}.csv",
            [
                {
                    "start": wanted,
                    **{f"{q:.0%} quantile": float(np.quantile(_losses(rows, wanted), q)) for q in (0.1, 0.5, 0.9)},
                    "mean spread of a walk": float(
                        np.mean([np.ptp(row["losses"]) for row in rows if row["wanted"] == wanted])
                    ),
                }
                for wanted in (0.0, 0.5, 1.0)
            ],
        )
        sampler_plots.smear(rows, axes=place).set_title(f"Figure 7: smear, {measure}")

    rows = diagnostics.objective_dynamics(train, C=C, max_iter=40)
    write_csv("objectives.csv", rows)
    sampler_plots.objective_dynamics(rows, axes=axes[1, 1]).set_title("5.3.4: AUC, sampled and exact")

    rows = diagnostics.scores_against_losses(train, C=C)
    write_csv("figure8.csv", [{**row, "w_phi": float(np.abs(row["w_phi"][1:]).mean())} for row in rows])
    sampler_plots.scores_against_losses(rows, axes=axes[1, 2]).set_title("Figure 8: w · phi against the loss")

    rows = resampling(train, C=C, max_iter=30)
    write_csv("resampling.csv", rows)
    sampler_plots.resampling(rows, axes=axes[1, 3]).set_title("Section 4: sample fixed or redrawn")
    shared.save_figure(figure, HERE / "figures4to8.png", dpi=70)


def _losses(rows: list[dict[str, Any]], wanted: float) -> Any:
    return np.concatenate([row["losses"] for row in rows if row["wanted"] == wanted])


if __name__ == "__main__":
    main()
