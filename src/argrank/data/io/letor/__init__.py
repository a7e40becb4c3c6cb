"""LETOR and SVMlight text: read in parallel, streamed, written."""
