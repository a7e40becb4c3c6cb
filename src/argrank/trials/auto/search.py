"""The search for a blend: train members stage by stage, then again on all data, within the time limit."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from argrank._progress import Progress
from argrank.data.dataset import Dataset
from argrank.errors import ModelError
from argrank.models.model import Model
from argrank.rankers.checkpoint import model_from, model_state
from argrank.rankers.trace import Watcher
from argrank.solvers.problem import Stop
from argrank.trials.auto.blend import Blend
from argrank.trials.auto.members import Member

MARGIN = 1.25  # safety factor of the expected time of refitting a member
REFITTED = "all data: "  # prefix of members whose refitted models are in a checkpoint
NOTES = {
    Stop.TIME: "the time limit was reached; the best blend of the finished members was kept",
    Stop.INTERRUPTED: "interrupted; the best blend of the finished members was kept",
}


class Search:
    """Trains members stage by stage, and again on all data, within the time limit."""

    def __init__(self, watcher: Watcher, verbose: int) -> None:
        self._watcher = watcher
        self._bar = Progress("auto", None, enabled=verbose >= 0)
        self._best = ("", -np.inf)
        found = watcher.keeper.resumed()
        self._kept: dict[str, Any] = {} if found is None else dict(found)  # by member, and models of all data

    def run(self, members: list[Member], deadline: float | None) -> tuple[list[Member], Stop]:
        """Return the members that have a stage, and why others are not finished; the first always has one.

        Time is kept to fit all members again with one seed each; more seeds get what is left in the end. Of the rest,
        each member may take an equal share first, then what others have left over.
        """
        done: list[Member] = []
        growing: list[Member] = []
        stop = Stop.DONE
        self._bar.expect(2 * len(members))  # the same members again, on all data
        try:
            for number, member in enumerate(members):
                self._bar.advance(number - self._bar.done, member.name)
                if self._is_finished(member, done):
                    continue
                if done and _is_late(done, max(one.stages[0].seconds for one in done), deadline):
                    stop = Stop.TIME
                    break
                others = 1.0 - 1.0 / (len(members) - number)
                until = None if deadline is None else deadline - others * max(0.0, _left(done, deadline))
                if not self._grow(member, done, until):
                    growing.append(member)
            for member in growing:
                if _is_late(done, member.next_seconds, deadline) or not self._grow(member, done, deadline):
                    stop = Stop.TIME
        except KeyboardInterrupt:
            if not done:
                self._bar.__exit__(None, None, None)
                raise
            stop = Stop.INTERRUPTED
        return done, stop

    def _grow(self, member: Member, done: list[Member], until: float | None) -> bool:
        """Take stages of a member until it is late; tell whether it is finished."""
        while self._advance(member, done):
            if _is_late(done, member.next_seconds, until):
                self._keep(member.name, member.state, finished=False, now=True)
                return False
            self._keep(member.name, member.state, finished=False)
        self._keep(member.name, member.state, finished=True, now=True)
        return True

    def _advance(self, member: Member, done: list[Member]) -> bool:
        more = member.advance()
        if member not in done:
            done.append(member)
        stage = member.stages[-1]
        if stage.mean > self._best[1]:
            self._best = (member.name, stage.mean)
        trees = "" if stage.n_trees is None else f", {stage.n_trees} trees"
        best = f"best so far {self._best[0]} {self._best[1]:.4f}"
        self._bar.advance(0, f"{member.name}, stage {len(member.stages)}{trees}: {stage.mean:.4f}; {best}")
        trace = self._watcher.trace
        row = {"iteration": float(len(trace) + 1), "objective": 1.0 - stage.mean}
        row |= {} if stage.n_trees is None else {"trees": float(stage.n_trees)}
        trace.append(row | {"seconds": self._watcher.seconds})
        return more

    def _is_finished(self, member: Member, done: list[Member]) -> bool:
        """Restore a member from a checkpoint; tell whether it is finished."""
        found = self._kept.get(member.name)
        if found is not None:
            member.restore(found)
            done.append(member)
        return found is not None and found["finished"]

    def _keep(self, name: str, state: Callable[[], Mapping[str, Any]], *, finished: bool, now: bool = False) -> None:
        """Offer what is done to a checkpoint, and have it written now where the next thing is another member's."""

        def states() -> dict[str, Any]:
            found = self._kept | {name: {**state(), "finished": finished}}
            if now:
                self._kept = found
            return found

        with contextlib.suppress(ModelError):  # non-finite numbers cannot be stored
            self._watcher.keeper.offer(states, now=now)

    def refit(
        self, blend: Blend, data: Dataset, n_seeds: int, deadline: float | None, hurry: bool
    ) -> tuple[list[Model], list[bool], Stop]:
        """Return a model for every member with weight, whether it was refitted, and the reason if not."""
        models: dict[int, Model] = {}
        stop = Stop.DONE
        shares = blend.shares
        try:
            left = 0.5 * (self._bar.total or 0.0) / max(1, int(np.count_nonzero(shares)))
            self._bar.advance(0.5 * (self._bar.total or 0.0) - self._bar.done, "all data")
            waiting = [number for number in np.argsort(-shares, kind="stable").tolist() if shares[number] > 0]
            while waiting and not hurry:
                number = waiting.pop(0)
                member = blend.members[number]
                found = self._kept.get(f"{REFITTED}{member.name}")
                if found is not None:
                    models[number] = model_from(found)
                    continue
                seeds = _affordable(member, n_seeds, [blend.members[one] for one in waiting], deadline)
                if seeds == 0:
                    stop = Stop.TIME
                    continue
                self._bar.advance(0, f"{member.name} on all data")
                models[number] = member.refit(data, seeds)
                self._bar.advance(left, f"{member.name} on all data")
                self._keep(
                    f"{REFITTED}{member.name}", functools.partial(model_state, models[number]), finished=True, now=True
                )
        except KeyboardInterrupt:
            stop = Stop.INTERRUPTED
        finally:
            self._bar.__exit__(None, None, None)
        refitted = [number in models for number in range(len(shares))]
        most = 1 if n_seeds == 1 else None
        found = [models.get(number) or member.folds_model(most) for number, member in enumerate(blend.members)]
        return found, refitted, stop


def _is_late(done: list[Member], seconds: float, deadline: float | None) -> bool:
    """Tell whether a stage of some seconds, which makes a refit longer, leaves too little time to refit members."""
    return deadline is not None and _left(done, deadline) < seconds + MARGIN * done[-1].again(seconds)


def _left(members: list[Member], deadline: float) -> float:
    """Return the time left after refitting members with one seed each."""
    return deadline - time.perf_counter() - MARGIN * sum(member.cost(1) for member in members)


def too_late(members: list[Member], deadline: float | None, seconds: float) -> bool:
    """Tell whether what takes some seconds leaves too little time to refit members with one seed each."""
    return deadline is not None and _left(members, deadline) < MARGIN * seconds


def _affordable(member: Member, n_seeds: int, waiting: list[Member], deadline: float | None) -> int:
    """Return how many seeds, at most a number, a member can be refitted with; 0 for none.

    Time for one seed is reserved for waiting members, if there is enough.
    """
    most, one = member.seeds(n_seeds), MARGIN * member.cost(1)
    if deadline is None:
        return most
    spare, left = _left(waiting, deadline), _left([], deadline)
    return max(min(most, int(spare / max(one, 1e-9))), int(left > one))
