"""Optimization of Ranking Measures (ORM), computed again."""
