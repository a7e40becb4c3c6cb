"""Dates become days before the newest when asked, the same by every way in; a model keeps its reference date."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import argrank as ar
from argrank.data.io.columns import roles
from argrank.errors import InputError, ModelError

NEWEST = dt.date(2025, 12, 28)
RNG = np.random.default_rng(0)
DAYS = [NEWEST - dt.timedelta(days=int(days)) for days in [0, *RNG.integers(1, 900, 38)]] + [None]
EXPECTED = np.array([np.nan if day is None else float((NEWEST - day).days) for day in DAYS])
PLAIN = {"qid": np.repeat(np.arange(8), 5), "label": np.arange(40) % 3, "f": RNG.normal(size=40)}


def frame(form: str = "%Y-%m-%d", days: list[Any] = DAYS) -> pd.DataFrame:
    return pd.DataFrame(PLAIN | {"listed": ["" if day is None else day.strftime(form) for day in days]})


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%dT23:59:01Z"])
def test_days_before_the_newest_by_every_way_in(form: str, tmp_path: Path) -> None:
    texts = frame(form)
    texts.to_csv(tmp_path / "a.csv", index=False)
    texts.to_parquet(tmp_path / "a.parquet")
    real = texts.assign(listed=DAYS)
    stamps = texts.assign(listed=pd.to_datetime(pd.Series(DAYS)) + pd.Timedelta(hours=23))
    stamps.to_parquet(tmp_path / "stamps.parquet")
    zoned = stamps.assign(listed=stamps["listed"].dt.tz_localize("Asia/Tokyo"))
    frames = {"text": texts, "date": real, "time": stamps, "zoned": zoned, "polars": pl.from_pandas(real)}
    frames |= {"arrow": pa.Table.from_pandas(zoned), "polars texts": pl.from_pandas(texts)}
    found = {name: ar.load(tmp_path / name, dates=["listed"]) for name in ("a.csv", "a.parquet", "stamps.parquet")}
    found |= {name: ar.Dataset(one, dates=["listed"]) for name, one in frames.items()}
    found["columns"] = ar.load(tmp_path / "a.csv", columns={"listed": "date"})
    for name, data in found.items():
        np.testing.assert_array_equal(data.X[:, 1], EXPECTED, err_msg=name)
        assert data.dates == {"listed": "2025-12-28"}, name
        assert data.fingerprint == found["a.csv"].fingerprint, name


@pytest.mark.parametrize("day", ["2025-02-30", "2025/04/31", "31.04.2025", "29/02/2025", "02/30/2025"])
def test_a_day_that_does_not_exist_is_refused(day: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"qid,label,listed\n1,0,{day}\n1,1,{day}\n")
    with pytest.raises(InputError, match=rf"a.csv:2: expected dates, .* in column 'listed', got '{day}'"):
        ar.load(tmp_path / "a.csv", dates=["listed"])


def test_a_model_counts_from_its_own_date(tmp_path: Path) -> None:
    data = ar.Dataset(frame(), dates=["listed"])
    path = tmp_path / "model.json"
    for name in ("lambda-mart", "regression"):
        options = {"n_trees": 5, "min_documents": 2, "random_state": 0} if name == "lambda-mart" else {}
        ar.make_ranker(name, **options).fit(data).save(path)
        model = ar.load_model(path)
        assert model.dates == {"listed": "2025-12-28"}
        expected = model.predict(data)
        older = frame().iloc[5:]  # without the newest
        part = ar.Dataset(older, dates=["listed"])
        assert part.dates != data.dates
        assert model.predict(part).tobytes() == expected[5:].tobytes()
        assert model.predict(older).tobytes() == expected[5:].tobytes()
        assert np.concatenate(model.rank(older)).tolist() == np.concatenate(model.rank(part)).tolist()
        months = frame(days=[day and day + dt.timedelta(days=31) for day in DAYS])
        shifted = ar.Dataset(data.X - np.array([0.0, 31.0]), group=data.sizes, feature_names=data.feature_names)
        assert model.predict(months).tobytes() == model.predict(shifted).tobytes()  # later days are below 0
    text = path.read_text().replace("2025-12-28", "2025-13-28")
    path.write_text(text)
    with pytest.raises(ModelError):
        ar.load_model(path)


def test_parts_with_other_newest_dates_are_joined() -> None:
    data = ar.Dataset(frame(), dates=["listed"])
    later = frame(days=[day and day + dt.timedelta(days=9) for day in DAYS]).assign(qid=PLAIN["qid"] + 100)
    both = ar.Dataset.concatenate([data, ar.Dataset(later, dates=["listed"])])
    assert both.dates == {"listed": "2026-01-06"}
    np.testing.assert_array_equal(both.X[:, 1], np.concatenate([EXPECTED + 9, EXPECTED]))
    assert data.select([1, 2]).dates == data.dates
    with pytest.raises(InputError, match="reference dates"):
        ar.pack(data, "nowhere.pack")


def test_refusals(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    frame().to_csv(path, index=False)
    with pytest.raises(InputError, match=r"'listed'.*got dates such as.*--date listed \(dates=\['listed'\]\)"):
        ar.load(path)
    lines = path.read_text().splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ",soon"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"a.csv:3: expected dates, all in one format.*'listed', got 'soon'"):
        ar.load(path, dates=["listed"])
    with pytest.raises(InputError, match="nobody"):
        ar.load(path, dates=["nobody"])
    dated = ar.Dataset(frame(), dates=["listed"])
    numbers = ar.Dataset([[1.0, 2.0], [3.0, 4.0]], [0, 1], [0, 0], feature_names=dated.feature_names)
    plain = ar.make_ranker("regression").fit(numbers)
    with pytest.raises(InputError, match="'listed': expected numbers, as in training, got dates"):
        plain.predict(dated)


def test_exports_say_what_to_give(tmp_path: Path) -> None:
    roles.tell.cache_clear()
    complete = frame(days=[*DAYS[:-1], NEWEST])
    ranker = ar.make_ranker("regression").fit(ar.Dataset(complete, dates=["listed"]))
    for target in ("opensearch", "python"):
        notes = " ".join(ar.export(ranker, target).notes)
        assert "listed was a date in training" in notes
        assert "2025-12-28" in notes


def test_a_blend_keeps_its_dates(tmp_path: Path) -> None:
    data = ar.Dataset(frame(), dates=["listed"])
    blend = ar.make_ranker("auto", members=["rank-svm", "regression"], n_folds=2, verbose=-1).fit(data)
    blend.save(tmp_path / "model.json")
    model = ar.load_model(tmp_path / "model.json")
    assert model.dates == {"listed": "2025-12-28"}
    older = frame().iloc[5:]
    assert model.predict(older).tobytes() == model.predict(data)[5:].tobytes()
