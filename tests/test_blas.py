from __future__ import annotations

import threading

import numpy as np  # loads the BLAS library
import pytest
from threadpoolctl import threadpool_info

from argrank._blas import single_threaded_blas


def blas_threads() -> list[int]:
    np.ones((2, 2)) @ np.ones(2)
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_limit_holds_inside_and_is_lifted_after():
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads()) <= {1}
        with single_threaded_blas():
            assert set(blas_threads()) <= {1}
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_an_error_lifts_it_too():
    before = blas_threads()
    with pytest.raises(ValueError, match="inside"), single_threaded_blas():
        raise ValueError("inside")
    assert blas_threads() == before


def test_users_that_overlap_leave_nothing_behind():
    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with single_threaded_blas():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    with single_threaded_blas():
        other.start()
        assert entered.wait(10)
    assert set(blas_threads()) <= {1}  # the other one is still inside
    leave.set()
    other.join()
    assert blas_threads() == before
