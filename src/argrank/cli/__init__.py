"""The command line: one file per command, no logic here or there."""

from __future__ import annotations

import gc
import importlib
import keyword
import logging
import sys
import warnings
from collections.abc import Sequence
from inspect import cleandoc  # by name: the command of that name would hide the module
from typing import cast

import typer

from argrank._version import __version__
from argrank.cli._options import with_columns
from argrank.errors import ArgrankError

#: The commands, in the order that --help shows them; each is a module here with a function ``run``.
COMMANDS: tuple[str, ...] = (
    "demo",
    "inspect",
    "train",
    "predict",
    "evaluate",
    "compare",
    "cv",
    "tune",
    "experiment",
    "report",
    "convert",
    "export",
    "import",
    "verify",
    "compile",
    "ranklib",
)

#: Commands that read tables, and therefore have options for their columns.
READING: tuple[str, ...] = (
    "inspect", "train", "predict", "evaluate", "compare", "cv", "tune", "report", "convert", "pack", "export",
)  # fmt: skip

INTERRUPTED = 130

HELP = "Learning to rank that optimises the measure you report."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Mistakes of the user end in one plain line on standard error and exit code 2."""
    gc.set_threshold(100_000)  # loading modules leaves no garbage to look for: 0.1 s of every command
    # ClickException, which typer carries but does not export
    usage_error = cast(type[Exception], typer.BadParameter.__mro__[2])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = _app()(args=arguments, prog_name="argrank", standalone_mode=False)
    except typer.Exit as finished:
        code = finished.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left: `argrank … | head`
        sys.stderr.close()
        code = 1
    except (ArgrankError, OSError, usage_error) as error:
        code = 2
        _complain(_text(error))
    finally:
        logging.getLogger("argrank").handlers.clear()  # a command's handler must not outlive its standard error
    if code == INTERRUPTED:  # typer turns Ctrl-C into this code without a word
        _complain("interrupted")
    sys.exit(code if isinstance(code, int) else 0)


def _app() -> typer.Typer:
    app = typer.Typer(help=HELP, rich_markup_mode=None, pretty_exceptions_enable=False)

    @app.callback(invoke_without_command=True)
    def common(
        context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and exit.")
    ) -> None:
        if version:
            typer.echo(f"argrank {__version__}")
        elif context.invoked_subcommand is None:
            typer.echo(context.get_help())

    for name in COMMANDS:
        module = importlib.import_module(f"argrank.cli.{name}{'_' if keyword.iskeyword(name) else ''}")
        run = with_columns(module.run) if name in READING else module.run
        # a backspace before a paragraph keeps its lines as they are
        text = cleandoc(run.__doc__ or "").replace("\nFor example:\n", "\n\b\nFor example:\n")
        app.command(name, help=text, context_settings=getattr(module, "SETTINGS", None))(run)
    return app


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    message = getattr(error, "format_message", error.__str__)
    return str(message())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    _complain(f"warning: {message}")


def _complain(message: str) -> None:
    sys.stderr.write(f"argrank: {' '.join(message.split())}\n")  # one line, never wrapped
