"""Models of other libraries, read into argrank's: data only, every number checked."""
