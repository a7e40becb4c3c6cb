"""From scores to numbers to statements. Takes scores, never a ranker, so it can judge anybody's system."""
