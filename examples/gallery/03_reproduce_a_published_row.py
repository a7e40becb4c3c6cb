"""
Reproduce a published row
=========================

LETOR's published figures depend on five official folds, features scaled within queries, a C chosen by validation MAP
and LETOR's own definition of NDCG. All four matter.

The collections cannot be shipped, so this example shows the protocol on generated data with the same shape;
``experiments/letor`` runs it on the real files.
"""

import matplotlib.pyplot as plt

import argrank as ar

data = ar.make_ranking(100, (10, 30), 12, grades=3, noise=1.0, random_state=0)

# %%
# The same scores under three definitions of NDCG@10: a table that does not name its definition cannot be reproduced.

scores = ar.make_ranker("regression").fit(data).predict(data)
values = {
    convention: ar.evaluate(scores, data, "ndcg@10", convention=convention).means["ndcg@10"]
    for convention in ("letor4", "lightgbm", "trec")
}
plt.bar(list(values), list(values.values()), width=0.5)
plt.ylim(0, 0.9)
plt.ylabel("NDCG@10 of the same scores")
for place, value in enumerate(values.values()):
    plt.text(place, value, f"{value:.4f}", ha="center", va="bottom")

# %%
# Five folds as in LETOR: three parts train, one validates, one tests, in turn.

grid = {"C": [0.1, 1.0, 10.0, 100.0]}
found = ar.cross_validate("rank-svm", data, ["map", "ndcg@10"], grid=grid, convention="letor4")
print(found)
