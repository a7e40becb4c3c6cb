"""Engine, Way and Fusion: how a search engine can combine several systems' scores, and one choice of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from argrank._types import Floats, Integers
from argrank.deploy.hybrid.lists import Normalise, each_list, sum_singles, within_window
from argrank.errors import OptionError, check_name

RANK_CONSTANT = 60  # of reciprocal-rank fusion (Cormack, Clarke and Büttcher 2009)
RANK_CONSTANTS = (1, 5, 20, RANK_CONSTANT, 150)  # that are tried
WINDOW = 100

Version = tuple[int, ...]


@dataclass(frozen=True)
class Way:
    """One method of an engine: how it normalises a list's scores, and how it combines the lists.

    ``is_sum`` means that the combined score is a weighted sum up to rounding and a constant factor, so that weights can
    be searched along lines. Documents that a list lacks have 0 after normalising.
    """

    name: str
    since: Version
    normalise: Normalise
    combine: Callable[[Floats, Floats], Floats] = sum_singles
    is_sum: bool = True
    has_weights: bool = True
    constants: tuple[int, ...] = (0,)
    has_window: bool = True  # whether a list ends after the window, for the engine too


@dataclass(frozen=True)
class Engine:
    """A search engine: its methods by name, and its constraints on weights."""

    name: str
    ways: Mapping[str, Way]
    write: Callable[[Fusion, Mapping[str, float]], dict[str, str]]
    takes_negative: bool = False  # weights
    in_double: bool = False
    as_shares: bool = False  # weights have to add up to 1
    ranks_absent: bool = False  # a document that a system did not return has score 0 there, and is normalised
    most_systems: int | None = None
    version: Version = field(default=())

    def at(self, version: Version) -> Engine:
        """Return the engine with the features of a version."""
        ways = {name: way for name, way in self.ways.items() if way.since <= version}
        if not ways:
            first = ".".join(map(str, min(way.since for way in self.ways.values())))
            raise OptionError(
                f"engine: expected {self.name} from {first} up, which can fuse, got {'.'.join(map(str, version))}"
            )
        return replace(self, ways=ways, version=version)

    def fusions(self, normalise: str, window: int) -> dict[str, Fusion]:
        """Return the candidates by name: one method, or all of them for "auto".

        Reciprocal ranks are tried with several constants, or with a given one: "rrf 60".
        """
        name, _, given = normalise.partition(" ")
        if name != "auto":
            check_name(f"normalisation of {self.name}", name, self.ways)
        chosen = [way for one, way in self.ways.items() if name in ("auto", one)]
        if given:
            if name == "auto" or chosen[0].constants == (0,) or not given.isdecimal() or not 1 <= int(given) <= 10_000:
                raise OptionError(f"normalise: expected a constant from 1 to 10,000 after rrf alone, got {normalise!r}")
            chosen = [replace(chosen[0], constants=(int(given),))]
        return {
            way.name + (f" {constant}" if constant else ""): Fusion(self, way, window, constant)
            for way in chosen
            for constant in way.constants
        }


@dataclass(frozen=True)
class Fusion:
    """An engine with one method: ``window`` is the length of each system's list, ``constant`` that of ranks."""

    engine: Engine
    way: Way
    window: int = WINDOW
    constant: int = 0

    def lists(self, raw: Floats, indptr: Integers) -> Floats:
        """Return the scores (a row for every system) that the engine sees, NaN for documents it does not."""
        return within_window(raw, indptr, self.window) if self.way.has_window else raw

    def prepare(self, lists: Floats, indptr: Integers) -> Floats:
        """Return the normalised scores, 0 for documents that a list lacks."""
        if self.engine.ranks_absent:
            lists = np.where(np.isnan(lists), 0.0, lists)
        return each_list(
            lists, indptr, self.way.normalise, self.constant, np.float64 if self.engine.in_double else np.float32
        )

    def combine(self, ready: Floats, weights: Floats) -> Floats:
        """Return the engine's score of every document from ``prepare``'s numbers."""
        return self.way.combine(ready, self.rounded(weights) if self.way.has_weights else np.ones(len(weights)))

    def rounded(self, weights: Floats) -> Floats:
        """Return the weights as written in the request."""
        total = float(weights.sum())
        if self.engine.as_shares and total > 0:
            weights = weights / total
        return weights if self.engine.in_double else weights.astype(np.float32).astype(np.float64)

    def requests(self, weights: Mapping[str, float]) -> dict[str, str]:
        """Return file name -> text: the bodies of requests, and a README with the commands."""
        most = self.engine.most_systems
        if most is not None and len(weights) > most:
            raise OptionError(f"{self.engine.name}: expected at most {most} systems in a request, got {len(weights)}")
        for name, weight in weights.items():
            if weight < 0 and not self.engine.takes_negative:
                raise OptionError(
                    f"{self.engine.name}: expected no negative weights, which it refuses, got {weight:.4g} for {name}: "
                    "tune with bounds=(0, None)"
                )
        values = self.rounded(np.array(list(weights.values())))
        return self.engine.write(self, dict(zip(weights, values.tolist(), strict=True)))


def json_text(value: object) -> str:
    """Return a request's body."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def number(weight: float) -> float:
    """Return the shortest number that is this one in float32."""
    return float(str(np.float32(weight)))


def readme(title: str, commands: list[str], notes: list[str]) -> str:
    """Return the README of requests."""
    return "\n".join([title, "", *commands, "", *(f"- {' '.join(note.split())}" for note in notes), ""])
