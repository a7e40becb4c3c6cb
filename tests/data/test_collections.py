"""Known collections: the real files hold what is declared, both layouts are read, and absence is explained."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.data.collections import COLLECTIONS, find_collection
from argrank.data.collections.local_copy import read_fold
from argrank.data.folds import letor_parts
from argrank.errors import ArgrankWarning, FormatError, InputError, OptionError

HELD = ["OHSUMED-LETOR2", "OHSUMED-LETOR3", "OHSUMED-LETOR3-null", "MQ2008", "MQ2007-agg", "MSLR-sample", "ml-100k"]
ASKED = (
    "OHSUMED-LETOR2 OHSUMED-LETOR3 OHSUMED-LETOR3-null TD2003 TD2004 HP2003 HP2004 NP2003 NP2004 MQ2007 MQ2008 "
    "MQ2007-agg MSLR-WEB10K MSLR-WEB30K Yahoo-set1 Yahoo-set2 Istella Istella-S ml-100k"
)

# ---- declarations ---------------------------------------------------------------------------------------------------


def test_all_known_collections_are_there_and_sorted() -> None:
    names = ar.collection_names()
    assert set(ASKED.split()) <= set(names)
    assert names == sorted(names)


@pytest.mark.parametrize("collection", COLLECTIONS, ids=ar.collection_names())
def test_the_figures_of_a_collection_agree_with_each_other(collection) -> None:
    parts = collection.parts.values()
    if collection.features is not None:
        for total, numbers in (
            (collection.queries, [part.queries for part in parts]),
            (collection.documents, [part.documents for part in parts]),
            (collection.documents, list(collection.labels.values()) or [None]),
        ):
            if None not in (total, *numbers):
                assert sum(numbers) == total
    assert all(part.sha256 is None or len(bytes.fromhex(part.sha256)) == 32 for part in parts)
    assert collection.about
    assert collection.obtain
    assert {collection.train, collection.valid, collection.test} - {""} <= set(collection.parts)


def test_mslr_web30k_agrees_with_the_published_sizes_of_its_folds() -> None:
    """The numbers of queries in train, validation and test of each fold, as published with the official files."""
    published = [
        (18919, 6306, 6306),
        (18918, 6306, 6307),
        (18918, 6307, 6306),
        (18919, 6306, 6306),
        (18919, 6306, 6306),
    ]
    sizes = [part.queries for part in find_collection("mslr-web30k").parts.values()]
    for fold, (train, valid, test) in enumerate(published, 1):
        chosen = letor_parts(fold)
        assert sum(sizes[part] for part in chosen.train) == train
        assert (sizes[chosen.valid], sizes[chosen.test]) == (valid, test)


# ---- the real files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HELD)
def test_the_real_files_are_as_published(name: str, real_data: Path) -> None:
    assert ar.check_collection(name, real_data / name) == []


@pytest.mark.parametrize(
    ("name", "fold", "sizes"),
    [
        ("MQ2008", 1, [(471, 9630), (157, 2707), (156, 2874)]),
        ("OHSUMED-LETOR2", 4, [(64, 9491), (21, 3076), (21, 3573)]),
    ],
)
def test_a_real_fold(
    name: str, fold: int, sizes: list[tuple[int, int]], real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGRANK_DATA", str(real_data))
    parts = ar.load_collection(name, fold=fold)
    assert [(part.n_queries, part.n_documents) for part in parts if part is not None] == sizes
    assert {part.n_features for part in parts if part is not None} == {find_collection(name).features}
    queries = [set(part.query_ids.tolist()) for part in parts if part is not None]
    assert len(queries[0] | queries[1] | queries[2]) == find_collection(name).queries


def test_the_official_layout_reads_as_the_parts_do(real_data: Path, tmp_path: Path) -> None:
    """Folds written as the official files are: train is the concatenation of three parts."""
    texts = [lzma.decompress((real_data / "OHSUMED-LETOR3" / f"S{part}.txt.xz").read_bytes()) for part in range(1, 6)]
    for fold in range(5):
        (tmp_path / f"Fold{fold + 1}").mkdir()
        cycle = [texts[(fold + step) % 5] for step in range(5)]
        for name, text in (("train", b"".join(cycle[:3])), ("vali", cycle[3]), ("test", cycle[4])):
            (tmp_path / f"Fold{fold + 1}" / f"{name}.txt").write_bytes(text)
    assert ar.check_collection("ohsumed-letor3", tmp_path) == []
    official = ar.load_collection("OHSUMED-LETOR3", tmp_path, fold=3)
    ours = ar.load_collection("OHSUMED-LETOR3", real_data / "OHSUMED-LETOR3", fold=3)
    for one, other in zip(official, ours, strict=True):
        assert one is not None
        assert other is not None
        assert one.X.tobytes() == other.X.tobytes()
        assert one.y.tobytes() == other.y.tobytes()
        assert one.query_ids.tolist() == other.query_ids.tolist()


def test_a_collection_without_validation_part(real_data: Path) -> None:
    fold = ar.load_collection("MSLR-sample", real_data / "MSLR-sample", dtype="float32")
    assert fold.valid is None
    assert (fold.train.n_queries, fold.test.n_queries) == (43, 43)
    assert fold.train.X.dtype == np.float32
    with pytest.raises(OptionError, match="fold: expected a number from 1 to 1, got 2"):
        ar.load_collection("MSLR-sample", real_data / "MSLR-sample", fold=2)


def test_movielens(real_data: Path) -> None:
    train, test = ar.load_ratings(folder=real_data / "ml-100k")
    assert (len(train), len(test)) == (80000, 20000)
    assert (train.users[0], train.items[0], train.ratings[0]) == (1, 1, 5.0)
    assert set(np.concatenate([train.users, test.users])) == set(range(1, 944))
    assert set(np.concatenate([train.items, test.items])) == set(range(1, 1683))
    assert set(train.ratings) == {1.0, 2.0, 3.0, 4.0, 5.0}


# ---- copies that differ ---------------------------------------------------------------------------------------------


def small_copy(folder: Path, names: tuple[str, ...], rows: int = 2) -> Path:
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_text("".join(f"{row} qid:{number} 1:{row} 46:1\n" for row in range(rows)))
    return folder


def test_differences_are_told_in_words(tmp_path: Path) -> None:
    folder = small_copy(tmp_path / "MQ2008", ("S1.txt", "S2.txt", "S3.txt", "S4.txt.weird"))
    said = ar.check_collection("MQ2008", folder)
    assert f"{folder / 'S1.txt'}: expected SHA-256 {find_collection('MQ2008').parts['S1'].sha256}, got " in said[0]
    assert said[1:3] == [
        f"{folder / 'S1.txt'}: expected 157 queries, got 1",
        f"{folder / 'S1.txt'}: expected 2933 documents, got 2",
    ]
    assert said[-2:] == ["S4: expected a file, got none", "S5: expected a file, got none"]


def test_totals_are_compared_where_there_are_no_checksums(tmp_path: Path) -> None:
    folder = small_copy(tmp_path / "copy", ("S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"), rows=4)
    assert ar.check_collection("MQ2007", folder) == [
        "MQ2007: expected 1692 queries, got 5",
        "MQ2007: expected 69623 documents, got 20",
        "MQ2007: expected 0 documents with another label, got 5",
    ]


def test_a_fold_of_another_size_is_read_with_a_warning(tmp_path: Path) -> None:
    folder = small_copy(tmp_path / "copy", ("set2.train.txt", "set2.valid.txt", "set2.test.txt"))
    with pytest.warns(ArgrankWarning) as caught:
        fold = ar.load_collection("yahoo-set2", folder)
    assert fold.train.n_features == 700
    first = "Yahoo-set2: expected 1266 queries in the train part, as published, got 1"
    assert str(caught[0].message) == first
    assert len(caught) == 6
    assert {Path(warning.filename).name for warning in caught} == {Path(__file__).name}


# ---- absence and mistakes -------------------------------------------------------------------------------------------


def test_an_unset_variable_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARGRANK_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        ar.load_collection("TD2003")
    message = str(caught.value)
    assert "ARGRANK_DATA set to a folder that holds TD2003" in message
    assert "obtain it from Microsoft Research's LETOR page" in message
    assert "Fold1 … Fold5 with train.txt, vali.txt, test.txt, or the parts S1.txt … S5.txt" in message
    assert "\n" not in message


def test_an_absent_folder_or_file_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ARGRANK_DATA", str(tmp_path))
    with pytest.raises(
        InputError, match=f"Istella: expected a folder {tmp_path / 'Istella'}, got none; obtain it from"
    ):
        ar.load_collection("istella")
    (tmp_path / "Istella").mkdir()
    with pytest.raises(InputError, match="expected the train file of Istella, got none; obtain it from Istella's blog"):
        ar.load_collection("istella")
    (tmp_path / "ml-100k").mkdir()
    with pytest.raises(InputError, match=r"expected u2\.base and u2.test, got none; obtain them from GroupLens"):
        ar.load_ratings(fold=2)


def test_names_and_folds_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="unknown collection 'MSLR-WEB10'; did you mean MSLR-WEB10K"):
        ar.load_collection("MSLR-WEB10")
    with pytest.raises(OptionError, match="fold: expected a number from 1 to 5, got 0"):
        read_fold(find_collection("MQ2008"), tmp_path, 0, "float64")
    with pytest.raises(OptionError, match=r"ml-100k has ratings and no features; expected load_ratings\('ml-100k'\)"):
        ar.load_collection("ml-100k")
    with pytest.raises(OptionError, match=r"MQ2008 has features; expected load_collection\('MQ2008'\)"):
        ar.load_ratings("MQ2008")
    with pytest.raises(OptionError, match="fold: expected a number from 1 to 5, got 6"):
        ar.load_ratings(fold=6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\t2\t3\t4\n1\t2\tx\t4\n", r"u1.base:2: expected four integers \(user item rating time\), got '1"),
        ("1\t2\t3\n", r"u1.base:1: expected four integers"),
        ("", "u1.base: expected lines of user item rating time, got an empty file"),
    ],
)
def test_bad_ratings(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "u1.base").write_text(text)
    (tmp_path / "u1.test").write_text("1\t2\t3\t4\n")
    with pytest.raises(FormatError, match=message):
        ar.load_ratings(folder=tmp_path)
