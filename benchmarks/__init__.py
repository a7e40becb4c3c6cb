"""Speed relative to peers and to the limit of the hardware; every figure is a ratio within one run."""

import os

# OpenBLAS's threads go on spinning for some 25 ms after a product and so take a core from whatever is timed next;
# if they sleep at once, products are as fast as before. The variable must be set before NumPy is loaded.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
