"""
Our objective in your model
===========================

Every objective is a function of the scores alone, with its gradient. So it trains any model: here a small network in
plain NumPy; ``examples/torch_orm.py`` and ``examples/xgboost_orm.py`` do the same in PyTorch and XGBoost.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

data = ar.normalise(ar.load_bundled(), "query-minmax")
train, test = data.split(0.7, 0.3, random_state=0)
risk = ar.objective("orm", measure="ndcg@10", bound="tight", decay="measure")

rng = np.random.default_rng(0)
W, v = 0.5 * rng.standard_normal((train.n_features, 16)), 0.5 * rng.standard_normal(16)
bound, measured = [], []
for _ in range(100):
    hidden = np.tanh(train.X @ W)
    value, gradient = risk(hidden @ v, train)
    bound.append(value)
    measured.append(ar.evaluate(np.tanh(test.X @ W) @ v, test, "ndcg@10").means["ndcg@10"])
    W_step = train.X.T @ (gradient[:, None] * v * (1 - hidden**2))
    v_step = hidden.T @ gradient
    W, v = W - 0.5 * W_step, v - 0.5 * v_step

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.plot(bound)
left.set(xlabel="step", ylabel="bound of 1 - NDCG@10, training")
right.plot(measured)
right.set(xlabel="step", ylabel="NDCG@10, test")
