"""What a fit takes beside its data is estimated before it begins."""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings

import pytest

import argrank as ar
from argrank import _memory
from argrank.errors import InputError
from argrank.rankers.training_data import working_memory

MEASURED = """
import sys
import argrank as ar
from argrank.rankers.training_data import working_memory

def told(what):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(what))

small, data = ar.make_ranking(20, 10, 4, random_state=1), ar.make_ranking(600, 100, 50, random_state=0)
settings = {"n_trees": 3} if sys.argv[1] == "mart" else {"max_trees": 4, "n_folds": 2} if sys.argv[1] == "auto" else {}
ar.make_ranker(sys.argv[1], **settings).fit(small)
open("/proc/self/clear_refs", "w").write("5")
before = told("VmRSS")
ranker = ar.make_ranker(sys.argv[1], **settings).fit(data)
print(told("VmHWM") - before, working_memory(ranker, data))
"""


@pytest.mark.parametrize("name", ["regression", "mart", "mcrank", "auto"])
def test_a_fit_that_does_not_fit_is_refused_before_it_begins(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ar.make_ranking(20, 50, 10, random_state=0)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "100kB")
    with pytest.raises(InputError, match=r": a fit: expected at most 100.0 kB of memory, got .*B; take a part"):
        ar.make_ranker(name).fit(data)


def test_the_estimate_grows_with_the_data_and_normalising_copies_it() -> None:
    small, large = (ar.make_ranking(n, 50, 10, random_state=0) for n in (10, 20))
    for name in ("rank-svm", "mart", "auto"):
        ranker = ar.make_ranker(name)
        assert working_memory(ranker, large) == 2 * working_memory(ranker, small) > 0
    plain, scaled = (ar.make_ranker("rank-svm", normalise=how) for how in (None, "standard"))
    assert working_memory(scaled, small) - working_memory(plain, small) == small.X.nbytes


def test_limits_of_the_process_count(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _memory.machine_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (whole // 4, whole))
    assert _memory.machine_memory() == whole // 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rank-svm", "regression", "mart", "auto"])
def test_the_estimate_is_no_less_than_a_fit_takes_and_not_much_more(name: str) -> None:
    with warnings.catch_warnings():
        done = subprocess.run([sys.executable, "-c", MEASURED, name], capture_output=True, text=True, check=True)
    taken, estimated = map(float, done.stdout.split())
    assert taken < 1.2 * estimated
    assert estimated < 3 * taken + 50e6
