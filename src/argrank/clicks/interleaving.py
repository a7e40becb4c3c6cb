"""Interleaving: mix two or more rankings into one list, with the team of every document, to see which users prefer.

*Team draft* (Radlinski, Kurup and Joachims 2008): in each round, the rankings take turns in random order, and each
picks its best document that is not yet on the list; a click is a point for the ranking that picked the document.
*Balanced* (Joachims 2003): documents are taken alternately from both lists, starting with a random one; a click is a
point for the ranking that has the document higher, which for a single click is the paper's rule. It favours one of two
equal rankings if one list is the other shifted by one rank, and is included for comparison. *Probabilistic* (Hofmann,
Whiteson and de Rijke 2011): at every rank a ranking is drawn, and from it a document by a softmax over its ranks, so
that every order of documents is possible.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Count, Seed, checked
from argrank._results import Framed
from argrank._types import Integers
from argrank.data.io.tables import write_columns
from argrank.data.io.trec.forms import as_run
from argrank.errors import InputError, OptionError, shown

Method = Literal["team-draft", "balanced", "probabilistic"]
STEEPNESS = 3.0  # of the softmax over ranks: a document at rank r has weight r ** -3
BOTH = "both"  # the team of a document at the same rank in both lists, in balanced interleaving


@dataclass(frozen=True, eq=False)
class Interleaved(Framed):
    """Mixed lists: a row for each document, in the order of queries and positions.

    ``to_run()`` gives the lists as a run, ``columns()`` what a page has to log with the clicks: qid, docid, position
    and team.
    """

    qid: NDArray[Any]
    docid: NDArray[Any]
    position: Integers
    team: NDArray[Any]
    method: str

    def __len__(self) -> int:
        return len(self.qid)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {"qid": self.qid, "docid": self.docid, "position": self.position, "team": self.team}

    def to_run(self) -> dict[str, dict[str, float]]:
        """Return query id -> document id -> score, greater for higher positions."""
        found: dict[str, dict[str, float]] = {}
        for qid, docid, position in zip(self.qid.tolist(), self.docid.tolist(), self.position.tolist(), strict=True):
            found.setdefault(qid, {})[docid] = 1.0 / position
        return found

    @checked
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the lists as a table: .csv, .tsv, .parquet or .arrow."""
        write_columns(self.columns(), path)

    def __repr__(self) -> str:
        teams = ", ".join(np.unique(self.team).tolist())
        return f"Interleaved by {self.method}: {len(np.unique(self.qid)):,} queries, {len(self):,} documents of {teams}"


@checked
def interleave(
    runs: Mapping[str, Any], method: Method = "team-draft", *, k: Count = 10, random_state: Seed = 0
) -> Interleaved:
    """Mix the rankings of two or more systems into one list for each query.

    Parameters
    ----------
    runs : dict of runs
        The systems by name, each a run in any form of ``ar.evaluate``. Queries that not all of them have are left out.
    method : str
        "team-draft" (recommended); "balanced", which favours one of two equal systems if their lists are shifted by one
        rank; "probabilistic", which can show every order.
    k : int
        Documents per list.
    random_state : int
        Seed of the draws; use a new one for every search, and the same one for the same search.

    Examples
    --------
    >>> import argrank as ar
    >>> a, b = {"q": {"x": 3, "y": 2, "z": 1}}, {"q": {"y": 3, "x": 2, "w": 1}}
    >>> mixed = ar.interleave({"a": a, "b": b}, k=3, random_state=1)
    >>> sorted(mixed.docid[:2].tolist()), set(mixed.team[:2].tolist()) == {"a", "b"}
    (['x', 'y'], True)
    """
    if len(runs) < 2 or BOTH in runs:
        raise InputError(f"runs: expected two or more systems by name, none of them {BOTH!r}, got {shown(list(runs))}")
    if method == "balanced" and len(runs) != 2:
        raise OptionError(f"balanced: expected two systems, got {len(runs)}; team-draft takes more")
    names = list(map(str, runs))
    lists = [_lists(one) for one in runs.values()]
    queries = [query for query in lists[0] if all(query in one for one in lists)]
    if not queries:
        raise InputError("runs: expected queries that all systems have, got none")
    rng = np.random.default_rng(random_state)
    rows: list[tuple[str, str, int, str]] = []
    for query in queries:
        picked = MIXERS[method]([one[query] for one in lists], k, rng)
        rows += [
            (query, document, place, BOTH if team < 0 else names[team])
            for place, (document, team) in enumerate(picked, 1)
        ]
    qid, docid, position, team = (np.array(column) for column in zip(*rows, strict=True))
    return Interleaved(qid, docid, position.astype(np.int64), team, method)


def _lists(run: Any) -> dict[str, list[str]]:
    """Return the documents of every query, best first; equal scores in the order given."""
    found = as_run(run)
    order = np.argsort(-np.asarray(found.score, np.float64), kind="stable")
    lists: dict[str, list[str]] = {}
    for query in np.asarray(found.qid).tolist():
        lists.setdefault(str(query), [])
    for query, document in zip(found.qid[order].tolist(), found.docno[order].tolist(), strict=True):
        lists[str(query)].append(str(document))
    return lists


def team_draft(lists: Sequence[Sequence[str]], k: int, rng: np.random.Generator) -> list[tuple[str, int]]:
    """Return (document, number of the list that picked it) by rank: in every round all lists pick, in random order."""
    picked: list[tuple[str, int]] = []
    there: set[str] = set()
    while len(picked) < k:
        before = len(picked)
        for team in rng.permutation(len(lists)).tolist():
            document = next((one for one in lists[team] if one not in there), None)
            if document is not None and len(picked) < k:
                picked.append((document, team))
                there.add(document)
        if len(picked) == before:
            break
    return picked


def balanced(lists: Sequence[Sequence[str]], k: int, rng: np.random.Generator) -> list[tuple[str, int]]:
    """Return (document, team): the team is the list that ranks it higher, -1 if both have it at the same rank."""
    leads, reached = int(rng.integers(2)), [0, 0]
    documents: list[str] = []
    while len(documents) < k and any(depth < len(one) for depth, one in zip(reached, lists, strict=True)):
        turn = leads if reached[leads] <= reached[1 - leads] else 1 - leads
        turn = turn if reached[turn] < len(lists[turn]) else 1 - turn
        document = lists[turn][reached[turn]]
        reached[turn] += 1
        if document not in documents:
            documents.append(document)
    places = [{one: place for place, one in enumerate(ranking)} for ranking in lists]
    return [(one, _higher(*(place.get(one, len(place)) for place in places))) for one in documents]


def _higher(first: int, second: int) -> int:
    return -1 if first == second else int(second < first)


def probabilistic(lists: Sequence[Sequence[str]], k: int, rng: np.random.Generator) -> list[tuple[str, int]]:
    """Return (document, team): at every rank a list is drawn, and of it a document by a softmax over its ranks."""
    picked: list[tuple[str, int]] = []
    left = [(list(one), np.arange(1.0, len(one) + 1.0) ** -STEEPNESS) for one in lists]
    while len(picked) < k and any(documents for documents, _ in left):
        team = int(rng.integers(len(lists)))
        documents, weights = left[team]
        if not documents:
            continue
        document = documents[int(rng.choice(len(documents), p=weights / weights.sum()))]
        picked.append((document, team))
        left = [_without(document, *one) for one in left]
    return picked


def _without(document: str, documents: list[str], weights: Any) -> tuple[list[str], Any]:
    if document not in documents:
        return documents, weights
    place = documents.index(document)
    return documents[:place] + documents[place + 1 :], np.delete(weights, place)


MIXERS = {"team-draft": team_draft, "balanced": balanced, "probabilistic": probabilistic}
