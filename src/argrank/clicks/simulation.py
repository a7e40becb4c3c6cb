"""Simulated click logs: pages of one or more systems, clicked by users of a known model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from argrank._declared import AtLeast, AtMost, Below, Count, Seed, checked
from argrank._types import Floats, Integers
from argrank.clicks.models import click_model
from argrank.data import checks
from argrank.data.clicks.log import Clicks
from argrank.data.dataset import Dataset
from argrank.errors import InputError

BEGIN, DAYS = np.datetime64("2026-01-01T00:00:00"), 10  # when sessions happen


@checked
def simulate_clicks(
    data: Dataset,
    scores: Any,
    model: Literal["pbm", "trust", "cascade", "dcm", "sdbn", "dbn", "ubm"] = "pbm",
    *,
    eta: Annotated[float, AtLeast(0), Below(1e6)] = 1.0,
    noise: Annotated[float, AtLeast(0), AtMost(1)] = 0.1,
    n_sessions: Count = 10_000,
    n_results: Count = 10,
    vary: Annotated[float, AtLeast(0), Below(1e6)] = 0.0,
    traffic: Annotated[float, AtLeast(0), Below(1e6)] = 0.0,
    sessions_per_user: Annotated[float, AtLeast(1e-6), Below(1e9)] = 1.0,
    random_state: Seed = 0,
) -> Clicks:
    """Simulate a click log from judged data, over ten days from 2026-01-01.

    Parameters
    ----------
    data : Dataset
        Documents with labels. A document's attraction is ``noise + (1 - noise) (2^label - 1) / (2^largest - 1)``.
    scores : array, or mapping from names to arrays
        The system whose pages are shown, one score per row of the data; with several systems, each session draws one,
        which the log names in ``ranker``.
    model : str
        "pbm" (rank k is read with probability ``k ** -eta``), "trust" (the same, but an unattractive document is also
        clicked if read, with probability ``.3 / k``), "cascade", "dcm" (after a click, users continue with ``k **
        -eta``), "sdbn", "dbn" (a document satisfies as much as it attracts; dbn reads on with .9) or "ubm" (read with
        ``(k - last click) ** -eta``).
    eta : float
        How fast attention falls with rank.
    noise : float
        Attraction of a document with label 0.
    n_sessions : int
        Number of searches.
    n_results : int
        Documents on a page.
    vary : float
        How much pages vary: Gumbel noise on the scores, in units of their standard deviation within the query. With 0
        every user sees the same page, from which no method can learn how much each rank is seen.
    traffic : float
        0 for queries of equal traffic; the i-th query has traffic ``i ** -traffic``.
    sessions_per_user : float
        Mean number of sessions of a user.
    random_state : int
        Seed.

    Examples
    --------
    >>> import argrank as ar
    >>> data = ar.make_ranking(n_queries=20, random_state=0)
    >>> ar.simulate_clicks(data, data.X[:, 0], n_sessions=100, vary=1.0).n_sessions
    100
    """
    random = np.random.default_rng(random_state)
    systems = _systems(scores, data)
    weights = np.arange(1, data.n_queries + 1) ** -float(traffic)
    query = np.sort(random.choice(data.n_queries, n_sessions, p=weights / weights.sum()))
    system = random.integers(0, len(systems), n_sessions)
    rows, sizes = _pages(data, list(systems.values()), query, system, n_results, vary, random)
    log = _log(data, rows, sizes, query, system, list(systems), sessions_per_user, random)
    order = random.permutation(n_sessions)  # sessions of all queries mixed, as in a real log
    seconds = np.arange(n_sessions) * (DAYS * 86_400 / n_sessions)  # sessions happen evenly over the days
    times = BEGIN + seconds.astype("timedelta64[s]")
    log = replace(log.select(order), timestamp=np.repeat(times, sizes[order]))
    gains = np.exp2(data.y) - 1.0
    attraction_of_row = noise + (1.0 - noise) * gains / max(float(gains.max()), 1e-300)
    attraction = np.empty(log.n_pairs)
    attraction[log.pair] = attraction_of_row[_rows_of(log, order, rows, sizes)]
    if model == "trust":
        rank = np.arange(1, n_results + 1)
        chance = attraction[log.pair] + (1.0 - attraction[log.pair]) * (0.3 / rank)[log.position - 1]
        click = random.random(log.n_rows) < (rank ** -float(eta))[log.position - 1] * chance
        return replace(log, click=click)
    reader = click_model(model).assume(log, **_parameters(model, attraction, eta, int(log.position.max())))
    return reader.simulate(log, int(random.integers(2**31)))


def _parameters(model: str, attraction: Floats, eta: float, n: int) -> dict[str, Any]:
    """Return the parameters of a reader of the named kind."""
    falls = np.arange(1, n + 1) ** -float(eta)
    found: dict[str, Any] = {"attraction": attraction}
    if model == "pbm":
        found["examination"] = falls
    if model == "ubm":
        gap = np.arange(1, n + 1)[:, None] - np.arange(n + 1)[None, :]
        found["examination"] = np.where(gap > 0, np.maximum(gap, 1) ** -float(eta), 0.0)
    if model == "dcm":
        found["satisfaction"] = 1.0 - falls
    if model in ("sdbn", "dbn"):
        found["satisfaction"] = attraction
    if model == "dbn":
        found["continuation"] = [0.9]
    return found


def _pages(
    data: Dataset,
    systems: list[Floats],
    query: Integers,
    system: Integers,
    n_results: int,
    vary: float,
    random: np.random.Generator,
) -> tuple[Integers, Integers]:
    """Return the rows of the data that every session shows, page after page, and the sizes of the pages."""
    found: list[Integers] = []
    borders = np.searchsorted(query, np.arange(data.n_queries + 1))
    for one in np.unique(query):
        begin, end = data.indptr[one], data.indptr[one + 1]
        sessions = slice(borders[one], borders[one + 1])
        base = np.stack([scores[begin:end] for scores in systems])
        spread = base.std(axis=1, keepdims=True)
        page = base[system[sessions]]
        if vary > 0:
            page = page + vary * np.where(spread > 0, spread, 1.0)[system[sessions]] * random.gumbel(size=page.shape)
        found.append(begin + np.argsort(-page, axis=1, kind="stable")[:, :n_results])
    sizes = np.minimum(data.sizes[query], n_results)
    return np.concatenate([one.ravel() for one in found]), sizes


def _log(
    data: Dataset,
    rows: Integers,
    sizes: Integers,
    query: Integers,
    system: Integers,
    names: list[str],
    per_user: float,
    random: np.random.Generator,
) -> Clicks:
    """Return the pages as a log without clicks."""
    n = len(query)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    own = np.arange(data.n_documents) if data.rows is None else data.rows
    ids = own if data.document_ids is None else data.document_ids
    user = random.integers(0, max(1, round(n / per_user)), n)
    columns: dict[str, Any] = {
        "session": np.repeat(np.arange(n), sizes),
        "qid": data.query_ids[np.repeat(query, sizes)],
        "docid": ids[rows],
        "position": number + 1,
        "click": np.zeros(len(rows)),
        "user": np.repeat(user, sizes),
    }
    if len(names) > 1:
        columns["ranker"] = np.array(names)[np.repeat(system, sizes)]
    return Clicks.of(columns)


def _rows_of(log: Clicks, order: Integers, rows: Integers, sizes: Integers) -> Integers:
    """Return the row of the data for every row of the log, whose sessions were put in another order."""
    starts = np.cumsum(sizes) - sizes
    within = np.arange(log.n_rows) - np.repeat(log.indptr[:-1], log.sizes)
    return rows[np.repeat(starts[order], log.sizes) + within]


def _systems(scores: Any, data: Dataset) -> dict[str, Floats]:
    given = scores if isinstance(scores, Mapping) else {"system": scores}
    if not given:
        raise InputError("scores: expected the scores of one system or more, got none")
    return {
        str(name): data.from_caller(checks.numbers(one, data.n_documents, f"scores of {name!r}", "score"))
        for name, one in given.items()
    }
