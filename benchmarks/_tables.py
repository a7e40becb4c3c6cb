"""The tables that `benchmarks.behind` reads: CSV of numbers alone, with empty cells, with ids in quotes; Parquet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def csv_writer(n_columns: int, gaps: float = 0.0, quoted: bool = False) -> Callable[[Path, int], None]:
    """Return a function that writes so many rows of decimals, some cells empty or the ids in quotes."""

    def write(path: Path, n_rows: int) -> None:
        rng = np.random.default_rng(0)
        with path.open("w") as file:
            file.write(",".join(["qid", "docid", "label", *(f"f{number}" for number in range(n_columns))]) + "\n")
            for row in range(n_rows):
                values = map(str, rng.standard_normal(n_columns).round(6).tolist())
                empty = (rng.random(n_columns) < gaps).tolist()
                cells = ["" if gap else value for value, gap in zip(values, empty, strict=True)]
                ids = [f'"q {row // 20}"', f'"P-{row:07d}"'] if quoted else [str(row // 20), str(row)]
                file.write(",".join([*ids, str(row % 5), *cells]) + "\n")

    return write


def write_parquet(path: Path, n_rows: int) -> None:
    """Write a table of float64 columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {"qid": np.arange(n_rows) // 100, "label": (np.arange(n_rows) % 5).astype(float)}
    pq.write_table(pa.table(columns | {f"f{number}": rng.standard_normal(n_rows) for number in range(136)}), path)


FILES = {
    "csv, numbers alone": (".csv", csv_writer(105), 100_000),
    "csv, 2 % of the cells empty": (".csv", csv_writer(100, gaps=0.02), 33_000),
    "csv, ids in quotes": (".csv", csv_writer(98, quoted=True), 33_000),
    "parquet, float64": (".parquet", write_parquet, 230_000),
}
