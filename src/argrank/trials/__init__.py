"""What takes rankers: selection of parameters, regularisation paths, cross-validation, experiments."""
