"""
What a published row takes to reproduce
=======================================

LETOR's published figures rest on five official folds, features scaled within queries, a C chosen by validation MAP and
LETOR's own definition of NDCG. All four matter. The collections cannot be shipped, so this example shows the protocol
on generated data with the same shape; ``experiments/letor`` runs it on the real files.
"""

import argrank as ar

data = ar.make_ranking(100, (10, 30), 12, grades=3, noise=1.0, random_state=0)

# %%
# The same scores under three definitions of NDCG@10: a table that does not name its definition cannot be reproduced.

scores = ar.make_ranker("regression").fit(data).predict(data)
for convention in ("letor4", "lightgbm", "trec"):
    value = ar.evaluate(scores, data, "ndcg@10", convention=convention).means["ndcg@10"]
    print(f"{convention:8} {value:.4f}")

# %%
# Five folds as in LETOR: three parts train, one validates, one tests, in turn.

found = ar.cross_validate("rank-svm", data, ["map", "ndcg@10"], grid={"C": [1.0, 10.0, 100.0]}, convention="letor4")
print(found)
