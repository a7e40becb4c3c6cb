"""Auditing judgements: agreement of judges, and measures by cheap judgements corrected with trusted ones."""
