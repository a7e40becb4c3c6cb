"""Boosting of thresholds on single features."""
