"""
Tune fusion weights
===================

Hybrid search adds the scores of several systems. Which weights are best for the measure you report? argrank finds the
best point on each line exactly: NDCG is a step function of a weight, and all its steps are known.
"""

import argrank as ar

data = ar.load_bundled()
names = data.feature_names
systems = {name: data.X[:, names.index(name)] for name in ("bm25_title", "bm25_description", "rating")}
tuned = ar.tune_weights(systems, data, "ndcg@10", cv=5)
print(tuned)

# %%
# The measure along one weight, exactly: every step is a pair of documents that changes places.

import matplotlib.pyplot as plt
import numpy as np

grid = np.linspace(0, 4, 200)
values = [
    ar.evaluate(systems["bm25_title"] + weight * systems["rating"], data, "ndcg@10").means["ndcg@10"] for weight in grid
]
plt.plot(grid, values)
plt.xlabel("weight of rating beside bm25_title")
plt.ylabel("NDCG@10")
