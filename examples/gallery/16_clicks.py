"""
From clicks to judgements
=========================

A click log says what was shown and what was clicked. How much of a click is owed to the rank?
"""

import numpy as np

import argrank as ar

shop = ar.load_bundled()
log = ar.simulate_clicks(shop, shop.X[:, 0], n_sessions=20_000, vary=1.0, random_state=0)
print(log)
print(ar.doctor(log))

# %%
# Rates of clicks mix how a rank is seen with how good its documents are.

ar.plot.click_rates(log)

# %%
# Documents that were shown at several ranks tell the two apart. These are the pairs of ranks with their impressions,
# and the curve; the readers of this log see rank k with 1/k.

ar.plot.rank_pairs(log)

# %%
theta = ar.propensities(log)
axes = theta.plot()
axes.plot(np.arange(1, 11), 1 / np.arange(1, 11), "k:", label="truth")
axes.legend()

# %%
# With the curve, clicks become judgements, which ``ar.evaluate`` takes, and other tools.

judged = ar.judgements(log, "examinations", propensities=theta, levels=5, min_impressions=50)
print(judged)
judged.write("judgements.csv", format="quepid")
