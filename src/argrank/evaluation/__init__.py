"""Measures, tests and comparisons of scores. Takes scores, never a ranker, so it can evaluate any system."""
