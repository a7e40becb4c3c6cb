"""Default parameters: how they were chosen, and every ranker at its defaults on every data set."""
