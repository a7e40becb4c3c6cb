"""Documents without a judgement, and why they have none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: A document is judged; it is not in the judgements; it is, with a relevance below 0 (pooled and not judged, or spam).
JUDGED, OUTSIDE, POOLED = 0, 1, 2

Gaps = NDArray[np.int8]
