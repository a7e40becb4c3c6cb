"""Fusion: several systems' scores become one, by weights that are tuned on the measure itself."""
