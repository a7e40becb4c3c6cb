"""Conditional models of rankings (LogRank): Pr(y | x) proportional to exp(w · phi(x, y)), phi the unscaled pairs map.

With ``w · dphi(y) = w · phi(best) - w · phi(y) = 2 * sum over inverted pairs of (s_better - s_worse)``, everything here
is a function of the scores alone. ``closed_forms.py`` has the closed forms, which sum over *all* y in {-1, +1}^pairs;
``sampling.py`` draws valid rankings once, and ``sampled.py`` sums over those.
"""
