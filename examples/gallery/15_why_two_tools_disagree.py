"""
Why two tools disagree on NDCG
==============================

The same scores, the same labels, two numbers. ``ar.why_differs`` changes one rule at a time until they agree.
"""

import argrank as ar

data = ar.load_bundled()
scores = data.X[:, 0]
for convention in ("default", "trec", "lightgbm", "sklearn"):
    print(f"{convention:10} {ar.evaluate(scores, data, 'ndcg@10', convention=convention).means['ndcg@10']:.6f}")

# %%
print(ar.why_differs(scores, data, "ndcg@10", a="lightgbm", b="trec"))
