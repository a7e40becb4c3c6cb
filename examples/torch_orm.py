"""A small PyTorch network trained on ORM's bound of NDCG@10.

    pip install argrank[torch]
    python examples/torch_orm.py

The objective is a function of the scores alone: it gives PyTorch its gradient with respect to the scores, and
PyTorch propagates it to the weights of any network.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import argrank as ar
from argrank.torch import RankingLoss


def train(data: ar.Dataset, *, hidden: int = 16, steps: int = 200, seed: int = 0, **objective: Any) -> torch.nn.Module:
    """Train a network with one hidden layer by Adam on whole passes."""
    torch.manual_seed(seed)
    loss = RankingLoss("orm", **objective)
    network = torch.nn.Sequential(
        torch.nn.Linear(data.n_features, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 1, bias=False)
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02, weight_decay=1e-4)
    X, y = torch.tensor(data.to_caller(data.X), dtype=torch.float32), data.to_caller(data.y)
    queries = data.to_caller(data.query_of_row)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(network(X), y, queries).backward()
        optimizer.step()
    return network


def predict(network: torch.nn.Module, data: ar.Dataset) -> np.ndarray:
    """Score the rows in the caller's order."""
    with torch.no_grad():
        scores = network(torch.tensor(data.to_caller(data.X), dtype=torch.float32))
    return np.asarray(scores.squeeze(1).double().numpy())


def main() -> dict[str, float]:
    """Compare the network with the linear ranker on the bundled data."""
    train_part, test = ar.normalise(ar.load_bundled(), "query-minmax").split(0.7, 0.3, random_state=0)
    network = train(train_part, bound="tight", decay="measure")
    linear = ar.make_ranker("orm", bound="tight", decay="measure", C=10.0, tol=1e-2).fit(train_part)
    scores = {"network": predict(network, test), "linear": linear.predict(test)}
    found = {name: ar.evaluate(one, test, "ndcg@10").means["ndcg@10"] for name, one in scores.items()}
    for name, value in found.items():
        print(f"{name:10} NDCG@10 {value:.4f}")
    return found


if __name__ == "__main__":
    main()
