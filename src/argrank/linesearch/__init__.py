"""The measure along a line in score space, exactly: every value it takes, and the best step."""
