"""The frame of the command line, with commands made for the purpose."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable

import pytest
import typer
from tests.cli import made_command

import argrank
from argrank import cli
from argrank._memory import max_memory
from argrank.errors import ArgrankWarning, FormatError, InputError


@pytest.fixture
def fail(monkeypatch) -> Callable[..., None]:
    """Register a command that raises what it is told to."""

    def register(error: BaseException | None = None, action: Callable[[], None] | None = None) -> None:
        def act() -> None:
            if error is not None:
                raise error
            if action is not None:
                action()

        monkeypatch.setattr(made_command, "ACTIONS", [act])
        monkeypatch.setattr(cli, "COMMANDS", {"made": made_command.__name__})

    return register


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def test_version(capsys):
    code, out, err = run(capsys, "--version")
    assert (code, err) == (0, "")
    assert out.startswith(f"argrank {argrank.__version__}\nPython 3.")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_help_lists_every_command(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert cli.HELP in out
    for command in cli.COMMANDS:
        assert command.split()[0] in out


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_a_help_text(capsys, command):
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert f"Usage: argrank {command}" in out


def test_help_of_train_lists_the_parameters_of_a_ranker_with_their_ranges(capsys):
    assert "Parameters of" not in run(capsys, "train", "--help")[1]
    code, out, err = run(capsys, "train", "-r", "rank-svm", "--help")
    assert (code, err) == (0, "")
    listed = out.partition("Parameters of rank-svm, for -p and --grid:\n")[2].splitlines()
    assert "    C=30.0: float, above 0" in listed
    assert '    loss=squared: "squared" or "hinge"' in listed
    assert len(listed) == len(argrank.make_ranker("rank-svm").get_params())
    assert run(capsys, "train", "--ranker", "rank-smv", "--help")[0] == 2


def test_unknown_command_and_option(capsys, fail):
    fail()
    code, out, err = run(capsys, "trian")
    assert (code, out) == (2, "")
    assert err.startswith("argrank: ")
    assert "'trian'" in err
    assert err.count("\n") == 1
    for wrong in ("--nonsense", "--number=many", "surplus"):
        code, out, err = run(capsys, "made", wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert wrong.partition("=")[0] in err


def test_success_is_code_0(capsys, fail):
    fail(action=lambda: typer.echo("done"))
    assert run(capsys, "made") == (0, "done\n", "")


def test_our_errors_are_one_plain_line(capsys, fail):
    fail(FormatError("a file.txt", 7, "a label", "'x'"))
    assert run(capsys, "made") == (2, "", "argrank: a file.txt:7: expected a label, got 'x'\n")
    fail(InputError("long " * 100 + "\n  second\tline"))
    code, out, err = run(capsys, "made")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith("long second line\n")


def test_errors_of_the_system_name_the_file(capsys, fail, tmp_path):
    missing = tmp_path / "missing.txt"
    fail(action=lambda: missing.read_text())
    assert run(capsys, "made") == (2, "", f"argrank: {missing}: No such file or directory\n")


def test_our_faults_ask_to_be_reported_and_keep_their_traceback_on_demand(capsys, fail, monkeypatch):
    fail(ZeroDivisionError("a fault of ours"))
    code, out, err = run(capsys, "made")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert err.startswith("argrank: internal error: ZeroDivisionError: a fault of ours; this is a bug in argrank")
    monkeypatch.setenv("ARGRANK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["made"])


def test_too_little_memory_is_one_plain_line(capsys, fail):
    fail(MemoryError("Unable to allocate 9 TiB"))
    code, out, err = run(capsys, "made")
    assert (code, out) == (2, "")
    assert (
        err == "argrank: out of memory: Unable to allocate 9 TiB; use sparse or float32 data, or a smaller part of it\n"
    )


def test_what_would_steer_a_terminal_is_escaped(capsys, fail):
    fail(InputError("qid \x1b[31mred\x1b[0m \x9b \u202e \ud800"))
    assert run(capsys, "made")[2] == "argrank: qid \\x1b[31mred\\x1b[0m \\x9b \\u202e \\ud800\n"


def test_a_full_disk_behind_standard_output_is_code_2():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "argrank", "--help"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (2, b"argrank: standard output: No space left on device\n")


def test_max_memory_is_an_option_of_every_command(capsys, fail, monkeypatch):
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "1GB")
    fail(action=lambda: typer.echo(max_memory()))
    assert run(capsys, "made", "--max-memory", "20kB") == (0, "20000\n", "")
    code, _, err = run(capsys, "made", "--max-memory", "much")
    assert (code, err) == (2, "argrank: max-memory: expected a size such as 500MB, 4GB or 50%, got 'much'\n")


def test_interruption_is_code_130(capsys, fail):
    fail(KeyboardInterrupt())
    assert run(capsys, "made") == (130, "", "argrank: interrupted\n")


def test_an_exit_code_of_a_command_is_kept(capsys, fail):
    fail(typer.Exit(3))
    assert run(capsys, "made") == (3, "", "")


def test_our_warnings_are_one_plain_line(capsys, fail):
    fail(action=lambda: warnings.warn("take\ncare", ArgrankWarning, stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run(capsys, "made") == (0, "", "argrank: warning: take care\n")


def test_a_reader_that_has_left_is_no_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "argrank", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()  # long before there is anything to read
    _, err = process.communicate(timeout=60)
    assert err == b""
    assert process.returncode == 1


def test_module_and_error_in_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "argrank", "nonsense"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("argrank: ")
    assert done.stderr.count("\n") == 1
