"""Every reader, sorted and scattered, gives the pack that the data in memory gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from tests.data.io.pack.test_pack import N_QUERIES, ROWS, SIZE, make, same, scattered

import argrank as ar
from argrank.data.io.pack import pack as packing
from argrank.errors import ArgrankError, FormatError, InputError, OptionError

FORMATS = ("txt", "txt.gz", "csv", "tsv.xz", "parquet", "arrow")
TOGETHER = np.repeat(np.arange(N_QUERIES), SIZE)
IDS = {
    "integers": lambda order: order,
    "texts": lambda order: np.array([f"q{one}" for one in order], object),
    "integers, then texts": lambda order: np.array([str(one) if one < 9 else f"q{one}" for one in order], object),
}


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    """Several chunks and several buckets on data small enough for a test."""
    monkeypatch.setattr(packing, "CHUNK", 700)
    monkeypatch.setattr(packing, "LEAST", 700)


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("order", [TOGETHER, scattered()], ids=["together", "scattered"])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_packed_file_is_the_file_that_was_loaded(kind, order, ids, tmp_path):
    ar.dump(
        make(qid=IDS[ids](order), document_ids=[f"d{i}" * (1 + i % 3) for i in range(ROWS)]), tmp_path / f"a.{kind}"
    )
    contents = ar.pack(tmp_path / f"a.{kind}", tmp_path / "a.pack", memory="3kB")
    expected = ar.load(tmp_path / f"a.{kind}")
    assert same(ar.load(tmp_path / "a.pack", verify="open"), expected)
    assert contents.fingerprint == expected.fingerprint
    assert {file.name for file in tmp_path.iterdir()} == {f"a.{kind}", "a.pack"}


@pytest.mark.parametrize("order", [TOGETHER, scattered()], ids=["together", "scattered"])
def test_sparse_text_stays_sparse(order, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = []
    for qid in order:
        columns = np.unique(rng.integers(1, 400, 3))
        lines.append(f"{rng.integers(3)} qid:{qid} " + " ".join(f"{column}:{rng.random():.3f}" for column in columns))
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n1 qid:0 500:1\n")
    contents = ar.pack(tmp_path / "a.txt", tmp_path / "a.pack", memory="3kB")
    expected = ar.load(tmp_path / "a.txt")
    assert expected.is_sparse
    assert contents.shape == expected.X.shape
    assert same(ar.load(tmp_path / "a.pack", verify="open"), expected)
    monkeypatch.setattr("argrank.data.io.pack.writer.LARGE", 10)
    ar.pack(tmp_path / "a.txt", tmp_path / "wide.pack")
    wide = ar.load(tmp_path / "wide.pack", verify="open")
    assert np.load(tmp_path / "wide.pack" / "X.indices.npy").dtype == np.int64
    assert (wide.X != expected.X).nnz == 0


@pytest.mark.parametrize("kind", ["csv", "parquet", "txt"])
def test_many_files_are_one(kind, tmp_path):
    data = make(qid=scattered())
    caller = data.to_caller(np.arange(ROWS))
    X, y, qid = data.X[caller], data.y[caller], data.qid[caller]
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(ROWS), 3)):
        ar.dump(ar.Dataset(X[rows], y[rows], qid[rows]), folder / f"part-{number}.{kind}")
    (folder / "_SUCCESS").touch()
    names = None if kind == "txt" else tuple(f"f{i}" for i in range(1, 6))
    expected = ar.Dataset(X, y, qid, feature_names=names)
    for source in (folder, sorted(folder.glob("part*")), f"file://{folder}"):
        ar.pack(source, tmp_path / "a.pack")
        assert same(ar.load(tmp_path / "a.pack", verify="open"), expected)


def test_a_query_may_go_on_in_the_next_file(tmp_path):
    ar.dump(ar.Dataset([[1.0], [2.0]], [0, 1], [1, 2]), tmp_path / "a.csv")
    ar.dump(ar.Dataset([[3.0], [4.0]], [2, 0], [2, 3]), tmp_path / "b.csv")
    ar.pack([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path / "a.pack")
    found = ar.load(tmp_path / "a.pack")
    assert found.indptr.tolist() == [0, 1, 3, 4]
    assert found.rows is None


def test_addresses_are_read_like_files(tmp_path):
    for kind in ("txt", "csv.gz", "parquet", "txt.zip"):
        ar.dump(make(), tmp_path / f"a.{kind}")
        ar.pack(f"file://{tmp_path}/a.{kind}", tmp_path / "a.pack")
        expected = ar.load(tmp_path / f"a.{kind}")
        assert same(ar.load(tmp_path / "a.pack"), expected)
        assert same(ar.load(f"file://{tmp_path}/a.{kind}"), expected)
    for missing in (f"file://{tmp_path}/none.parquet", "nowhere://bucket/a.parquet"):
        with pytest.raises(InputError, match="cannot be read"):
            ar.pack(missing, tmp_path / "a.pack")


@pytest.mark.parametrize("scheme", ["s3", "gs", "abfs"])
def test_object_storage_is_read_through_file_systems_of_pyarrow(scheme, tmp_path, monkeypatch):
    """A folder stands for the storage here; tests/integrations has a server that speaks S3."""
    data = make(qid=scattered())
    for number in range(3):
        folder = tmp_path / "bucket" / "train" / f"part={number}"
        folder.mkdir(parents=True)
        (folder / "_SUCCESS").touch()
        ar.dump(data.select(np.arange(number, N_QUERIES, 3)), folder / "a.parquet")
    (tmp_path / "bucket" / "train" / "other").mkdir()
    (tmp_path / "bucket" / "train" / "other" / "notes.csv").write_text("not of the data")
    ar.pack(tmp_path / "bucket" / "train", tmp_path / "here.pack")
    storage = pa.fs.SubTreeFileSystem(str(tmp_path), pa.fs.LocalFileSystem())

    def from_uri(address):
        assert address.startswith(f"{scheme}://")
        return storage, address.partition("://")[2]

    monkeypatch.setattr(pa.fs, "FileSystem", type("FileSystem", (), {"from_uri": staticmethod(from_uri)}))
    for source in (f"{scheme}://bucket/train", f"{scheme}://bucket/train/"):
        ar.pack(source, tmp_path / "a.pack")
        assert same(ar.load(tmp_path / "a.pack"), ar.load(tmp_path / "here.pack"))
    ar.pack(f"{scheme}://bucket/train/part=0/a.parquet", tmp_path / "one.pack")
    for number in (1, 2):
        ar.pack(f"{scheme}://bucket/train/part={number}", tmp_path / "one.pack", append=True)
    assert same(ar.load(tmp_path / "one.pack"), ar.load(tmp_path / "here.pack"))
    with pytest.raises(InputError, match=f"{scheme}://bucket/none.parquet: cannot be read"):
        ar.pack(f"{scheme}://bucket/none.parquet", tmp_path / "a.pack")


def test_columns_have_the_meaning_that_is_given(tmp_path):
    table = pa.table({"query": ["a", "a", "b"], "grade": [1, 0, 2], "sku": [7, 8, 9], "price": [1.0, 2.0, 3.0]})
    pq.write_table(table, tmp_path / "a.parquet")
    meanings = {"query": "qid", "grade": "label", "sku": "docid"}
    ar.pack(tmp_path / "a.parquet", tmp_path / "a.pack", columns=meanings, dtype="float32")
    found = ar.load(tmp_path / "a.pack")
    assert same(found, ar.load(tmp_path / "a.parquet", columns=meanings, dtype="float32"))
    assert (found.feature_names, found.document_ids.tolist()) == (("price",), [7, 8, 9])


def test_frames_and_weights(tmp_path):
    data = make(qid=scattered(), sample_weight=np.arange(ROWS), query_weight=np.arange(N_QUERIES))
    frame = data.to_pandas()
    ar.pack(frame, tmp_path / "a.pack")
    assert same(ar.load(tmp_path / "a.pack"), ar.Dataset(frame))
    frame.to_parquet(tmp_path / "a.parquet")
    ar.pack(tmp_path / "a.parquet", tmp_path / "b.pack")
    assert same(ar.load(tmp_path / "b.pack"), ar.Dataset(frame))


@pytest.mark.parametrize("how", ["query-minmax", "query-zscore", "query-sum"])
@pytest.mark.parametrize("order", [TOGETHER, scattered(), np.zeros(ROWS, int)], ids=["together", "scattered", "single"])
def test_features_are_normalised_within_queries(how, order, tmp_path):
    ar.dump(make(qid=order), tmp_path / "a.csv")
    ar.pack(tmp_path / "a.csv", tmp_path / "a.pack", normalise=how)
    expected = ar.normalise(ar.load(tmp_path / "a.csv"), how)
    assert np.array_equal(ar.load(tmp_path / "a.pack").X, expected.X)


def test_columns_are_stored_a_second_time(tmp_path):
    data = make(dtype=np.float32, qid=scattered())
    ar.pack(data, tmp_path / "rows.pack")
    ar.pack(tmp_path / "rows.pack", tmp_path / "a.pack", by_column=True)
    assert same(ar.load(tmp_path / "a.pack"), data)
    assert np.array_equal(np.load(tmp_path / "a.pack" / "XT.npy"), data.X.T)
    ar.load(tmp_path / "a.pack", verify="open")


REFUSED = {
    "label,qid,f\n1,a,red\n0,a,blue\n": ({}, "column 'f': expected numbers, got texts"),
    "label,qid,f\n1,a,1e39\n": ({"dtype": "float32"}, "in the 1 rows after the first 0: X: .*infinity in row 0"),
    "label,qid,f\n-1,a,1\n": ({}, "a.csv:2: expected a number from 0 up"),
    "label,qid,query_weight,f\n1,a,1,1\n1,a,2,1\n": ({}, "query_weight: expected one value in a query"),
    "label,f\n1,1\n": ({}, "expected a column 'qid'"),
    "label,qid,f\n": ({}, "expected at least one row"),
    "label,qid,f\n1,a,1\n": ({"memory": "much"}, "memory: expected a size such as"),
    "label,qid,f\n1,a,2\n": ({"dtype": "int"}, "dtype: expected float32 or float64"),
    "label,qid,f\n1,a,3\n": ({"normalise": "standard"}, "expected a normaliser within queries"),
    "label,qid,f\n1,a,4\n": ({"normalise": "query-max"}, "did you mean 'query-minmax'"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_packed_leaves_nothing(text, tmp_path):
    options, message = REFUSED[text]
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ArgrankError, match=message):
        ar.pack(tmp_path / "a.csv", tmp_path / "a.pack", **options)
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_other_refusals(tmp_path):
    ar.dump(make(), tmp_path / "a.txt")
    ar.dump(make(), tmp_path / "a.csv")
    with pytest.raises(OptionError, match="LETOR text alone or tables alone"):
        ar.pack([tmp_path / "a.txt", tmp_path / "a.csv"], tmp_path / "a.pack")
    with pytest.raises(InputError, match="a name that does not exist"):
        ar.pack(tmp_path / "none.txt", tmp_path / "a.pack")
    with pytest.raises(InputError, match=r"a new name, or a folder with pack\.json"):
        ar.pack(tmp_path / "a.txt", tmp_path)
    with pytest.raises(InputError, match="cannot be written"):
        ar.pack(tmp_path / "a.txt", tmp_path / "no" / "a.pack")
    with pytest.raises(InputError, match="qid: expected integers"):
        ar.pack(ar.Dataset([[1.0], [2.0]], [0, 1], [1.5, 2.5]), tmp_path / "a.pack")
    with pytest.raises(OptionError, match="dense features"):
        ar.pack(make("sparse"), tmp_path / "a.pack", by_column=True)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(FormatError, match="a complete parquet file"):
        ar.pack(tmp_path / "a.parquet", tmp_path / "a.pack")
    assert not (tmp_path / "a.pack").exists()
