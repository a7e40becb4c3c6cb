"""Rankers for (user, item) ratings, and for assigning documents to slots."""
