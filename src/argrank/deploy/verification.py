"""Compare an engine's logged scores with the model's scores of the logged features."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from argrank._tables import counted
from argrank._types import Floats
from argrank.deploy.deployment import deployment
from argrank.deploy.logged import Logged, read_logged
from argrank.deploy.options import Missing, names_of
from argrank.deploy.parity import ROUNDING, own_scores
from argrank.deploy.plain import Plain, plain
from argrank.deploy.registry import TARGETS, model_of, writer
from argrank.errors import OptionError, check_choice, shown

TOLERANCE = 4 * ROUNDING  # relative to the summed numbers, as in the parity of an export
FEW_ROWS = 1000  # rows on which every feature is tried
MOST_NAMED = 20

Score = Callable[[NDArray[Any]], Floats]


@dataclass(frozen=True)
class Verification:
    """Differences of logged scores, and which features the log can check.

    ``largest`` is the greatest absolute difference, ``relative`` the greatest one as a share of the numbers that are
    summed to its score, to which the tolerance applies. ``idle`` are features that the model uses, but whose values do
    not affect scores in this log, so that errors in them are not detected.
    """

    largest: float
    relative: float
    holds: bool
    exercised: tuple[str, ...]
    idle: tuple[str, ...]
    lines: tuple[str, ...]


def verify(
    model: Any,
    path: str | os.PathLike[str],
    *,
    to: str | None = None,
    tolerance: float | None = None,
    missing: str = "as-trained",
    constant: bool = False,
    features: Any = None,
) -> Verification:
    """Compare a table of logged features and scores with the model; columns are found by name.

    ``to`` is the target whose arithmetic is used; without it, argrank's own scores are, of the features as logged or
    rounded to float32, whichever are nearer. If the order of additions is unknown (then, and for ONNX), the tolerance
    allows for any order: 2^-24 per summed number, and at least 1.9e-6. Texts may be logged as text, or as the columns
    that the target computes.
    """
    if tolerance is not None and (not isinstance(tolerance, int | float) or not 0 <= tolerance < math.inf):
        raise OptionError(f"tolerance: expected a number from 0 up, got {shown(tolerance)}")
    check_choice("missing", missing, get_args(Missing))
    served = model_of(model)
    if to is None:
        parts = plain(served, missing)
        names = names_of(served.feature_names, features, parts.n_features)
        logged = read_logged(path, served, parts, names)
        score, basis = _nearer(served, parts, missing, logged)
        lacking = 0.0
    else:
        made = deployment(served, to, missing=missing, features=features)
        parts, names, score, lacking = made.parts, made.names, made.score, made.constant
        logged = read_logged(path, served, parts, names)
        basis = f"Compared with the scores that {TARGETS[to].title} gives, by its arithmetic."
    if tolerance is None:
        any_order = to is None or writer(to).any_order
        tolerance = max(TOLERANCE, parts.n_summed * 2.0**-24) if any_order else TOLERANCE
    expected = score(logged.X)
    differences = logged.scores - expected
    if constant:
        differences = differences - np.median(differences)
    sizes = parts.magnitudes(logged.X) + abs(lacking)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(differences == 0, 0.0, np.abs(differences) / sizes)
    row = int(np.argmax(shares))
    holds = bool(shares[row] <= tolerance)
    used = parts.used_features()
    exercised = _exercised(lambda X: own_scores(served, parts, missing, X), logged.X, used)
    busy, idle = ([names[i] for i in used if (i in exercised) is wanted] for wanted in (True, False))
    lines = [
        f"{counted(len(expected), 'score', 'scores')}: largest difference {np.abs(differences).max():.3g}, "
        f"{shares[row]:.2g} of the numbers summed ({'within' if holds else 'beyond'} {tolerance:.2g}) at "
        f"{logged.places[row]}: logged {float(logged.scores[row])!r}, expected {float(expected[row])!r}; "
        f"argrank predicts {float(own_scores(served, parts, missing, logged.X[[row]])[0])!r}.",
        basis,
        f"The log exercises {len(busy)} of the {counted(len(used), 'feature', 'features')} that the model uses"
        + (f"; errors in others would not show: {_listed(idle)}." if idle else "."),
    ]
    return Verification(
        float(np.abs(differences).max()), float(shares[row]), holds, tuple(busy), tuple(idle), tuple(lines)
    )


def _nearer(served: Any, parts: Plain, missing: str, logged: Logged) -> tuple[Score, str]:
    """Return argrank's own scores, of features as logged or as float32, with a sentence on which and why."""

    def doubles(X: NDArray[Any]) -> Floats:
        return own_scores(served, parts, missing, X)

    def singles(X: NDArray[Any]) -> Floats:
        return own_scores(served, parts, missing, X.astype(np.float32))

    def off(score: Score) -> float:
        gaps = logged.scores - score(logged.X)
        return float(np.abs(gaps - np.median(gaps)).max())

    begin = "No --to was given: compared with argrank's own scores of the logged features"
    if np.array_equal(doubles(logged.X), singles(logged.X)):
        return doubles, f"{begin}; rounding them to float32 would change nothing."
    if off(singles) < off(doubles):
        return singles, f"{begin}, rounded to float32 as in most engines: these are nearer than without rounding."
    return doubles, f"{begin}, not rounded: these are nearer than rounded to float32."


def _exercised(score: Score, X: Floats, used: list[int]) -> set[int]:
    """Return the features that change a score if each row gets the value of the row before."""
    found: set[int] = set()
    for rows in (X[:FEW_ROWS], X):
        own = score(rows)
        for feature in (one for one in used if one not in found):
            moved = rows.copy()
            moved[:, feature] = np.roll(rows[:, feature], 1)
            if not np.array_equal(moved, rows, equal_nan=True) and not np.array_equal(score(moved), own):
                found.add(feature)
        if len(X) <= FEW_ROWS:
            break
    return found


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
