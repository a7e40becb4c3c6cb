"""Hand a model to the engine that serves it, with proof that it scores the same; take models of other libraries in."""
