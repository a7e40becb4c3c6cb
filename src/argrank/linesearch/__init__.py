"""Exact line search: every value of a measure along a line in score space, and the best step."""
