"""What judgements from clicks are worth, on logs whose truth is known."""
