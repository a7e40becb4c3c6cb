"""
Judges: a model against experts
===============================

How far does a model's judgement agree with the experts', and what does a system score if the model judges all queries
and experts only some? The model is simulated: its grades are too high and noisy.
"""

import numpy as np

import argrank as ar

expert = ar.load_bundled()
rng = np.random.default_rng(0)
grades = np.clip(np.round(0.8 * expert.y + 0.6 + rng.normal(0, 0.7, expert.n_documents)), 0, 4)
model = expert.with_labels(grades)
found = ar.agreement({"expert": expert, "model": model})
print(found.kappa, found.weighted_kappa, found.alpha)
ar.plot.agreement(found)

# %%
# The queries with most of the disagreement should be judged again first.

print(found.judge_again(5))

# %%
# Experts judge a quarter of the queries, drawn at random. The first line is the truth, which is unknown in practice.
# The cheap mean is wrong by as much as the model is; the interval of the corrected mean contains the truth.

system = expert.X[:, expert.feature_names.index("bm25_title")]
drawn = np.sort(rng.choice(expert.n_queries, expert.n_queries // 4, replace=False))
print("truth", ar.evaluate(system, expert, ["ndcg@10", "dcg@10"]).means)
print(ar.evaluate(system, model, ["ndcg@10", "dcg@10"], trusted=expert.select(drawn)))
