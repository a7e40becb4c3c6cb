"""
Data larger than memory
=======================

A pack is a folder of plain arrays that are mapped into memory, so that data may be larger than it; everything else
stays as it is. A linear ranker can also learn from any file in one go, query by query. See :doc:`/guide/large-data`.
"""

import tempfile
from pathlib import Path

import argrank as ar

folder = Path(tempfile.mkdtemp())
train, test = ar.make_ranking(300, 20, 10, random_state=0).split(0.7, 0.3)
ar.dump(train, folder / "train.txt")  # stands for your file

ar.pack(folder / "train.txt", folder / "train.pack", dtype="float32")
packed = ar.load(folder / "train.pack")
print(packed)

# %%
# The same ranker from the pack and from memory, and one that sees every query twice, in the order of the file.
rankers = {
    "rank-svm from the pack": ar.make_ranker("rank-svm").fit(packed),
    "rank-svm in memory": ar.make_ranker("rank-svm").fit(train),
    "orm from the text file, two passes": ar.make_ranker("orm").fit_stream(folder / "train.txt", epochs=2),
}
for name, ranker in rankers.items():
    print(f"{name:36} NDCG@10 {ranker.score(test):.4f}")
