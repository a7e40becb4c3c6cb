"""What shells do to a command: pipes, process substitution, closed streams, Ctrl-C at any moment, links and modes."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import argrank as ar
from argrank import cli
from argrank._tables import table, to_text
from argrank.data.io.scores import write_scores

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
ARGRANK = f"{sys.executable} -m argrank"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(12, 6, 3, random_state=0)
    for name in ("tr.txt", "tr.csv", "tr.parquet"):
        ar.dump(data, name)
    ranker = ar.make_ranker("regression").fit(data)
    ranker.save("model.json")
    write_scores(ranker.predict(data), "s.txt")
    return tmp_path


def means() -> str:
    """Return what ``evaluate tr.txt s.txt -q`` prints."""
    found = ar.evaluate(Path("s.txt"), ar.load("tr.txt"), ["ndcg@10", "map", "mrr@10"])
    return "".join(f"{name}\t{mean!r}\n" for name, mean in found.means.items())


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run ``argrank`` followed by the rest of a line of bash; ARGRANK in the line stands for it."""
    line = command if "ARGRANK" in command else f"ARGRANK {command}"
    return subprocess.run(
        ["bash", "-c", line.replace("ARGRANK", ARGRANK)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("file", ["tr.txt", "tr.csv", "tr.parquet"])
def test_a_named_pipe_is_read_once(place: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = Path(f"pipe{Path(file).suffix}")
    os.mkfifo(pipe)
    content = Path(file).read_bytes()
    writer = threading.Thread(target=lambda: pipe.write_bytes(content), daemon=True)
    writer.start()
    assert ar.load(pipe).fingerprint == ar.load(file).fingerprint
    writer.join(10)
    found = shell(f"(cat {file} > {pipe} &); ARGRANK evaluate {pipe} s.txt -q")
    assert (found.returncode, found.stdout) == (0, means())


@pytest.mark.parametrize(
    "line",
    [
        "evaluate <(cat tr.txt) <(cat s.txt) -q",
        "cat s.txt | ARGRANK evaluate tr.txt - -q",
        "ARGRANK evaluate tr.txt /dev/stdin -q < s.txt",
        "cat tr.txt | ARGRANK evaluate /dev/stdin s.txt -q",
        "cat tr.txt | ARGRANK predict model.json - | ARGRANK evaluate tr.txt - -q",
        "cat tr.txt | ARGRANK pack - -o a.pack 2> /dev/null && ARGRANK evaluate a.pack s.txt -q",
    ],
)
def test_what_comes_through_a_pipe_is_what_a_file_holds(place: Path, line: str) -> None:
    found = shell(line)
    assert (found.returncode, found.stdout, found.stderr) == (0, means(), "")


def test_a_pipe_that_is_a_zip_archive(place: Path) -> None:
    os.mkfifo("pipe.txt.zip")
    found = shell(
        f"{sys.executable} -c \"import zipfile; zipfile.ZipFile('a.zip', 'w').write('tr.txt')\"; "
        "(cat a.zip > pipe.txt.zip &); ARGRANK evaluate pipe.txt.zip s.txt -q"
    )
    assert (found.returncode, found.stdout) == (0, means())


def test_an_endless_device_is_refused(place: Path) -> None:
    found = shell("inspect /dev/zero --max-memory 100MB")
    assert (found.returncode, found.stderr.count("\n")) == (2, 1)


def test_a_stream_is_read_anew_by_the_next_call(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n_queries in (3, 5):
        ar.dump(ar.make_ranking(n_queries, 4, 2, random_state=0), "a.txt")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("a.txt").read_bytes())))
        assert ar.load("-").n_queries == n_queries


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("predict model.json tr.txt >&-", 2, "argrank: standard output: Bad file descriptor\n"),
        ("predict model.json nothing.txt >&- 2>&-", 2, ""),
        ("predict model.json - <&-", 2, "argrank: -: expected data in standard input, which is closed\n"),
        ("train tr.txt -r mart -p n_trees=2 -q -o new.json >&- 2>&- <&-", 2, ""),  # it prints the means
        ("predict model.json tr.txt -o new.txt >&- 2>&- <&-", 0, ""),
        ("predict model.json tr.txt > /dev/full", 2, "argrank: standard output: No space left on device\n"),
    ],
)
def test_closed_streams(place: Path, line: str, code: int, told: str) -> None:
    found = shell(line)
    assert (found.returncode, found.stderr) == (code, told)
    if "new.json" in line:  # and nothing else was written into the first file that was opened
        assert ar.load_model("new.json").n_features == 3
    if "new.txt" in line:
        assert Path("new.txt").read_text() == Path("s.txt").read_text()


@pytest.mark.parametrize("moment", [0.05, 0.5])
def test_ctrl_c_while_modules_are_loaded(place: Path, moment: float) -> None:
    code = "import time; begin = time.monotonic(); import argrank.__main__ as a; print(flush=True); a.main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "inspect", "tr.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()  # Python itself is up
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    ended = ((130, "argrank: interrupted\n"), (0, ""), (-signal.SIGINT, ""))  # the last after all work is done
    assert (process.returncode, complaint) in ended


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_what_is_replaced_keeps_its_mode(place: Path, mode: int) -> None:
    Path("model.json").chmod(mode)
    ar.load_model("model.json").save("model.json")
    assert stat.S_IMODE(Path("model.json").stat().st_mode) == mode
    data = ar.load("tr.txt")
    ar.pack(data, "a.pack")
    Path("a.pack").chmod(mode | 0o100)
    ar.pack(data, "a.pack")
    assert stat.S_IMODE(Path("a.pack").stat().st_mode) == mode | 0o100


@pytest.mark.parametrize(
    "command",
    [
        "train no.txt -o NAME",
        "cv no.txt --save NAME",
        "cv no.txt --report NAME",
        "cv no.txt -o NAME",
        "tune no.qrels a.run b.run -o NAME",
        "tune no.qrels a.run b.run --plot NAME",
        "report no.txt -o NAME",
        "predict no.json no.txt -o NAME",
        "evaluate no.txt s.txt --per-query NAME",
        "compare no.txt s.txt -o NAME",
        "judges no.qrels no2.qrels -o NAME",
        "judges no.qrels no2.qrels --again NAME",
        "clicks propensities no.csv -o NAME",
        "clicks judge no.csv -o NAME",
        "clicks simulate no.txt s.txt -o NAME",
        "clicks interleave a.run b.run -o NAME",
    ],
)
def test_a_file_that_cannot_be_written_is_found_before_the_work(
    place: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = sorted(os.listdir())
    Path("folder.csv").mkdir()
    for name, why in (("no/such/a.csv", "No such file or directory"), ("folder.csv", "Is a directory")):
        with pytest.raises(SystemExit) as ended:
            cli.main(command.replace("NAME", name).split())
        assert ended.value.code == 2
        assert capsys.readouterr().err == f"argrank: {name}: cannot be written: {why}\n"
    assert sorted(os.listdir()) == [*sorted([*there, "folder.csv"])]


def test_a_table_from_a_pipe_is_told_apart_from_letor_text(place: Path) -> None:
    hint = "a table needs a name that ends with .csv, .tsv, .parquet or .arrow"
    ended = shell("inspect - < tr.csv")
    assert ended.stderr == f"argrank: -: expected qid:ID in every row, got rows without qid; {hint}\n"
    assert ended.returncode == 2


def test_standard_output_is_a_file_to_write(place: Path) -> None:
    direct = shell("predict model.json tr.txt --scores").stdout
    assert shell("predict model.json tr.txt --scores -o /dev/stdout").stdout == direct
    assert shell("predict model.json tr.txt --scores -o /dev/stdout > out.txt && cat out.txt").stdout == direct
    assert shell("predict model.json tr.txt --scores -o >(cat; echo end)").stdout == f"{direct}end\n"


def test_links_in_a_circle_are_no_place_to_write(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").symlink_to("b")
    Path("b").symlink_to("a")
    for command in (["predict", "model.json", "tr.txt", "-o", "a"], ["pack", "tr.txt", "-o", "a"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(command)
        assert ended.value.code == 2
        assert capsys.readouterr().err == "argrank: a: cannot be written: Too many levels of symbolic links\n"
    assert Path("a").is_symlink()


def test_controls_of_direction_are_escaped_in_tables_as_in_errors() -> None:
    for character in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        shown = ascii(character)[1:-1]
        for text in (to_text([table(("", "a"), [(f"x{character}y", "1")])]), str(ar.errors.InputError(character))):
            assert shown in text
            assert character not in text
