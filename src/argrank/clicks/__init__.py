"""What a click log says: how much each rank is seen, click models, judgements, simulated logs."""
