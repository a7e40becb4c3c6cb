"""Published tables and figures, computed again: configurations, scripts and results."""
