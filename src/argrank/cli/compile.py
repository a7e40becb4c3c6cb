"""``argrank compile``: compile all kernels now, so that no later command has to wait for them."""

from __future__ import annotations

import importlib
import pkgutil
import time

import typer

from argrank.cli import options

PACKAGES = ("data", "measures", "evaluation", "objectives", "linesearch", "models", "engines", "solvers", "rankers")


def run(quiet: bool = options.QUIET) -> None:
    """Compile every kernel now, for instance in an image or after an upgrade; they are cached on disk.

    For example:
      argrank compile
    """
    from argrank._jit import declared_kernels

    start = time.perf_counter()
    for package in PACKAGES:
        home = importlib.import_module(f"argrank.{package}")
        for module in pkgutil.walk_packages(home.__path__, f"argrank.{package}."):
            importlib.import_module(module.name)
    kernels = declared_kernels()
    for kernel in kernels:
        _ = kernel.compiled
    if not quiet:
        typer.echo(f"{len(kernels)} kernels compiled in {time.perf_counter() - start:.0f} s.")
