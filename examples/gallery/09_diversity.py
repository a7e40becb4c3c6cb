"""
Diversity
=========

Ten results from one shop are rarely useful. ``ar.diversify`` fills the first places by score with a limited number of
documents from each source, and ``ar.evaluate_diverse`` measures what the constraint costs.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

rng = np.random.default_rng(0)
plain = ar.make_ranking(80, 30, 6, random_state=0)
shops = rng.integers(0, 8, plain.n_documents)  # which shop sells each product
data = ar.Dataset(plain.X, plain.y, plain.query_of_row, sources=shops)
scores = ar.make_ranker("rank-svm").fit(data).predict(data)

# %%
# NDCG@10 when a shop may appear once, twice, … among the first ten, as a share of the best such ranking.

limits = range(1, 6)
share = [ar.evaluate_diverse(scores, data, "ndcg@10", at_most=limit).means["ndcg@10"] for limit in limits]
shown = [ar.evaluate(ar.diversify(scores, data, at_most=limit), data, "ndcg@10").means["ndcg@10"] for limit in limits]
plt.plot(limits, share, "o-", label="share of the best such ranking")
plt.plot(limits, shown, "o-", label="NDCG@10 itself")
plt.xticks(limits)
plt.xlabel("documents of one source among the first ten")
plt.ylabel("NDCG@10")
plt.legend()
