"""The only file that knows numba: kernels declared here compile on first use and are cached on disk.

A kernel is a plain Python function with a declared signature. Declared signatures are what lets numba find the
machine code in its disk cache from a new process; kernels passed untyped or made by a factory never hit it. Nothing
is imported or compiled before a kernel is first called, and with ``NUMBA_DISABLE_JIT=1`` the plain function runs.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, cast

Signature = Callable[[Any], Any]  # takes the module numba.types, returns a signature

_compiling = threading.Lock()  # numba's compiler is not re-entrant across threads while it fills the cache


class LazyKernel:
    """A function that numba compiles, for one declared signature, when it is first called."""

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self.function, self.signature = function, signature
        functools.update_wrapper(self, function)

    @functools.cached_property
    def compiled(self) -> Callable[..., Any]:
        """The machine code (or the Python function where JIT is switched off)."""
        import numba

        with _compiling:
            signature = self.signature(numba.types)
            try:
                compiled = numba.njit(signature, cache=True, nogil=True)(self.function)
            except RuntimeError as error:
                if "no locator available" not in str(error):
                    raise
                compiled = numba.njit(signature, nogil=True)(self.function)  # nowhere to write: for this process alone
            return cast(Callable[..., Any], compiled)

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], LazyKernel]:
    """Declare a kernel: ``@kernel(lambda types: types.float64(types.float64[::1]))``."""
    return lambda function: LazyKernel(function, signature)
