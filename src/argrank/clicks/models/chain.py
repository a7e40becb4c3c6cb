"""Models in which people read a page from the top until they are satisfied or give up: cascade, DCM, SDBN, DBN.

They are one chain. At a rank that is read, a document is clicked with its attraction; after a click the user is
satisfied with a probability that depends on the document (SDBN, DBN), on the rank (DCM) or is 1 (cascade); a user who
is not satisfied continues with a probability that is 1 except in DBN. All ranks up to the last click were read. What
happened after it is summed over (expectation maximisation), or assumed: with ``last_click="satisfies"`` users stop
after the last click, and a page without clicks was read to its end, which gives the closed forms of the papers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from argrank._jit import kernel
from argrank._types import Filled, Floats, Integers, Matrix
from argrank.clicks.models.click_model import LEAST, ClickModel, chances, numbers_of_rows
from argrank.data.clicks.log import Clicks


@dataclass
class ChainModel(ClickModel):
    """A user reads down the page until satisfied, or gives up."""

    last_click: Literal["unknown", "satisfies"] = "unknown"

    _attraction: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _content: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _seen: Floats = field(default_factory=lambda: np.zeros(0), init=False, repr=False)
    _onward: float = field(default=1.0, init=False, repr=False)
    content_of: ClassVar[str] = "document"  # or "rank", or "always"
    gets_tired: ClassVar[bool] = False

    def _estimate(self, log: Clicks) -> None:
        once = self.content_of == "always"  # nothing after the first click was read
        closed = once or self.last_click == "satisfies"
        n_content = {"document": log.n_pairs, "rank": int(log.position.max()) + 1, "always": 1}[self.content_of]
        attraction, weight = np.full(log.n_pairs, self._rate), self.prior_weight
        content = np.full(n_content, 1.0 if once else 0.5)
        which = numbers_of_rows(self.content_of, log, log.pair)
        onward = 0.9 if self.gets_tired else 1.0
        sums = tuple(np.zeros(n) for n in (log.n_pairs, log.n_pairs, n_content, n_content, 2))
        work = np.empty(int(log.sizes.max()) + 1)
        for step in range(1, 2 if closed and not self.gets_tired else self.max_iter + 1):
            for one in sums:
                one[:] = 0.0
            _count(log.indptr, log.pair, which, log.click, attraction, content, onward, closed, once, work, *sums)
            new = np.minimum((self._rate * weight + sums[0]) / (weight + sums[1]), 1 - LEAST)
            new_content = content if once else (weight / 2.0 + sums[2]) / (weight + sums[3])
            new_onward = min(sums[4][0] / max(sums[4][1], 1e-12), 1.0) if self.gets_tired else 1.0
            moved = max(np.abs(new - attraction).max(), np.abs(new_content - content).max(), abs(new_onward - onward))
            attraction, content, onward, self.n_iter_ = new, new_content, new_onward, step
            if moved <= self.tol:
                break
        self._attraction, self._content, self._onward, self._seen = attraction, content, onward, sums[1].copy()

    def _assume(self, log: Clicks, given: Mapping[str, Floats]) -> None:
        n_content = {"document": log.n_pairs, "rank": int(log.position.max()), "always": 0}[self.content_of]
        self._attraction = chances("attraction", given, log.n_pairs)
        content = chances("satisfaction", given, n_content) if n_content else np.ones(1)
        self._content = np.append(0.0, content) if self.content_of == "rank" else content
        self._onward = float(chances("continuation", given, 1)[0]) if self.gets_tired else 1.0
        self._seen = np.zeros(log.n_pairs)

    def _rows(self, log: Clicks, pairs: Integers) -> tuple[Floats, Floats]:
        """Return attraction and satisfaction of every row; the prior's if unknown."""
        which = numbers_of_rows(self.content_of, log, pairs)
        which = np.where(which < len(self._content), which, -1)
        return np.append(self._attraction, self._rate)[pairs], np.append(self._content, 0.5)[which]

    def _fill(self, log: Clicks, pairs: Integers, given_clicks: bool, filled: Floats) -> None:
        _read(log.indptr, *self._rows(log, pairs), log.click, self._onward, given_clicks, filled)

    def _draw(self, log: Clicks, pairs: Integers, uniform: Floats, click: NDArray[np.bool_]) -> None:
        _draw_chain(log.indptr, *self._rows(log, pairs), self._onward, uniform, click)

    def _relevance(self) -> tuple[Floats, Floats]:
        value = self._attraction * self._content if self.content_of == "document" else self._attraction
        return value, self._seen

    def _parameters(self) -> Mapping[str, Floats]:
        found = {"attraction": self._attraction}
        if self.content_of == "document":
            found["satisfaction"] = self._content
        if self.content_of == "rank":
            found["satisfaction"] = self._content[1:]
        return {**found, "continuation": np.array([self._onward])} if self.gets_tired else found


@dataclass
class CascadeModel(ChainModel):
    """Cascade model: people read down to the first click and stop; further clicks are impossible.

    Parameters
    ----------
    likelihood : "conditional" or "marginal"
        The likelihood of a rank given the clicks above it; or, as in PyClick, given only the page up to the first
        click, and 1e-6 for every rank below it, clicked or not.
    """

    likelihood: Literal["conditional", "marginal"] = "conditional"
    name: ClassVar[str] = "cascade"
    content_of: ClassVar[str] = "always"

    def _of_what_happened(self, log: Clicks) -> Floats:
        if self.likelihood == "conditional":
            return super()._of_what_happened(log)
        chance = self.predict(log)
        above: Integers = np.cumsum(log.click) - log.click  # clicks of all rows above, of earlier sessions too
        below_a_click = above > np.repeat(above[log.indptr[:-1]], log.sizes)
        return np.where(below_a_click, LEAST, np.where(log.click, chance, 1.0 - chance))


@dataclass
class DependentModel(ChainModel):
    """Dependent click model: after a click people continue with a probability that depends on the rank."""

    name: ClassVar[str] = "dcm"
    content_of: ClassVar[str] = "rank"


@dataclass
class SimplifiedDynamicModel(ChainModel):
    """Simplified dynamic Bayesian network: people continue until a document satisfies them."""

    name: ClassVar[str] = "sdbn"


@dataclass
class DynamicModel(ChainModel):
    """Dynamic Bayesian network: people continue until a document satisfies them, or they give up."""

    name: ClassVar[str] = "dbn"
    gets_tired: ClassVar[bool] = True


@kernel()
def _count(
    indptr: Integers,
    pair: Integers,
    which: Integers,
    click: NDArray[np.bool_],
    attraction: Floats,
    content: Floats,
    onward: float,
    closed: bool,
    once: bool,
    quiet: Filled[np.float64],
    clicks: Filled[np.float64],
    reads: Filled[np.float64],
    contents: Filled[np.float64],
    clicked: Filled[np.float64],
    steps: Filled[np.float64],
) -> None:
    """Add up expected clicks and readings of pairs, satisfactions, and continuations (taken, possible)."""
    for session in range(len(indptr) - 1):
        begin, end = indptr[session], indptr[session + 1]
        last = begin - 1
        for row in range(begin, end):
            if click[row] and not (once and last >= begin):
                last = row
        for row in range(begin, last + 1):  # read for certain
            reads[pair[row]] += 1.0
            if click[row]:
                clicks[pair[row]] += 1.0
                clicked[which[row]] += 1.0
            if row < last:
                steps[0] += 1.0
                steps[1] += 1.0
        if closed:
            if last >= begin:
                contents[which[last]] += 1.0
            else:
                for row in range(begin, end):
                    reads[pair[row]] += 1.0
            continue
        quiet[end - begin] = 1.0  # probability of no click from a row on, if the row is read
        for row in range(end - 1, last, -1):
            after = quiet[row + 1 - begin]
            quiet[row - begin] = (1.0 - attraction[pair[row]]) * (1.0 - onward + onward * after)
        read = 1.0
        if last >= begin:
            after = quiet[last + 1 - begin]
            s = content[which[last]]
            total = s + (1.0 - s) * (1.0 - onward + onward * after)
            contents[which[last]] += s / total
            read = (1.0 - s) * onward * after / total
            if last + 1 < end:
                steps[0] += read
                steps[1] += 1.0 - s / total
        for row in range(last + 1, end):
            reads[pair[row]] += read
            if row + 1 < end:
                after = quiet[row + 1 - begin]
                further = read * onward * after / (1.0 - onward + onward * after)
                steps[0] += further
                steps[1] += read
                read = further


@kernel()
def _read(
    indptr: Integers,
    attraction: Floats,
    content: Floats,
    click: NDArray[np.bool_],
    onward: float,
    given: bool,
    filled: Filled[np.float64],
) -> None:
    """Fill in the probability of a click for every row, given the clicks above it or not."""
    for session in range(len(indptr) - 1):
        read = 1.0
        for row in range(indptr[session], indptr[session + 1]):
            alpha, s = attraction[row], content[row]
            p = alpha * read
            filled[row] = p
            if not given:
                read *= onward * (1.0 - alpha * s)
            elif click[row]:
                read = onward * (1.0 - s)
            else:
                read *= onward * (1.0 - alpha) / (1.0 - p) if p < 1.0 else 0.0


@kernel()
def _draw_chain(
    indptr: Integers,
    attraction: Floats,
    content: Floats,
    onward: float,
    uniform: Matrix[np.float64],
    click: Filled[np.bool_],
) -> None:
    for session in range(len(indptr) - 1):
        for row in range(indptr[session], indptr[session + 1]):
            click[row] = uniform[row, 0] < attraction[row]
            s = content[row] if click[row] else 0.0
            if uniform[row, 1] >= onward * (1.0 - s):
                break
