"""Click logs: look at them, learn how ranks are seen, make judgements of them, simulate them."""
