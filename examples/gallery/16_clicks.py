"""
From clicks to judgements
=========================

A click log records what was shown and what was clicked. How much do clicks depend on the rank?
"""

import numpy as np

import argrank as ar

shop = ar.load_bundled()
log = ar.simulate_clicks(shop, shop.X[:, 0], n_sessions=20_000, vary=1.0, random_state=0)
print(log)
print(ar.doctor(log))

# %%
# Click rates mix how often a rank is seen with how good its documents are.

ar.plot.click_rates(log)

# %%
# Documents that were shown at several ranks separate the two. These are the pairs of ranks with their impressions,
# and the curve; the readers of this log see rank k with probability 1/k.

ar.plot.rank_pairs(log)

# %%
theta = ar.propensities(log)
axes = theta.plot()
axes.plot(np.arange(1, 11), 1 / np.arange(1, 11), "k:", label="truth")
axes.legend()

# %%
# With the curve, clicks become judgements for ``ar.evaluate`` and for other tools.

judged = ar.judgements(log, "examinations", propensities=theta, levels=5, min_impressions=50)
print(judged)
judged.write("judgements.csv", format="quepid")
