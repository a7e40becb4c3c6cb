from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from argrank._files import COMPRESSIONS, open_bytes, split_suffixes, write_bytes
from argrank.errors import FormatError, InputError

CONTENT = b"some lines\n" * 5000


def packed(suffix: str, content: bytes = CONTENT) -> bytes:
    if suffix == ".zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inside", content)
        return buffer.getvalue()
    return {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}[suffix](content)


def contents(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", (".txt", "")),
        ("a.CSV.GZ", (".csv", ".gz")),
        ("a.xz", ("", ".xz")),
        ("a", ("", "")),
        ("/x.y/a.b.zip", (".b", ".zip")),
    ],
)
def test_suffixes(path: str, expected: tuple[str, str]) -> None:
    assert split_suffixes(path) == expected


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
def test_read_what_others_wrote_and_what_we_wrote(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed(suffix))
    assert contents(path) == CONTENT
    with write_bytes(path) as stream:
        stream.write(b"new")
    assert contents(path) == b"new"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("part", [0.5, 0.98, "garbage"])
def test_a_damaged_archive_is_refused(tmp_path: Path, suffix: str, part: float | str) -> None:
    path = tmp_path / f"a{suffix}"
    whole = packed(suffix, os.urandom(20_000))
    path.write_bytes(b"no archive at all" if part == "garbage" else whole[: int(len(whole) * float(part))])
    with pytest.raises(FormatError, match="expected a complete archive") as caught:
        contents(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_an_archive_of_which_a_byte_has_changed_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    whole = bytearray(packed(suffix, os.urandom(20_000)))
    whole[10_000] ^= 0xFF
    path.write_bytes(whole)
    with pytest.raises(FormatError, match="expected a complete archive"):
        contents(path)


def test_a_zip_of_one_file_and_any_folders(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    for names, n_files in ((["d/", "d/x"], 1), (["x", "y"], 2), (["d/"], 0)):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, "" if name.endswith("/") else "x")
        if n_files == 1:
            assert contents(path) == b"x"
        else:
            with pytest.raises(FormatError, match=f"expected an archive of one file, got {n_files} files"):
                contents(path)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"typed")))
    assert contents(Path("-")) == b"typed"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            contents(path)
    with pytest.raises(InputError, match="cannot be written"), write_bytes(tmp_path / "no" / "folder"):
        pass


def interrupted_write(path: Path) -> None:
    with write_bytes(path) as stream:
        stream.write(CONTENT)
        raise KeyboardInterrupt


@pytest.mark.parametrize("suffix", ["", *COMPRESSIONS])
def test_a_write_that_fails_leaves_everything_as_it_was(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == [path.name]


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    with write_bytes(tmp_path / "a") as stream:
        stream.write(b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "b").stat().st_mode)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        with write_bytes(tmp_path / f"{name}{suffix}") as stream:
            stream.write(CONTENT)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
