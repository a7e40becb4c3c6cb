"""Detect the role, type and coding of columns; the same for files and data frames."""
