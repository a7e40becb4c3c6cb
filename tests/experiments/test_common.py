"""What the experiments share."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from experiments.directrank import _common as directrank
from experiments.directrank._paired import errors

from experiments import _common

ROOT = Path(__file__).resolve().parents[2]

SCRIPTS = [path for name in ("experiments", "benchmarks") for path in (ROOT / name).rglob("*.py")]


def test_every_script_still_finds_what_it_imports():
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SCRIPTS if path.stem != "__main__"]
    assert len(names) > 50
    for name in names:
        import_module(name)


def test_tables_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "table.csv"
    assert _common.read_csv(path) == []
    _common.write_csv(path, [{"ranker": "dorm", "map": 0.123456789}], digits=4)
    assert _common.read_csv(path) == [{"ranker": "dorm", "map": "0.1235"}]


def test_stand_ins_are_called_generated():
    assert _common.title("td2003") == "td2003 (generated)"
    assert _common.title("MQ2008") == "MQ2008"


def test_a_fit_as_good_as_zero_has_collapsed():
    assert _common.collapsed(SimpleNamespace(objective_=0.9995, objective_at_zero_=1.0))
    assert not _common.collapsed(SimpleNamespace(objective_=0.9, objective_at_zero_=1.0))
    assert not _common.collapsed(SimpleNamespace(objective_=5.0))


def test_values_query_by_query_are_kept_and_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(directrank, "HERE", tmp_path)
    kept = directrank.Table("work/queries.csv", "data", "fold")
    place = {"data": "MQ2008", "fold": "1"}
    with pytest.raises(FileNotFoundError, match=r"no values of data MQ2008, fold 1; delete the rows"):
        errors(kept, place, {"map": np.ones(3)}, keep=False)
    assert errors(kept, place, {"map": np.array([0.0, 0.5, 1.0])}, keep=True) == {"error map": 0.0}
    again = directrank.Table("work/queries.csv", "data", "fold")
    found = errors(again, place, {"map": np.array([0.5, 0.5, np.nan])}, keep=False)
    assert found["error map"] == pytest.approx(0.25)
