"""
Choose a ranker
===============

Compare rankers of several families on the same queries. Each is tuned on validation queries; the test queries are
used once.
"""

import argrank as ar

data = ar.load_bundled()
train, valid, test = data.split(0.6, 0.2, 0.2)
names = ["regression", "rank-svm", "listnet", "mart"]
found = ar.benchmark(train, ["ndcg@10", "map"], names, valid=valid, test=test)
print(found)

# %%
# NDCG at every cut-off shows whether the order of the rankers depends on how far people read.

systems = {name: ar.make_ranker(name).fit(train).predict(test) for name in ("regression", "rank-svm", "mart")}
ar.plot.measure_curves(systems, test, "ndcg")
