"""Speed against peers and against the physical limit; every figure is a ratio within one run."""

import os

# OpenBLAS's threads go on spinning for some 25 ms after a product and so take a core from whatever is timed next;
# let to sleep at once they multiply as fast as before. It must be said before NumPy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
