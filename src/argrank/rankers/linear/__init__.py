"""Linear rankers: an objective, a regulariser and a solver."""
