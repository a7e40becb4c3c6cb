"""What is reported: one file per measure, the parser of their names, the conventions of other tools."""
