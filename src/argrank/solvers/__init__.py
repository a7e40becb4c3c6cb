"""How a risk is minimised: ``R(w) / C + risk(w)``. Solvers know the risk protocol and never a measure.

R is |w|² / 2 or |w|₁, around a centre and within limits where asked; the risk always is a mean. To add a solver: a file
with a function ``(problem, **options) -> Result`` and a line in ``SOLVERS``. What it declares there decides for which
problems it can be chosen, and the contract tests check what it proves.
"""

from __future__ import annotations

from typing import Any

from argrank._types import Floats
from argrank.errors import check_positive
from argrank.solvers._registry import Solver, check_fit, own_options
from argrank.solvers._result import Callback, Problem, Result
from argrank.solvers._risk import Risk
from argrank.solvers.regularisers import Absolute, Regulariser, Squared
from argrank.solvers.shifted import solve_around

__all__ = ["SOLVERS", "Absolute", "Problem", "Regulariser", "Result", "Risk", "Solver", "Squared", "choose", "minimise"]

ALL = ("l2", "l1", "limits")

SOLVERS = {
    "bundle": Solver("bundle:minimise", ("convex",), ALL, proves=True),
    "bundle-then-planes": Solver("bundle_then_planes:minimise", ("convex", "per_query"), proves=True),
    "cg": Solver("l_bfgs:conjugate_gradients", ("smooth",)),
    "convex-steps": Solver("convex_steps:minimise", ("difference",), ALL),
    "cutting-plane": Solver("cutting_plane:minimise", ("convex", "per_query"), proves=True),
    "fixed-steps": Solver("fixed_steps:descend"),
    "frank-wolfe": Solver("frank_wolfe:minimise", ("convex", "per_query"), proves=True),
    "l-bfgs": Solver("l_bfgs:minimise"),
    "newton": Solver("newton:minimise", ("convex", "second_order"), proves=True, tol=1e-6),
    "online": Solver("online:minimise", ("per_query",), ("l2", "limits")),
}


def choose(risk: Risk, regulariser: Regulariser) -> str:
    """Return the solver that "auto" stands for.

    Newton where there is a Hessian, L-BFGS where the risk is smooth. For convex risks with kinks it is the bundle
    method, which hands over to cutting planes after 100 passes; L1 and limits stay with the bundle method.
    """
    if risk.difference:
        return "convex-steps"
    if risk.convex and not (isinstance(regulariser, Squared) and regulariser.is_free):
        return "bundle"
    if risk.convex and risk.second_order:
        return "newton"
    if risk.smooth or not risk.convex:
        return "l-bfgs"
    return "bundle-then-planes" if risk.per_query else "bundle"


def minimise(
    risk: Risk,
    solver: str = "auto",
    *,
    C: float = 1.0,
    regulariser: Regulariser | None = None,
    tol: float | None = None,
    max_iter: int = 1000,
    start: Floats | None = None,
    callback: Callback | None = None,
    random_state: int | None = 0,
    **own: Any,
) -> Result:
    """Minimise ``R(w) / C + risk(w)``.

    Parameters
    ----------
    risk : Risk
        A mean loss as a function of the weights, see ``argrank.engines.make_risk``.
    solver : str
        A name of ``SOLVERS``, or "auto" for what ``choose`` says.
    C : float
        Weight of the risk against the regulariser.
    regulariser : Regulariser, optional
        R; |w|² / 2 unless given.
    tol : float, optional
        Stop when the gap is at most this share of the objective; None for the solver's own, which is 1e-3, and for
        Newton a gradient norm of 1e-6 of the first.
    max_iter : int
        Number of passes over the data after which to stop.
    start : array, optional
        Where to start; zero otherwise.
    callback : callable, optional
        Gets the weights and the facts of every iteration; returns True to stop.
    random_state : int, optional
        Seed of solvers that draw.
    own
        Options of the solver, such as ``n_starts`` or ``batch_size``; a solver ignores those of others.
    """
    check_positive("C", C)
    R = Squared() if regulariser is None else regulariser
    name = choose(risk, R) if solver == "auto" else solver
    check_fit(SOLVERS, name, Problem(risk, C, R, 0.0, max_iter))
    chosen = SOLVERS[name]
    problem = Problem(risk, C, R, chosen.tol if tol is None else tol, max_iter, start, callback, random_state)
    options = own_options(chosen.run, own)
    return solve_around(problem, lambda centred: chosen.run(centred, **options))
