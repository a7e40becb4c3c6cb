"""How the defaults of `symmetric-mart` were chosen, and what it does as a member of `auto`; validation parts alone."""
