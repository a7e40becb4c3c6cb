"""RankLib's text form of linear models, read and written: Coordinate Ascent, AdaRank, Linear Regression.

::

    ## Coordinate Ascent
    ## Restart = 5
    …
    1:0.11 2:0.42 3:0.47

The first line names the ranker; lines that begin with ``##`` are its settings; the rest are pairs of feature number
(from 1) and weight. Linear Regression has a constant as number 0, which changes no ranking and is left out.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from argrank._files import refuse_endless
from argrank._types import Floats
from argrank.errors import FormatError, ModelError, shown
from argrank.models.linear import LinearModel

#: The rankers whose models are linear, as RankLib writes their names (it reads them without regard to case).
TITLES = ("Coordinate Ascent", "AdaRank", "Linear Regression")
LARGEST_FEATURE = 10_000_000

LINEAR = """\
## Coordinate Ascent
## Restart = 1
## MaxIteration = 1
## StepBase = 0.05
## StepScale = 2.0
## Tolerance = 0.001
## Regularized = false
## Slack = 0.001
"""

_PAIR = re.compile(r"([0-9]+):(\S+)")


def read_ranklib(path: str | os.PathLike[str], n_features: int | None = None) -> LinearModel:
    """Read a linear model that RankLib saved; features that do not occur have weight 0.

    AdaRank may list a feature several times, once for each round that chose it: the weights add up.
    """
    refuse_endless(path)
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(path, None, "RankLib's text", "bytes that are not text") from error
    title = lines[0].lstrip("#").strip() if lines else ""
    if title.lower() not in {one.lower() for one in TITLES}:
        raise FormatError(path, 1, f"'## ' and one of {', '.join(TITLES)}", shown(lines[0] if lines else ""))
    pairs = linear_pairs(lines, path)
    width = max(feature for feature, _ in pairs)
    if n_features is not None and n_features < width:
        raise ModelError(f"{os.fspath(path)}: expected at most {n_features} features, got a weight for {width}")
    weights = np.zeros(max(width, 1) if n_features is None else n_features)
    for feature, weight in pairs:
        if feature > 0:
            weights[feature - 1] += weight
    return LinearModel(weights, training={"ranker": f"RankLib's {title}"})


def linear_text(weights: Floats) -> str:
    """Return the text of a linear model, which RankLib reads as one of Coordinate Ascent."""
    return f"{LINEAR}{' '.join(f'{number}:{weight!r}' for number, weight in enumerate(weights.tolist(), 1))}\n"


def linear_pairs(lines: Sequence[str], path: str | os.PathLike[str]) -> list[tuple[int, float]]:
    """Return the pairs of feature number, from 1, and weight of a linear model's lines."""
    pairs: list[tuple[int, float]] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("##"):
            pairs += [_pair(path, number, text) for text in line.split("#")[0].split()]
    if not pairs:
        raise FormatError(path, None, "pairs of feature and weight such as 1:0.5", "none")
    return pairs


def _pair(path: str | os.PathLike[str], line: int, text: str) -> tuple[int, float]:
    match = _PAIR.fullmatch(text)
    try:
        feature, weight = (int(match[1]), float(match[2])) if match else (-1, math.nan)
    except ValueError:
        feature, weight = -1, math.nan
    if not 0 <= feature <= LARGEST_FEATURE or not math.isfinite(weight):
        raise FormatError(path, line, "a pair of feature and weight such as 1:0.5", shown(text))
    return feature, weight
