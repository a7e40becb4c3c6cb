"""Every declared kernel: JIT on equals JIT off, and nothing outside its file but NumPy and math."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import types
from collections.abc import Callable

import numpy as np
import pytest
from tests.contract.test_objectives import names_with_objectives

import argrank
from argrank import Dataset, objective
from argrank._jit import LazyKernel, declared_helpers, declared_kernels
from argrank.objectives.objective import Kernels, Prepared, Sorter


def import_everything() -> None:
    for module in pkgutil.walk_packages(argrank.__path__, "argrank."):
        if not module.name.endswith(("__main__", "argrank.torch")):  # which needs PyTorch, and has no kernel
            importlib.import_module(module.name)


def all_kernels() -> list[LazyKernel]:
    import_everything()
    return [kernel for kernel in declared_kernels() if kernel.function.__module__.startswith("argrank.")]


def names_of(code: types.CodeType) -> set[str]:
    """Return the global names a function uses, inner functions included."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


def compiled_functions() -> list[Callable[..., object]]:
    """Return the functions that numba compiles: kernels and their helpers."""
    helpers = [function for function in declared_helpers() if function.__module__.startswith("argrank.")]
    return [kernel.function for kernel in all_kernels()] + helpers


@pytest.mark.parametrize("function", compiled_functions(), ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_kernels_and_helpers_refer_to_nothing_outside_their_file_but_numpy_and_math(function: Callable[..., object]):
    assert inspect.getclosurevars(function).nonlocals == {}
    tree = ast.parse(inspect.getsource(inspect.getmodule(function)))
    imported = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {imported[name] for name in names_of(function.__code__) & set(imported)} <= {"math", "numpy"}


def kernels_of(name: str) -> tuple[Dataset, Prepared]:
    """Return small data, and what a ranker's objective makes of it."""
    data = Dataset(np.ones((53, 1)), np.random.default_rng(3).integers(0, 4, 53), group=[1, 2, 7, 40, 3])
    prepared = objective(name).prepare(data)
    return data, getattr(prepared, "prepared", prepared)  # of one that adds a constant


@pytest.mark.parametrize("name", [one for one in names_with_objectives() if isinstance(kernels_of(one)[1], Kernels)])
def test_jit_on_equals_jit_off(name: str):
    rng = np.random.default_rng(3)
    data, prepared = kernels_of(name)
    for scores in (rng.standard_normal(53), np.round(rng.standard_normal(53)), np.zeros(53)):
        order = Sorter(data.indptr).descending(scores)
        for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True):
            inputs = [scores[a:b], order[a:b], prepared.gains[a:b], prepared.constants]
            compiled, plain = np.empty(b - a), np.empty(b - a)
            loss = prepared.kernel(*inputs, compiled)
            np.testing.assert_allclose(loss, prepared.kernel.function(*inputs, plain), rtol=1e-13, atol=1e-14)
            np.testing.assert_allclose(compiled, plain, rtol=1e-13, atol=1e-14)
            if prepared.curvature is not None:
                direction = rng.standard_normal(b - a)
                prepared.curvature(*inputs, direction, compiled)
                prepared.curvature.function(*inputs, direction, plain)
                np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-13)
