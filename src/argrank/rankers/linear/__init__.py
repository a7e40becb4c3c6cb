"""Rankers with a linear model: an objective, a regulariser and a solver."""
