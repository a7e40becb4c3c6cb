"""The experiments of the KDD 2008 paper; see README.md."""
