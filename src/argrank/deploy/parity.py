"""Compare deployed with trained scores: rows are scored from the written files with the target's arithmetic.

Two differences are separated: the effect of rounding the features to float32 on argrank's own scores, and the effect of
the target's comparisons and sums beyond that. A swapped pair counts as rounding if its scores differ by no more than 8
* 2^-24 of the summed numbers plus the error of adding the same leaves in float32: thousands of trees round more than a
few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from argrank._tables import counted
from argrank._types import Floats, Integers
from argrank.data.dataset import Dataset
from argrank.deploy.cuts import GREATEST
from argrank.deploy.plain import Plain
from argrank.evaluation.evaluate import evaluate
from argrank.models.stumps import StumpsModel

ROUNDING = 8 * 2.0**-24
MEASURE = "ndcg@10"
BLOCK = 4096

Score = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Parity:
    """How the target's scores compare with argrank's.

    ``largest`` is the greatest absolute difference, ``relative`` the same as a share of the spread of scores in its
    query, ``reordered`` the number of queries whose order changes. ``rounded_*`` are the same for argrank's own scores
    of features rounded to float32. ``measure_*`` are mean ndcg@10, None for rows without judgements. ``on_cuts`` is the
    largest difference on generated rows: on, just below and just above cuts, zeros, missing.
    """

    rows: int
    queries: int
    largest: float
    relative: float
    reordered: int
    reordered_beyond_rounding: int
    rounded_largest: float
    rounded_reordered: int
    measure_before: float | None
    measure_after: float | None
    measure_rounded: float | None
    on_cuts: float
    on_cuts_beyond_rounding: bool
    on_data: bool = False  # whether the rows are those of check data

    @property
    def holds(self) -> bool:
        """Whether no query is reordered beyond rounding, and no generated row is scored differently."""
        return self.reordered_beyond_rounding == 0 and not self.on_cuts_beyond_rounding

    @property
    def keeps_order(self) -> bool:
        """Whether it holds, and no query of the check data is reordered for any reason."""
        return self.holds and (not self.on_data or self.reordered == 0)

    def lines(self) -> list[str]:
        """Return the report as sentences."""
        found = [
            f"{counted(self.rows, 'row', 'rows')} of {_queries(self.queries)}: largest difference "
            f"{self.largest:.3g} ({self.relative:.2g} of the spread in its query), {_queries(self.reordered)} "
            f"reordered, {self.reordered_beyond_rounding} beyond rounding.",
            f"Rounding the features to float32 alone: largest difference {self.rounded_largest:.3g}, "
            f"{_queries(self.rounded_reordered)} reordered.",
        ]
        if self.measure_before is not None:
            found.append(
                f"Mean {MEASURE}: {self.measure_before:.6f} in argrank, {self.measure_after:.6f} in the target, "
                f"{self.measure_rounded:.6f} with rounded features."
            )
        verdict = "NOT the same scores" if self.on_cuts_beyond_rounding else "the same scores up to rounding"
        found.append(f"Rows on, below and above cuts, zeros and missing: {verdict} (largest {self.on_cuts:.3g}).")
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())


def compare(
    model: Any,
    plain: Plain,
    score: Score,
    constant: float,
    missing: str,
    check: Dataset | None,
    seen: Score,
    reachable: NDArray[np.bool_] | None,
    singles: bool,
) -> Parity:
    """Return the parity on the rows of ``check`` (or on generated rows), and always on generated rows.

    ``seen`` gives the rows as the engine reads them, if it changes them; ``reachable`` marks the cuts that its
    arithmetic can express: rows are generated only there, and the notes describe the others. With ``singles`` the
    engine stores features as float32, so that the reference is argrank's scores of rounded features.
    """
    made = seen(made_rows(plain, reachable))

    def reference(X: NDArray[Any]) -> Floats:
        return own_scores(model, plain, missing, X)

    def both(X: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        before = np.concatenate([reference(X[i : i + BLOCK]) for i in range(0, len(X), BLOCK)])
        after = np.concatenate([score(X[i : i + BLOCK]) for i in range(0, len(X), BLOCK)]) + constant
        rounded = X.astype(np.float32)
        return before, after, np.concatenate([reference(rounded[i : i + BLOCK]) for i in range(0, len(X), BLOCK)])

    made_before, made_after, made_rounded = both(made)
    made_own = made_rounded if singles else made_before
    gap = np.abs(made_after - made_own)
    beyond = bool((gap > _rounding(plain, made, constant, 4 * ROUNDING)).any())
    X = made if check is None else _dense(check.X)
    indptr = np.array([0, len(X)]) if check is None else check.indptr
    before, after, rounded = (made_own, made_after, made_own) if check is None else both(X)
    allowed = _rounding(plain, X.astype(np.float64), constant, ROUNDING)
    measures: tuple[float | None, float | None, float | None] = (None, None, None)
    if check is not None and check.is_judged:
        a, b, c = (check.to_caller(scores) for scores in (before, after, rounded))
        measures = (_mean(a, check), _mean(b, check), _mean(c, check))
    return Parity(
        len(X),
        len(indptr) - 1,
        float(np.abs(after - before).max(initial=0.0)),
        _relative(before, after, indptr),
        sum(_reordered(before[a:b], after[a:b]) for a, b in _spans(indptr)),
        sum(_beyond((rounded if singles else before)[a:b], after[a:b], allowed[a:b]) for a, b in _spans(indptr)),
        float(np.abs(rounded - before).max(initial=0.0)),
        sum(_reordered(before[a:b], rounded[a:b]) for a, b in _spans(indptr)),
        *measures,
        float(gap.max(initial=0.0)),
        beyond,
        check is not None,
    )


def _queries(number: int) -> str:
    return counted(number, "query", "queries")


def _mean(scores: Floats, check: Dataset) -> float:
    return float(evaluate(scores, check, [MEASURE]).means[MEASURE])


def own_scores(model: Any, plain: Plain, missing: str, X: Any) -> Floats:
    """Return argrank's scores; with missing values as 0 if the target treats them so."""
    if (plain.linear is not None and not plain.fills) or missing == "zero":
        kept = list(plain.categories)  # a missing category matches none
        X = np.where(np.isnan(X) & ~np.isin(np.arange(X.shape[1]), kept), X.dtype.type(0), X)
    if isinstance(model, StumpsModel):  # takes no missing values itself: they are 0 after normalising
        X = np.nan_to_num(model.normalised(X, None), nan=0.0, posinf=np.inf, neginf=-np.inf)
        model = replace(model, normaliser=None, preparation=None)
    scores: Floats = model.scores(X)
    return scores


def made_rows(plain: Plain, reachable: NDArray[np.bool_] | None = None, n: int = 256, seed: int = 0) -> Floats:
    """Return rows with values on, just below and just above cuts, zeros of both signs and missing values."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, plain.n_features)).astype(np.float32)
    if plain.linear is not None:
        scale, shift = plain.linear.scale[: plain.n_features], plain.linear.shift[: plain.n_features]
        rows = (rows * scale + shift).astype(np.float32)
    if plain.forest is not None and len(plain.forest.cut):
        usable = np.abs(plain.forest.cut) < GREATEST  # beyond it there is no further float32
        finite = np.flatnonzero(usable if reachable is None else usable & reachable)
        for feature in np.unique(plain.forest.feature[finite]).tolist():
            own = plain.forest.cut[finite][plain.forest.feature[finite] == feature]
            values = random.choice(own, n)
            step = random.integers(-1, 2, n)
            with np.errstate(over="ignore", under="ignore"):
                near = np.where(
                    step == 0, values, np.nextafter(values, np.where(step < 0, -np.inf, np.inf), dtype=np.float32)
                )
            rows[:, feature] = np.where(np.isfinite(near), near, values)
    rows[random.random(rows.shape) < 0.05] = 0.0
    rows[random.random(rows.shape) < 0.02] = -0.0
    if plain.linear is None or plain.fills:
        rows[random.random(rows.shape) < 0.1] = np.nan
        rows[-1] = np.nan
    rows[-2] = 0.0
    for feature, categories in plain.categories.items():
        known = [*categories, 0, categories[-1] + 1]  # and one that no split uses
        rows[:, feature] = random.choice(np.array(known, np.float32), n)
        rows[random.random(n) < 0.1, feature] = np.nan
    return rows.astype(np.float64)


def _dense(X: Any) -> NDArray[Any]:
    """Return the features in their own dtype: argrank scores float32 data as float32."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _spans(indptr: Integers) -> list[tuple[int, int]]:
    return list(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True))


def _relative(before: Floats, after: Floats, indptr: Integers) -> float:
    worst = 0.0
    for a, b in _spans(indptr):
        spread = float(np.ptp(before[a:b])) if b > a else 0.0
        if spread > 0:
            worst = max(worst, float(np.abs(after[a:b] - before[a:b]).max()) / spread)
    return worst


def _reordered(before: Floats, after: Floats) -> bool:
    return not np.array_equal(np.argsort(-before, kind="stable"), np.argsort(-after, kind="stable"))


def _rounding(plain: Plain, X: Floats, constant: float, share: float) -> Floats:
    """Return for every row how far rounding may change its score."""
    if plain.forest is None or plain.classes is not None:
        return share * (plain.magnitudes(X) + abs(constant))
    leaves = plain.forest.leaves(X.astype(np.float32))
    return share * (plain.magnitudes(X, leaves) + abs(constant)) + 2 * plain.forest.rounding(leaves)


def _beyond(before: Floats, after: Floats, allowed: Floats) -> bool:
    """Tell whether a pair is swapped whose scores in argrank differ by more than rounding allows."""
    if not _reordered(before, after):
        return False
    order = np.argsort(-after, kind="stable")
    ranked, slack = before[order], allowed[order]
    # compare each document with the best (by argrank) of those ranked below it
    best_below = np.maximum.accumulate(ranked[::-1])[::-1]
    suspects = np.flatnonzero(best_below > ranked + slack)
    for place in suspects.tolist():
        gaps = ranked[place:] - ranked[place] - np.maximum(slack[place:], slack[place])
        if (gaps > 0).any():
            return True
    return False
