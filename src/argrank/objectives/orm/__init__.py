"""Optimization of ranking measures (ORM): any measure of the form a · b, by assigning documents to ranks."""
