"""Click logs: one row for each document that was shown, and their sums."""
