"""A ranker, a measure and an export target for argrank; the entry points in pyproject.toml name them."""
