"""A blend that was killed goes on with its finished members, stages and models, and ends with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import argrank as ar
from argrank.rankers.checkpoint import Checkpoint

DATA = ar.make_ranking(12, 8, 3, random_state=2)
MEMBERS = ["listnet", ar.make_ranker("mart", min_documents=3, n_leaves=4), "rank-svm"]


class Killed(BaseException):
    """Ends a fit as a signal would."""


def fit(**options: Any) -> Any:
    made = ar.make_ranker("auto", members=MEMBERS, max_trees=250, n_folds=2, verbose=-1)
    return made.fit(DATA, **options)


def test_killed_and_resumed_is_never_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, write, n_writes = fit(), Checkpoint._write, [0]

    def killing(self: Checkpoint, outcome: Any) -> None:
        n_writes[0] += 1
        write(self, outcome)
        if outcome is None:
            raise Killed

    path = tmp_path / "auto.ckpt"
    for _ in range(30):  # killed after every single writing: stages, members, models of all data
        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "_write", killing)
            try:
                found = fit(checkpoint=path, every=1e-9)
                break
            except Killed:
                continue
    assert n_writes[0] > 2 * len(MEMBERS) + 2  # every member, its model of all data, stages of trees, the end
    monkeypatch.setattr(type(whole), "_train", None)  # a finished fit is read, not repeated
    for one in (found, fit(checkpoint=path)):
        np.testing.assert_array_equal(one.predict(DATA), whole.predict(DATA))
        assert one.estimate_ == whole.estimate_
        assert [member._replace(seconds=0.0) for member in one.members_] == [
            member._replace(seconds=0.0) for member in whole.members_
        ]
        np.testing.assert_array_equal(one.trace_["objective"], whole.trace_["objective"])
        assert (one.notes_, one.objective_, one.n_iter_) == (whole.notes_, whole.objective_, whole.n_iter_)
