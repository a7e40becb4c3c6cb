"""
Compare two systems with statistics
===================================

Two means alone do not show whether a difference is real. A paired comparison evaluates both systems on each query and
reports how large the difference is, how certain, and on which queries it arises.
"""

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.5, 0.5)
systems = {
    "bm25": test.X[:, test.feature_names.index("bm25_title")],
    "rank-svm": ar.make_ranker("rank-svm", normalise="query-minmax").fit(train).predict(test),
}
found = ar.compare(systems, test, ["ndcg@10", "map"])
print(found)

# %%
# Query by query: where does the new system win, and where does it lose?

ar.plot.differences(found, "ndcg@10", "rank-svm", "bm25")
