"""What tests of the report need of a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from scripts import headless


def missing(reason: str) -> NoReturn:
    """Skip loudly; in CI fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    warnings.warn(reason, UserWarning, stacklevel=2)
    pytest.skip(reason)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a driver of a fresh browser; without one skip loudly, in CI fail."""
    with headless.chromium() as driver:
        if driver is None:
            missing(f"{headless.NO_BROWSER}: the report is NOT tested in a browser")
        yield driver


def axe_findings(driver: Any) -> list[tuple[str, str, list[str]]]:
    """Return what axe-core finds in the page: impact, rule, elements. Without axe-core skip loudly, in CI fail."""
    axe = headless.axe_core()
    if axe is None:
        missing(f"{headless.NO_AXE}: accessibility is NOT tested")
    found = headless.violations(driver, axe)
    assert isinstance(found, list), found
    return [(one["impact"], one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def pdf_pages(document: bytes, folder: Path) -> list[str]:
    """Return the text of every page of a PDF, by pdftotext. Without it skip loudly, in CI fail."""
    reader = shutil.which("pdftotext")
    if reader is None:
        missing("no pdftotext here (poppler-utils): what is printed is NOT tested")
    (folder / "printed.pdf").write_bytes(document)
    subprocess.run([reader, "-layout", "-enc", "UTF-8", "printed.pdf", "printed.txt"], cwd=folder, check=True)
    return [page for page in (folder / "printed.txt").read_text("utf-8").split("\f") if page.strip()]
