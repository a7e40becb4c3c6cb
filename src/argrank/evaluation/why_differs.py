"""why_differs: which rule makes two tools report different numbers for the same scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from argrank._declared import checked
from argrank._tables import text_lines
from argrank.errors import InputError
from argrank.evaluation.evaluate import evaluate_lists
from argrank.evaluation.systems import lists_of, named_systems
from argrank.measures.conventions import Convention, describe, make_convention
from argrank.measures.measure import Measure
from argrank.measures.names import measure as measure_of


class Step(NamedTuple):
    """One switch: its value in a and in b, its effect alone on a's mean, and the mean after all steps so far."""

    switch: str
    a: Any
    b: Any
    alone: float
    cumulative: float


@dataclass(frozen=True)
class Differences:
    """The differences between two conventions, for one measure on one set of scores.

    ``steps`` change a's switches to b's one after the other, the one with the largest effect alone first: ``alone`` is
    the change of a's mean by this switch only, ``cumulative`` the mean after this and all earlier steps, so the last
    one is b's mean. ``idle`` are switches that differ without any effect here, even together.
    """

    measure: Measure
    a: Convention
    b: Convention
    value_a: float
    value_b: float
    steps: list[Step]
    idle: list[str]

    def __repr__(self) -> str:
        lines = [
            f"{self.measure}: {self.a.name} {self.value_a:.6f}, {self.b.name} {self.value_b:.6f}, "
            f"difference {self.value_b - self.value_a:+.6f}"
        ]
        if not self.steps:
            return "\n".join([*lines, "no switch changes the value on these scores"])
        rows = [
            [step.switch, describe(step.a), describe(step.b), f"{step.alone:+.6f}", f"{step.cumulative:.6f}"]
            for step in self.steps
        ]
        lines += text_lines(("switch", self.a.name, self.b.name, "alone", "mean so far"), rows)
        if self.idle:
            lines.append(f"without effect here: {', '.join(self.idle)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "measure": self.measure.name,
            "a": self.a.name,
            "b": self.b.name,
            "value_a": self.value_a,
            "value_b": self.value_b,
            "idle": list(self.idle),
            "steps": [step._asdict() | {"a": describe(step.a), "b": describe(step.b)} for step in self.steps],
        }


@checked
def why_differs(
    scores: Any,
    data: Any,
    measure: Any,
    a: str | Convention = "default",
    b: str | Convention = "trec",
) -> Differences:
    """Show which rules make a measure differ between two conventions, and by how much each; scores or a run.

    >>> import argrank as ar
    >>> data = ar.Dataset([[0.0]] * 4, [0, 2, 0, 0], qid=[1, 1, 1, 2])
    >>> ar.why_differs([3.0, 2.0, 1.0, 1.0], data, "ndcg@10", a="lightgbm", b="trec")
    nDCG@10: lightgbm 0.815465, trec 0.315465, difference -0.500000
    switch     lightgbm  trec      alone  mean so far
    undefined         1     0  -0.500000     0.315465
    without effect here: gain, logarithm, ...
    """
    one, start, goal = measure_of(measure), make_convention(a), make_convention(b)

    systems, several = named_systems(scores)
    if several:
        raise InputError(f"scores: expected one system, got {len(systems)}")
    (lists,) = lists_of(systems, data).values()

    def mean(convention: Convention) -> float:
        return evaluate_lists(lists, [("value", one)], convention).means["value"]

    value_a, value_b = mean(start), mean(goal)
    wanted = goal.switches()
    differing = [switch for switch, value in start.switches().items() if value != wanted[switch] and switch != "format"]
    alone = {switch: mean(replace(start, **{switch: wanted[switch]})) - value_a for switch in differing}
    # Rounding of a sum in another order is not a difference between tools.
    noise = 1e-12 * max(1.0, abs(value_a))
    order = sorted(differing, key=lambda switch: -_size(alone[switch]))
    current, before, steps, idle = start, value_a, [], []
    for switch in order:
        current = replace(current, **{switch: wanted[switch]})
        after = mean(current)
        if _size(alone[switch]) > noise or _size(after - before) > noise:
            steps.append(Step(switch, getattr(start, switch), wanted[switch], alone[switch], after))
        else:
            idle.append(switch)
        before = after
    return Differences(one, start, goal, value_a, value_b, steps, [s for s in differing if s in idle])


def _size(change: float) -> float:
    """Return the size of a change; a change to or from NaN is infinite."""
    return abs(change) if change == change else float("inf")
