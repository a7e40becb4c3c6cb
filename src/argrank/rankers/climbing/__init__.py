"""Rankers that climb the measure itself, one weight at a time."""
