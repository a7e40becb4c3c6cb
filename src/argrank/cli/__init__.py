"""The command line: one file per command, without logic of its own."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect as signatures  # the command of that name would hide the module
import itertools
import logging
import os
import platform
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import typer

from argrank._memory import VARIABLE, parse_memory
from argrank._once import reading_once
from argrank._registry import imported
from argrank._version import __version__
from argrank.cli._signals import listening
from argrank.cli.options import declared, option
from argrank.errors import ArgrankError, printable

#: The commands, in the order of --help: name -> module below argrank.cli with a function ``run``. The first of two
#: words is a group of commands, whose help is the docstring of its folder. This is not a Registry: other packages
#: cannot add commands, and typer itself suggests names for a misspelt one.
COMMANDS = {
    "demo": ".demo",
    "inspect": ".inspect",
    "train": ".train",
    "predict": ".predict",
    "explain": ".explain",
    "evaluate": ".evaluate",
    "compare": ".compare",
    "judges": ".judges",
    "cv": ".cv",
    "tune": ".tune",
    "experiment": ".experiment",
    "report": ".report",
    "convert": ".convert",
    "pack": ".pack",
    "export": ".export",
    "import": ".import_",
    "verify": ".verify",
    "clicks inspect": ".clicks.inspect",
    "clicks propensities": ".clicks.propensities",
    "clicks judge": ".clicks.judge",
    "clicks simulate": ".clicks.simulate",
    "clicks interleave": ".clicks.interleave",
    "clicks preference": ".clicks.preference",
    "compile": ".compile",
    "ranklib": ".ranklib",
}

#: Commands whose options are parsed differently: RankLib's flags have one dash and many letters.
SETTINGS = {"ranklib": {"ignore_unknown_options": True}}

#: What the exit codes mean; 0 is success.
CHECK_FAILED, BAD_INPUT, INTERRUPTED_KEPT, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 130
SELECTING = "argrank-select"  # prefix of the names of threads that fit the points of a grid
MOMENT = 1.0  # seconds
DEBUG = "ARGRANK_DEBUG"  # an environment variable that lets an internal error show its traceback

#: Options whose value may be omitted, which typer does not support.
SPELLED_OUT = {"--strict": "--strict=order"}

#: Packages that results may depend on, for --version; the last ones are extras.
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pyarrow", "narwhals", "lightgbm", "pandas", "onnx", "torch")

HELP = "Learning to rank that optimises the measure you report."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; any error is one plain line on standard error.

    Exit codes: 0 done, 1 a check failed (or the reader of our output was closed), 2 bad input or a full disk, 3
    interrupted with partial work saved, 4 an internal error of argrank, 130 interrupted with nothing saved.
    """
    _open_closed_streams()
    gc.set_threshold(100_000)  # importing modules leaves no garbage: saves 0.1 s in every command
    try:
        with reading_once(), listening(), warnings.catch_warnings():
            warnings.showwarning = _show_warning
            given = sys.argv[1:] if arguments is None else arguments
            spelled = [SPELLED_OUT.get(one, one) for one in given]
            code = _app(parameters_text(spelled))(args=spelled, prog_name="argrank", standalone_mode=False)
    except typer.Exit as finished:
        code = finished.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output was closed: `argrank … | head`
        _silence()
        code = CHECK_FAILED
    except (ArgrankError, OSError, typer.TyperException) as error:
        code = BAD_INPUT
        _complain(_text(error))
    except MemoryError as error:
        code = BAD_INPUT
        _complain(f"out of memory: {error}".rstrip(": ") + "; use sparse or float32 data, or a smaller part of it")
    except UnicodeEncodeError as error:
        code = BAD_INPUT
        _complain(f"expected text that {error.encoding} can hold, got {error.object[error.start : error.end]!a}")
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        code = INTERNAL
        _complain(
            f"internal error: {type(error).__name__}: {error}; this is a bug in argrank, please report it with the "
            f"command and the traceback that {DEBUG}=1 shows"
        )
    finally:
        logger = logging.getLogger("argrank")
        logger.disabled = False
        logger.handlers.clear()  # the handler must not outlive the command's standard error
    if code == INTERRUPTED:  # typer silently turns Ctrl-C into this code
        _complain("interrupted")
    code = _flushed(code if isinstance(code, int) else 0)
    if code in (INTERRUPTED, INTERRUPTED_KEPT) and _is_busy():
        os._exit(code)  # exit at once: Python would wait for fits that nobody needs; files are written atomically
    sys.exit(code)


def _is_busy() -> bool:
    """Tell whether fits of a grid still run after a moment."""
    fitting = [one for one in threading.enumerate() if one.name.startswith(SELECTING)]
    for one in fitting:
        one.join(MOMENT / len(fitting))
    return any(one.is_alive() for one in fitting)


def _flushed(code: int) -> int:
    """Flush our output while an error can still be reported; return the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
        return code or CHECK_FAILED
    except OSError as error:  # a full disk behind `> file`
        if not code:  # else it has been reported
            _complain(f"standard output: {error.strerror}")
        _silence()
        return code or BAD_INPUT
    return code


def _open_closed_streams() -> None:
    """Open standard streams that were closed (``>&-``), so that the next file does not get their number.

    Writing to a closed standard output is an error; messages to a closed standard error are discarded.
    """
    for number, name, kind in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                os.fstat(number)
                continue  # now belongs to another file
            os.open(os.devnull, kind)  # gets the lowest number that is free
            if number > 0:
                setattr(sys, name, os.fdopen(number, "w"))


def _silence() -> None:
    """Discard what Python flushes at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _app(epilog: str | None = None) -> typer.Typer:
    app = typer.Typer(help=HELP, rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.callback(invoke_without_command=True)
    def common(context: typer.Context, version: bool = option("--version", False, "Print versions and exit.")) -> None:
        if version:
            typer.echo(versions())
        elif context.invoked_subcommand is None:
            typer.echo(context.get_help())

    groups = {"": app}
    for words, home in COMMANDS.items():
        group, _, name = words.rpartition(" ")
        if group not in groups:
            package = imported(home.rpartition(".")[0], "argrank.cli")
            groups[group] = typer.Typer(help=package.__doc__, rich_markup_mode=None, invoke_without_command=True)
            groups[group].callback()(_help)
            app.add_typer(groups[group], name=group)
        run = imported(home, "argrank.cli").run
        # a backspace before a paragraph keeps its lines as they are
        text = signatures.cleandoc(run.__doc__ or "").replace("\nFor example:\n", "\n\b\nFor example:\n")
        command = groups[group].command(name, help=text, epilog=epilog, context_settings=SETTINGS.get(words))
        command(_with_common(run))
    return app


def _help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


MEMORY = option("--max-memory SIZE", None, "Memory limit for the data: 4GB, or 50% (default 80%).")
QUIET = option("--quiet -q", False, "Write only errors to standard error.")


def _with_common(run: Callable[..., None]) -> Callable[..., None]:
    """Add the options that all commands have: --max-memory, and -q if the command does not define it itself."""
    common: dict[str, tuple[Any, Any]] = {"max_memory": (str | None, MEMORY)}
    if "quiet" not in signatures.signature(run).parameters:
        common["quiet"] = (bool, QUIET)

    @functools.wraps(run)
    def command(max_memory: str | None = None, **options: Any) -> None:
        if max_memory is not None:
            parse_memory(max_memory)
            os.environ[VARIABLE] = max_memory
        if options.get("quiet"):  # cron mails anything written to standard error
            warnings.simplefilter("ignore")
            logging.getLogger("argrank").disabled = True
        run(**{name: one for name, one in options.items() if name not in common})

    return declared(command, run, common)


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.strerror is not None:
        return f"standard output: {error.strerror}"
    return error.format_message() if isinstance(error, typer.TyperException) else str(error)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _complain(f"warning: {message}")


def _complain(message: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error is closed
        sys.stderr.write(f"argrank: {printable(' '.join(message.split()))}\n")  # one line, never wrapped


def parameters_text(arguments: Sequence[str]) -> str | None:
    """Return the parameters of the ranker given with ``-r``, with types, ranges and defaults."""
    named = [after for flag, after in itertools.pairwise(arguments) if flag in ("-r", "--ranker")]
    if "train" not in arguments[:1] or "--help" not in arguments or not named:
        return None
    from argrank._declared import parameters_of
    from argrank.rankers import make_ranker

    ranker = make_ranker(named[-1])
    kind: type = type(ranker)
    known = parameters_of(kind)
    lines = [f"Parameters of {named[-1]}, for -p and --grid:"]
    for name, default in ranker.get_params(deep=False).items():
        head = known[name].head if name in known else ""
        lines.append(f"  {name}={default}{f': {head}' if head else ''}")
    return "\b\n" + "\n".join(lines)  # a backspace keeps the lines of a paragraph as they are


def versions() -> str:
    """Return a line for argrank, then Python and the platform, then the packages; nothing is imported."""
    found = [f"argrank {__version__}", f"Python {platform.python_version()}, {platform.platform()}"]
    return "\n".join([*found, ", ".join(f"{name} {_version(name)}" for name in PACKAGES)])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
