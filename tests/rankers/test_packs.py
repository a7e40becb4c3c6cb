"""Every registered ranker learns from a pack what it learns in memory, bit for bit, or says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError
from argrank.solvers import SOLVERS

TREES = ("lambda-mart", "mart", "mcrank", "pair-mart", "query-mart", "xendcg-mart")
SHORT = {
    "auto": {"members": ["rank-svm", "regression"], "n_folds": 2},
    "direct-rank": {"max_iter": 2},
    "direct-rank-trees": {"n_trees": 3},
    "coordinate-ascent": {"n_starts": 1, "max_iter": 2},
    "adarank": {"n_rounds": 3},
    "rankboost": {"n_rounds": 3},
    "frank": {"n_rounds": 3},
    "symmetric-mart": {"n_trees": 3},
    **{name: {"n_trees": 3, "n_leaves": 4} for name in TREES},
}
COLUMNS = ("direct-rank", "coordinate-ascent", "adarank", "rankboost", "frank")
NAMES = ar.ranker_names()


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """The same few queries in memory and in packs, by row alone and by column, too."""
    folder = tmp_path_factory.mktemp("packs")
    data = ar.load_bundled().select(np.arange(12))
    ar.pack(data, folder / "rows.pack")
    ar.pack(data, folder / "columns.pack", by_column=True)
    data = data._but(comments=None)
    return data, ar.load(folder / "rows.pack"), ar.load(folder / "columns.pack")


def made(name, **options):
    ranker = ar.make_ranker(name, **(SHORT.get(name, {}) | options))
    few = {"n_jobs": 1, "max_iter": 4}
    return ranker.set_params(**{key: value for key, value in few.items() if key in ranker.get_params()})


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
@pytest.mark.parametrize("name", NAMES)
def test_same_bits_from_a_pack(name, packs):
    memory, *mapped = packs
    expected = made(name).fit(memory)
    scores = expected.predict(memory)
    for data in mapped if name in COLUMNS else mapped[:1]:
        found = made(name).fit(data)
        assert np.array_equal(found.predict(data), scores)
        assert found.objective_ == expected.objective_ or (np.isnan(found.objective_) and np.isnan(expected.objective_))


USERS = {
    "bundle": "svm-map",
    "bundle-then-planes": "svm-map",
    "cg": "listnet",
    "convex-steps": "svm-ndcg",
    "cutting-plane": "svm-map",
    "fixed-steps": "lambdarank",
    "frank-wolfe": "svm-map",
    "l-bfgs": "listnet",
    "newton": "rank-svm",
    "online": "orm",
}


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_same_bits(solver, packs):
    name = USERS[solver]
    options = {} if name == "lambdarank" else {"solver": solver}  # which has that one alone
    expected, found = (made(name, **options).fit(data).coef_ for data in packs[:2])
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_asked_for_where_memory_is_short(name, packs, monkeypatch):
    _, rows, columns = packs
    size = rows.X.nbytes
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", f"{size - 1}B")
    ranker = made(name, **({"folds": 0} if name == "direct-rank" else {}))
    with pytest.raises(InputError, match="argrank pack --columns"):
        ranker.fit(rows)
    ranker.fit(columns)


def test_what_copies_is_refused_where_memory_is_short(packs, monkeypatch):
    data = packs[1]
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", f"{data.X.nbytes // 8 - 1}B")  # a byte of every value does not fit
    for name in ("lambda-mart", "mart", "direct-rank-trees"):
        with pytest.raises(InputError, match=r"expected at most .*(a linear ranker|reads rows in place)"):
            made(name).fit(data)
    with pytest.raises(InputError, match="expected at most"):
        made("auto").fit(data)
    monkeypatch.setattr("argrank.data.folds.FEWEST", 1)
    with pytest.raises(InputError, match="folds=0 or an eval_set"):
        made("direct-rank").fit(packs[2])
    with pytest.raises(InputError, match="expected at most"):
        ar.make_ranker("lambda-mart", normalise="standard").fit(data)
    monkeypatch.setattr("argrank.data.grouping.BLOCK_ROWS", 30)  # so that a block fits
    ar.make_ranker("rank-svm", normalise="standard").fit(data)


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
def test_auto_from_a_pack_estimates_its_memory_by_the_limits_of_the_process(packs, monkeypatch):
    """A limit such as ``ulimit -v`` sets; the pack itself is far below it."""
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    data = packs[1]
    limit = 4 * data.X.nbytes
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limit, limit))
    monkeypatch.delenv("ARGRANK_MAX_MEMORY", raising=False)
    with pytest.raises(InputError, match=r"a fit: expected at most .* or a single ranker .* from a pack"):
        made("auto").fit(data)
    made("rank-svm").fit(data)
