"""TREC files: runs and judgements, their pool, and the forms in which callers bring them."""
