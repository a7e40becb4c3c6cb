"""
Deploy to a search engine
=========================

Export a model for OpenSearch, with a check that the engine computes the trained scores.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.7, 0.3)
ranker = ar.make_ranker("mart", n_trees=20).fit(train)
for name, takes in ar.targets(ranker).items():
    print(f"{name:14} {takes}")

# %%
# ``check`` scores the test rows from the written files, with the engine's own float32 arithmetic.

exported = ar.export(ranker, "opensearch", name="shop", check=test)
print(exported.parity)

# %%
# The files, ready to be posted, and a README with the requests.

folder = Path(tempfile.mkdtemp())
exported.write(folder)
print(sorted(path.name for path in folder.iterdir()))

# %%
# How large a model is worth serving? Its file and its quality, as the number of trees grows.

sizes, quality = [], []
for n_trees in (5, 10, 20, 40, 80):
    smaller = ar.make_ranker("mart", n_trees=n_trees).fit(train)
    ar.export(smaller, "opensearch", name="shop").write(folder)
    sizes.append((folder / "model.json").stat().st_size / 1e3)
    quality.append(smaller.score(test))
plt.plot(sizes, quality, "o-")
plt.xlabel("size of model.json in kB (5, 10, 20, 40 and 80 trees)")
plt.ylabel("NDCG@10, test queries")
