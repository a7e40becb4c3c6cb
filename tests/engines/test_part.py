"""What runs on workers, without a cluster: every task must work with an empty cache."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import argrank as ar
from argrank.data.io.pack.loader import load_part
from argrank.engines import LocalRisk, _part
from argrank.engines._part import Part, Placement, Recipe, State, Task, work
from argrank.engines._workers import stamp
from argrank.engines.dask_data import DistributedDataset
from argrank.errors import ArgrankWarning
from argrank.rankers.checkpoint import Checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")


class Here:
    """A client that runs calls in this process; everything goes through pickle, as it would on the way to a worker."""

    status = "closed"

    def nthreads(self):
        return {"here": 2}

    def run(self, function, **_):
        return {"here": function()}

    def scheduler_info(self, **_):
        return {"workers": {"here": {"nthreads": 2, "memory_limit": 0}}}

    def map(self, function, *columns, **_):
        return [function(*arguments) for arguments in pickle.loads(pickle.dumps(list(zip(*columns, strict=True))))]


class Forgetful(DistributedDataset):
    """Data whose workers forget everything between two round trips."""

    def run(self, *arguments, **options):
        _part._CACHE.clear()
        return super().run(*arguments, **options)

    def ask(self, function, arguments):
        return self.run(function, arguments)

    def gathered(self, calls):
        return calls


FITS = {
    "newton": ("rank-svm", {}),
    "bundle": ("svm-map", {"solver": "bundle"}),
    "level": ("svm-map", {"solver": "bundle", "penalty": "l1", "C": 100.0}),
    "around w0": ("orm", {"bound": "convex", "w0": "regression", "solver": "bundle"}),
    "convex steps": ("svm-ndcg", {}),
    "l-bfgs": ("listnet", {}),
    "several starts": ("rank-cosine", {"n_starts": 2}),
    "conjugate gradients": ("smooth-grad", {"solver": "cg", "halvings": 1}),
    "samples": ("log-convex", {"n_samples": 5}),
    "noise": ("softrank", {"n_starts": 1}),
    "fixed steps": ("lambdarank", {}),
    "least squares": ("regression", {"ridge": 1.0}),
}


def make(name):
    ranker, parameters = FITS[name]
    return ar.make_ranker(ranker, verbose=-1, **({} if ranker == "regression" else {"max_iter": 6}), **parameters)


def assert_same_fit(one, other):
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.objective_ == other.objective_
    assert len(one.trace_) == len(other.trace_)


WEIGHTED = ("newton", "bundle", "convex steps", "fixed steps", "least squares")


@pytest.mark.parametrize("name", FITS)
def test_workers_that_forget_everything_give_the_bits_of_one_machine(name, packs):
    pack = "weighted" if name in WEIGHTED else "plain"
    data = Forgetful.read(packs / f"{pack}.pack", Here(), n_partitions=3)
    assert data.n_partitions == 3
    assert_same_fit(make(name).fit(data), make(name).fit(ar.load(packs / f"{pack}.pack")))


@pytest.mark.parametrize("how", ["standard", "minmax"])
@pytest.mark.parametrize("name", ["newton", "convex steps", "least squares"])
def test_normalisers_over_all_data_give_the_bits_of_one_machine_on_any_partitions(name, how, packs):
    local = ar.load(packs / "plain.pack")
    here = make(name).set_params(normalise=how).fit(local, eval_set=local)
    for n_partitions in (1, 3):
        data = Forgetful.read(packs / "plain.pack", Here(), n_partitions=n_partitions)
        there = make(name).set_params(normalise=how).fit(data, eval_set=[local, data])
        assert_same_fit(there, here)
        assert there.model_.normaliser.shift.tobytes() == here.model_.normaliser.shift.tobytes()
        assert there.model_.normaliser.scale.tobytes() == here.model_.normaliser.scale.tobytes()
        assert there.trace_["validation"].tobytes() == here.trace_["validation"].tobytes()
        assert there.trace_["validation_1"].tolist() == pytest.approx(here.trace_["validation"].tolist(), abs=1e-12)
        assert there.score(data) == pytest.approx(here.score(local), abs=1e-12)
    copied = make(name).set_params(normalise=how).fit(local.with_features(np.array(local.X)))
    np.testing.assert_allclose(here.model_.normaliser.scale, copied.model_.normaliser.scale, rtol=1e-12)


KEPT = ("newton", "bundle", "level", "around w0", "convex steps", "l-bfgs", "several starts", "fixed steps")


@pytest.mark.parametrize("name", KEPT)
def test_a_fit_on_a_cluster_goes_on_from_its_checkpoint_with_the_same_bits(name, packs, tmp_path, monkeypatch):
    whole = make(name).fit(ar.load(packs / "plain.pack"))
    path, count, offer = tmp_path / "fit.ckpt", [0], Checkpoint.offer

    def killed(self, state, now=False):
        offer(self, state, now)
        count[0] += 1
        if count[0] == 2:
            raise MemoryError("an end without a word")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "offer", killed)
        with pytest.raises(MemoryError):
            make(name).fit(Forgetful.read(packs / "plain.pack", Here(), n_partitions=3), checkpoint=path, every=1e-9)
    # on other partitions, or on one machine: the data is the same
    for data in (Forgetful.read(packs / "plain.pack", Here(), n_partitions=2), ar.load(packs / "plain.pack")):
        copy = tmp_path / f"{type(data).__name__}.ckpt"
        copy.write_bytes(path.read_bytes())
        assert_same_fit(make(name).fit(data, checkpoint=copy), whole)
        assert_same_fit(make(name).fit(data, checkpoint=copy), whole)  # and once finished, it is read


def test_some_queries_are_data_of_their_own(packs):
    local, chosen, borders = ar.load(packs / "weighted.pack"), np.array([0, 1, 5, 6, 7, 20, 39]), []
    for n_partitions in (1, 4):
        data = Forgetful.read(packs / "weighted.pack", Here(), n_partitions=n_partitions).select(chosen[::-1])
        same = local.select(chosen)
        assert data.query_ids.tolist() == same.query_ids.tolist()
        assert data.query_weight.tolist() == same.query_weight.tolist()
        assert (np.concatenate(data.map_blocks(_features)) == same.X).all()
        borders.append([len(one) for one in data.map_blocks(_features)])
    assert borders[0] == borders[1]


def _features(data):
    return data.X


def test_a_blend_has_the_same_bits_on_any_partitions_and_goes_on_from_its_checkpoint(packs, tmp_path, monkeypatch):
    local, found = ar.load(packs / "plain.pack"), []
    for n_partitions in (1, 3):
        data = Forgetful.read(packs / "plain.pack", Here(), n_partitions=n_partitions)
        ranker = ar.make_ranker("auto", family="linear", verbose=-1).fit(data, eval_set=[data, local])
        assert ranker.trace_[-1]["validation"] == ranker.trace_[-1]["validation_1"] == ranker.score(data)
        found.append((ranker.predict(local).tobytes(), ranker.estimate_, [one[:4] for one in ranker.members_]))
    assert found[0] == found[1]
    with monkeypatch.context() as patch:  # folds of data on a cluster are drawn in the order it has
        patch.setattr(type(ranker), "_arranged", lambda self, data: data)
        here = ar.make_ranker("auto", family="linear", verbose=-1).fit(local)
    np.testing.assert_allclose(ranker.predict(local), here.predict(local), rtol=1e-6)
    assert ranker.estimate_.value == pytest.approx(here.estimate_.value, abs=1e-9)
    count, fit = [0], type(ar.make_ranker("listnet")).fit

    def killed(self, *arguments, **options):
        count[0] += 1
        if count[0] == 2:
            raise MemoryError("an end without a word")
        return fit(self, *arguments, **options)

    kept = {"checkpoint": tmp_path / "fit.ckpt", "every": 1e-9}
    with monkeypatch.context() as patch:
        patch.setattr(type(ar.make_ranker("rank-svm")), "fit", killed)
        with pytest.raises(MemoryError):
            ar.make_ranker("auto", family="linear", verbose=-1).fit(data, **kept)
    again = ar.make_ranker("auto", family="linear", verbose=-1).fit(data, **kept)
    assert again.predict(local).tobytes() == found[1][0]


def test_a_worker_that_lacks_a_vector_says_so_and_makes_it_from_all_recipes(packs):
    part = Part(Placement(30, stamp()), load_part, str(packs / "plain.pack"), 0, 2)
    borders = (0, part.data.n_queries)
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal((2, 6))
    recipes = {0: Recipe("scores", (), w), 1: Recipe("scores", (), v), 2: Recipe("times", (1,), 0.3)}
    recipes[3] = Recipe("minus", (0, 2))
    _part._CACHE.clear()
    assert work(part, Task("fit", 0, borders, State.vector, (3,))).missing
    assert work(part, Task("fit", 0, borders, State.vector, (3,), {3: recipes[3]})).missing
    found = work(part, Task("fit", 0, borders, State.vector, (3,), recipes, frozenset([0])))
    risk = LocalRisk(part.data, ar.objective("rank-svm"))
    assert (found.found == risk.scores(w) - 0.3 * risk.scores(v)).all()
    kept = _part._CACHE["fit", 0].vectors
    assert list(kept) == [0]  # what nobody asked to keep is gone
    work(part, Task("fit", 0, borders, State.vector, (0,), dropped=(0,)))
    assert not kept
    _part.forget("fit")
    assert not _part._CACHE
    assert not work(part, Task("fit", 0, borders, State.vector, (0,), recipes)).missing  # a task that comes late
    assert not _part._CACHE


def test_a_partition_travels_as_the_call_that_made_it(packs):
    part = Part(Placement(30, stamp()), load_part, str(packs / "plain.pack"), 1, 3)
    sent = pickle.dumps(part)
    assert len(sent) < 1000 < part.data.X.nbytes
    assert part.data.y.nbytes < sys.getsizeof(part) < part.data.X.nbytes  # mapped features are not the worker's
    assert (pickle.loads(sent).data.X == part.data.X).all()
    assert part.data.longest == 30


def test_warnings_are_the_same(packs):
    with pytest.warns(ArgrankWarning, match="stopped after"):
        make("newton").fit(Forgetful.read(packs / "plain.pack", Here(), n_partitions=2))
