"""
Several measures at once
========================

Navigational queries want the one right page first (MRR), informational ones a good first page (NDCG). ``svm-combo``
adds the bounds of several measures, with a weight for each, and so trains one model for both.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

train, test = ar.load_bundled().split(0.6, 0.4)
measures = ["map", "ndcg@10", "mrr@10"]
found = {}
for name, weights in {"MAP alone": [1, 0], "NDCG alone": [0, 1], "both": [1, 1]}.items():
    ranker = ar.make_ranker("svm-combo", measures=["map", "ndcg"], weights=weights, C=10.0, normalise="query-minmax")
    found[name] = ar.evaluate(ranker.fit(train).predict(test), test, measures).means
    print(f"{name:10}", {measure: round(value, 4) for measure, value in found[name].items()})

# %%
# Training on one measure costs a little of the other; training on both comes close to the best of each. The weights are
# parameters like any other: choose them on validation queries with ``ar.select``.

best = {measure: max(means[measure] for means in found.values()) for measure in measures}
for number, (name, means) in enumerate(found.items()):
    lost = [best[measure] - means[measure] for measure in measures]
    plt.bar(np.arange(len(measures)) + 0.25 * (number - 1), lost, width=0.22, label=name)
plt.xticks(range(len(measures)), measures)
plt.ylabel("behind the best of the three")
plt.legend(title="trained on")
