"""
Optimise your own measure
=========================

A measure that is a sum over ranks of a discount times a gain can be trained on directly. Here a shop shows four
products, the first two places earn most, and a bought product counts ten times a clicked one.

This matters if features disagree. In the data below, generated for this page, one feature separates clicked products
from others, another one bought products. Most pairs of documents are about clicks, so a ranker that counts all pairs
alike mostly uses the first feature; the shop's measure is about the few products that are bought.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

shop = ar.Product(a=[1.0, 0.8, 0.3, 0.2], b=[0, 1, 10], normalised=True)

rng = np.random.default_rng(0)
labels = np.tile(np.repeat([2, 1, 0], [1, 7, 12]), 400)  # bought, clicked, ignored
attracts = np.array([0.0, 1.5, 0.0])[labels] + rng.normal(size=len(labels))
convinces = np.array([0.0, 0.0, 1.5])[labels] + rng.normal(size=len(labels))
features = np.column_stack([attracts, convinces])
data = ar.Dataset(features, labels, np.repeat(np.arange(400), 20), feature_names=["attracts", "convinces"])
train, test = data.split(0.5, 0.5)

# %%
# One ranker weighs all pairs alike, one trains for the shop's own measure: the same data, default parameters.
rankers = {
    "rank-svm": ar.make_ranker("rank-svm").fit(train),
    "orm for the shop": ar.make_ranker("orm", measure=shop).fit(train),
}
for name, ranker in rankers.items():
    attract, convince = ranker.coef_
    print(f"{name}: convinces counts {convince / attract:.2f} times attracts")

# %%
# Both on test queries, by the shop's measure and by AUC, which counts all pairs alike. The bars are mean differences
# per query, the lines their 95 % intervals. The ranker that was trained for the shop's measure is better by it, and
# worse by AUC.
scores = {name: ranker.predict(test) for name, ranker in rankers.items()}
found = {name: ar.compare(scores, test, [measure]) for name, measure in (("the shop's measure", shop), ("AUC", "auc"))}
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for place, (name, comparison) in enumerate(found.items()):
    (pair,) = comparison.pairs
    print(f"{name}: rank-svm minus orm {pair.difference:+.4f}, p {pair.p_value:.2g}")
    axes.barh(place, -pair.difference, color="C0" if pair.difference < 0 else "C1")
    axes.plot([-pair.interval[0], -pair.interval[1]], [place, place], color="black")
axes.axvline(0, color="black", linewidth=0.8)
axes.set(yticks=range(len(found)), yticklabels=list(found), xlabel="orm for the shop minus rank-svm, a query")
