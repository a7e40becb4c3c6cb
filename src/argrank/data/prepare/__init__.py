"""Data made ready for training: normalised, completed, cleaned."""
