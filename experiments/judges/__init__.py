"""Do the intervals around judges cover? Simulations."""
