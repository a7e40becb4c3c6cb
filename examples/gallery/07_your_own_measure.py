"""
Optimise your own measure
=========================

A measure that is a sum over ranks of a discount times a gain can be trained on directly. Here: a shop shows four
products, the first two places earn most, and a bought product counts ten times a clicked one.
"""

import argrank as ar
from argrank.measures.product import Product

shop = Product(a=[1.0, 0.8, 0.3, 0.2], b=[0, 1, 10, 10, 10], normalised=True)
data = ar.load_bundled()
train, test = data.split(0.6, 0.4)

plain = ar.make_ranker("rank-svm", normalise="query-minmax").fit(train)
direct = ar.make_ranker("orm", measure=shop, bound="tight", C=100.0, normalise="query-minmax").fit(train)
for name, ranker in (("rank-svm", plain), ("orm for the shop's measure", direct)):
    evaluation = ar.evaluate(ranker.predict(test), test, [shop, "ndcg@10"])
    print(name, {str(key)[:12]: round(value, 4) for key, value in evaluation.means.items()})
