"""Click logs: inspect them, estimate how much each rank is seen, make judgements from them, simulate them."""
