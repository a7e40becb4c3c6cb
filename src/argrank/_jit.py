"""The only file that imports numba: kernels declared here compile on first use and are cached on disk.

A kernel is a plain Python function with a declared signature. With declared signatures a new process finds the machine
code in numba's disk cache; kernels passed untyped or made by a factory never hit the cache. Nothing is imported or
compiled before a kernel is first called, and with ``NUMBA_DISABLE_JIT=1`` the plain function runs.

Most kernels handle the scores of one query and have one of two shapes:

- ``@query_kernel``: ``kernel(scores, order, gains, constants, gradient) -> loss``
- ``@curvature_kernel``: ``kernel(scores, order, gains, constants, direction, product)``, Hessian times direction

where ``order`` holds the query's row positions by descending score and the last argument is filled. ``over_queries``
and ``curvature_over_queries`` run them over a block of queries without the interpreter lock. A kernel uses nothing
outside its own file but NumPy and math, since numba's disk cache would not notice a change elsewhere; the steps of a
long kernel are functions beside it, marked with ``@helper``.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from argrank._types import Floats, Integers, Layout
from argrank._uninterrupted import uninterrupted

Signature = Callable[[Any], Any]  # takes the module numba.types, returns a signature

_compiling = threading.Lock()  # numba's compiler is not re-entrant across threads while it fills the cache
_declared: list[LazyKernel] = []
_helpers: dict[str, list[Callable[..., Any]]] = {}  # of each module
_registered: set[str] = set()  # modules whose helpers are registered with numba


class LazyKernel:
    """A function that numba compiles, for one declared signature, when it is first called."""

    def __init__(self, function: Callable[..., Any], signature: Signature, reorder_sums: bool = False) -> None:
        self.function, self.signature = function, signature
        self._fastmath = {"reassoc", "contract"} if reorder_sums else False
        self._compiled: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)
        _declared.append(self)

    @property
    def compiled(self) -> Callable[..., Any]:
        """The machine code (or the Python function where JIT is switched off)."""
        if self._compiled is None:
            with uninterrupted(), _compiling:
                if self._compiled is None:
                    self._compiled = self._compile()
        return self._compiled

    def _compile(self) -> Callable[..., Any]:
        import numba

        module = self.function.__module__
        for function in _helpers.get(module, ()) if module not in _registered else ():
            numba.extending.register_jitable(forceinline=True, _nrt=False)(function)
        _registered.add(module)
        options = {"nogil": True, "fastmath": self._fastmath}
        return _machine_code(self.function, self.signature(numba.types), options)

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


def _machine_code(function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> Callable[..., Any]:
    """Compile a function, or load its machine code from the cache."""
    import numba

    if _may_cache(numba.njit(**options)(function), function):
        with contextlib.suppress(OSError):
            return cast("Callable[..., Any]", numba.njit(signature, cache=True, **options)(function))
    return cast("Callable[..., Any]", numba.njit(signature, **options)(function))  # for this process alone


def _may_cache(dispatcher: Any, function: Callable[..., Any]) -> bool:
    """Tell whether there is a cache folder that no other user can write to: numba unpickles its files."""
    if not hasattr(dispatcher, "enable_caching"):
        return False  # JIT is switched off
    try:
        dispatcher.enable_caching()
    except (RuntimeError, OSError) as error:
        if isinstance(error, RuntimeError) and "no locator available" not in str(error):
            raise
        return False  # nowhere to write
    return is_private(dispatcher.stats.cache_path, function.__code__.co_filename)


@functools.lru_cache
def is_private(folder: str, source: str) -> bool:
    """Tell whether a folder and its parents can be changed only by us, the system or the owner of the source code."""
    if not hasattr(os, "getuid"):
        return True  # Windows, where a user's folders are private
    trusted = {os.getuid(), 0, os.stat(source).st_uid if os.path.exists(source) else 0}
    path = os.path.realpath(folder)
    private = True
    for place in (path, *map(str, Path(path).parents)):
        found = os.stat(place)
        by_group = found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getgid())
        by_others = (by_group or found.st_mode & stat.S_IWOTH) and not (place != path and found.st_mode & stat.S_ISVTX)
        private = private and found.st_uid in trusted and not by_others
    if not private:
        logging.getLogger("argrank").warning(
            "%s can be written by others: compiled code is not cached there, so every process compiles again; set "
            "NUMBA_CACHE_DIR to a private folder",
            folder,
        )
    return private


def kernel(
    signature: Signature | None = None, *, reorder_sums: bool = False
) -> Callable[[Callable[..., Any]], LazyKernel]:
    """Declare a kernel, ``@kernel()``; its types are taken from its annotations.

    An ``int`` is an int64, a ``float`` a float64, an array a read-only vector, unless its annotation is one of those in
    ``_types``. A kernel that takes functions, or is compiled for several types, passes its ``signature``.
    ``reorder_sums`` lets the compiler reorder additions, so that long sums use vector instructions; NaN and infinity
    keep their meaning.
    """
    return lambda function: LazyKernel(function, signature or _annotated(function), reorder_sums)


def _annotated(function: Callable[..., Any]) -> Signature:
    """Return the signature given by a function's annotations."""

    def signature(types: ModuleType) -> Any:
        hints = get_type_hints(function, include_extras=True)
        result = _type_of(types, hints.pop("return"))
        return result(*(_type_of(types, hint) for hint in hints.values()))

    return signature


def _type_of(types: ModuleType, hint: Any) -> Any:
    """Return numba's type for an annotation."""
    scalars = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.void}
    if hint in scalars:
        return scalars[hint]
    array, layout = get_args(hint) if get_origin(hint) is Annotated else (hint, Layout(1, False))
    parts = get_args(array)  # of NDArray: its element, or with NumPy before 2.5 its shape and dtype[element]
    (element,) = parts if len(parts) == 1 else get_args(parts[1])
    name = "boolean" if element is np.bool_ else element.__name__
    return types.Array(getattr(types, name), layout.n_axes, "C", readonly=not layout.is_filled)


Function = TypeVar("Function", bound=Callable[..., Any])


def helper(function: Function) -> Function:
    """Let the kernels of the same file call a function: a named step of a long kernel.

    The function stays a plain one. Numba compiles it into the kernel that calls it, and because it is in the kernel's
    own file, an edit of it invalidates the cached machine code. A helper fills arrays that it is given and allocates
    none: it is compiled without reference counting, which made the reader of LETOR text twice as slow.
    """
    _helpers.setdefault(function.__module__, []).append(function)
    return function


def declared_helpers() -> list[Callable[..., Any]]:
    """Return every helper of the modules imported so far."""
    return [function for functions in _helpers.values() for function in functions]


def declared_kernels() -> list[LazyKernel]:
    """Return every kernel of the modules imported so far."""
    return list(_declared)


def read_only(types: ModuleType, element: str = "float64") -> Any:
    """Return the type of a contiguous vector that is only read; writable ones are accepted for it too."""
    return types.Array(getattr(types, element), 1, "C", readonly=True)


def _query_signature(types: ModuleType) -> Any:
    read = read_only(types)
    return types.float64(read, read_only(types, "int64"), read, read, types.float64[::1])


def _curvature_signature(types: ModuleType) -> Any:
    read = read_only(types)
    return types.void(read, read_only(types, "int64"), read, read, read, types.float64[::1])


def query_kernel(function: Callable[[Floats, Integers, Floats, Floats, Floats], float]) -> LazyKernel:
    """Declare a kernel that fills the gradient by one query's scores and returns the query's loss."""
    return LazyKernel(function, _query_signature)


def curvature_kernel(function: Callable[[Floats, Integers, Floats, Floats, Floats, Floats], None]) -> LazyKernel:
    """Declare a kernel that fills the product of one query's (generalised) Hessian and a direction."""
    return LazyKernel(function, _curvature_signature)


def _over_queries_signature(types: ModuleType) -> Any:
    read, whole = read_only(types), read_only(types, "int64")
    write = types.float64[::1]
    return types.void(types.FunctionType(_query_signature(types)), read, whole, read, whole, read, write, write)


@kernel(_over_queries_signature)
def _query_loop(
    kernel: Any,
    scores: Floats,
    order: Integers,
    gains: Floats,
    indptr: Integers,
    constants: Floats,
    losses: Floats,
    gradient: Floats,
) -> None:
    start = indptr[0]
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - start, indptr[query + 1] - start
        losses[query] = kernel(scores[a:b], order[a:b], gains[a:b], constants, gradient[a:b])


def _over_directions_signature(types: ModuleType) -> Any:
    read, whole = read_only(types), read_only(types, "int64")
    write = types.float64[::1]
    return types.void(types.FunctionType(_curvature_signature(types)), read, whole, read, whole, read, read, write)


@kernel(_over_directions_signature)
def _curvature_loop(
    kernel: Any,
    scores: Floats,
    order: Integers,
    gains: Floats,
    indptr: Integers,
    constants: Floats,
    direction: Floats,
    product: Floats,
) -> None:
    start = indptr[0]
    for query in range(len(indptr) - 1):
        a, b = indptr[query] - start, indptr[query + 1] - start
        kernel(scores[a:b], order[a:b], gains[a:b], constants, direction[a:b], product[a:b])


def over_queries(kernel: LazyKernel, *arrays: NDArray[Any]) -> None:
    """Run a query kernel over the queries of a block; fill a loss per query and the gradient by the scores.

    The arrays (scores, order, gains, indptr, constants, losses, gradient) hold the rows of the block alone; ``indptr``
    may count from the beginning of all data. A kernel that needs no ranking gets an empty ``order``.
    """
    _query_loop(kernel.compiled, *arrays)


def curvature_over_queries(kernel: LazyKernel, *arrays: NDArray[Any]) -> None:
    """Run a curvature kernel over the queries of a block; fill Hessian times direction, row by row.

    The arrays are scores, order, gains, indptr, constants, direction and product.
    """
    _curvature_loop(kernel.compiled, *arrays)


# ---- functions of the user's own ------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def compiled_own(function: Callable[..., Any], n_arrays: int, returns_number: bool = True) -> Callable[..., Any] | None:
    """Compile a user's function of float arrays, once per process; None if numba cannot compile it.

    Indices are checked, as Python does. The machine code is cached on disk only if the function uses nothing but its
    arguments, NumPy and math: numba would not notice a change of anything else.
    """
    import warnings

    import numba

    plain = function.py_func if isinstance(function, numba.core.dispatcher.Dispatcher) else function
    if not isinstance(plain, FunctionType) or numba.config.DISABLE_JIT:
        return None
    arrays = (read_only(numba.types),) * n_arrays
    signature = numba.types.float64(*arrays) if returns_number else arrays
    options = {"nogil": True, "boundscheck": True}
    with uninterrupted(), _compiling, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if _stands_alone(plain):
                return _machine_code(plain, signature, options)
            return cast("Callable[..., Any]", numba.njit(signature, **options)(_with_helpers(plain, {})))
        except Exception:  # any compiler error: the function then runs as Python
            return None


def _stands_alone(function: FunctionType) -> bool:
    used = {name: function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__}
    modules = {one.__name__ for one in used.values() if isinstance(one, ModuleType)}
    return function.__closure__ is None and len(modules) == len(used) and modules <= {"numpy", "math"}


def _with_helpers(function: FunctionType, known: dict[FunctionType, Any]) -> FunctionType:
    """Return a copy of a function that calls compiled versions of the plain functions it calls."""
    import numba

    space = dict(function.__globals__)
    for name in function.__code__.co_names:
        helper = space.get(name)
        if isinstance(helper, FunctionType):
            if helper not in known:
                known[helper] = None  # a recursive function is left as it is, and does not compile
                known[helper] = numba.njit(nogil=True, boundscheck=True)(_with_helpers(helper, known))
            space[name] = known[helper] or helper
    return FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)


def own_type(types: ModuleType) -> Any:
    """Return the type of a compiled function from one array to a number, as kernels take it."""
    return types.FunctionType(types.float64(read_only(types)))


@kernel(lambda types: types.void(own_type(types), read_only(types), read_only(types, "int64"), types.float64[::1]))
def over_rankings(function: Any, values: Floats, indptr: Integers, results: Floats) -> None:
    """Call a compiled function with the values of each query."""
    for part in range(len(indptr) - 1):
        results[part] = function(values[indptr[part] : indptr[part + 1]])
