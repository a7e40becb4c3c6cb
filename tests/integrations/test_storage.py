"""Data that Spark wrote, with pyspark and Java; data in object storage, with moto's server of S3 on loopback."""

from __future__ import annotations

import http.client
import shutil
import socket
import subprocess
import time

import numpy as np
import pytest

import argrank as ar

DATA = ar.make_ranking(60, (3, 12), 5, random_state=0)


def by_query(data):
    """Return labels and features by query id."""
    return {
        qid: (data.y[a:b].tolist(), data.X[a:b].tolist())
        for qid, a, b in zip(data.query_ids.tolist(), data.indptr[:-1], data.indptr[1:], strict=True)
    }


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: see make test-integrations")
    if shutil.which("java") is None:
        pytest.skip("no Java, which Spark needs: apt install default-jre-headless")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = session.getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("sort", [True, False], ids=["sorted", "as they come"])
@pytest.mark.parametrize("folders", [True, False], ids=["folders", "files"])
def test_what_spark_partitions_by_query_is_packed(spark, sort, folders, tmp_path):
    frame = DATA.to_pandas()
    rows = frame.sample(frac=1.0, random_state=0)
    table = spark.createDataFrame(rows.to_dict("records"))
    written = table.selectExpr("*", "pmod(hash(qid), 4) as bucket") if folders else table
    written = written.repartition(4, "bucket" if folders else "qid")
    if sort:
        written = written.sortWithinPartitions(*(["bucket"] if folders else []), "qid")
    writer = written.write.partitionBy("bucket") if folders else written.write
    writer.parquet(str(tmp_path / "train.parquet"))
    features = list(DATA.to_columns())[2:]
    ar.pack(tmp_path / "train.parquet", tmp_path / "train.pack", memory="1MB", features=features)
    found = ar.load(tmp_path / "train.pack", verify="open")
    assert found.n_documents == DATA.n_documents
    assert {q: sorted(zip(*own, strict=True)) for q, own in by_query(found).items()} == {
        q: sorted(zip(*own, strict=True)) for q, own in by_query(DATA).items()
    }
    assert (found.rows is None) == sort  # nothing had to be sorted on the disk


@pytest.fixture
def s3(monkeypatch):
    server = shutil.which("moto_server")
    if server is None:
        pytest.skip("moto_server is not installed: see make test-integrations")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL)
    settings = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**settings, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}.items():
        monkeypatch.setenv(name, value)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)

        def put(path, content=b""):  # plain HTTP: multipart uploads of pyarrow fail with moto
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("PUT", f"/{path}", content, {"Content-Type": "application/octet-stream"})
            assert connection.getresponse().status == 200
            connection.close()

        yield put
    finally:
        process.kill()
        process.wait()


def test_s3_is_read_like_a_folder(s3, tmp_path):
    s3("bucket")
    for number, part in enumerate(np.array_split(np.arange(60), 3)):
        ar.dump(DATA.select(part), tmp_path / "part.parquet")
        s3(f"bucket/train/part-{number}.parquet", (tmp_path / "part.parquet").read_bytes())
    ar.pack("s3://bucket/train", tmp_path / "a.pack")
    assert by_query(ar.load(tmp_path / "a.pack")) == by_query(DATA)
    assert by_query(ar.load("s3://bucket/train/part-1.parquet")) == by_query(DATA.select(np.arange(20, 40)))
    ar.pack("s3://bucket/train/part-0.parquet", tmp_path / "days.pack")
    for number in (1, 2):
        ar.pack(f"s3://bucket/train/part-{number}.parquet", tmp_path / "days.pack", append=True)
    assert by_query(ar.load(tmp_path / "days.pack")) == by_query(DATA)
    with pytest.raises(ar.errors.InputError, match="cannot be read"):
        ar.pack("s3://bucket/train/none.parquet", tmp_path / "b.pack")
