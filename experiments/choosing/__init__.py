"""Which ranker to try first: rankers of every family on four data sets."""
