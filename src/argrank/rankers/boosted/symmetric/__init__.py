"""Symmetric trees of our own: every node of a level asks the same question. They need no LightGBM."""
