"""
Explain a ranking
=================

Why is one document ranked above another? For a linear model the answer is exact: each feature's weight times the
difference of its values.
"""

import matplotlib.pyplot as plt

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.7, 0.3)
ranker = ar.make_ranker("rank-svm", normalise="query-minmax").fit(train)
first, second = ranker.rank(test)[0][:2]  # rows of the first query, best first
why = ar.why_above(ranker, test, first, second)
print(why)

# %%
# The same as a picture: bars to the right favour the document above, bars to the left the other one.

names, adds = zip(*reversed(why.largest), strict=True)
plt.barh(names, adds, color=["C0" if value > 0 else "C1" for value in adds])
plt.axvline(0, color="black", linewidth=0.8)
plt.xlabel("what the feature adds to the difference of the scores")

# %%
# Which weights can be trusted? Resample the queries, train again, and look at the intervals.

print(ar.bootstrap_weights(ranker, train, n_resamples=20))

# %%
# A measure can be explained too: gains, discounts and the ideal, rank by rank.

print(ar.evaluate(ranker.predict(test), test, "ndcg@5", explain=test.query_ids[0]).explanation)
