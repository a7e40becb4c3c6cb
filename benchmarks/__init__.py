"""Speed against peers and against the physical limit; every figure is a ratio within one run."""
