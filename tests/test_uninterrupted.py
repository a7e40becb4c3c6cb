"""Ctrl-C while libraries are imported and kernels compile leaves a process that can go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from argrank._uninterrupted import uninterrupted

#: A process that is interrupted when a module is about to be imported, tries again, and tells what happened.
INTERRUPTED = """
import signal, sys
import numpy as np, argrank as ar
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

def work():
    data = ar.make_ranking(20, 10, 5, random_state=0)
    return ar.make_ranker("rank-svm", n_jobs=1, verbose=-1).fit(data).predict(data).sum().hex()

sys.meta_path.insert(0, Interrupt())
try:
    work()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
print(work())
"""


def test_numba_can_be_used_after_ctrl_c_in_its_first_import(tmp_path: Path) -> None:
    def run(name: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, name],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")

    first, scores, _ = run("numba.core.dispatcher")
    assert first == "interrupted"
    assert run("nothing") == ["not interrupted", scores, ""]


def test_signals_wait_and_handlers_come_back() -> None:
    seen: list[str] = []

    def handler(number: int, frame: object) -> None:
        seen.append("handled")
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
                seen.append("inner")
            seen.append("outer")
        assert seen == ["inner", "outer", "handled"]
        assert signal.getsignal(signal.SIGINT) is handler
        with pytest.raises(KeyboardInterrupt), uninterrupted():  # noqa: PT012
            signal.raise_signal(signal.SIGINT)
            raise ValueError("an error of the work does not hide the signal")
    finally:
        signal.signal(signal.SIGINT, before)


def test_ignored_signals_stay_ignored_and_threads_are_left_alone() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with uninterrupted():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    found: list[bool] = []

    def work() -> None:
        with uninterrupted():
            found.append(signal.getsignal(signal.SIGINT) is before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
