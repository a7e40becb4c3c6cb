"""Do intervals cover what they promise? Simulations."""
