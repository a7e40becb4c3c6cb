"""Kernels in new processes, forks, threads, and where nothing can be written."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from argrank._jit import LazyKernel, is_private, kernel, over_queries, query_kernel
from argrank._types import Filled, FilledMatrix, Matrix

EVALUATE = """
import numpy as np, argrank as ar
from argrank.engines.local import LocalRisk
rng = np.random.default_rng(0)
data = ar.Dataset(rng.standard_normal((9000, 3)), rng.integers(0, 3, 9000), np.arange(9000) // 30)
def evaluate():
    value, gradient = LocalRisk(data, ar.objective("rank-cosine"), n_jobs=2).value_and_gradient(np.ones(3))
    return value.hex(), [number.hex() for number in gradient.tolist()]
"""

#: The result, where the machine code was kept, and how many kernels were found there and how many compiled.
EVALUATE_AND_TELL = (
    EVALUATE
    + """
from argrank._jit import _query_loop, declared_kernels
print(evaluate())
print(_query_loop.compiled.stats.cache_path)
used = [kernel.compiled.stats for kernel in declared_kernels() if kernel._compiled is not None]
print(sum(sum(s.cache_hits.values()) for s in used), sum(sum(s.cache_misses.values()) for s in used))
"""
)


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_every_objective_and_engine_imports_no_numba():
    code = (
        "import sys, argrank.objectives, argrank.engines.local, argrank.solvers.newton; print('numba' in sys.modules)"
    )
    assert python(code).strip() == "False"


def test_machine_code_is_kept_for_later_processes_or_made_for_one_alone(tmp_path: Path):
    """A second process finds the code of the first; where nothing can be written, every process compiles."""
    read_only = """
import tempfile
def refuse(*_, **__):
    raise PermissionError("read-only file system")
tempfile.TemporaryFile = refuse  # numba tries each cache folder with it
"""
    cold, warm, unwritten = (
        python(code, NUMBA_CACHE_DIR=str(tmp_path)).splitlines()
        for code in (EVALUATE_AND_TELL, EVALUATE_AND_TELL, read_only + EVALUATE_AND_TELL)
    )
    assert cold[0] == warm[0] == unwritten[0]
    assert str(tmp_path) in cold[1]
    assert unwritten[1] == "None"
    (hits, compiled), (later_hits, later_compiled) = (map(int, lines[2].split()) for lines in (cold, warm))
    assert (hits, later_compiled) == (0, 0)
    assert later_hits == compiled >= 4


def test_without_jit_the_same_functions_run_as_python():
    code = EVALUATE.replace("9000", "600") + "print(evaluate())"
    values = []
    for switch in ("0", "1"):
        value, gradient = ast.literal_eval(python(code, NUMBA_DISABLE_JIT=switch))
        values.append([float.fromhex(text) for text in [value, *gradient]])
    np.testing.assert_allclose(values[0], values[1], rtol=1e-13)


HELPED = """
from argrank._jit import helper, kernel

@helper
def twice(x):
    return 2.0 * x

@kernel(lambda types: types.float64(types.float64))
def twice_plus_one(x):
    return twice(x) + 1.0
"""

CALL_HELPED = """
import sys
sys.path.insert(0, {folder!r})
from helped import twice_plus_one
stats = getattr(twice_plus_one.compiled, "stats", None)
print(twice_plus_one(3.0), sum(stats.cache_hits.values()) if stats else -1)
"""


def test_a_kernel_with_a_helper_hits_the_cache_until_the_helper_is_edited(tmp_path: Path):
    source, code = tmp_path / "helped.py", CALL_HELPED.format(folder=str(tmp_path))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    source.write_text(HELPED)
    assert python(code, **cache).split() == ["7.0", "0"]
    assert python(code, **cache).split() == ["7.0", "1"]
    source.write_text(HELPED.replace("2.0 * x", "2.0 * x + 10.0"))
    assert python(code, **cache).split() == ["17.0", "0"]


def test_without_jit_a_helper_is_a_plain_function(tmp_path: Path):
    (tmp_path / "helped.py").write_text(HELPED)
    assert python(CALL_HELPED.format(folder=str(tmp_path)), NUMBA_DISABLE_JIT="1").split() == ["7.0", "-1"]


def test_a_function_without_a_file_compiles_without_cache():
    scope: dict[str, object] = {}
    exec("def double(x):\n    return 2.0 * x", scope)
    double = LazyKernel(scope["double"], lambda types: types.float64(types.float64))
    assert double(1.5) == 3.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes_the_same_bits():
    code = (
        EVALUATE
        + """
import multiprocessing
before = evaluate()
with multiprocessing.get_context("fork").Pool(2) as pool:
    children = [pool.apply_async(evaluate) for _ in range(2)]
    print([child.get(60) == before for child in children])
"""
    )
    assert python(code).strip() == "[True, True]"


def test_two_threads_may_enter_a_kernel_at_once_from_the_first_call_on():
    @query_kernel
    def sum_of_squares(scores, order, gains, constants, gradient):
        total = 0.0
        for row in range(len(scores)):
            gradient[row] = 2.0 * scores[row]
            total += scores[row] * scores[row]
        return total

    scores, nothing = np.arange(6.0), np.empty(0)
    indptr = np.array([10, 12, 16])  # counts from the beginning of all data

    def run(_: int) -> list[float]:
        losses, gradient = np.empty(2), np.empty(6)
        over_queries(sum_of_squares, scores, np.empty(0, np.int64), scores, indptr, nothing, losses, gradient)
        return [*losses, *gradient]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(16)))
    assert all(result == [1.0, 54.0, 0.0, 2.0, 4.0, 6.0, 8.0, 10.0] for result in results)


def test_kernels_accept_read_only_arrays():
    @query_kernel
    def first_score(scores, order, gains, constants, gradient):
        gradient[0] = 1.0
        return scores[order[0]]

    scores, order, indptr = np.array([3.0]), np.array([0]), np.array([0, 1])
    for array in (scores, order, indptr):
        array.flags.writeable = False
    losses = np.empty(1)
    over_queries(first_score, scores, order, scores, indptr, np.empty(0), losses, np.empty(1))
    assert losses[0] == 3.0


def test_machine_code_is_not_kept_where_others_can_write(tmp_path, caplog):
    own, open_to_all = tmp_path / "own", tmp_path / "open"
    own.mkdir(mode=0o700)
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (open_to_all / "below").mkdir(mode=0o700)
    assert is_private(str(own), __file__)
    assert not is_private(str(open_to_all), __file__)
    assert not is_private(str(open_to_all / "below"), __file__)
    assert "can be written by others" in caplog.text


def _annotated(
    wide: Matrix[np.uint8],
    flags: NDArray[np.bool_],
    factor: float,
    times: int,
    again: bool,
    sums: Filled[np.float64],
    table: FilledMatrix[np.int64],
) -> None: ...


def test_the_types_of_a_kernel_are_those_of_its_annotations():
    from numba import types

    expected = types.void(
        types.Array(types.uint8, 2, "C", readonly=True),
        types.Array(types.boolean, 1, "C", readonly=True),
        types.float64,
        types.int64,
        types.boolean,
        types.float64[::1],
        types.int64[:, ::1],
    )
    assert kernel()(_annotated).signature(types) == expected
