"""A headless Chromium for tests: Debian's own, found on the path, never downloaded."""

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

ROOT = Path(__file__).resolve().parent.parent.parent

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,1000",
)


def missing(reason: str) -> NoReturn:
    """Skip loudly; in CI fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    warnings.warn(reason, UserWarning, stacklevel=2)
    pytest.skip(reason)


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Yield a driver of a fresh browser; without one skip loudly, in CI fail."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        missing("no chromium with chromedriver here: the report is NOT tested in a browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield found
    finally:
        found.quit()


def axe_findings(driver: Any) -> list[tuple[str, str, list[str]]]:
    """Return what axe-core finds in the page: impact, rule, elements. Without axe-core skip loudly, in CI fail."""
    found = [folder / "node_modules" / "axe-core" / "axe.min.js" for folder in (ROOT / ".venv", ROOT)]
    script = next((path for path in found if path.exists()), None)
    if script is None:
        missing("no axe-core here (npm install --prefix .venv axe-core): accessibility is NOT tested")
    driver.execute_script(script.read_text("utf-8"))
    run = "const done = arguments[0]; axe.run().then((found) => done(found.violations)).catch((e) => done(String(e)))"
    violations = driver.execute_async_script(run)
    assert isinstance(violations, list), violations
    return [(one["impact"], one["id"], [node["html"] for node in one["nodes"]]) for one in violations]


def pdf_pages(document: bytes, folder: Path) -> list[str]:
    """Return the text of every page of a PDF, by pdftotext. Without it skip loudly, in CI fail."""
    reader = shutil.which("pdftotext")
    if reader is None:
        missing("no pdftotext here (poppler-utils): what is printed is NOT tested")
    (folder / "printed.pdf").write_bytes(document)
    subprocess.run([reader, "-layout", "-enc", "UTF-8", "printed.pdf", "printed.txt"], cwd=folder, check=True)
    return [page for page in (folder / "printed.txt").read_text("utf-8").split("\f") if page.strip()]
