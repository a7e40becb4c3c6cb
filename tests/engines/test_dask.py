"""Rankers on a cluster of two worker processes on this machine."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from tests.engines.test_part import FITS, Here, assert_same_fit, make

import argrank as ar
from argrank.dask import DistributedDataset
from argrank.data.io.pack.loader import load_part
from argrank.engines import _part, dask_data, make_risk
from argrank.engines._workers import stamp
from argrank.engines.dask_data import ask_holders
from argrank.errors import ArgrankWarning, ClusterError, InputError, MissingExtraError, OptionError
from argrank.rankers.boosted.trees import _cluster_trees

pytestmark = [pytest.mark.dask, pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")]

QUICK = ("newton", "bundle", "level", "l-bfgs", "conjugate gradients", "fixed steps", "least squares")


@pytest.mark.parametrize("name", QUICK)
def test_the_same_bits_on_one_machine_and_on_any_number_of_partitions(name, packs, cluster):
    local = make(name).fit(ar.load(packs / "plain.pack"))
    for n_partitions in (1, 2, 5):
        data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=n_partitions)
        assert data.n_partitions == n_partitions
        assert_same_fit(make(name).fit(data), local)


def test_a_loss_of_the_users_own_has_the_same_bits_on_a_cluster(packs, cluster):
    def squares(scores, labels):
        return ((scores - labels) ** 2).sum(), 2.0 * (scores - labels)

    ranker = ar.make_ranker("custom", objective=squares, convex=True, verbose=-1)
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=3)
    assert_same_fit(clone(ranker).fit(data), clone(ranker).fit(ar.load(packs / "plain.pack")))
    with pytest.raises(OptionError, match="model: expected 'linear' on a cluster"):
        clone(ranker).set_params(model="trees").fit(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FITS if name not in QUICK])
def test_the_same_bits_for_longer_fits(name, packs, cluster):
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=5)
    assert_same_fit(make(name).fit(data), make(name).fit(ar.load(packs / "plain.pack")))


def let_there_be_two(client):
    """Wait for two workers; where a killed one does not come back, as on a busy machine, start another."""
    try:
        client.wait_for_workers(2, timeout=15)
    except (TimeoutError, asyncio.TimeoutError):  # the same from Python 3.11 on
        client.cluster.scale(len(client.cluster.workers) + 1)
        client.wait_for_workers(2, timeout=60)


def kill_the_holder(data):
    """Kill the worker that holds the first partition; another takes over."""
    (address, *_) = next(iter(data.client.who_has(data._parts[:1]).values()))
    os.kill(data.client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    while address in data.client.scheduler_info(n_workers=-1)["workers"]:
        time.sleep(0.01)


LATER = {
    "value_and_gradient": lambda risk, s, u: risk.value_and_gradient(np.ones(6)),
    "hessian_product": lambda risk, s, u: (risk.hessian_product(np.arange(6.0)),),
    "at_scores": lambda risk, s, u: (risk.at_scores(0.5 * s + 2.0 * risk.scores(np.ones(6)))[0],),
    "pull_back": lambda risk, s, u: (risk.pull_back(u - 0.5 * s),),
    "dot": lambda risk, s, u: (risk.dot(u, u),),
    "spread": lambda risk, s, u: (risk.spread(s),),
}


@pytest.mark.parametrize("method", LATER)
def test_a_worker_killed_while_its_vectors_are_needed_changes_no_bit(method, packs, cluster):
    let_there_be_two(cluster)
    found = []
    for data in (
        ar.load(packs / "weighted.pack"),
        DistributedDataset.read(packs / "weighted.pack", cluster, n_partitions=3),
    ):
        risk = make_risk(data, ar.objective("rank-svm"))
        risk.value_and_gradient(np.linspace(-1, 1, 6))
        scores = risk.scores(np.linspace(-1, 1, 6)) - 0.5 * risk.scores(np.ones(6))
        _, u = risk.at_scores(scores)
        if isinstance(data, DistributedDataset):
            kill_the_holder(data)
        found.append(LATER[method](risk, scores, u))
    assert all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(*found, strict=True))
    if method in ("at_scores", "pull_back", "dot", "spread"):
        assert risk.session.n_rebuilt > 0


def _rows_and(part, number):
    if number == 13:
        raise InputError("13: expected luck")
    return part.data.n_documents, number


def _rows_slowly(part, number):
    time.sleep(0.5)
    return part.data.n_documents


def test_work_that_takes_longer_than_a_look_is_waited_for(packs, cluster, monkeypatch):
    monkeypatch.setattr(dask_data, "LOOK", 0.05)
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=3)
    assert data.run(_rows_slowly, [1, 2, 3]) == np.diff(data.first_rows()).tolist()


def test_partitions_are_asked_where_they_are_and_errors_arrive(packs, cluster):
    let_there_be_two(cluster)
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=3)
    wanted = data.run(_rows_and, [1, 2, 3])
    assert [rows for rows, _ in wanted] == np.diff(data.first_rows()).tolist()
    assert set(ask_holders(cluster, _rows_and, data._parts, [1, 13, 3])) == {0, 2}
    assert data.ask(_rows_and, [1, 2, 3]) == wanted
    with pytest.raises(InputError, match="expected luck"):
        data.ask(_rows_and, [1, 13, 3])
    kill_the_holder(data)
    assert data.ask(_rows_and, [1, 2, 3]) == wanted


def test_normalised_and_kept_fits_are_those_of_one_machine(packs, cluster, tmp_path):
    local = make("bundle").set_params(normalise="standard").fit(ar.load(packs / "plain.pack"))
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=3)
    path = tmp_path / "fit.ckpt"
    make("bundle").set_params(normalise="standard", max_iter=3).fit(data, checkpoint=path, every=1e-9)
    assert_same_fit(make("bundle").set_params(normalise="standard").fit(data, checkpoint=path), local)


def test_workers_forget_a_fit_that_is_over(packs, cluster):
    data, before = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=2), cached(cluster)
    ranker = make("newton").fit(data)
    assert data.traffic.passes >= ranker.trace_[-1]["n_passes"]
    assert f"{data.traffic.round_trips} round trips" in str(data.traffic)
    risk = make_risk(data, ar.objective("rank-svm"))
    risk.value_and_gradient(np.ones(6))
    assert risk.session.fit in cached(cluster)
    risk.close()
    deadline = time.monotonic() + 60
    while not cached(cluster) <= before:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def cached(client):
    return set().union(*client.run(_fits).values())


def _fits():
    return {fit for fit, _ in _part._CACHE}


def test_measures_comparisons_and_choices_are_those_of_one_machine(packs, cluster):
    local = ar.load(packs / "weighted.pack")
    data = DistributedDataset.read(packs / "weighted.pack", cluster, n_partitions=3)
    ranker = make("least squares").fit(data, eval_set=[data, local])
    trace = ranker.trace_[-1]
    assert trace["validation"] == trace["validation_1"] == ranker.score(data) == ranker.score(local)
    scores = ranker.predict(data)
    assert (scores.compute() == ranker.predict(local)).all()
    here = ar.evaluate(ranker, local, ["ndcg@10", "map"])
    for system in (ranker, ranker.model_, scores, ranker.predict(local)):
        there = ar.evaluate(system, data, ["ndcg@10", "map"])
        assert there.means == here.means
        assert np.array_equal(there.values["map"], here.values["map"], equal_nan=True)
    systems = {"a": ranker, "b": make("newton").fit(data)}
    by = np.arange(40) % 2
    assert repr(ar.compare(systems, data, "ndcg@10", by=by)) == repr(ar.compare(systems, local, "ndcg@10", by=by))
    chosen = [ar.select("regression", {"ridge": [0.0, 10.0, 1e5]}, one, one, "ndcg@10") for one in (data, local)]
    there, here = ([(point.params, point.value) for point in one.points] for one in chosen)
    assert there == here
    assert chosen[0].params == chosen[1].params
    with pytest.raises(InputError, match=r"explain: expected data on one machine"):
        ar.evaluate(ranker, data, "map", explain=1)
    with pytest.raises(InputError, match="expected one for each of"):
        ar.evaluate(np.zeros(3), data, "map")


@pytest.mark.parametrize("name", ["mart", "query-mart", "lambda-mart"])
def test_trees_without_draws_on_one_partition_are_those_of_one_machine(name, packs, cluster):
    """One partition, so that LightGBM opens no ports: it would listen on every address of the machine."""
    plain = {"n_trees": 4, "n_leaves": 4, "bagging_fraction": 1.0, "feature_fraction": 1.0, "extra_trees": False}
    ranker = ar.make_ranker(name, **plain, **({"n_seeds": 2} if name == "query-mart" else {}), min_documents=5)
    local = ar.load(packs / "plain.pack")
    here, data = clone(ranker).fit(local), DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=1)
    there = ranker.fit(data, eval_set=[data, local])
    np.testing.assert_allclose(there.predict(local), here.predict(local), rtol=1e-9, atol=1e-12)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)
    assert there.trace_[-1]["validation"] == there.trace_[-1]["validation_1"] == here.score(local)
    with pytest.raises(OptionError, match="early_stopping: expected None on a cluster"):
        clone(ranker).set_params(early_stopping=3).fit(data, eval_set=local)
    with pytest.raises(InputError, match="without weights"):
        clone(ranker).fit(DistributedDataset.read(packs / "weighted.pack", cluster))


def test_auto_blends_the_members_that_run_there(packs, cluster):
    """One partition, as above."""
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=1)
    few, local = {"max_trees": 24, "n_folds": 2, "verbose": -1}, ar.load(packs / "plain.pack")
    ranker, again = (ar.make_ranker("auto", **few).fit(data) for _ in range(2))
    assert [member.name for member in ranker.members_] == ["listnet", "rank-svm", "query-mart", "lambda-mart"]
    assert all(member.refitted and (member.n_trees or 12) <= 12 for member in ranker.members_ if member.weight > 0)
    assert ranker.predict(local).tobytes() == again.predict(local).tobytes() == ranker.predict(data).compute().tobytes()
    assert 0.5 < ranker.estimate_.low < ranker.score(data) <= 1.0
    weighted = DistributedDataset.read(packs / "weighted.pack", cluster, n_partitions=1)
    with pytest.warns(ArgrankWarning, match="trees on a cluster take no weights"):
        linear = ar.make_ranker("auto", n_folds=2, verbose=-1).fit(weighted)
    assert [member.name for member in linear.members_] == ["listnet", "rank-svm"]


def test_auto_without_lightgbm_blends_linear_members_there(packs, cluster, monkeypatch):
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=1)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.warns(ArgrankWarning, match=r"listnet, rank-svm alone; .*argrank\[trees\]"):
        ranker = ar.make_ranker("auto", verbose=-1).fit(data)
    assert [member.name for member in ranker.members_] == ["listnet", "rank-svm"]
    with pytest.raises(MissingExtraError, match=r"argrank\[trees\]"):
        ar.make_ranker("auto", family="trees", verbose=-1).fit(data)


def test_linear_members_alone_refuse_missing_values_there(packs, cluster):
    data = ar.make_ranking(8, 10, 6, random_state=1)
    X = np.array(data.X)
    X[3, 2] = np.nan
    ar.pack(ar.Dataset(X, data.y, group=data.sizes), packs / "missing.pack")
    missing = DistributedDataset.read(packs / "missing.pack", cluster, n_partitions=1)
    with pytest.raises(InputError, match="expected no missing values"):
        ar.make_ranker("auto", family="linear", verbose=-1).fit(missing)


def test_the_command_line_grows_trees_on_a_cluster(packs, cluster):
    """In a process of its own, where no client is the default one; one block, so that LightGBM opens no ports."""
    data = ar.make_ranking(8, 10, 6, random_state=1)
    ar.pack(data, packs / "small.pack")
    command = [sys.executable, "-m", "argrank", "train", str(packs / "small.pack"), "-o", str(packs / "model.json")]
    command += ["--scheduler", cluster.scheduler.address, "-r", "mart", "-p", "n_trees=3"]
    command += ["-p", "min_documents=5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "The cluster: " in done.stdout
    assert np.ptp(ar.load_model(packs / "model.json").predict(data)) > 0


def test_what_cannot_be_done_on_a_cluster_is_refused_by_name(packs, cluster):
    data = DistributedDataset.read(packs / "plain.pack", cluster)
    for name in ("adarank", "direct-rank", "mcrank", "coordinate-ascent", "rankboost", "frank"):
        with pytest.raises(OptionError, match=rf"^{name}: expected data on one machine.*rank-svm"):
            ar.make_ranker(name).fit(data)
    model = ar.make_ranker("regression").fit(ar.load(packs / "plain.pack")).model_
    for use in (model.predict, model.rank):
        with pytest.raises(InputError, match=r"predict\(model\) scores the rows on the workers"):
            use(data)
    for solver in ("cutting-plane", "frank-wolfe", "online"):
        with pytest.raises(OptionError, match=r"on a cluster.*expected 'bundle'"):
            ar.make_ranker("orm", bound="convex", solver=solver).fit(data)
    with pytest.raises(OptionError, match=r"argrank pack --normalise"):
        ar.make_ranker("rank-svm", normalise="query-zscore").fit(data)
    with pytest.raises(OptionError, match="trees need none"):
        ar.make_ranker("mart", normalise="standard").fit(data)
    ar.pack(ar.load(packs / "plain.pack"), packs / "scaled.pack", normalise="query-minmax")
    scaled = DistributedDataset.read(packs / "scaled.pack", cluster)
    there, here = (
        ar.make_ranker("regression", normalise="query-minmax").fit(one, eval_set=one)
        for one in (scaled, ar.load(packs / "scaled.pack"))
    )
    assert_same_fit(there, here)
    assert there.score(scaled) == here.score(ar.load(packs / "plain.pack"))
    with pytest.raises(OptionError, match="kernel"):
        ar.make_ranker("orm", kernel="rbf").fit(data)
    with pytest.raises(OptionError, match="checkpoint: expected None for mart on a cluster"):
        ar.make_ranker("mart").fit(data, checkpoint="fit.ckpt")
    with pytest.raises(InputError, match="expected one weight for each of 6"):
        make_risk(data, ar.objective("rank-svm")).value_and_gradient(np.ones(3))
    ar.pack(ar.load(packs / "plain.pack").with_features(np.full((data.n_documents, 6), np.nan)), packs / "gaps.pack")
    with pytest.raises(InputError, match="missing values"):
        make("newton").fit(DistributedDataset.read(packs / "gaps.pack", cluster))


def test_a_frame_is_repartitioned_by_query_and_keeps_the_order_of_rows(cluster):
    dd = pytest.importorskip("dask.dataframe")
    data = ar.make_ranking(30, (2, 12), 4, random_state=2)
    frame = data.to_pandas().rename(columns={"qid": "search", "label": "grade"})
    mixed = frame.sample(frac=1.0, random_state=0).reset_index(drop=True)
    spread = DistributedDataset.from_dask(dd.from_pandas(mixed, npartitions=4), cluster, qid="search", label="grade")
    assert (spread.n_queries, spread.n_documents, spread.n_features) == (30, data.n_documents, 4)
    local = ar.Dataset(mixed.rename(columns={"search": "qid", "grade": "label"}))
    place = {qid: number for number, qid in enumerate(local.query_ids.tolist())}
    same = local.select([place[qid] for qid in spread.query_ids.tolist()])
    assert (same.indptr == spread.indptr).all()
    for pushed, kept in zip(spread.map_blocks(_everything), _blocks_of(spread, same), strict=True):
        assert (pushed == kept).all()
    w = np.arange(4.0)
    (value, gradient), other = (
        make_risk(one, ar.objective("rank-svm")).value_and_gradient(w) for one in (spread, same)
    )
    assert value == pytest.approx(other[0], rel=1e-13)
    np.testing.assert_allclose(gradient, other[1], rtol=1e-12)
    with pytest.raises(InputError, match="expected a column 'qid'"):
        DistributedDataset.from_dask(dd.from_pandas(mixed, npartitions=2), cluster)


def _everything(data):
    return np.column_stack((data.X, data.y))


def _blocks_of(spread, data):
    first = 0
    for own in spread.borders:
        for a, b in itertools.pairwise(own):
            yield _everything(data.between(first + a, first + b))
        first += own[-1]


def test_a_query_in_two_partitions_is_refused():
    from argrank.engines.dask_data import refuse_split

    with pytest.raises(InputError, match="got query 7 in partitions 0 and 1"):
        refuse_split([np.array([3, 7]), np.array([9, 7])])


def test_without_workers_the_message_says_who_waits(packs, monkeypatch):
    class Deserted(Here):
        def map(self, function, *columns, **_):
            return [SimpleNamespace(status="pending") for _ in columns[0]]

        def scheduler_info(self, **_):
            return {"workers": {}}

    monkeypatch.setattr(dask_data, "PATIENCE", 0.01)
    monkeypatch.setattr(DistributedDataset, "_done", lambda self, calls: time.sleep(0.01))
    data = DistributedDataset.read(packs / "plain.pack", Deserted(), n_partitions=3)
    with pytest.raises(ClusterError, match="lost all workers; 3 of 3 partitions waiting"):
        data.map_blocks(len)
    monkeypatch.setattr(Deserted, "nthreads", lambda self: {})
    with pytest.raises(ClusterError, match="at least one worker"):
        DistributedDataset.read(packs / "plain.pack", Deserted())


@pytest.fixture(scope="module")
def altered(cluster, tmp_path_factory):
    """Give a function that starts a worker with a copy of argrank with other gradients; return its address."""
    folder = tmp_path_factory.mktemp("altered")
    source = Path(ar.__file__).parent
    shutil.copytree(source, folder / "argrank", ignore=shutil.ignore_patterns("*.nb*", "__pycache__"))
    module = folder / "argrank" / "objectives" / "pairwise.py"
    text = module.read_text()
    assert "        return losses\n\n    def curve" in text
    module.write_text(
        text.replace(
            "        return losses\n\n    def curve",
            "        gradient *= 1.5\n        return losses\n\n    def curve",
            1,
        )
    )
    running = []

    def start():
        before = set(cluster.scheduler_info(n_workers=-1)["workers"])
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.scheduler.address, "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(folder)]
        running.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(folder)}, stderr=subprocess.PIPE))
        while not (new := set(cluster.scheduler_info(n_workers=-1)["workers"]) - before):
            assert running[-1].poll() is None, running[-1].stderr.read().decode()
            time.sleep(0.05)
        return new.pop()

    yield start
    for process in running:
        process.terminate()
        process.wait()
        process.stderr.close()


def _gradient():
    import argrank

    return argrank.objective("rank-svm")([0.5, 0.0, 1.0], argrank.Dataset(np.eye(3), [1, 0, 2], group=[3]))[1]


def test_a_worker_with_an_altered_argrank_is_refused(packs, cluster, altered):
    """When data are placed, and when it takes over what was placed before it came."""
    cluster.wait_for_workers(1, timeout=60)
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=2)
    address = altered()
    here, there = _gradient(), cluster.run(_gradient, workers=[address])[address]
    assert np.abs(here).max() > 0
    np.testing.assert_allclose(there, 1.5 * here)  # what such a worker would bring into a fit
    with pytest.raises(ClusterError, match=rf"on every worker.*with altered modules.*{re.escape(address)}"):
        DistributedDataset.read(packs / "plain.pack", cluster)
    how = _part.Placement(30, stamp())
    taken_over = cluster.submit(_part.Part, how, load_part, str(packs / "plain.pack"), 0, 1, workers=[address])
    with pytest.raises(ClusterError, match=r"as on the client, got argrank .* with altered modules"):
        data.gathered([taken_over])
    cluster.retire_workers([address])


def test_trees_fail_in_time_where_their_worker_is_killed(packs, cluster, monkeypatch):
    """One partition, so that LightGBM opens no ports."""
    monkeypatch.setattr(_cluster_trees, "GRACE", 1.0)
    let_there_be_two(cluster)
    data = DistributedDataset.read(packs / "plain.pack", cluster, n_partitions=1)
    killed = []

    def kill_in_training():
        while not any("_train_part" in str(key) for own in cluster.processing().values() for key in own):
            time.sleep(0.02)
        kill_the_holder(data)
        killed.append(time.monotonic())

    killer = threading.Thread(target=kill_in_training)
    killer.start()
    with pytest.raises(ClusterError, match=r"lost the worker tcp://.*without which LightGBM cannot continue"):
        ar.make_ranker("mart", n_trees=100_000, min_documents=5).fit(data)
    assert time.monotonic() - killed[0] < _cluster_trees.GRACE + _cluster_trees.LAST
    killer.join()
    let_there_be_two(cluster)


def test_a_pack_that_was_replaced_is_not_mixed_with_the_old_one(packs, cluster):
    let_there_be_two(cluster)
    ar.pack(ar.load(packs / "plain.pack"), packs / "grows.pack")
    data = DistributedDataset.read(packs / "grows.pack", cluster, n_partitions=2)
    value = make_risk(data, ar.objective("rank-svm")).value_and_gradient(np.ones(6))[0]
    ar.pack(ar.Dataset(np.ones((2, 6)), [0, 1], ["a", "a"]), packs / "grows.pack", append=True)
    assert make_risk(data, ar.objective("rank-svm")).value_and_gradient(np.ones(6))[0] == value
    kill_the_holder(data)
    with pytest.raises(InputError, match="expected the same pack as when it was placed"):
        make_risk(data, ar.objective("rank-svm")).value_and_gradient(np.ones(6))
    let_there_be_two(cluster)


def test_frames_that_cannot_be_placed_and_categories_of_all_partitions(cluster):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"qid": np.repeat(np.arange(12), 3), "label": np.tile([0.0, 1.0, 2.0], 12)})
    frame["kind"] = [f"k{q % 5}" for q in frame["qid"]]
    frame["x"] = np.arange(36.0)
    with pytest.raises(InputError, match=r"expected a Dask data frame, got pandas\..*DataFrame"):
        DistributedDataset.from_dask(frame, cluster)
    twice = dd.from_pandas(frame.assign(Q=1), npartitions=2)
    with pytest.raises(InputError, match="one column that is the qid, got 'Q' and 'qid'"):
        DistributedDataset.from_dask(twice, cluster, qid="Q")
    data = DistributedDataset.from_dask(dd.from_pandas(frame, npartitions=4), cluster)
    assert data.n_partitions > 1
    assert data.categories == {"kind": ("k0", "k1", "k2", "k3", "k4")}
    for own in data.map_blocks(_codes_and_queries):
        assert all(data.categories["kind"][int(code)] == f"k{query % 5}" for code, query in own)
    with pytest.raises(InputError, match="expected a Dataset, got DistributedDataset"):
        ar.why_above(ar.make_ranker("regression"), data, 0, 1)


def _codes_and_queries(data):
    return list(zip(data.X[:, data.feature_names.index("kind")], data.qid, strict=True))


@pytest.mark.parametrize("client", [None, 3, "tcp://127.0.0.1:8786", object])
def test_what_is_no_client_no_pack_and_no_number_is_refused(packs, client):
    with pytest.raises(OptionError, match="client: expected a dask"):
        DistributedDataset.read(packs / "plain.pack", client)
    with pytest.raises(OptionError, match="client: expected a dask"):
        DistributedDataset.from_dask(None, client)
    with pytest.raises(OptionError, match="pack: expected"):
        DistributedDataset.read(None, client)
    with pytest.raises(OptionError, match="n_partitions: expected a whole number from 1 up"):
        DistributedDataset.read(packs / "plain.pack", client, n_partitions=0)
