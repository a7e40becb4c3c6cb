"""Packs from packs: columns that are chosen, several packs and files as one, and packs that grow day by day."""

from __future__ import annotations

import numpy as np
import pytest
from tests.data.io.pack.test_pack import N_QUERIES, ROWS, SIZE, make, same, scattered

import argrank as ar
from argrank.cli import main
from argrank.data.io.pack import pack as packing
from argrank.errors import ArgrankError, InputError


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """Several chunks and several buckets on data small enough for a test."""
    monkeypatch.setattr(packing, "CHUNK", 700)
    monkeypatch.setattr(packing, "LEAST", 700)


def files(folder):
    """Return the bytes of all files of a pack."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


NAMES = [f"f{i}" for i in range(5)]
EXTRAS = {"document_ids": [f"d{i}" for i in range(ROWS)], "sample_weight": np.arange(ROWS)}
OPTIONS = {
    "drop": {"columns": {"f0": None}},
    "drop two": {"columns": {"f1": None, "f4": None}},
    "only, in another order": {"features": ["f3", "f1"]},
    "drop ids and weights": {"columns": {"docid": None, "sample_weight": None}},
    "another label": {"columns": {"label": None, "f2": "label"}},
    "float32": {"dtype": "float32"},
    "normalise": {"normalise": "query-minmax", "columns": {"f3": None}},
    "by column": {"by_column": True, "features": ["f4"]},
}


@pytest.mark.parametrize("order", [np.repeat(np.arange(N_QUERIES), SIZE), scattered()], ids=["together", "scattered"])
@pytest.mark.parametrize("name", OPTIONS)
def test_options_mean_the_same_from_a_pack_as_from_a_file(name, order, tmp_path):
    ar.dump(make(qid=order, feature_names=NAMES, **EXTRAS), tmp_path / "a.parquet")
    ar.pack(tmp_path / "a.parquet", tmp_path / "a.pack")
    for source in ("a.parquet", "a.pack"):
        ar.pack(tmp_path / source, tmp_path / f"{source}.out", **OPTIONS[name])
    assert files(tmp_path / "a.pack.out") == files(tmp_path / "a.parquet.out")
    ar.pack(ar.load(tmp_path / "a.parquet"), tmp_path / "memory.out", **OPTIONS[name])
    assert files(tmp_path / "memory.out") == files(tmp_path / "a.parquet.out")


def test_another_column_can_be_the_query(tmp_path):
    data = make(sources=np.arange(ROWS) % 5)
    ar.pack(data, tmp_path / "a.pack")
    ar.pack(tmp_path / "a.pack", tmp_path / "b.pack", columns={"qid": None, "source": "qid"})
    assert same(ar.load(tmp_path / "b.pack"), ar.Dataset(data.X, data.y, np.arange(ROWS) % 5))


def test_sparse_and_unnamed_features_are_chosen_by_number(tmp_path):
    data = make("sparse")
    ar.pack(data, tmp_path / "a.pack")
    ar.pack(tmp_path / "a.pack", tmp_path / "b.pack", columns={"f1": None})
    found = ar.load(tmp_path / "b.pack")
    assert found.feature_names == ("f2", "f3", "f4", "f5")
    assert (data.X[:, 1:] != found.X).nnz == 0


REFUSED = {
    "unknown": ({"columns": {"nosuch": None}}, "a.pack: expected a column 'nosuch', got columns qid, label, f0"),
    "unknown feature": ({"features": ["f0", "nosuch"]}, "expected a column 'nosuch'"),
    "no features": ({"columns": dict.fromkeys(NAMES)}, "at least one column that is a feature"),
    "no query": ({"columns": {"qid": None}}, "expected a column 'qid'"),
    "two labels": ({"columns": {"f0": "label"}}, "one column that is the label"),
    "a category": ({"columns": {"f0": "category"}}, "expected a category, got a number"),
    "fractions as ids": ({"columns": {"f0": "docid"}}, "expected whole numbers for docid"),
    "of text": ({"n_features": 7}, "options of text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_pack_cannot_be_asked_is_an_error(name, tmp_path):
    options, message = REFUSED[name]
    ar.pack(make(feature_names=NAMES), tmp_path / "a.pack")
    with pytest.raises(ArgrankError, match=message):
        ar.pack(tmp_path / "a.pack", tmp_path / "b.pack", **options)
    assert [file.name for file in tmp_path.iterdir()] == ["a.pack"]


def test_a_normalised_pack_stays_one(tmp_path):
    ar.pack(make(), tmp_path / "raw.pack")
    ar.pack(tmp_path / "raw.pack", tmp_path / "a.pack", normalise="query-minmax")
    for options in ({}, {"normalise": "query-minmax"}):
        ar.pack(tmp_path / "a.pack", tmp_path / "b.pack", **options)
        assert files(tmp_path / "a.pack") == files(tmp_path / "b.pack")
    with pytest.raises(ArgrankError, match="expected 'query-minmax', which the pack was written with"):
        ar.pack(tmp_path / "a.pack", tmp_path / "b.pack", normalise="query-sum")
    with pytest.raises(InputError, match="all normalised in the same way"):
        ar.pack([tmp_path / "a.pack", tmp_path / "raw.pack"], tmp_path / "b.pack")


# ---- several ----------------------------------------------------------------------------------------------------


def days(folder, n_days, order, **options):
    """Write the rows of some data as a file a day; return the files."""
    data = make(qid=order, feature_names=NAMES, **options)
    caller = data.to_caller(np.arange(ROWS))
    found = []
    for number, rows in enumerate(np.array_split(np.arange(ROWS), n_days)):
        own = caller[rows]
        day = ar.Dataset(data.X[own], data.y[own], data.qid[own], feature_names=NAMES, document_ids=rows)
        found.append(folder / f"day-{number:02}.parquet")
        ar.dump(day, found[-1])
    return found


ORDERS = {
    "new queries every day": np.repeat(np.arange(N_QUERIES * 3), -(-SIZE // 3))[:ROWS],
    "queries that go on": np.repeat(np.arange(N_QUERIES), SIZE),
    "scattered within days": np.concatenate([np.tile([2 * day, 2 * day + 1], 7) for day in range(6)]),
    "scattered over days": scattered(),
}


@pytest.mark.parametrize("order", ORDERS)
def test_packs_and_files_together_are_all_files_at_once(order, tmp_path):
    parts = days(tmp_path, 4, ORDERS[order])
    ar.pack(parts, tmp_path / "all.pack")
    for number, part in enumerate(parts):
        ar.pack(part, tmp_path / f"{number}.pack")
    packs = [tmp_path / f"{number}.pack" for number in range(4)]
    for given in (packs, [packs[0], *parts[1:]], [parts[0], packs[1], parts[2], packs[3]]):
        ar.pack(given, tmp_path / "some.pack")
        assert files(tmp_path / "some.pack") == files(tmp_path / "all.pack")


@pytest.mark.parametrize("order", ORDERS)
def test_thirty_appends_are_packing_at_once(order, tmp_path):
    parts = days(tmp_path, 31, ORDERS[order])
    ar.pack(parts, tmp_path / "all.pack", dtype="float32")
    ar.pack(parts[0], tmp_path / "train.pack", dtype="float32")
    for part in parts[1:]:
        ar.pack(part, tmp_path / "train.pack", append=True)
    assert files(tmp_path / "train.pack") == files(tmp_path / "all.pack")
    assert not [file for file in tmp_path.iterdir() if file.suffix not in (".parquet", ".pack")]


def test_what_grows_keeps_its_kind(tmp_path):
    """Features found by name, a column that is new left out, the normaliser and the storage by column kept."""
    parts = days(tmp_path, 3, np.repeat(np.arange(ROWS // 4), 4))
    table = ar.load(parts[2]).to_pandas()
    table.insert(0, "new", 1.0)
    table[["qid", *reversed([name for name in table if name != "qid"])]].to_parquet(parts[2])
    how = {"normalise": "query-minmax", "by_column": True, "features": NAMES[1:]}
    ar.pack(parts[0], tmp_path / "train.pack", **how)
    for part in parts[1:]:
        ar.pack(part, tmp_path / "train.pack", append=True)
    ar.pack(parts, tmp_path / "all.pack", **how)
    assert files(tmp_path / "train.pack") == files(tmp_path / "all.pack")
    assert "XT.npy" in files(tmp_path / "train.pack")
    for again in (parts[0], parts[2]):  # its last query goes on at once, or another one does
        with pytest.raises(InputError, match="queries that are each in one part"):
            ar.pack(again, tmp_path / "train.pack", append=True)


def test_sparse_text_is_appended_to_sparse_packs(tmp_path):
    rng = np.random.default_rng(0)
    for name, qids in (("a", range(4)), ("b", range(4, 9))):
        lines = [f"{q % 3} qid:{q} " + " ".join(f"{i}:{rng.random():.3f}" for i in (q + 1, q + 400)) for q in qids]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    ar.pack([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "all.pack")
    ar.pack(tmp_path / "a.txt", tmp_path / "train.pack")
    ar.pack(tmp_path / "b.txt", tmp_path / "train.pack", append=True)
    assert ar.load(tmp_path / "train.pack").is_sparse
    assert files(tmp_path / "train.pack") == files(tmp_path / "all.pack")


def test_categories_are_those_of_all_parts(tmp_path):
    rows = [("b", [1.0, 0.0]), ("a", [0.0, np.nan])]
    parts = [
        ar.Dataset(np.array([[0.5, codes[0]], [0.7, codes[1]]]), [0, 1], [q, q], feature_names=["x", "kind"],
                   categories={"kind": [text, "z"]})
        for q, (text, codes) in enumerate(rows)
    ]  # fmt: skip
    ar.pack(parts[0], tmp_path / "train.pack")
    ar.pack(parts[1], tmp_path / "train.pack", append=True)
    found = ar.load(tmp_path / "train.pack")
    assert found.categories == {"kind": ("a", "b", "z")}
    assert same(found, ar.Dataset.concatenate(parts))


def test_a_pack_in_use_keeps_its_files_and_a_failure_changes_nothing(tmp_path, monkeypatch):
    first, second = days(tmp_path, 2, ORDERS["new queries every day"])
    ar.pack(first, tmp_path / "train.pack")
    held, before = ar.load(tmp_path / "train.pack"), files(tmp_path / "train.pack")
    sums = held.X.sum()
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    other = ar.Dataset([[1.0]], [1], ["z"], feature_names=["other"])
    ar.dump(other, tmp_path / "other.parquet")
    for bad, message in (("bad.parquet", "a complete parquet file"), ("other.parquet", "expected a column 'f0'")):
        with pytest.raises(InputError, match=message):
            ar.pack(tmp_path / bad, tmp_path / "train.pack", append=True)
    with pytest.raises(InputError, match="without f0, f1, f2, f3, f4 and with other besides"):
        ar.pack(other, tmp_path / "train.pack", append=True)
    assert files(tmp_path / "train.pack") == before
    ar.pack(second, tmp_path / "train.pack", append=True)
    assert (held.X.sum(), held.n_documents) == (sums, ROWS // 2)
    assert ar.load(tmp_path / "train.pack").n_documents == ROWS
    with pytest.raises(InputError, match="expected a pack to append to"):
        ar.pack(second, tmp_path / "none.pack", append=True)
    real, calls = packing.PackedRows, []

    def meanwhile(*arguments, **options):
        if not calls:
            calls.append(1)
            ar.pack(first, tmp_path / "train.pack")
        return real(*arguments, **options)

    monkeypatch.setattr(packing, "PackedRows", meanwhile)
    with pytest.raises(InputError, match="does not change meanwhile"):
        ar.pack(second, tmp_path / "train.pack", append=True)
    assert files(tmp_path / "train.pack") == before


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = days(tmp_path, 2, ORDERS["new queries every day"])

    def run(*words):
        with pytest.raises(SystemExit) as ended:
            main(["pack", *map(str, words)])
        return ended.value.code

    assert run(first, "-o", "train.pack") == 0
    assert run("--append", second, "train.pack") == 0
    assert run(first, second, "-o", "all.pack") == 0
    assert files(tmp_path / "train.pack") == files(tmp_path / "all.pack")
    assert run("train.pack", "-o", "less.pack", "--drop", "f0") == 0
    assert ar.load("less.pack").feature_names == ("f1", "f2", "f3", "f4")
    capsys.readouterr()
    assert run("train.pack", "-o", "less.pack", "--drop", "nosuch") == 2
    assert "expected a column 'nosuch'" in capsys.readouterr().err
    assert run("--append", second) == 2
    assert "expected -o PACK" in capsys.readouterr().err
