"""
From a click log to a deployed ranker
=====================================

Without judgements, a ranker learns from the clicks of six days, is evaluated on the next four, and is exported to
OpenSearch.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import argrank as ar

shop = ar.load_bundled()
production = shop.X[:, shop.feature_names.index("bm25_title")]
log = ar.simulate_clicks(shop, production, n_sessions=40_000, vary=0.7, sessions_per_user=3, random_state=0)
early, late = log.split(before="2026-01-07")
print(early, late, sep="\n")

# %%
# How often each rank is seen, from the earlier days. The readers of this log see rank k with probability 1/k.

theta = ar.propensities(early)
axes = theta.plot()

# %%
# The candidates: a row for each query and product, with what is known before the first click. The shop's own click rate
# is not.

kept = [place for place, name in enumerate(shop.feature_names) if name != "click_rate"]
names = [shop.feature_names[place] for place in kept]
table = ar.Dataset(shop.X[:, kept], qid=shop.qid, document_ids=shop.document_ids, feature_names=names)
train = ar.from_clicks(early, table, propensities=theta)
ranker = ar.make_ranker("lambda-mart", n_trees=60).fit(train)

# %%
# What it would earn on the later days, beside the ranker in production: discounted clicks per session.

systems = {"production": production, "from clicks": ranker.predict(table)}
found = ar.compare(systems, late, "dcg@10", propensities=theta, features=table)
print(found)

# %%
# In a simulation the truth is known: the shop's labels lead to the same conclusion.

for name, scores in systems.items():
    print(f"{name:12} NDCG@10 {ar.evaluate(scores, shop, 'ndcg@10').means['ndcg@10']:.4f}")

# %%
# Values with their intervals.

figure, axes = plt.subplots()
for place, (name, one) in enumerate(found.evaluations.items()):
    low, high = one.low["dcg@10"], one.high["dcg@10"]
    axes.plot([low, high], [place, place], color=f"C{place}")
    axes.plot(one.means["dcg@10"], place, "o", color=f"C{place}", label=name)
axes.set(xlabel="DCG@10 a session, by the later days", yticks=[])
axes.legend()

# %%
# The ranker is exported to the engine, with a check that it computes the same scores there.

exported = ar.export(ranker, "opensearch", name="shop", check=table)
folder = Path(tempfile.mkdtemp())
exported.write(folder)
print(exported.parity, sorted(path.name for path in folder.iterdir()), sep="\n")

# %%
# Before it serves all users, test it on some: interleave the lists of both rankers for every search, and compare the
# clicks of the two (``ar.preference``).


def run_of(scores):
    """Return scores as a run."""
    lists = {}
    for qid, docid, score in zip(table.qid, table.document_ids, scores, strict=True):
        lists.setdefault(str(qid), {})[str(docid)] = float(score)
    return lists


print(ar.interleave({name: run_of(scores) for name, scores in systems.items()}, random_state=0))
