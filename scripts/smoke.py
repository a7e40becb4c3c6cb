"""What an installed argrank must do: ``python smoke.py [EXTRA]`` in an environment that has nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import argrank as ar


def tables(folder: Path) -> None:
    """Write and read Parquet."""
    data = ar.make_ranking(10, 5, 3, random_state=0)
    ar.dump(data, folder / "data.parquet")
    assert ar.load(folder / "data.parquet").n_documents == data.n_documents


def core(folder: Path) -> None:
    """Train, evaluate, compare, save, load, report; without any extra."""
    train, test = ar.make_ranking(40, 10, 4, random_state=0).split(0.5, 0.5)
    assert ar.load_bundled().n_queries > 100
    rankers = {name: ar.make_ranker(name).fit(train) for name in ("regression", "rank-svm", "svm-map")}
    found = ar.compare({name: one.predict(test) for name, one in rankers.items()}, test, ["ndcg@10", "map"])
    assert min(found.means["svm-map"].values()) > 0.5
    rankers["svm-map"].save(folder / "model.json")
    again = ar.load_model(folder / "model.json").predict(test)
    np.testing.assert_array_equal(again, rankers["svm-map"].predict(test))
    assert ar.write_report(folder / "report.html", test, rankers).stat().st_size > 10_000
    ar.dump(test, folder / "test.txt")
    program = [sys.executable, "-m", "argrank", "evaluate"]
    ar.write_scores(again, folder / "scores.txt")
    done = subprocess.run([*program, "test.txt", "scores.txt"], cwd=folder, capture_output=True, text=True, check=True)
    assert "ndcg@10" in done.stdout


def dask(folder: Path) -> None:
    """Train on a cluster of one."""
    from distributed import Client, LocalCluster

    from argrank.dask import DistributedDataset

    data = ar.make_ranking(20, 10, 3, random_state=0)
    ar.pack(data, folder / "data.pack")
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        spread = DistributedDataset.read(folder / "data.pack", client)
        ranker = ar.make_ranker("rank-svm").fit(spread)
    np.testing.assert_array_equal(ranker.coef_, ar.make_ranker("rank-svm").fit(ar.load(folder / "data.pack")).coef_)


def frames(folder: Path) -> None:
    """Take and give data frames."""
    import pandas as pd

    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 0, 0, 1], "bm25": [2.0, 1.0, 1.0, 3.0]})
    frame.to_csv(folder / "frame.csv", index=False)
    assert len(ar.load(folder / "frame.csv").to_pandas()) == 4


def onnx(folder: Path) -> None:
    """Export to ONNX."""
    data = ar.make_ranking(10, 5, 3, random_state=0)
    ar.export(ar.make_ranker("regression").fit(data), "onnx").write(folder / "onnx")


def plot(folder: Path) -> None:
    """Draw."""
    import matplotlib as mpl

    mpl.use("agg")
    data = ar.make_ranking(10, 5, 3, random_state=0)
    ar.plot.histogram(data).figure.savefig(folder / "plot.png")


def torch(_folder: Path) -> None:
    """Take a loss's gradient."""
    import torch as pytorch

    from argrank.torch import RankingLoss

    scores = pytorch.zeros(3, dtype=pytorch.float64, requires_grad=True)
    RankingLoss("listnet")(scores, pytorch.tensor([2.0, 1.0, 0.0])).backward()
    assert scores.grad[0] < 0 < scores.grad[2]


def trees(folder: Path) -> None:
    """Grow trees."""
    data = ar.make_ranking(30, 20, 3, random_state=0)
    ranker = ar.make_ranker("lambda-mart", n_trees=5).fit(data)
    ranker.save(folder / "trees.json")


EXTRAS = {one.__name__: one for one in (dask, frames, onnx, plot, torch, trees)}
NOT_IN_ALL = ("dask", "torch")


def main() -> None:
    """Run the core, and what the extra brings."""
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        core(Path(folder))
        tables(Path(folder))
        for name, run in EXTRAS.items():
            if asked == name or (asked == "all" and name not in NOT_IN_ALL):
                run(Path(folder))


if __name__ == "__main__":
    main()
