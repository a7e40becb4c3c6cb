"""
Several measures at once
========================

Navigational queries want the one right page first (MRR), informational ones a good first page (NDCG). ``svm-combo``
adds the bounds of several measures, with weights for each.
"""

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.6, 0.4)
for weights in ([1, 0], [0, 1], [1, 1]):
    ranker = ar.make_ranker(
        "svm-combo", measures=["map", "ndcg"], weights=weights, C=10.0, normalise="query-minmax"
    ).fit(train)
    print(weights, ar.evaluate(ranker.predict(test), test, ["map", "ndcg@10", "mrr@10"]).means)
