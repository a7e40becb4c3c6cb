"""Gradient descent with momentum and fixed steps, for forces that are not the gradient of a function.

Follows ``w / C + force(w)``. There is no line search and no bound: the result is the point after ``max_iter`` passes.
The shrinking ``w / C`` is taken at the end of a step (a proximal step): at the beginning, it would diverge along
features of tiny spread, for which steps are huge.
"""

from __future__ import annotations

import math

import numpy as np

from argrank._types import Floats
from argrank.solvers.meter import Meter
from argrank.solvers.problem import Problem, Result, Stop

MOMENTUM = 0.9


def descend(problem: Problem, learning_rate: float = 0.1, scales: Floats | None = None) -> Result:
    """Take ``max_iter`` steps of one pass each.

    ``scales`` (the spread of every feature) makes the descent that of features divided by them; 0 keeps a weight fixed.
    """
    meter, risk, w = Meter(problem), problem.risk, problem.begin()
    rates = np.ones_like(w) if scales is None else np.divide(1.0, scales**2, out=np.zeros_like(w), where=scales > 0)
    steps = learning_rate * rates
    reason: Stop | None = None
    velocity, n_iter = np.zeros_like(w), 0
    found = problem.resumed()
    if found is not None:
        w, velocity, n_iter = found["w"], found["velocity"], found["n_iter"]
    value, force = risk.value_and_gradient(w)
    if found is not None:
        meter.restore(found["meter"])
    try:
        while not reason:
            velocity = (MOMENTUM * velocity - steps * (w / problem.C + force)) / (1.0 + steps / problem.C)
            w = w + velocity
            value, force = risk.value_and_gradient(w)
            n_iter += 1
            if meter.tell(w, value + problem.penalty(w), math.nan):
                reason = Stop.CALLBACK
            elif n_iter >= problem.max_iter:
                reason = Stop.EPOCHS
            else:
                problem.offer(w=w, velocity=velocity, n_iter=n_iter, meter=meter.state())
    except KeyboardInterrupt:
        reason = Stop.INTERRUPTED
    norm = float(np.linalg.norm(w / problem.C + force))
    return meter.result(w, value + problem.penalty(w), math.nan, n_iter, reason, norm)
