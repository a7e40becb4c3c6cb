"""A file that somebody changes while it is read gives a clear error: never a signal, never a mixture of two files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from argrank.data.io.letor import large
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.lines import Lines
from argrank.data.io.letor.reader import read_text
from argrank.errors import FormatError

ROW = b"1 qid:7 1:0.5 2:1 #a\n"
N_ROWS = 40
CHANGES = {
    "truncated": ROW * 3,
    "emptied": b"",
    "more rows": b"1 qid:7 1:0.5        \n1 qid:7 2:1\n"[:-1] * 30 + b"\n",
    "shorter rows": b"1 qid:7 2:1\n" * 200,
    "wider rows": b"1 qid:7 1:1 2:1 3:1\n" * 60,
    "higher features": b"1 qid:7 1:0 99999:1 \n" * N_ROWS,
    "more queries": b"".join(b"1 qid:%d 1:0.5 2:1 #a\n" % (i % 10) for i in range(N_ROWS)),
    "longer comments": b"1 qid:7 2:1 #abcdefg\n" * N_ROWS,
    "no text": b"\xff\xfe\x00\x80" * 300,
    "comments that are not text": b"1 qid:7 1:0.5 2:1 #\xff\n" * N_ROWS,
    "one line": b"1 qid:7 " + b"1:0.5 " * 300,
    "undecided numbers": b"1 qid:7 1:2.47032822920623272e-324 2:1 3:2.47032822920623272e-324 #a\n" * N_ROWS,
}


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_between_the_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, sparse: bool
) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(ROW * N_ROWS)

    class Late(large.Target):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            with open(path, "rb+") as file:
                file.truncate(len(CHANGES[change]))
                file.write(CHANGES[change])

    monkeypatch.setattr(large, "Target", Late)
    monkeypatch.setattr(Lines, "check_unchanged", lambda self: None)  # the kernel's own limits have to hold
    options = Options.checked("float64", sparse, None, None)
    with open(path, "rb") as stream, pytest.raises(FormatError) as caught:
        read_text(stream, "data.txt", options, small=False, chunk=64)
    assert "data.txt" in str(caught.value)


def test_a_change_that_keeps_all_counts_is_seen_by_time_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.txt"
    path.write_bytes(ROW * N_ROWS)
    finish = large.Target.part

    def part(self: Any, index: int) -> Any:
        if index == 1:
            with open(path, "rb+") as file:
                file.write(ROW.replace(b"0.5", b"0.7") * N_ROWS + b"\n")
        return finish(self, index)

    monkeypatch.setattr(large.Target, "part", part)
    with open(path, "rb") as stream, pytest.raises(FormatError, match="one that was changed while it was read"):
        read_text(stream, "data.txt", Options.checked("float64", False, None, None), small=False, n_jobs=1, chunk=64)
