"""The allowed values of an argument, declared once on its annotation, as in ``C: Annotated[float, Above(0)]``.

The declaration is used to check a ranker's parameters before fitting and a public function's arguments when it is
called, to show the range in the docs and in errors of the command line, and to draw values for fuzzing. Types mean what
they mean in Python: a union is a choice, ``Literal`` lists values, ``Optional[float]`` is a float or None. Numbers must
be finite, and integers must fit 64 bits. Whatever a type cannot express (Any, arrays, protocols) is checked where it is
used.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import math
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from argrank._files import check_path
from argrank.errors import InputTypeError, OptionError, did_you_mean, listed, shown

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


class IsData:
    """Marks arguments that hold data (a Dataset, or ``Annotated[…, IsData]``): errors about them are InputErrors."""


LARGEST = 2**63 - 1  # of integers: the largest that compiled code can hold
LARGEST_32 = 2**31 - 1  # of integers that go to LightGBM; not shown in the docs


@dataclass(frozen=True)
class Bound:
    """A limit of a number."""

    limit: float
    holds: Callable[[Any, float], Any]  # of a value and the limit
    text: str  # in an error
    range: str  # in the docs


def Above(limit: float) -> Bound:  # noqa: N802 (reads as a type)
    """More than the limit."""
    return Bound(limit, operator.gt, f"above {limit}", f"above {limit}")


def AtLeast(limit: float) -> Bound:  # noqa: N802 (reads as a type)
    """The limit or more."""
    return Bound(limit, operator.ge, f"from {limit} up", f"{limit} or more")


def Below(limit: float) -> Bound:  # noqa: N802 (reads as a type)
    """Less than the limit."""
    return Bound(limit, operator.lt, f"below {limit}", f"below {limit}")


def AtMost(limit: float) -> Bound:  # noqa: N802 (reads as a type)
    """The limit or less."""
    return Bound(limit, operator.le, f"at most {limit}", f"at most {limit}")


Positive = Annotated[float, Above(0)]
NotNegative = Annotated[float, AtLeast(0)]
Share = Annotated[float, Above(0), AtMost(1)]
Count = Annotated[int, AtLeast(1)]
CountFromZero = Annotated[int, AtLeast(0)]
Count32 = Annotated[int, AtLeast(1), AtMost(LARGEST_32)]
Seed = Annotated[int, AtLeast(0)]
Jobs = Annotated[int, AtLeast(1)] | Literal[-1] | None
PathLike = str | os.PathLike[str]
FloatType = str | np.dtype[Any] | type[np.floating[Any]] | type[float]  # float32 or float64


@dataclass(frozen=True)
class Kind:
    """One alternative of an argument: a type with its bounds, or the values of a ``Literal``."""

    type: Any
    words: str  # in an error
    accepts: Callable[[Any], bool]
    bounds: tuple[Bound, ...] = ()
    choices: tuple[Any, ...] = ()
    is_data: bool = False  # otherwise it is an option

    def keeps(self, value: Any) -> bool:
        """Tell whether an accepted value is within the bounds."""
        plain = value.item() if isinstance(value, np.generic) else value
        return all(bound.holds(plain, bound.limit) for bound in self.bounds)

    @property
    def phrase(self) -> str:
        """What is expected, for an error."""
        if self.type is float and self.bounds == (Above(0),):
            return "a positive number"
        words = "a number" if self.type is float and self.bounds else self.words
        return " ".join([words, ", ".join(bound.text for bound in self.bounds)]).rstrip()

    @property
    def head(self) -> str:
        """The type and range, for the docs."""
        name = listed(map(_quoted, self.choices)) or getattr(self.type, "__name__", str(self.type))
        ranges = ", ".join(bound.range for bound in self.bounds if bound.limit < LARGEST_32)
        return f"{name} ({ranges})" if ranges else name


@dataclass(frozen=True)
class Declared:
    """The allowed values of an argument, from its annotation."""

    kinds: tuple[Kind, ...]

    @property
    def is_open(self) -> bool:
        """Whether some alternatives are checked only where they are used."""
        return any(kind.type is Any for kind in self.kinds)

    @property
    def is_path(self) -> bool:
        """Whether a string is taken as a file name."""
        return any(kind.type is os.PathLike for kind in self.kinds)

    @property
    def head(self) -> str:
        """Types and ranges, as the docs write them after the name; an empty string if there are none."""
        if self.is_open:
            return ""
        some = [kind.head for kind in self.kinds if kind.type is not None]
        text = some[0].replace(" (", ", ").removesuffix(")") if len(some) == 1 else listed(some)
        return text + ("" if len(some) == len(self.kinds) else ", optional")

    def check(self, name: str, value: Any) -> None:
        """Raise unless a value matches one of the kinds and is within its bounds."""
        fitting = [kind for kind in self.kinds if kind.accepts(value)]
        if any(kind.keeps(value) for kind in fitting):
            return
        expected = listed(kind.phrase for kind in fitting or self.kinds)
        error = InputTypeError if any(kind.is_data for kind in self.kinds) else OptionError
        meant = did_you_mean(value, [choice for kind in self.kinds for choice in kind.choices])
        raise error(f"{name}: expected {expected}, got {shown(value)}{meant}")


OPEN = Declared((Kind(Any, "anything", lambda value: True),))


def declared(annotation: Any) -> Declared:
    """Return what a resolved annotation declares."""
    return Declared(tuple(_kinds(annotation)))


def _kinds(annotation: Any) -> Iterable[Kind]:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = tuple(one for one in inner[1:] if isinstance(one, Bound))
        for kind in _kinds(inner[0]):
            kind = replace(kind, is_data=kind.is_data or IsData in inner)
            yield replace(kind, bounds=bounds + kind.bounds) if kind.type in (int, float) else kind
    elif origin is Union or origin is types.UnionType:
        for one in inner:
            yield from _kinds(one)
    elif origin is Literal:
        yield Kind(Literal, listed(map(repr, inner)), functools.partial(_is_choice, inner), choices=inner)
    elif annotation is None or annotation is type(None):
        yield Kind(None, "None", lambda value: value is None)
    elif annotation in _PLAIN:
        yield _PLAIN[annotation]
    else:
        yield _of_class(origin or annotation, inner)


def _of_class(kind: Any, inner: tuple[Any, ...]) -> Kind:
    if kind is collections.abc.Callable:
        return Kind(kind, "a callable", callable)
    if not isinstance(kind, type) or issubclass(kind, np.ndarray | np.generic) or kind is object:
        return OPEN.kinds[0]
    if kind is type and inner and isinstance(base := get_origin(inner[0]) or inner[0], type):
        words = f"a class that derives from {base.__name__}"
        return Kind(kind, words, lambda value: isinstance(value, type) and issubclass(value, base))
    if kind in _GROUPS:
        parts = [declared(one) for one in inner if one is not ...]
        return Kind(kind, _group_words(kind, parts), functools.partial(_is_group, kind, parts))
    try:
        isinstance(None, kind)
    except TypeError:  # a protocol
        return OPEN.kinds[0]
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    words = "a path" if kind is os.PathLike else f"{article} {kind.__name__}"
    return Kind(kind, words, lambda value: isinstance(value, kind), is_data=issubclass(kind, IsData))


def _group_words(kind: type, parts: Sequence[Declared]) -> str:
    each = [listed(one.phrase for one in part.kinds) for part in parts if not part.is_open]
    if issubclass(kind, Mapping):
        return f"a dict from {each[0]}" if each else "a dict"
    return f"({', '.join(each)})" if len(each) > 1 else f"a list, each {each[0]}" if each else "a list"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def _is_whole(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and -LARGEST <= int(value) <= LARGEST


def _is_finite(value: Any) -> bool:
    if not isinstance(value, bool) and isinstance(value, Integral):
        return abs(int(value)) < 2**1023
    if not isinstance(value, float | np.floating):
        return False
    return not math.isnan(float(value)) and abs(float(value)) < 2.0**1023


def _is_choice(choices: tuple[Any, ...], value: Any) -> bool:
    return any(
        value is choice or (isinstance(value, str | int) and type(value) is not bool and value == choice)
        for choice in choices
    )


def _is_group(kind: type, parts: Sequence[Declared], value: Any) -> bool:
    """Tell whether a value is a sequence or mapping whose elements also match."""
    if isinstance(value, str | bytes) or issubclass(kind, Mapping) != isinstance(value, Mapping):
        return False
    if isinstance(value, Mapping):
        return not parts or all(_fits(parts[0], key) and _fits(parts[1], one) for key, one in value.items())
    if isinstance(value, list | tuple | range):
        if kind is tuple and len(parts) > 1 and len(parts) != len(value):
            return False
        return not parts or all(_fits(parts[number % len(parts)], one) for number, one in enumerate(value))
    if isinstance(value, np.ndarray):
        plain = all(kind.type in _PLAIN for part in parts for kind in part.kinds)  # numbers and texts, not dicts
        return plain and kind is not tuple and value.ndim > 0 and _is_group(kind, parts, value.tolist())
    return (isinstance(value, kind) or hasattr(value, "__array__")) and not isinstance(value, np.generic)


def _fits(part: Declared, value: Any) -> bool:
    return any(kind.accepts(value) and kind.keeps(value) for kind in part.kinds)


_PLAIN = {
    Any: OPEN.kinds[0],
    bool: Kind(bool, "True or False", _is_bool),
    int: Kind(int, "a whole number", _is_whole),
    float: Kind(float, "a finite number", _is_finite),
    str: Kind(str, "a name", lambda value: isinstance(value, str)),
}
_GROUPS = (collections.abc.Iterable, collections.abc.Collection, Sequence, list, tuple, Mapping, dict)


def _quoted(choice: Any) -> str:
    return f'"{choice}"' if isinstance(choice, str) else repr(choice)


# ---- whose declarations ---------------------------------------------------------------------------------------------


def fields_of(cls: type) -> Mapping[str, Declared]:
    """Return the declarations of a class's annotated attributes, inherited ones too, resolved in their own modules."""
    found: dict[str, Declared] = {}
    for base in reversed(cls.__mro__):
        space = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        found |= {name: _resolved(one, space) for name, one in inspect.get_annotations(base).items()}
    return found


def check_fields(value: Any) -> None:
    """Raise if a field of a dataclass does not match its declaration."""
    kind: type = type(value)
    known = parameters_of(kind)
    for field in dataclasses.fields(value):
        known[field.name].check(field.name, getattr(value, field.name))


@functools.cache
def parameters_of(cls: type) -> Mapping[str, Declared]:
    """Return the declarations of ``__init__``'s parameters: from the class's fields, else from its own annotations."""
    return {**arguments_of(cls.__init__), **fields_of(cls)}  # type: ignore[misc]


@functools.cache
def arguments_of(function: Callable[..., Any]) -> Mapping[str, Declared]:
    """Return the declarations of a function's arguments."""
    plain = inspect.unwrap(function)
    space = getattr(plain, "__globals__", {})
    given = inspect.get_annotations(plain) if callable(plain) and hasattr(plain, "__annotations__") else {}
    return {name: _resolved(one, space) for name, one in given.items() if name != "return"}


def _resolved(annotation: Any, space: dict[str, Any]) -> Declared:
    """Return what an annotation (a type or its text) declares; names known only to type checkers declare nothing."""
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return declared(get_type_hints(holder, space, include_extras=True)["it"])
    except (NameError, TypeError, AttributeError):
        return OPEN


CHECKED: set[Callable[..., Any]] = set()  # the functions decorated with `checked`, unwrapped


def checked(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Check the arguments of a public function or method against their annotations when it is called."""
    parameters = inspect.signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind < one.VAR_POSITIONAL]
    rest = [one.name for one in parameters if one.kind == one.VAR_POSITIONAL]
    call: Callable[..., Returned] = function
    CHECKED.add(inspect.unwrap(function))

    @functools.wraps(function)
    def door(*given: Arguments.args, **named: Arguments.kwargs) -> Returned:
        known = arguments_of(function)
        places = (*names, *rest * (len(given) - len(names)))
        taken = [_taken(known, name, value) for name, value in zip(places, given, strict=False)]
        return call(*taken, *given[len(places) :], **{name: _taken(known, name, one) for name, one in named.items()})

    return door


def _taken(known: Mapping[str, Declared], name: str, value: Any) -> Any:
    """Return a valid argument with NumPy's numbers (perhaps of 8 bits) and lists converted to Python's."""
    if name not in known or known[name].is_open:
        return value
    known[name].check(name, value)
    if known[name].is_path and isinstance(value, str | os.PathLike):
        check_path(value)
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value
