"""
First model in ten lines
========================

Load judged data, split it by query, train, evaluate, save.
"""

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.7, 0.3)
ranker = ar.make_ranker("rank-svm", normalise="query-minmax").fit(train)
print(ar.evaluate(ranker.predict(test), test, ["ndcg@10", "map", "mrr@10"]))

# %%
# The model is a small JSON file, and loading it never runs code. The loaded model gives exactly the same scores.

ranker.save("model.json")
model = ar.load_model("model.json")
print((model.predict(test) == ranker.predict(test)).all())

# %%
# Which features matter most for the ranking?

ar.plot.weights(ranker)
