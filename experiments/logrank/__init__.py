"""The experiments of the LogRank paper; see README.md."""
