"""Which ranker to try first: a spread of them on four data sets."""
