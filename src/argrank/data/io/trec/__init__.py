"""Runs and judgements: TREC files, other forms in which callers give them, and their join."""
