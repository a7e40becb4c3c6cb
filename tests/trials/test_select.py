from __future__ import annotations

import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import argrank as ar
from argrank.errors import ArgrankWarning, InputError, OptionError
from argrank.trials.select import search

GRID = {"C": [1e-6, 1e-4, 1e-2, 1.0]}


@pytest.fixture(scope="module")
def parts():
    return ar.make_ranking(40, (5, 30), 6, noise=1.0, random_state=1).split(0.6, 0.4)


def quietly(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        return ar.select(*arguments, **options)


class Fixed:
    """An estimator that scores by one column, with parameters that change nothing or fail on demand."""

    def __init__(self, *, column=0, C=1.0, n_jobs=None, verbose=0, fail=False):
        self.column, self.C, self.n_jobs, self.verbose, self.fail = column, C, n_jobs, verbose, fail

    def get_params(self, deep=True):
        return {name: getattr(self, name) for name in ("column", "C", "n_jobs", "verbose", "fail")}

    def set_params(self, **parameters):
        self.__dict__.update(parameters)
        return self

    def __sklearn_clone__(self):
        return Fixed(**self.get_params())

    def fit(self, data):
        if self.fail:
            raise np.linalg.LinAlgError("Singular matrix")
        self.seen_ = (self.n_jobs, self.verbose, threading.current_thread().name)
        return self

    def predict(self, data):
        return data.to_caller(data.X[:, self.column])


def test_the_choice_is_the_best_of_separate_fits(parts):
    train, valid = parts
    found = quietly("rank-svm", GRID, train, valid, "map")
    values = []
    for C in GRID["C"]:
        ranker = ar.make_ranker("rank-svm", C=C, n_jobs=1).fit(train)
        values.append(ar.evaluate(ranker.predict(valid), valid, "map").means["map"])
    assert [point.value for point in found.points] == values
    assert found.value == max(values)
    assert found.params == {"C": GRID["C"][int(np.argmax(values))]}
    best = ar.make_ranker("rank-svm", **found.params).fit(train)
    assert np.array_equal(found.ranker.coef_, best.coef_)


def test_the_same_for_any_number_of_threads(parts):
    one, two = (quietly("rank-svm", GRID, *parts, "ndcg@5", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.params == two.params
    assert [point.value for point in one.points] == [point.value for point in two.points]
    assert np.array_equal(one.ranker.coef_, two.ranker.coef_)


def test_the_given_ranker_is_not_changed_and_the_chosen_one_keeps_its_settings(parts):
    ranker = ar.make_ranker("rank-svm", n_jobs=2, verbose=1)
    before = ranker.get_params()
    found = quietly(ranker, GRID, *parts, "map")
    assert ranker.get_params() == before
    assert not hasattr(ranker, "model_")
    assert found.ranker.get_params() == {**before, **found.params}
    assert clone(found.ranker).get_params() == found.ranker.get_params()


def test_equal_values_go_to_more_regularisation(parts):
    found = quietly(Fixed(), {"C": [1.0, 0.01, 100.0, 0.1]}, *parts, "map")
    assert found.params == {"C": 0.01}
    found = quietly(Fixed(), [{"column": 1, "C": 5.0}, {"column": 1, "C": 1.0}, {"column": 1, "C": 2.0}], *parts, "map")
    assert found.params == {"column": 1, "C": 1.0}


def test_fits_side_by_side_are_single_threaded_and_silent(parts):
    found = quietly(Fixed(n_jobs=2, verbose=1), {"C": [1.0, 2.0]}, *parts, "map")
    assert found.ranker.seen_[:2] == (1, -1)
    alone = quietly(Fixed(n_jobs=2, verbose=1), {"C": [1.0]}, *parts, "map")
    assert alone.ranker.seen_[:2] == (2, -1)  # a single fit may use all its threads
    assert alone.ranker.seen_[2] != threading.main_thread().name


def test_blas_has_its_threads_back_afterwards(parts):
    from threadpoolctl import threadpool_info

    def blas():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    before = blas()
    quietly("rank-svm", GRID, *parts, "map", n_jobs=2)
    assert blas() == before


def test_a_choice_on_the_border_warns_with_the_direction(parts):
    with pytest.warns(ArgrankWarning, match=r"C = 1e-06 is at the border of the grid; also try values below"):
        found = ar.select(Fixed(), {"C": [1e-6, 1e-4, 1e-2]}, *parts, "map")
    assert found.on_border == {"C": "below"}
    assert "try values below" in repr(found)


def test_the_default_grid_goes_on_beyond_its_end(parts, caplog):
    class LikesMore(Fixed):
        """Its scores get better up to C = 1000, beyond the default grid for a class of one's own."""

        def __sklearn_clone__(self):
            return LikesMore(**self.get_params())

        def predict(self, data):
            noise = np.random.default_rng(0).normal(size=data.n_documents)
            return data.to_caller(data.y + noise * abs(np.log(1000.0) - np.log(self.C)))

    with caplog.at_level("INFO", logger="argrank.trials.select"):
        found = ar.select(LikesMore(), "default", *parts, "map")
    assert [point.params["C"] for point in found.points] == [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
    assert found.params == {"C": 1000.0}
    assert found.on_border == {}
    assert "C=100 is at the end of the grid, also trying C=1000" in caplog.text
    given = quietly(LikesMore(), {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}, *parts, "map")
    assert len(given.points) == 5  # a grid that the user wrote stays as it is, and says so
    assert given.on_border == {"C": "above"}


def test_the_default_grid_leaves_out_what_the_ranker_was_given(parts):
    found = ar.select(ar.make_ranker("rank-svm", C=123.0), "default", *parts, "map")
    assert [point.params for point in found.points] == [{}]
    assert found.ranker.C == 123.0
    with pytest.raises(OptionError, match="grid: expected parameters and values"):
        ar.select("rank-svm", "best", *parts, "map")


def test_a_failed_point_is_reported_and_the_others_count(parts):
    with pytest.warns(ArgrankWarning, match=r"1 of 2 points failed, the first: LinAlgError: Singular matrix"):
        found = ar.select(Fixed(), {"fail": [True, False]}, *parts, "map")
    assert found.params == {"fail": False}
    assert np.isnan(found.points[0].value)
    assert found.points[0].error == "LinAlgError: Singular matrix"
    assert "failed" in repr(found)


def test_all_failed_is_an_error(parts):
    with pytest.raises(InputError, match="no point of the grid gave a value; the first failed with: LinAlgError"):
        ar.select(Fixed(), {"fail": [True]}, *parts, "map")


def test_a_warning_turned_into_an_error_is_not_hidden(parts):
    ranker = ar.make_ranker("rank-svm", max_iter=1)
    with pytest.raises(ArgrankWarning):  # as pyproject.toml has them in all tests
        ar.select(ranker, {"C": [1.0, 2.0]}, *parts, "map")


def test_mistakes_are_found_before_any_fit(parts):
    train, valid = parts
    with pytest.raises(OptionError, match="unknown parameter of RankSVM 'c'"):
        ar.select("rank-svm", {"c": [1]}, train, valid, "map")
    with pytest.raises(OptionError, match=r"measure: expected a name .*, got \['map', 'ndcg'\]"):
        ar.select("rank-svm", GRID, train, valid, ["map", "ndcg"])
    with pytest.raises(OptionError, match="unknown measure 'mapp'"):
        ar.select("rank-svm", GRID, train, valid, "mapp")
    with pytest.raises(OptionError, match="unknown convention"):
        ar.select("rank-svm", GRID, train, valid, "map", convention="letor9")
    with pytest.raises(InputError, match="without judgements"):
        ar.select("rank-svm", GRID, train, ar.Dataset(valid.X, None, group=valid.sizes), "map")


def test_interruption_begins_no_further_point(parts):
    begun = []

    class Slow(Fixed):
        def __sklearn_clone__(self):
            return Slow(**self.get_params())

        def fit(self, data):
            begun.append(self.C)
            if len(begun) == 1:
                raise KeyboardInterrupt
            time.sleep(0.2)
            return self

    with pytest.raises(KeyboardInterrupt):
        search(
            Slow(), {"C": list(range(1, 50))}, *parts, "map", asked="map", convention="default", n_jobs=1,
            progress=False, fits=None,
        )  # fmt: skip
    time.sleep(0.3)
    assert len(begun) <= 3


def test_curve(parts):
    found = quietly(Fixed(), {"column": [2, 0], "C": [1.0, 2.0]}, *parts, "map")
    columns, values = found.curve("column")
    assert columns.tolist() == [0, 2]
    expected = [ar.evaluate(parts[1].X[:, column], parts[1], "map").means["map"] for column in (0, 2)]
    assert values.tolist() == expected
    with pytest.raises(OptionError, match="unknown parameter of this grid 'colum'; did you mean column"):
        found.curve("colum")
