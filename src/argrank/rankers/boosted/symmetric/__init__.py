"""Our own symmetric trees: all nodes of a level have the same split. They need no LightGBM."""
