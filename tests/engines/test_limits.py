"""Workers with little memory, workers of another kind, and a scheduler that is gone."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from tests.engines.test_part import Forgetful, Here, assert_same_fit, make

import argrank as ar
from argrank.dask import DistributedDataset
from argrank.data.mapped import give_back
from argrank.engines import _workers
from argrank.engines._workers import Stamp, check_stamp, stamp
from argrank.errors import ArgrankWarning, ClusterError

pytestmark = pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are given back on Linux")
def test_mapped_pages_are_given_back_and_come_again(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((8_000, 1_000)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r").view(np.ndarray)
    before = resident_bytes()
    assert X.sum() == 8e6
    assert resident_bytes() > before + 50e6
    give_back(X[:4_000])
    assert before + 20e6 < resident_bytes() < before + 45e6
    give_back(X)
    assert resident_bytes() < before + 10e6
    assert X.sum() == 8e6
    give_back(np.ones(3))  # which is not mapped


def limited(limit):
    class Limited(Here):
        def scheduler_info(self, **_):
            return {"workers": {"tcp://one:1": {"nthreads": 2, "memory_limit": limit}}}

    return Limited()


def test_shares_are_compared_with_limits_before_anything_starts(packs, monkeypatch):
    local = make("bundle").fit(ar.load(packs / "plain.pack"))
    with pytest.raises(ClusterError, match=r"tcp://one:1: expected a memory limit of at least 0\.40 GB.*got 0\.10 GB"):
        DistributedDataset.read(packs / "plain.pack", limited(100e6))
    assert not Forgetful.read(packs / "plain.pack", limited(10e9)).gives_back
    monkeypatch.setattr(_workers, "MAPPED_SHARE", 1e-9)
    data = Forgetful.read(packs / "plain.pack", limited(10e9), n_partitions=2)
    assert data.gives_back
    assert data._parts[0].gives_back
    fitted = make("bundle").fit(data)
    assert_same_fit(fitted, local)
    assert ar.evaluate(fitted, data, "map").means == ar.evaluate(local, ar.load(packs / "plain.pack"), "map").means
    assert data.select(np.arange(9)).gives_back


def test_versions_are_compared_where_data_are_placed_and_where_they_are_taken_over(packs, monkeypatch):
    here = stamp()
    other = [here._replace(argrank="0.0.7"), here._replace(code="f" * 64), ModuleNotFoundError("argrank")]
    for one, message in zip(other, (r"argrank 0\.0\.7 \(", "altered modules", "none that answers"), strict=True):
        monkeypatch.setattr(Here, "run", lambda self, function, one=one, **_: {"a": here, "b": one})
        with pytest.raises(ClusterError, match=rf"argrank .* on every worker, as here, got .*{message}.* on b"):
            DistributedDataset.read(packs / "plain.pack", Here())
    monkeypatch.setattr(Here, "run", lambda self, function, **_: {"a": here._replace(numpy="1.2.3")})
    with pytest.warns(ArgrankWarning, match=r"NumPy 1\.2\.3.* on a: results may differ by rounding"):
        DistributedDataset.read(packs / "plain.pack", Here())
    check_stamp(here._replace(numpy="1.2.3"))
    with pytest.raises(ClusterError, match=r"as on the client, got argrank .* on the worker with process id"):
        check_stamp(Stamp("0.0.7", "a" * 64, here.numpy, here.numba))


def test_the_stamp_is_of_all_modules(tmp_path, monkeypatch):
    for name in ("a.py", "engines/b.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(_workers, "__file__", str(tmp_path / "engines" / "_workers.py"))
    first = stamp.__wrapped__()
    (tmp_path / "a.py").write_text("x = 2\n")
    assert first != stamp.__wrapped__() != stamp()


def test_a_scheduler_that_is_gone_is_a_cluster_error():
    distributed = pytest.importorskip("distributed")
    client = SimpleNamespace(status="running", scheduler=SimpleNamespace(addr="tcp://gone:1"))
    for error in (distributed.comm.CommClosedError("closed"), distributed.client.FutureCancelledError("key", "gone")):
        with pytest.raises(ClusterError, match="lost the scheduler tcp://gone:1"), _workers.heard(client):
            raise error
    with pytest.raises(FileNotFoundError), _workers.heard(client):
        raise FileNotFoundError
    client.status = "closed"
    with pytest.raises(ClusterError, match="a fit with a checkpoint continues"), _workers.heard(client):
        raise OSError("no route")


@contextlib.contextmanager
def started(*words):
    process = subprocess.Popen([sys.executable, "-m", *words], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.dask
def test_a_killed_scheduler_ends_a_fit_by_our_error(packs, tmp_path):
    distributed = pytest.importorskip("distributed")
    place = ["--host", "127.0.0.1", "--no-dashboard"]
    file = str(tmp_path / "scheduler.json")
    with started("distributed.cli.dask_scheduler", *place, "--port", "0", "--scheduler-file", file) as scheduler:
        while not os.path.exists(file):
            time.sleep(0.05)
        words = [*place, "--no-nanny", "--nthreads", "1", "--scheduler-file", file]
        with started("distributed.cli.dask_worker", *words), distributed.Client(scheduler_file=file) as client:
            client.wait_for_workers(1, timeout=60)
            data = DistributedDataset.read(packs / "plain.pack", client)
            make("newton").fit(data)
            threading.Timer(0.5, os.kill, (scheduler.pid, signal.SIGKILL)).start()
            begin = time.monotonic()
            with pytest.raises(ClusterError, match="lost the scheduler"):
                [make("newton").fit(data) for _ in range(1000)]
            assert time.monotonic() - begin < 60


@pytest.mark.slow
@pytest.mark.dask
def test_a_fit_with_a_memory_limit_of_half_the_data_for_each_of_two_workers(tmp_path):
    """1.2 GB of features; Dask's nannies end a worker at 95 % of 0.6 GB, mapped pages included."""
    distributed = pytest.importorskip("distributed")
    n_queries, size, n_features = 3_000, 100, 1_000
    rng = np.random.default_rng(0)
    few = rng.standard_normal((size * 30, n_features)).astype(np.float32)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (n_queries * size, n_features))
    for start in range(0, len(X), len(few)):
        X[start : start + len(few)] = few * np.float32(1 + start / len(X))
    y = np.tile((few[:, 0] > 1).astype(float), len(X) // len(few))
    data = ar.Dataset(np.load(tmp_path / "X.npy", mmap_mode="r"), y, group=[size] * n_queries)
    ar.pack(data, tmp_path / "a.pack")
    limit = data.X.nbytes // 2
    ranker = ar.make_ranker("rank-svm", max_iter=3, verbose=-1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", memory_limit=limit
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        placed = DistributedDataset.read(tmp_path / "a.pack", client)
        assert placed.gives_back
        ranker.fit(placed)
        assert ranker.score(placed) > 0
        assert set(client.run(os.getpid).values()) == workers  # none was ended
        assert max(client.run(resident_bytes).values()) < 0.8 * limit
    assert_same_fit(ranker, ar.make_ranker("rank-svm", max_iter=3, verbose=-1).fit(ar.load(tmp_path / "a.pack")))
