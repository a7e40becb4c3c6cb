"""Data: the Dataset, readers and writers, folds, normalisation, cleaning, the doctor, known collections."""
