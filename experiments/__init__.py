"""Published tables and figures, computed again: configurations, scripts and what came out."""
