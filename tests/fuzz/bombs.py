"""``python -m tests.fuzz.bombs [--gigabytes G] [--limit SIZE]``: resident memory of small files that expand.

Every file is read by ``argrank inspect`` (models by ``predict`` and ``import``, checkpoints by ``train``) in a process
of its own, whose greatest resident memory is measured. The exit code is 1 where a file is not refused with code
2, or takes more than the limit and what argrank itself needs. A training goes on without a checkpoint it refuses.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from argrank._memory import parse_memory

PIECE = 1 << 24  # bytes of text that are compressed once and written again and again
GIGABYTES, LIMIT = 2.0, "500MB"
OWN = 300e6  # bytes of argrank's own, with NumPy, SciPy and pyarrow

LETOR = b"1 qid:1 1:0.5 2:0.25\n0 qid:1 1:0.1 2:0.75\n"
CSV = b"1,1,0.5,0.25\n0,1,0.1,0.75\n"
RUN = b"q1 Q0 d1 1 3.5 tag\n"


def _repeated(path: Path, compress: Callable[[bytes], bytes], line: bytes, n_bytes: float, head: bytes = b"") -> None:
    """Write compressed pieces one after the other, which all decompressors but zip's take for one text."""
    piece = compress(line * (PIECE // len(line)))
    with path.open("wb") as stream:
        if head:
            stream.write(compress(head))
        for _ in range(int(n_bytes // PIECE)):
            stream.write(piece)


def _zip(path: Path, line: bytes, n_bytes: float) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.txt", "w", force_zip64=True) as to,
    ):
        for _ in range(int(n_bytes // PIECE)):
            to.write(line * (PIECE // len(line)))


def _lists(path: Path, head: bytes, n_bytes: float) -> None:
    """Write JSON that takes more than twenty times its size when it is parsed."""
    with path.open("wb") as stream:
        stream.write(head)
        for _ in range(int(n_bytes // PIECE)):
            stream.write(b"[]," * (PIECE // 3))
        stream.write(b"[]]}")


def _checkpoint(path: Path, piece: bytes, n_bytes: float) -> None:
    """Write an archive like a checkpoint, whose state is a few MB that hold gigabytes."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("state.json", "w", force_zip64=True) as to,
    ):
        to.write(b"[")
        for _ in range(int(n_bytes // PIECE)):
            to.write(piece * (PIECE // len(piece)))
        to.write(b"[]]")


def _parquet(path: Path, n_bytes: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = 1 << 20
    group = pa.table({name: np.zeros(n_rows) for name in ("label", "qid", "a", "b", "c", "d")})
    with pq.ParquetWriter(path, group.schema) as writer:
        for _ in range(int(n_bytes // (48 * n_rows))):
            writer.write_table(group)


def _arrow(path: Path, n_bytes: float) -> None:
    import pyarrow as pa

    n_rows = 1 << 20
    group = pa.table({name: np.zeros(n_rows) for name in ("label", "qid", "a", "b", "c", "d")})
    with pa.ipc.new_file(str(path), group.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for _ in range(int(n_bytes // (48 * n_rows))):
            writer.write_table(group)


def bombs(folder: Path, n_bytes: float) -> Iterator[Path]:
    """Make one file after the other."""
    made: dict[str, Callable[[Path], object]] = {
        "text.txt.gz": lambda path: _repeated(path, gzip.compress, LETOR, n_bytes),
        "text.txt.xz": lambda path: _repeated(path, lzma.compress, LETOR, n_bytes),
        "text.txt.bz2": lambda path: _repeated(path, bz2.compress, LETOR, n_bytes),
        "text.txt.zip": lambda path: _zip(path, LETOR, n_bytes),
        "table.csv.gz": lambda path: _repeated(path, gzip.compress, CSV, n_bytes, b"label,qid,a,b\n"),
        "system.run.gz": lambda path: _repeated(path, gzip.compress, RUN, n_bytes),
        "one-line.run.gz": lambda path: _repeated(path, gzip.compress, b"1", n_bytes),
        "zeros.txt.gz": lambda path: _repeated(path, gzip.compress, b"\0", n_bytes),
        "table.parquet": lambda path: _parquet(path, n_bytes),
        "table.arrow": lambda path: _arrow(path, n_bytes),
        "model.json": lambda path: _lists(path, b'{"argrank_model": 1, "payload": [', n_bytes / 11),
        "import-xgboost.json": lambda path: _lists(path, b'{"learner": [', n_bytes / 11),
        "import-catboost.json": lambda path: _lists(path, b'{"oblivious_trees": [', n_bytes / 11),
        "import-nulls.ubj": lambda path: path.write_bytes(b"{i\x07learner[" + b"[$Z#l\x00\x0f\x42\x40" * 200_000),
        "import-lists.ubj": lambda path: path.write_bytes(b"{i\x07learner[" + b"[]" * int(n_bytes / 80)),
        "state-spaces.ckpt": lambda path: _checkpoint(path, b" ", n_bytes),
        "state-lists.ckpt": lambda path: _checkpoint(path, b"[],", n_bytes / 11),
        "wide.txt": lambda path: path.write_bytes(b"1 qid:1 2147483646:1\n0 qid:1 2147483646:2\n"),
    }
    for name, make in made.items():
        make(folder / name)
        yield folder / name
        (folder / name).unlink()


def examine(path: Path, limit: str) -> tuple[int, str, float]:
    """Return exit code, message and greatest resident memory of reading a file."""
    data, name = str(path.parent / "data.txt"), str(path)
    Path(data).write_bytes(LETOR)
    train = ["train", "-r", "rank-svm", "--max-memory", limit]
    words = {
        "wide": [*train, name],  # a sparse matrix holds it; a training would not
        "model": ["predict", name, data, "--max-memory", limit],
        "import": ["import", name, "-o", f"{name}.out", "--max-memory", limit],
        "state": [*train, data, "--checkpoint", name],
    }
    kind = path.name.partition("-")[0].partition(".")[0]
    command = [sys.executable, "-m", "argrank", *words.get(kind, ["inspect", name, "--max-memory", limit])]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = io.TextIOWrapper(errors, "utf-8", "replace").read()
    return process.returncode, text.replace(f"{path.parent}{os.sep}", "").strip(), used.ru_maxrss * 1024.0


class Bomb(NamedTuple):
    """The result for one file."""

    name: str
    size: int
    code: int
    resident: float
    text: str
    failed: bool


def tried(gigabytes: float, limit: str) -> Iterator[Bomb]:
    """Try all files, and print a line for each."""
    print(f"{'file':18}{'size':>12}{'code':>6}{'resident':>12}  message", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for path in bombs(Path(folder), gigabytes * 1e9):
            size = path.stat().st_size
            code, text, resident = examine(path, limit)
            failed = code != (0 if path.suffix == ".ckpt" else 2) or resident > parse_memory(limit) + OWN
            print(f"{path.name:18}{size / 1e6:9.2f} MB{code:6}{resident / 1e6:9.0f} MB  {text[:200]}", flush=True)
            yield Bomb(path.name, size, code, resident, text, failed)


def main() -> int:
    """Try all files and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES, help="of contents")
    parser.add_argument("--limit", default=LIMIT)
    given = parser.parse_args()
    return min(1, sum(bomb.failed for bomb in tried(given.gigabytes, given.limit)))


if __name__ == "__main__":
    sys.exit(main())
