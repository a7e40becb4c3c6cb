"""Fusion: combine several systems' scores by weights that are tuned on the measure itself."""
