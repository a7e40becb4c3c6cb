"""Solvers, which minimise ``R(w) / C + risk(w)``. They use the risk protocol and never a measure.

R is |w|² / 2 or |w|₁, optionally around a centre, in units and within limits; the risk is always a mean. To add a
solver: a file with a function ``(problem, **options) -> Result`` and a line in ``SOLVERS``. Its declaration there
decides for which problems it can be chosen, and what the contract tests check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from argrank._declared import checked
from argrank._registry import Registry, imported
from argrank._types import Floats
from argrank.errors import OptionError, check_choice, check_positive, shown, unknown_name
from argrank.solvers.problem import Callback, Keeper, Problem, Result, Risk, keeping
from argrank.solvers.regularisers import Absolute, Regulariser, Squared, solve_around

__all__ = [
    "SOLVERS", "Absolute", "Problem", "Regulariser", "Result", "Risk", "Solver", "Squared", "choose", "minimise",
    "register_solver", "usable",
]  # fmt: skip

#: Properties of a risk, by the name of the flag, as text for messages.
OFFERS = {
    "convex": "a convex objective",
    "smooth": "a smooth objective",
    "second_order": "an objective with second derivatives",
    "per_query": "an objective that can be evaluated query by query (not on a cluster)",
    "difference": "a difference of two convex objectives",
}


class Solver(NamedTuple):
    """An entry of the registry."""

    home: str | Callable[..., Result]  # the function, or its module and name, ".module" below argrank.solvers
    needs: tuple[str, ...] = ()  # flags that the risk must have
    takes: tuple[str, ...] = ("l2",)  # of "l2", "l1", "limits": supported regularisers
    proves: bool = False  # whether it gives a proven gap
    tol: float = 1e-3  # its default
    options: tuple[str, ...] = ()  # keyword arguments of its function

    @property
    def run(self) -> Callable[..., Result]:
        """The function, imported when it is first needed."""
        function: Callable[..., Result] = (
            imported(self.home, "argrank.solvers") if isinstance(self.home, str) else self.home
        )
        return function

    def lacks(self, risk: Risk) -> list[str]:
        """Return the required flags that a risk lacks."""
        return [flag for flag in self.needs if not getattr(risk, flag)]

    def refuses(self, regulariser: Regulariser) -> str:
        """Return the option of a regulariser that it does not support; an empty string if it supports all."""
        if regulariser.name not in self.takes:
            return f"penalty={regulariser.name!r}"
        return "" if regulariser.is_free or "limits" in self.takes else "signs"


ALL = ("l2", "l1", "limits")

#: To add a solver: a file with its function, and a line here.
_OWN = {
    "bundle": Solver(".bundle:minimise", ("convex",), ALL, proves=True),
    "bundle-then-planes": Solver(".bundle:then_planes", ("convex", "per_query"), proves=True),
    "cg": Solver(".l_bfgs:conjugate_gradients", ("smooth",), options=("n_starts",)),
    "convex-steps": Solver(".convex_steps:minimise", ("difference",), ALL),
    "cutting-plane": Solver(".cutting_plane:minimise", ("convex", "per_query"), proves=True),
    "fixed-steps": Solver(".fixed_steps:descend", options=("learning_rate", "scales")),
    "frank-wolfe": Solver(".frank_wolfe:minimise", ("convex", "per_query"), proves=True),
    "l-bfgs": Solver(".l_bfgs:minimise", options=("n_starts",)),
    "newton": Solver(".newton:minimise", ("convex", "second_order"), proves=True, tol=1e-6),
    "online": Solver(".online:minimise", ("per_query",), ("l2", "limits"), options=("batch_size",)),
}


@checked
def register_solver(
    name: str,
    run: Callable[..., Result],
    *,
    needs: tuple[str, ...] = (),
    takes: tuple[str, ...] = ("l2",),
    proves: bool = False,
    tol: float = 1e-3,
    options: tuple[str, ...] = (),
) -> None:
    """Register your own solver, which every linear ranker then accepts as ``solver=name``.

    Parameters
    ----------
    name : str
        A name that argrank does not have itself.
    run : callable(problem, **options) -> Result
        Minimises ``problem.regulariser.value(w) / problem.C + problem.risk(w)``; see ``argrank.solvers.problem``.
    needs : tuple of str
        Required properties of the risk: of "convex", "smooth", "second_order", "per_query", "difference".
    takes : tuple of str
        Supported regularisers: of "l2", "l1", "limits".
    proves : bool
        Whether the gap in its result is proven.
    tol : float
        The default of ``tol``.
    options : tuple of str
        Names of the function's keyword arguments; rankers pass their parameters of these names.
    """
    if not callable(run):
        raise OptionError(f"solver {name!r}: expected a function of a problem, got {shown(run)}")
    for flag in needs:
        check_choice("needs", flag, OFFERS)
    for word in takes:
        check_choice("takes", word, ALL)
    check_positive("tol", tol)
    SOLVERS.register(name, Solver(run, needs, takes, proves, tol, options))


SOLVERS = Registry("solver", _OWN, "argrank.solvers", register_solver)


def choose(risk: Risk, regulariser: Regulariser) -> str:
    """Return the solver that "auto" chooses.

    Newton if there is a Hessian, L-BFGS if the risk is smooth. For convex risks with kinks it is the bundle method,
    which switches to cutting planes after 100 passes, except with L1 or limits.
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
    keeper: Keeper | None = None,
    **own: Any,
) -> Result:
    """Minimise ``R(w) / C + risk(w)``.

    Parameters
    ----------
    risk : Risk
        A mean loss as a function of the weights, see ``argrank.engines.make_risk``.
    solver : str
        A name of ``SOLVERS``, or "auto" for the one of ``choose``.
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
    keeper : Keeper, optional
        Stores the solver's states, so that it can continue after its process has ended; see ``problem``.
    own
        Options of the solver, such as ``n_starts`` or ``batch_size``.
    """
    check_positive("C", C)
    R = Squared() if regulariser is None else regulariser
    name = choose(risk, R) if solver == "auto" else solver
    problem = Problem(risk, C, R, 0.0, max_iter, start, callback, random_state, keeper or Keeper())
    _check_fit(name, problem)
    chosen = SOLVERS[name]
    problem = replace(problem, tol=chosen.tol if tol is None else tol)
    _check_options(name, own)
    if R.centre is None and R.units is None:
        return keeping(problem.keeper, lambda: chosen.run(problem, **own))
    return keeping(problem.keeper, lambda: solve_around(problem, lambda centred: chosen.run(centred, **own)))


def _check_fit(name: str, problem: Problem) -> None:
    """Raise unless a solver supports a problem; the message names the solvers that do."""
    if name not in SOLVERS:
        raise unknown_name("solver", name, {*SOLVERS, "auto"})
    option, lacking = SOLVERS[name].refuses(problem.regulariser), SOLVERS[name].lacks(problem.risk)
    if option:
        raise OptionError(f"{option}: expected solver={_able(problem)}, got {name!r}, which does not support it")
    if lacking:
        needed = " and ".join(OFFERS[flag] for flag in lacking)
        raise OptionError(f"solver: {name!r} needs {needed}; expected {_able(problem)} here")


def _able(problem: Problem) -> str:
    """Return the names of the solvers that support a problem."""
    able = [
        repr(name)
        for name, solver in SOLVERS.items()
        if not solver.lacks(problem.risk) and not solver.refuses(problem.regulariser)
    ]
    return " or ".join(able) or "another objective"


def _check_options(name: str, given: Iterable[str]) -> None:
    """Raise if a solver does not have an option; the message names the solvers that do, or a similar option."""
    for option in given:
        owners = [repr(one) for one, solver in SOLVERS.items() if option in solver.options]
        if not owners:
            raise unknown_name("option of a solver", option, {one for line in SOLVERS.values() for one in line.options})
        if option not in SOLVERS[name].options:
            raise OptionError(
                f"{option}: expected solver={' or '.join(owners)}, got {name!r}, which has no such option"
            )


def usable(solver: str, risk: Risk, regulariser: Regulariser, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a ranker's parameters that are options of its solver."""
    name = choose(risk, regulariser) if solver == "auto" else solver
    options = SOLVERS[name].options if name in SOLVERS else ()
    return {option: value for option, value in given.items() if option in options}
