"""How the defaults of `symmetric-mart` were chosen, and its gain as a member of `auto`; uses validation parts only."""
