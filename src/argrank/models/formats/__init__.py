"""Model files of other libraries, read as models of ours: one file for each library."""
