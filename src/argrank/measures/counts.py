"""Counts of documents, and the measures of a returned set: they do not depend on the order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from argrank._types import Floats
from argrank.errors import OptionError, check_positive, shown
from argrank.measures.conventions import Convention
from argrank.measures.measure import Measure, ratio
from argrank.measures.rankings import Rankings


@dataclass(frozen=True, repr=False)
class Count(Measure):
    """A number of documents, of those with at least the label ``rel`` where it is given. Queries add up."""

    bounds = (0.0, np.inf)
    adds_up = True

    rel: float | None = None


@dataclass(frozen=True, repr=False)
class NumRet(Count):
    """The number of documents returned; with ``rel`` of those with at least that label. Queries add up."""

    spelling = "NumRet"
    aliases = ("numret", "num_ret")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return rankings.sizes.astype(np.float64) if self.rel is None else _hits(rankings, self.rel)


@dataclass(frozen=True, repr=False)
class NumRel(Count):
    """The number of relevant documents among the judgements, returned or not. Queries add up."""

    spelling = "NumRel"
    aliases = ("numrel", "num_rel")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return np.array(rankings.n_relevant(convention.relevant_at))


@dataclass(frozen=True, repr=False)
class NumRelRet(Count):
    """The number of relevant documents returned. Queries add up."""

    spelling = "NumRelRet"
    aliases = ("numrelret", "num_rel_ret")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return _hits(rankings, convention.relevant_at)


@dataclass(frozen=True, repr=False)
class SetP(Measure):
    """Relevant documents returned, divided by all returned; 0 where nothing is returned.

    ``relative`` divides by the most that could be relevant, the lesser of the documents returned and the relevant ones,
    and is undefined where there is no relevant one.
    """

    spelling = "SetP"
    aliases = ("setp", "set_p", "set_precision")

    rel: float | None = None
    relative: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.relative, bool):
            raise OptionError(f"SetP(relative=…): expected True or False, got {shown(self.relative)}")

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        hits = _hits(rankings, convention.relevant_at)
        if not self.relative:
            return hits / np.maximum(rankings.sizes, 1)
        n_relevant = rankings.n_relevant(convention.relevant_at)
        return np.where(n_relevant > 0, hits / np.clip(n_relevant, 1, np.maximum(rankings.sizes, 1)), np.nan)


@dataclass(frozen=True, repr=False)
class SetR(Measure):
    """Relevant documents returned, divided by all relevant ones; undefined where there is none."""

    spelling = "SetR"
    aliases = ("setr", "set_r", "set_recall")
    reaches_one = True

    rel: float | None = None

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        return ratio(_hits(rankings, convention.relevant_at), rankings.n_relevant(convention.relevant_at))


@dataclass(frozen=True, repr=False)
class SetF(Measure):
    """(1 + beta) P R / (beta P + R) of set precision and recall, as trec_eval has it; undefined without relevant ones.

    ``beta`` is the importance of recall relative to precision. It is not squared, unlike in van Rijsbergen's F.
    """

    spelling = "SetF"
    aliases = ("setf", "set_f")

    rel: float | None = None
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("SetF(beta=…)", self.beta)

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        hits, n_relevant = _hits(rankings, convention.relevant_at), rankings.n_relevant(convention.relevant_at)
        precision, recall = hits / np.maximum(rankings.sizes, 1), hits / np.maximum(n_relevant, 1)
        both = (1.0 + self.beta) * precision * recall
        f = np.divide(both, self.beta * precision + recall, out=np.zeros(len(hits)), where=hits > 0)
        return np.where(n_relevant > 0, f, np.nan)


def _hits(rankings: Rankings, relevant_at: float) -> Floats:
    return np.asarray(np.count_nonzero(rankings.relevant(relevant_at), axis=1).astype(np.float64))
