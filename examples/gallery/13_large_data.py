"""
Data larger than memory
=======================

A pack is a folder of plain arrays that are mapped into memory, so that data may be larger than memory. All
other code is unchanged.

A linear ranker can also learn from a file query by query. :doc:`/guide/large-data` has the details.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import argrank as ar

folder = Path(tempfile.mkdtemp())
train, test = ar.make_ranking(300, 20, 10, random_state=0).split(0.7, 0.3)
ar.dump(train, folder / "train.txt")  # stands for your file

ar.pack(folder / "train.txt", folder / "train.pack")  # dtype="float32" halves it
packed = ar.load(folder / "train.pack")
print(packed)

# %%
# A ranker learns exactly the same model from the pack and from memory.

from_pack, in_memory = (ar.make_ranker("rank-svm").fit(data) for data in (packed, ar.load(folder / "train.txt")))
print((from_pack.coef_ == in_memory.coef_).all(), from_pack.score(test))

# %%
# ``orm`` can also learn from the text file, query by query. One pass is nearly as good as training in memory here; more
# passes move the test figure up and down by about a hundredth.

passes = range(1, 6)
learned = [ar.make_ranker("orm").fit_stream(folder / "train.txt", epochs=n).score(test) for n in passes]
plt.plot(passes, learned, "o-", label="orm from the file")
plt.axhline(ar.make_ranker("orm").fit(train).score(test), color="C1", label="orm in memory")
plt.xticks(passes)
plt.ylim(0.8, 1)
plt.xlabel("passes over the file")
plt.ylabel("NDCG@10, test queries")
plt.legend()
