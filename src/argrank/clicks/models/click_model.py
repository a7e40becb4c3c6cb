"""What all click models share: fitting, prediction, likelihood, perplexity, simulation, relevance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from argrank._declared import Above, Below, Count, Positive, Seed, check_fields, checked
from argrank._types import Floats, Integers
from argrank.clicks.matching import find_pairs
from argrank.data.clicks.counts import ClickCounts
from argrank.data.clicks.log import Clicks
from argrank.errors import InputError, OptionError

LEAST = 1e-6  # probability used for events that are impossible in a model


class Relevance(NamedTuple):
    """A model's value of every (query, document) of its log, and the number of examinations behind it."""

    qid: NDArray[Any]
    docid: NDArray[Any]
    value: Floats
    examinations: Floats


@dataclass
class ClickModel(ABC):
    """A model of how people click on a page.

    Parameters
    ----------
    prior_mean : float, optional
        Prior mean of a document's attraction; None for the click rate of the log.
    prior_weight : float
        Weight of the prior, in examinations; satisfaction and the examination of ranks have prior mean 1/2 with the
        same weight.
    max_iter : int
        Steps of expectation maximisation, at most.
    tol : float
        Stop when no parameter changes by more than this.
    """

    prior_mean: Annotated[float, Above(0), Below(1)] | None = None
    prior_weight: Positive = 2.0
    max_iter: Count = 200
    tol: float = 1e-6

    name: ClassVar[str]
    _log: Clicks | ClickCounts | None = field(default=None, init=False, repr=False)
    _rate: float = field(default=0.5, init=False, repr=False)
    n_iter_: int = field(default=0, init=False, repr=False)

    @checked
    def fit(self, log: Clicks) -> ClickModel:
        """Estimate the parameters from a log; return the model."""
        check_positions(log.position)
        self._begin(log.n_clicks, log.n_rows)
        self._estimate(log)
        self._log = log
        return self

    def _begin(self, n_clicks: int, n_shown: int) -> None:
        """Check the parameters, and set what is assumed of a document of which nothing is known."""
        check_fields(self)
        rate = (n_clicks + 0.5) / (n_shown + 1.0)
        self._rate = rate if self.prior_mean is None else self.prior_mean

    @checked
    def assume(self, log: Clicks, **parameters: Any) -> ClickModel:
        """Set given parameters instead of estimated ones, named as in ``parameters``; return the model.

        Those of documents are in the order of the log's pairs, those of ranks begin with rank 1.
        """
        check_positions(log.position)
        check_fields(self)
        self._rate = 0.5 if self.prior_mean is None else self.prior_mean
        self._assume(log, parameters)
        unknown = parameters.keys() - self._parameters().keys()
        if unknown:
            raise OptionError(
                f"{self.name} has no parameter {sorted(unknown)[0]!r}; it has {', '.join(self._parameters())}"
            )
        self._log = log
        return self

    @checked
    def predict(self, log: Clicks, given_clicks: bool = False) -> Floats:
        """Return the probability of a click for every row of a log, in its order.

        By default from the page alone; with ``given_clicks`` from the page and the clicks above the row.
        """
        pairs = self._pairs_of(log)
        filled = np.empty(log.n_rows)
        self._fill(log, pairs, given_clicks, filled)
        return filled

    @checked
    def log_likelihood(self, log: Clicks) -> float:
        """Return the mean over sessions of the mean over ranks of log P(click or not, given the clicks above)."""
        sums = np.add.reduceat(np.log(self._of_what_happened(log)), log.indptr[:-1])
        return float(np.mean(sums / log.sizes))

    @checked
    def perplexity(self, log: Clicks) -> float:
        """Return the mean of the perplexities of all ranks: 1 for certainty, 2 for a coin."""
        return float(np.nanmean(self.perplexity_by_rank(log)))

    @checked
    def perplexity_by_rank(self, log: Clicks) -> Floats:
        """Return 2^-(mean over sessions of log2 of the unconditional probability) for ranks 1, 2, …; NaN unseen."""
        chance = self.predict(log)
        happened = np.where(log.click, chance, 1.0 - chance)
        bits = np.log2(np.maximum(happened, LEAST))
        n = np.bincount(log.position)
        with np.errstate(invalid="ignore", divide="ignore"):
            by_rank: Floats = 2.0 ** -(np.bincount(log.position, bits) / n)
        return by_rank[1:]

    @checked
    def simulate(self, log: Clicks, random_state: Seed = 0) -> Clicks:
        """Return the pages of a log with clicks drawn from the model."""
        random = np.random.default_rng(random_state)
        click = np.zeros(log.n_rows, bool)
        self._draw(log, self._pairs_of(log), random.random((log.n_rows, 2)), click)
        return replace(log, click=click)

    @property
    def relevance(self) -> Relevance:
        """The model's value of every (query, document) of its log."""
        log = self._fitted_log
        value, examinations = self._relevance()
        return Relevance(log.query_ids[log.pair_query], log.document_ids[log.pair_document], value, examinations)

    @property
    def parameters(self) -> Mapping[str, Floats]:
        """The estimated parameters by name; those of documents in the order of the log's pairs."""
        _ = self._fitted_log
        return self._parameters()

    @abstractmethod
    def _estimate(self, log: Clicks) -> None:
        """Set the parameters."""

    @abstractmethod
    def _assume(self, log: Clicks, given: Mapping[str, Any]) -> None:
        """Set the parameters to given ones."""

    @abstractmethod
    def _fill(self, log: Clicks, pairs: Integers, given_clicks: bool, filled: Floats) -> None:
        """Fill in the probability of a click for every row; a pair of -1 has the prior's parameters."""

    @abstractmethod
    def _draw(self, log: Clicks, pairs: Integers, uniform: Floats, click: NDArray[np.bool_]) -> None:
        """Fill in clicks; every row has two uniform numbers."""

    @abstractmethod
    def _relevance(self) -> tuple[Floats, Floats]:
        """Return the value of every pair, and the number of examinations behind it."""

    @abstractmethod
    def _parameters(self) -> Mapping[str, Floats]:
        """Return the parameters by name."""

    @property
    def _fitted_log(self) -> Clicks | ClickCounts:
        if self._log is None:
            raise InputError(f"{self.name}: expected a fitted click model, got one before fit")
        return self._log

    def _of_what_happened(self, log: Clicks) -> Floats:
        chance = self.predict(log, given_clicks=True)
        return np.asarray(np.maximum(np.where(log.click, chance, 1.0 - chance), LEAST))

    def _pairs_of(self, log: Clicks) -> Integers:
        """Return for every row of a log the number of its pair in the log of the fit, -1 if it is new."""
        known = self._fitted_log
        if log.query_ids is known.query_ids and log.pair_query is known.pair_query:
            return log.pair
        check_positions(log.position)
        query, document = _numbers_in(log.query_ids, known.query_ids), _numbers_in(log.document_ids, known.document_ids)
        return find_pairs(query[log.pair_query], document[log.pair_document], known)[log.pair]


def chances(name: str, given: Mapping[str, Any], n: int) -> Floats:
    """Return given probabilities as one row of n numbers."""
    try:
        values = np.asarray(given[name], np.float64).ravel()
    except KeyError as error:
        raise OptionError(f"expected {name}=, which this model has, got none") from error
    except (TypeError, ValueError) as error:
        raise OptionError(f"{name}: expected {n} numbers from 0 to 1, got others") from error
    if len(values) != n or not ((values >= 0) & (values <= 1)).all():
        raise OptionError(f"{name}: expected {n} numbers from 0 to 1, got {len(values)}")
    return values


def numbers_of_rows(of: str, log: Clicks, pairs: Integers) -> Integers:
    """Return for every row the number of its parameter: one for each "document", for each "rank", or for all."""
    if of == "document":
        return pairs
    return log.position if of == "rank" else np.zeros(log.n_rows, np.int64)


def _numbers_in(ids: NDArray[Any], known: NDArray[Any]) -> Integers:
    number = {one: at for at, one in enumerate(known.tolist())}
    return np.array([number.get(one, -1) for one in ids.tolist()], np.int64)


def check_positions(position: Integers) -> None:
    """Refuse positions that begin with 0."""
    if int(position.min()) < 1:
        raise InputError("expected positions from 1 up, got 0; see first_position= and ar.doctor(log)")
