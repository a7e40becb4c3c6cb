"""What a solver declares of itself, and the error where a problem does not fit it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from argrank.errors import OptionError, unknown_name
from argrank.solvers._result import Problem, Result
from argrank.solvers._risk import Risk
from argrank.solvers.regularisers import Regulariser

#: What a risk can offer, by the name of its flag, as people say it.
OFFERS = {
    "convex": "a convex objective",
    "smooth": "a smooth objective",
    "second_order": "an objective with second derivatives",
    "per_query": "an objective that can be asked query by query",
    "difference": "a difference of two convex objectives",
}


class Solver(NamedTuple):
    """A line of the registry."""

    home: str  # module and function below argrank.solvers
    needs: tuple[str, ...] = ()  # flags that the risk must have
    takes: tuple[str, ...] = ("l2",)  # of "l2", "l1", "limits": what the regulariser may be
    proves: bool = False  # whether it gives a proven gap
    tol: float = 1e-3  # its default

    @property
    def run(self) -> Callable[..., Result]:
        """The function, imported when it is first needed."""
        module, name = self.home.split(":")
        function: Callable[..., Result] = getattr(importlib.import_module(f"argrank.solvers.{module}"), name)
        return function

    def lacks(self, risk: Risk) -> list[str]:
        """Return the flags that a risk would have to have."""
        return [flag for flag in self.needs if not getattr(risk, flag)]

    def refuses(self, regulariser: Regulariser) -> str:
        """Return the option of a regulariser that it cannot do; an empty word where it can do all."""
        if regulariser.name not in self.takes:
            return f"penalty={regulariser.name!r}"
        return "" if regulariser.is_free or "limits" in self.takes else "signs"


def check_fit(solvers: Mapping[str, Solver], name: str, problem: Problem) -> None:
    """Raise unless the solver of a name can do a problem; the message names the solvers that can."""
    if name not in solvers:
        raise unknown_name("solver", name, {*solvers, "auto"})
    asked, able = solvers[name], [one for one, solver in solvers.items() if _fits(solver, problem)]
    if option := asked.refuses(problem.regulariser):
        raise OptionError(f"{option}: expected solver={_either(able)}, got {name!r}, which cannot do it")
    if lacking := asked.lacks(problem.risk):
        needed = " and ".join(OFFERS[flag] for flag in lacking)
        raise OptionError(f"solver: {name!r} needs {needed}; expected {_either(able)} here")


def _fits(solver: Solver, problem: Problem) -> bool:
    return not solver.lacks(problem.risk) and not solver.refuses(problem.regulariser)


def _either(names: Iterable[str]) -> str:
    return " or ".join(map(repr, names)) or "another objective"


def own_options(run: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the given options that a solver's function has beside the problem."""
    code = run.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: value for name, value in given.items() if name in names}
