"""
Data larger than memory
=======================

A linear ranker learns from a file of any size, one part at a time.
"""

import argrank as ar

train, test = ar.make_ranking(300, 20, 10, random_state=0).split(0.7, 0.3)
ar.dump(train, "train.txt")
streamed = ar.make_ranker("orm").fit_stream("train.txt", epochs=2)
whole = ar.make_ranker("orm").fit(train)
for name, ranker in (("from the file, query by query", streamed), ("in memory", whole)):
    print(f"{name:30} NDCG@10 {ranker.score(test):.4f}")
