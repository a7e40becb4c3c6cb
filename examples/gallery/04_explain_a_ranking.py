"""
Explain a ranking
=================

Why does this document stand above that one? For a linear model the answer is exact: each feature's weight times the
difference of its values.
"""

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.7, 0.3)
ranker = ar.make_ranker("rank-svm", normalise="query-minmax").fit(train)
first, second = ranker.rank(test)[0][:2]  # rows of the first query, best first
print(ar.why_above(ranker, test, first, second))

# %%
# Which weights can be trusted? Resample the queries, train again, and look at the intervals.

print(ar.bootstrap_weights(ranker, train, n_resamples=20))

# %%
# A measure can be explained too: gains, discounts and the ideal, rank by rank.

print(ar.evaluate(ranker.predict(test), test, "ndcg@5", explain=test.query_ids[0]).explanation)
