"""
News slots: which article goes where
====================================

A front page has slots rather than ranks. ``position-match`` scores pairs of article and slot and fills the page by an
exact assignment.
"""

import matplotlib.pyplot as plt
import numpy as np

import argrank as ar

rng = np.random.default_rng(0)
page = np.repeat(np.arange(120), 8)
topic, quality = rng.integers(0, 3, len(page)), rng.random(len(page))
clicks = 0.1 * quality[:, None] + np.eye(3)[topic] * quality[:, None]
X = np.column_stack((np.eye(3)[topic], np.eye(3)[topic] * quality[:, None], quality))
known, new = page < 80, page >= 80
editor = ar.make_ranker("position-match", C=100.0).fit(X[known], clicks[known], qid=page[known])
pages = editor.match(X[new], qid=page[new])  # the row of the article at each slot
earned = [clicks[new][rows, np.arange(3)].sum() for rows in pages]
random = [clicks[new][rng.permutation(8)[:3] + 8 * at, np.arange(3)].sum() for at in range(len(pages))]
plt.hist([random, earned], label=["random", "position-match"])
plt.xlabel("clicks of a page")
plt.ylabel("pages")
plt.legend()
