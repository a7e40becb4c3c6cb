"""Rankers of (user, item) ratings and of documents for slots."""
