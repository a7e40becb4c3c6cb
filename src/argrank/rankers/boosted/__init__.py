"""Rankers that add up weak learners: trees, stumps and single features."""
