"""The DirectRank paper's tables, computed again."""
