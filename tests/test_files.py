from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import argrank as ar
from argrank import _files
from argrank._files import COMPRESSIONS, make_folder, open_bytes, read_all, split_suffixes, write_bytes
from argrank.errors import FormatError, InputError, ModelError
from argrank.trials.schema import read_toml

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


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with write_bytes(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "later")
    with write_bytes(dangling) as stream:
        stream.write(b"new")
    assert dangling.is_symlink()
    assert (tmp_path / "later").read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    with write_bytes(pipe) as stream:
        stream.write(b"through")
    reader.join(10)
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_devices_stay_devices(tmp_path: Path) -> None:
    link = tmp_path / "null"  # were it replaced, only the link would be lost
    link.symlink_to(os.devnull)
    with write_bytes(link) as stream:
        stream.write(b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert link.is_symlink()
    with (
        pytest.raises(InputError, match="/dev/full: cannot be written: No space left"),
        write_bytes("/dev/full") as stream,
    ):
        stream.write(b"x")


def test_a_full_disk_is_named_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"/a: cannot be written: No space"), write_bytes(tmp_path / "a") as stream:
        stream.write(b"x")
    assert os.listdir(tmp_path) == []


def test_file_and_folder_are_synced_before_and_after_the_name_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def note_sync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def note_replace(*names: str) -> None:
        done.append("name")
        replace(*names)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_replace)
    with write_bytes(tmp_path / "a.gz") as stream:
        stream.write(b"x")
    assert done == ["file", "name", "folder"]


def test_leftovers_of_dead_processes_are_removed_and_those_of_living_ones_kept(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = _files._host()
    gone, living = (tmp_path / f".a.{host}.{number}.x.part" for number in (dead.pid, os.getppid()))
    elsewhere, other = tmp_path / f".a.{host}-2.{dead.pid}.x.part", tmp_path / f".b.{host}.{dead.pid}.x.part"
    for path in (gone, living, elsewhere, other):
        path.write_bytes(b"x")
    with write_bytes(tmp_path / "a") as stream:
        stream.write(b"x")
    assert set(tmp_path.iterdir()) == {tmp_path / "a", living, elsewhere, other}


def test_a_killed_write_leaves_the_old_file_and_the_next_one_tidies_up(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    code = (
        "import os, signal\nfrom argrank._files import write_bytes\n"
        "with write_bytes('a') as stream:\n stream.write(b'x' * 10**6); stream.flush(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert len(os.listdir(tmp_path)) == 2
    with write_bytes(tmp_path / "a") as stream:
        stream.write(b"new")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_an_archive_of_an_enormous_text_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(packed(suffix, b"1 qid:1 1:1\n" * 200_000))
    monkeypatch.setattr(_files, "PIECE", 1 << 16)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "1MB")
    with open_bytes(path) as stream, pytest.raises(InputError, match=r"expected at most 1.0 MB of memory, got"):
        read_all(stream, str(path))


def test_zips_with_damaged_tables_of_contents(tmp_path: Path) -> None:
    whole = packed(".zip", b"text\n")
    path = tmp_path / "a.zip"
    for place in range(len(whole)):
        for byte in (0x00, 0xFF, whole[place] ^ 0x01, whole[place] ^ 0x80):
            path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
            with contextlib.suppress(FormatError):
                contents(path)


def test_names_with_a_nul_byte(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="NUL"):
        contents(tmp_path / "a\0b")
    with pytest.raises(InputError, match="cannot be written"), write_bytes(tmp_path / "a\0b"):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_what_may_never_end_is_no_model(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ModelError, match="expected a file, got a pipe or a device"):
        ar.import_model(pipe)
    with pytest.raises(InputError, match="pipe: expected a file, got a pipe or a device"):
        read_toml(pipe)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file.inside: cannot be created: "):
        make_folder(tmp_path / "file" / "inside")
    assert make_folder(tmp_path / "new" / "inside").is_dir()
    assert make_folder(tmp_path / "new" / "inside") == tmp_path / "new" / "inside"
