"""The real data sets read with the counts that are known of them."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

from argrank import Dataset
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.reader import read_letor, read_text, write_letor

OHSUMED = {0: 11303, 1: 2585, 2: 2252}


def label_counts(data: Dataset) -> dict[int, int]:
    values, counts = np.unique(data.y, return_counts=True)
    return dict(zip(values.astype(int).tolist(), counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("folder", "queries", "documents", "features", "labels", "missing"),
    [
        ("OHSUMED-LETOR2", 106, 16140, 25, OHSUMED, 0),
        ("OHSUMED-LETOR3", 106, 16140, 45, OHSUMED, 0),
        ("OHSUMED-LETOR3-null", 106, 16140, 45, OHSUMED, 51490),
        ("MQ2008", 784, 15211, 46, {0: 12279, 1: 2001, 2: 931}, 0),
        ("MQ2007-agg", 1692, 69623, 21, {0: 51632, 1: 14128, 2: 3863}, 508381),
    ],
)
def test_letor_sets(
    real_data: Path, folder: str, queries: int, documents: int, features: int, labels: dict[int, int], missing: int
) -> None:
    data = Dataset.concatenate([read_letor(real_data / folder / f"S{part}.txt.xz") for part in range(1, 6)])
    assert (data.n_queries, data.n_documents, data.n_features) == (queries, documents, features)
    assert label_counts(data) == labels
    assert int(np.isnan(data.X).sum()) == missing
    assert data.comments is not None
    assert data.document_ids is not None


def test_mslr_sample(real_data: Path) -> None:
    for part in ("train", "test"):
        data = read_letor(real_data / "MSLR-sample" / f"{part}.txt.xz")
        assert (data.n_queries, data.n_documents, data.n_features) == (43, 5000, 136)
        assert set(label_counts(data)) == {0, 1, 2, 3, 4}
        assert data.comments is None


def test_trec_news(real_data: Path) -> None:
    parts = [read_letor(real_data / "trec-news-2018" / f"trec_news_2018.{part}") for part in ("train", "test")]
    assert [part.n_queries for part in parts] == [45, 5]
    assert sum(part.n_documents for part in parts) == 823
    assert {part.n_features for part in parts} == {5}


@pytest.mark.parametrize("small", [True, False])
def test_values_equal_those_of_scikit_learn_and_python(real_data: Path, small: bool) -> None:
    from io import BytesIO

    from sklearn.datasets import load_svmlight_file

    text = lzma.decompress((real_data / "MQ2008" / "S1.txt.xz").read_bytes())
    data = read_text(text, "S1", Options.checked("float64", "auto", None, None), small=small)
    X, y, qid = load_svmlight_file(BytesIO(text), query_id=True, zero_based=False)
    assert data.X.tobytes() == X.toarray().tobytes()
    assert data.y.tolist() == y.tolist()
    assert np.repeat(data.query_ids, data.sizes).tolist() == qid.tolist()
    rows = [line.split(b"#")[0].split()[2:] for line in text.splitlines()]
    assert data.X.tolist() == [[float(token.split(b":")[1]) for token in row] for row in rows]
    assert data.comments.tolist() == [line.decode().partition("#")[2] for line in text.splitlines()]


def test_written_back(real_data: Path, tmp_path: Path) -> None:
    data = read_letor(real_data / "OHSUMED-LETOR3-null" / "S1.txt.xz")
    write_letor(data, tmp_path / "S1.txt")
    again = read_letor(tmp_path / "S1.txt")
    assert again.X.tobytes() == data.X.tobytes()
    assert again.y.tobytes() == data.y.tobytes()
    assert again.comments.tolist() == data.comments.tolist()
    assert again.query_ids.tolist() == data.query_ids.tolist()
