"""A headless Chromium for tests: Debian's own, found on the path, never downloaded."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """Yield a driver of a fresh browser; without one skip loudly, in CI fail."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        reason = "no chromium with chromedriver here: the report is NOT tested in a browser"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        warnings.warn(reason, UserWarning, stacklevel=1)
        pytest.skip(reason)
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
        reason = "no axe-core here (npm install --prefix .venv axe-core): accessibility is NOT tested"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        warnings.warn(reason, UserWarning, stacklevel=1)
        pytest.skip(reason)
    driver.execute_script(script.read_text("utf-8"))
    run = "const done = arguments[0]; axe.run().then((found) => done(found.violations)).catch((e) => done(String(e)))"
    violations = driver.execute_async_script(run)
    assert isinstance(violations, list), violations
    return [(one["impact"], one["id"], [node["html"] for node in one["nodes"]]) for one in violations]
