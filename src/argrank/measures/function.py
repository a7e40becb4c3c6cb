"""Measures defined by a user's function from the labels of a ranking to a number."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import itertools
import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from argrank._jit import compiled_own, over_rankings
from argrank._types import Floats
from argrank.data.grouping import offsets
from argrank.errors import ArgrankError, InputError, OptionError, is_finite, shown
from argrank.measures.conventions import Convention
from argrank.measures.gains import gains_of
from argrank.measures.measure import Measure
from argrank.measures.rankings import Rankings

#: Parameter names of such functions, all in ranked order: the labels, their gains, the scores; and the labels of all
#: judged documents of the query, the best first.
INPUTS = ("labels", "gains", "scores", "judged")
MANY = 256  # rankings of one call from which the function is compiled
MOST_ORDERS = 1000  # orders of tied documents that are enumerated; with more, as many are sampled
CLOSE = 1e-9  # relative difference that compiled code may have from Python
SAMPLE = 20  # rankings evaluated by both


@dataclass(frozen=True, repr=False)
class FunctionMeasure(Measure):
    """A measure that is a function from the labels of a ranking, best first, to a number; NaN where it is undefined.

    Each function has its own class, see ``function_measure``, so that a registered one is found by its name. Many
    rankings are evaluated by machine code if numba can compile the function. With tied scores the value is the mean
    over the orders of tied documents, or over 1,000 random orders (fixed seed) if there are more.
    """

    spelling = "function"
    bounds = (-math.inf, math.inf)
    function: ClassVar[Callable[..., Any]]
    inputs: ClassVar[tuple[str, ...]]

    def __reduce__(self) -> Any:
        fields = {one.name: vars(self)[one.name] for one in dataclasses.fields(self)}
        return _again, (type(self).function, fields)

    @property
    def of_labels(self) -> bool:
        """Whether it is a function of only the labels, or only their gains."""
        return self.inputs in (("labels",), ("gains",))

    def worths(self, labels: Floats, convention: Convention) -> Floats:
        """Return the argument of such a function for given labels."""
        return labels if self.inputs == ("labels",) else self._gains(labels, convention)

    @property
    def compiled(self) -> Callable[..., Any] | None:
        """The function as machine code, if it gives the same results as Python; else None, with a note."""
        return _trusted(type(self))

    def call(self, *arrays: Floats) -> float:
        """Call the Python function for one ranking; its errors are raised as errors of the measure."""
        given = [array.copy() for array in arrays]
        try:
            result: Any = type(self).function(*given)
        except ArgrankError:
            raise
        except Exception as error:
            raise InputError(
                f"measure {self.name}: {type(error).__name__}: {error}; called with {self.inputs[0]} {_shown(arrays)}"
            ) from error
        if isinstance(result, float) and math.isfinite(result):
            return result  # the usual case; the checks below take longer than many functions
        if isinstance(result, bool | np.bool_):
            return float(result)
        if not is_finite(result) and not (isinstance(result, float | np.floating) and np.isnan(result)):
            raise InputError(
                f"measure {self.name}: expected a finite number, or NaN where it is undefined, got {shown(result)}; "
                f"called with {self.inputs[0]} {_shown(arrays)}"
            )
        return float(result)

    def checked(self, values: Floats, rankings: Callable[[int], Floats]) -> Floats:
        """Return the results of machine code, or raise if one is infinite; ``rankings(i)`` are its arguments."""
        wrong = np.flatnonzero(np.isinf(values))
        if len(wrong):
            self.call(rankings(int(wrong[0])))  # raises an error with the arguments
        return values

    def _values(self, rankings: Rankings, convention: Convention) -> Floats:
        tied = set() if rankings.ties is None else set(rankings.ties.rows.tolist())
        plain = [query for query in range(rankings.n_queries) if query not in tied]
        values = np.empty(rankings.n_queries)
        labels = [rankings.labels[query, : rankings.sizes[query]] for query in plain]
        values[plain] = self._each(labels, plain, rankings, convention)
        for query in sorted(tied):
            orders = list(_orders(rankings, query))
            values[query] = np.mean(self._each(orders, [query] * len(orders), rankings, convention))
        return values

    def _each(self, labels: list[Floats], queries: list[int], rankings: Rankings, convention: Convention) -> Floats:
        """Return the values of rankings."""
        compiled = self.compiled if len(labels) >= MANY else None
        if compiled is not None and self.of_labels:
            worths = np.ascontiguousarray(self.worths(np.concatenate(labels), convention))
            indptr, values = offsets(np.array([len(one) for one in labels])), np.empty(len(labels))
            with errors_of(self):
                over_rankings(compiled, worths, indptr, values)
            return self.checked(values, lambda i: worths[indptr[i] : indptr[i + 1]])
        known: dict[tuple[int, bytes], float] = {}
        values, alone = np.empty(len(labels)), self.of_labels
        for place, (query, ranked) in enumerate(zip(queries, labels, strict=True)):
            key = (0 if alone else query, ranked.tobytes())
            if key not in known:
                arrays = (self._array(one, ranked, query, rankings, convention) for one in self.inputs)
                known[key] = self.call(*arrays)
            values[place] = known[key]
        return values

    def _array(self, name: str, labels: Floats, query: int, rankings: Rankings, convention: Convention) -> Floats:
        if name == "labels":
            return labels
        if name == "gains":
            return self._gains(labels, convention)
        if name == "judged":
            best: Floats = rankings.best_first[query]
            return best[best > -np.inf]
        if rankings.scores is None:
            raise OptionError(f"measure {self.name}: expected scores, got rankings without them")
        scores: Floats = rankings.scores[query, : len(labels)]
        return scores

    def refuse_scores(self) -> None:
        """Raise if only rankings are compared and the function uses scores."""
        if "scores" in self.inputs:
            raise OptionError(
                f"measure {self.name}: expected a function of labels, gains or judged, got one of scores, which may "
                f"change while the ranking does not; it can be reported, but not optimised"
            )

    def _gains(self, labels: Floats, convention: Convention) -> Floats:
        return gains_of(labels, convention.gain, convention.relevant_at)


def ties_of(measure: Measure) -> str:
    """Return the treatment of tied scores in training: the mean over orders, except for functions."""
    return "row" if isinstance(measure, FunctionMeasure) else "expected"


@functools.lru_cache(maxsize=512)
def function_measure(function: Callable[..., Any]) -> FunctionMeasure:
    """Return the measure of a function, always the same object for the same function."""
    name = function.__name__ if inspect.isfunction(function) else type(function).__name__
    if isinstance(function, functools.partial) and inspect.isfunction(function.func):
        name = function.func.__name__
    body = {
        "spelling": name,
        "aliases": (name.lower(),),
        "function": staticmethod(function),
        "inputs": _inputs(name, function),
        "__doc__": inspect.getdoc(function) or f"The function {name}.",
        "__module__": __name__,
    }
    kind: type[FunctionMeasure] = dataclass(frozen=True, repr=False)(type(name, (FunctionMeasure,), body))
    return kind()


def _again(function: Callable[..., Any], fields: dict[str, Any]) -> Measure:
    return dataclasses.replace(function_measure(function), **fields)


def _inputs(name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the inputs of a function, from its parameters' names; the first is the labels, whatever its name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of functions without a signature, such as NumPy's
        return ("labels",)
    found: list[str] = []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            found += [] if found else ["labels"]
        elif one.name in INPUTS and one.kind is not one.KEYWORD_ONLY:
            found.append(one.name)
        elif one.default is not one.empty:
            break  # an optional parameter, and all after it
        elif not found and one.kind is not one.KEYWORD_ONLY:
            found.append("labels")
        else:
            raise OptionError(
                f"measure {name}: expected a function of {', '.join(INPUTS)}, got the parameter {one.name!r}"
            )
    if not found:
        raise OptionError(f"measure {name}: expected a function of the labels of a ranking, got one without parameters")
    return tuple(found)


@functools.lru_cache(maxsize=512)
def _trusted(kind: type[FunctionMeasure]) -> Callable[..., Any] | None:
    """Return the machine code of a function that gives the same as Python for some rankings."""
    measure = kind()
    code = compiled_own(kind.function, len(kind.inputs))
    random = np.random.default_rng(0)
    sample = [random.integers(0, 3, size).astype(np.float64) for size in range(1, SAMPLE + 1)]
    compared: list[bool] = []
    began = time.perf_counter()
    for one in sample:
        arrays = [one for _ in kind.inputs]
        with contextlib.suppress(InputError):  # for instance for lists this short: not every function accepts any list
            plain = measure.call(*arrays)
            compared.append(code is not None and _close(plain, code, arrays))
    if compared and all(compared):
        return code
    cost = (time.perf_counter() - began) / SAMPLE
    logging.getLogger("argrank").warning(
        "measure %s: numba cannot compile this function, so it runs as Python, about %.0f microseconds for each "
        "ranking; numba compiles loops over the labels, NumPy and math",
        measure.name,
        1e6 * cost,
    )
    return None


def _close(plain: float, code: Callable[..., Any], arrays: list[Floats]) -> bool:
    try:
        return bool(np.isclose(float(code(*arrays)), plain, rtol=CLOSE, atol=CLOSE, equal_nan=True))
    except Exception:  # Python and machine code differ
        return False


@contextlib.contextmanager
def errors_of(measure: FunctionMeasure) -> Iterator[None]:
    """Turn errors of a function's machine code into errors of the measure."""
    try:
        yield
    except ArgrankError:
        raise
    except Exception as error:
        raise InputError(f"measure {measure.name}: {type(error).__name__}: {error}") from error


def _orders(rankings: Rankings, query: int) -> Iterator[Floats]:
    """Yield the labels of a query in all orders of its tied documents, or in a sample of orders."""
    ties, labels = rankings.ties, rankings.labels[query, : rankings.sizes[query]]
    if ties is None:
        yield labels
        return
    first = ties.first - query * ties.width
    own = np.flatnonzero((first >= 0) & (first < ties.width))
    groups = [slice(int(first[one]), int(first[one] + ties.sizes[one])) for one in own]
    ranked = [sorted(labels[group].tolist()) for group in groups]
    if math.prod(map(_n_orders, ranked)) <= MOST_ORDERS:
        drawn: Any = itertools.product(*(list(_permutations(one)) for one in ranked))
    else:
        random = np.random.default_rng(0)
        drawn = ([random.permutation(one) for one in ranked] for _ in range(MOST_ORDERS))
    for order in drawn:
        row = labels.copy()
        for group, part in zip(groups, order, strict=True):
            row[group] = part
        yield row


def _n_orders(labels: list[float]) -> int:
    """Return the number of distinct orders of labels."""
    counts = np.unique(labels, return_counts=True)[1].tolist()
    return math.factorial(len(labels)) // math.prod(map(math.factorial, counts))


def _permutations(labels: list[float]) -> Iterator[list[float]]:
    """Yield the different orders of labels, which are sorted."""
    if len(labels) <= 1:
        yield list(labels)
        return
    for place, label in enumerate(labels):
        if place == 0 or labels[place - 1] != label:
            for rest in _permutations(labels[:place] + labels[place + 1 :]):
                yield [label, *rest]


def _shown(arrays: tuple[Floats, ...]) -> str:
    first = arrays[0].tolist()
    return f"{first}" if len(first) <= 12 else f"[{', '.join(map(str, first[:12]))}, …] ({len(first)} documents)"
