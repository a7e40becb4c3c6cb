"""Click logs: how much each rank is seen, click models, judgements, simulated logs."""
