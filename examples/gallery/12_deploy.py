"""
Deploy to a search engine
=========================

Export a model for OpenSearch, with proof that the engine computes the trained scores.
"""

import tempfile
from pathlib import Path

import argrank as ar

data = ar.load_bundled()
train, test = data.split(0.7, 0.3)
ranker = ar.make_ranker("mart", n_trees=20).fit(train)
print(ar.targets(ranker))

# %%
# ``check`` scores the test rows from the written files, with the engine's own float32 arithmetic.

exported = ar.export(ranker, "opensearch", name="shop", check=test)
print(exported.parity)

# %%
# The files, ready to be posted, and a README with the requests.

folder = Path(tempfile.mkdtemp())
exported.write(folder)
print(sorted(path.name for path in folder.iterdir()))
