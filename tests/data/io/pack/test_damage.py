"""Damaged and hostile packs end in one clear error; what is written appears whole or not at all."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zlib

import numpy as np
import pytest
from tests.data.io.pack.test_pack import N_QUERIES, ROWS, make

import argrank as ar
from argrank import _files
from argrank.data.io.pack.loader import load_part
from argrank.errors import FormatError, InputError, OptionError


@pytest.fixture(params=["dense", "sparse"])
def path(request, tmp_path):
    ar.pack(make(request.param, qid=np.arange(ROWS) % N_QUERIES, query_weight=np.ones(N_QUERIES)), tmp_path / "a.pack")
    return tmp_path / "a.pack"


def put(path, name, values, others=None, **entries):
    """Replace an array, with its true type and shape in the description, so that only its values are wrong."""
    contents = json.loads((path / "pack.json").read_text())
    if values is not None:
        np.save(path / f"{name}.npy", values)
        contents["arrays"][name] |= {"dtype": values.dtype.str, "shape": list(values.shape), "crc32": None}
    contents["arrays"] |= others or {}
    (path / "pack.json").write_text(json.dumps(contents | entries))


def refused(path, match):
    with pytest.raises(FormatError, match=match) as found:
        ar.load(path)
    assert str(path) in str(found.value)


NO_JSON = ["", "{", "[]", "null", "{}", '{"format": 2}', "[" * 10_000, "\ud800".encode("utf-8", "surrogatepass")]


def test_descriptions_that_are_none(path):
    for text in NO_JSON:
        (path / "pack.json").write_bytes(text if isinstance(text, bytes) else text.encode())
        refused(path, "expected")


ENTRIES = {
    "shape": [[ROWS], [ROWS, -5], [1 << 62, 1 << 62], "x", [ROWS + 1, 5], [True, 5], [1e3, 5]],
    "queries": [0, N_QUERIES + 1, ROWS + 1, None],
    "dtype": ["float16", "object", None, ["float32"]],
    "sparse": [1, None],
    "label": ["texts", None, []],
    "qid": ["text", "floats", {}],
    "blocks": [[0], [0, 1], [0, N_QUERIES, N_QUERIES], [1, N_QUERIES], "01", [0, 2.5, N_QUERIES]],
    "feature_names": [["a"], [1] * 5, ["a"] * 5, "abcde", ["\ud800", "b", "c", "d", "e"]],
    "feature_base": [2, True, "1"],
    "categories": [{"a": ["x"]}, []],
    "arrays": [{}, {"X": {}}, [], {"../secret": {"dtype": "<f8", "shape": [1], "sha256": "0" * 64}}],
    "normalise": [1],
    "argrank": [None],
    "more": [1],
}


def test_entries_that_are_wrong(path):
    description = (path / "pack.json").read_text()
    for name, values in ENTRIES.items():
        for value in values:
            put(path, "y", None, **{name: value})
            refused(path, "expected")
            (path / "pack.json").write_text(description)


def test_arrays_that_are_not_as_described(path):
    whole = {file: file.read_bytes() for file in path.glob("*.npy")}
    for file, text in whole.items():
        for damaged in (
            text[:-1],
            text + b"\0",
            text[:20],
            b"",
            b"\x93NUMPY\x09" + text[7:],
            text[:40] + b"(" + text[41:],
        ):
            file.write_bytes(damaged)
            refused(path, file.name.replace(".", r"\."))
        file.unlink()
        refused(path, file.name.replace(".", r"\."))
        file.write_bytes(text)
    ar.load(path, verify="open")


def touch(data):
    """Read every array."""
    return [getattr(data, name) for name in ("X", "XT", "y", "document_ids", "sources", "sample_weight")]


def full(kind, folder, **more):
    """Write a pack with every array there can be."""
    ids = {"document_ids": np.arange(ROWS), "sources": [f"s{row % 7}" for row in range(ROWS)]}
    weights = {"sample_weight": np.ones(ROWS), "query_weight": np.ones(N_QUERIES)}
    data = make(kind, qid=np.arange(ROWS) % N_QUERIES, **ids, **weights)
    ar.pack(data, folder, by_column=kind == "dense", **more)
    return folder


@pytest.mark.parametrize("verify", ["open", "lazy"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_changed_values_are_found_by_their_sums(kind, verify, tmp_path):
    path = full(kind, tmp_path / "a.pack")
    names = {file.stem for file in path.glob("*.npy")}
    assert {"X" if kind == "dense" else "X.data", "docids", "sources", "sample_weight", "rows"} <= names
    for file in path.glob("*.npy"):
        whole = file.read_bytes()
        for place in (-1, len(whole) // 2, 130):  # behind the header
            text = bytearray(whole)
            text[place] ^= 1
            file.write_bytes(text)
            with pytest.raises(FormatError, match=file.name.replace(".", r"\.")):
                touch(ar.load(path, verify=verify))
        file.write_bytes(whole)
        touch(ar.load(path, verify=verify))


def test_bits_that_flip_train_nothing(tmp_path):
    """120 packs, a bit flipped in each: refused, or trained to the same bits where it was not part of the data."""
    path, rng = tmp_path / "a.pack", np.random.default_rng(29)
    ar.pack(make(qid=np.arange(ROWS) % N_QUERIES), path)
    files = sorted(path.glob("*.npy"))
    expected, refusals = ar.make_ranker("regression").fit(ar.load(path)).coef_.tobytes(), 0
    for number in range(120):
        file = files[number % len(files)]
        whole = file.read_bytes()
        text, place = bytearray(whole), int(rng.integers(8 * len(whole)))
        text[place // 8] ^= 1 << place % 8
        file.write_bytes(text)
        try:
            assert ar.make_ranker("regression").fit(ar.load(path)).coef_.tobytes() == expected
        except FormatError:
            refusals += 1
        file.write_bytes(whole)
    assert refusals > 90  # the others hit the padding of headers


def test_a_file_is_summed_once_in_a_process_and_only_where_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr("argrank.data.io.pack.array_file.CHUNK_BYTES", 1 << 10)
    monkeypatch.setattr("argrank.data.io.pack.contents.CHUNK_BYTES", 1 << 10)
    path, summed = full("dense", tmp_path / "a.pack"), []
    crc32 = zlib.crc32
    monkeypatch.setattr("argrank.data.io.pack.array_file.zlib.crc32", lambda *a: summed.append(len(a[0])) or crc32(*a))
    data = ar.load(path)
    assert repr(data).startswith("Dataset: ")
    assert (data.n_features, data.is_sparse) == (5, False)
    opened = sum(summed)
    assert opened < data.n_documents * 8 * 5  # labels, ids and borders, no features
    part = data.between(0, 2)
    assert sum(summed) == opened
    part.X.sum()
    assert 0 < sum(summed) - opened < data.n_documents * 8 * 3
    touch(data)
    everything = sum(summed)
    touch(data)
    touch(ar.load(path))
    touch(load_part(path, 0, 1))
    assert sum(summed) == everything
    assert everything == sum(file.stat().st_size - 128 for file in path.glob("*.npy"))
    touch(ar.load(path, verify="never"))
    assert sum(summed) == everything


def test_a_pack_without_sums_of_chunks_is_read_as_before(tmp_path):
    path = full("dense", tmp_path / "a.pack")
    expected = ar.load(path).X.copy()
    contents = json.loads((path / "pack.json").read_text())
    for stored in contents["arrays"].values():
        del stored["crc32"]
    (path / "pack.json").write_text(json.dumps(contents))
    for verify in ("lazy", "open", "never"):
        np.testing.assert_array_equal(ar.load(path, verify=verify).X, expected)
    with pytest.raises(OptionError, match="verify: expected 'lazy', 'open' or 'never'"):
        ar.load(path, verify="often")


def test_a_dataset_of_a_pack_can_be_sent_to_another_process(tmp_path):
    data = ar.load(full("sparse", tmp_path / "a.pack"))
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    np.testing.assert_array_equal(again.X.toarray(), data.X.toarray())
    assert again.document_ids.tolist() == data.document_ids.tolist()


def test_numbers_that_compiled_code_would_follow(path):
    borders = np.load(path / "indptr.npy")
    sparse = (path / "X.data.npy").exists()
    wrong = {
        "indptr": [borders + 1, borders[::-1].copy(), np.where(borders == borders[3], borders[4], borders)],
        "y": [np.full(ROWS, -1.0), np.full(ROWS, np.inf), np.full(ROWS, np.nan)],
        "rows": [np.zeros(ROWS, int), np.arange(ROWS) - 1, np.arange(ROWS) + 1, np.full(ROWS, 1 << 40)],
        "query_weight": [np.full(N_QUERIES, -1.0), np.full(N_QUERIES, np.nan)],
    }
    if sparse:
        columns, begins = np.load(path / "X.indices.npy"), np.load(path / "X.indptr.npy")
        wrong["X.indices"] = [columns + 5, columns - 5, np.zeros_like(columns), np.full_like(columns, 1 << 30)]
        wrong["X.indptr"] = [begins + 1, begins[::-1].copy(), np.where(begins == begins[3], 1 << 40, begins)]
    for name, all_ in wrong.items():
        before, description = (path / f"{name}.npy").read_bytes(), (path / "pack.json").read_text()
        for values in all_:
            put(path, name, values)
            refused(path, f"expected {name}:".replace(".", r"\."))
        (path / f"{name}.npy").write_bytes(before)
        (path / "pack.json").write_text(description)
    ar.load(path, verify="open")


def test_objects_are_not_unpickled(path):
    np.save(path / "y.npy", np.array([object() for _ in range(3)]), allow_pickle=True)
    refused(path, r"y\.npy")
    put(path, "y", None, others={"y": {"dtype": "|O", "shape": [ROWS], "sha256": "0" * 64}})
    refused(path, "another type")


def test_links_and_devices_are_not_followed(path, tmp_path):
    secret = tmp_path / "secret.npy"
    (path / "y.npy").rename(secret)
    (path / "y.npy").symlink_to(secret)
    refused(path, r"a plain file y\.npy")
    (path / "y.npy").unlink()
    os.mkfifo(path / "y.npy")  # opening it must not wait for a writer
    refused(path, r"a plain file y\.npy")
    (path / "y.npy").unlink()
    secret.rename(path / "y.npy")
    (path / "pack.json").rename(secret)
    (path / "pack.json").symlink_to(secret)
    refused(path, "a folder with a file")


def test_ids_that_are_no_text(path):
    put(path, "query_ids", np.full(N_QUERIES, b"\xff\xfe"), qid="text")
    with pytest.raises(InputError, match="query_ids: expected UTF-8"):
        ar.load(path)


def test_parts_that_are_not_there(path):
    for first, last in ((0, 3), (1, 1), (-1, 1), (5, 6)):
        with pytest.raises(ValueError, match="expected a whole number"):
            load_part(path, first, last)


def test_what_is_open_stays_as_it_is(path):
    data = ar.load(path)
    before = data.fingerprint
    ar.pack(make(y=np.ones(ROWS)), path)
    assert data._but(rows=None).fingerprint == before  # summed anew, from the files that were replaced
    assert ar.load(path).fingerprint != before
    assert [file.name for file in path.parent.iterdir()] == ["a.pack"]


class Halt(BaseException):
    """Stands for Ctrl-C and other ends from outside."""


@pytest.mark.parametrize("error", [Halt, OSError(28, "No space left on device"), InputError("no")])
def test_an_interrupted_pack_leaves_nothing(error, tmp_path, monkeypatch):
    def stop(*_):
        raise error

    monkeypatch.setattr("argrank.data.io.pack.writer.block_borders", stop)
    expected = Halt if error is Halt else InputError
    with pytest.raises(expected):
        ar.pack(make(), tmp_path / "a.pack")
    assert list(tmp_path.iterdir()) == []


def test_a_killed_pack_is_cleared_away_by_the_next(tmp_path):
    code = f"""
import argrank as ar, os, numpy as np
from argrank.data.io.pack import writer
writer.block_borders = lambda indptr: os.kill(os.getpid(), 9)
ar.pack(ar.Dataset(np.eye(3), [0, 1, 2], group=[3]), {str(tmp_path / "a.pack")!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.pack.")
    assert (left / "X.npy").exists()
    ar.pack(make(), tmp_path / "a.pack")
    assert [file.name for file in tmp_path.iterdir()] == ["a.pack"]


def test_a_pack_that_was_set_aside_comes_back(tmp_path):
    ar.pack(make(), tmp_path / "a.pack")
    before = ar.load(tmp_path / "a.pack").fingerprint
    code = f"""
import argrank as ar, os, numpy as np
rename = os.rename
os.rename = lambda a, b: rename(a, b) if str(b).endswith(".part") else os.kill(os.getpid(), 9)
ar.pack(ar.Dataset(np.eye(3), [0, 1, 2], group=[3]), {str(tmp_path / "a.pack")!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert not (tmp_path / "a.pack").exists()
    with pytest.raises(InputError, match="preferences"):  # whatever comes of the next one
        ar.pack(ar.Dataset(np.eye(2), [0, 1], group=[2], preferences=[[1, 0]]), tmp_path / "a.pack")
    with pytest.raises(InputError, match="qid"):
        ar.pack(ar.Dataset(np.eye(2), [0, 1], [0.5, 0.5]), tmp_path / "a.pack")
    assert ar.load(tmp_path / "a.pack").fingerprint == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.pack"]


def test_a_folder_that_cannot_take_its_name(tmp_path, monkeypatch):
    ar.pack(make(), tmp_path / "a.pack")
    before, rename, calls = ar.load(tmp_path / "a.pack").fingerprint, os.rename, []

    def fails_once(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        rename(source, target)

    monkeypatch.setattr(_files.os, "rename", fails_once)
    with pytest.raises(InputError, match="cannot be written"):
        ar.pack(make("sparse"), tmp_path / "a.pack")
    assert ar.load(tmp_path / "a.pack").fingerprint == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.pack"]
