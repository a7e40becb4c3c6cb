"""
Recommend items from ratings
============================

``factor-rank`` learns factors of users and items for a ranking measure rather than for squared error.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

rng = np.random.default_rng(0)
taste, nature = rng.standard_normal((80, 2)), rng.standard_normal((50, 2))
users, items = np.divmod(rng.permutation(80 * 50)[:1600], 50)  # 1,600 of the 4,000 pairs were rated
stars = np.clip(np.round(3 + (taste @ nature.T)[users, items] + 0.5 * rng.standard_normal(1600)), 1, 5)
ranker = ar.make_ranker("factor-rank", rank=2).fit(users, items, stars)
print(ranker.recommend(0, n=5))

# %%
# Do users like the items? Compare their ratings of the five recommended items with those of their five best.

truth = taste @ nature.T
found = [truth[user, ranker.recommend(user, n=5)].mean() for user in range(80)]
best = np.sort(truth, axis=1)[:, -5:].mean(axis=1)
plt.scatter(best, found)
plt.axline((0, 0), slope=1, color="grey", linewidth=1)
plt.xlabel("true liking of the user's five best items")
plt.ylabel("of the five recommended")
