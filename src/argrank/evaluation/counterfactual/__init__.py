"""Counterfactual evaluation from a click log: values of rankers with intervals, comparisons, and preferences."""
