"""
Why two tools disagree on NDCG
==============================

The same scores and labels can give two values of NDCG. ``ar.why_differs`` changes one rule at a time until they agree.
"""

import matplotlib.pyplot as plt

import argrank as ar

data = ar.load_bundled()
scores = data.X[:, 0]
conventions = ("default", "trec", "lightgbm", "sklearn")
values = [ar.evaluate(scores, data, "ndcg@10", convention=one).means["ndcg@10"] for one in conventions]
plt.barh(conventions[::-1], values[::-1], height=0.5)
plt.xlabel("NDCG@10 of the same scores")
for place, value in enumerate(values[::-1]):
    plt.text(value, place, f" {value:.4f}", va="center")
plt.xlim(0, 1.1 * max(values))

# %%
# Which rule makes the difference? Each line changes one of them and keeps the others.

print(ar.why_differs(scores, data, "ndcg@10", a="lightgbm", b="trec"))
