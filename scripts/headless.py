"""A headless Chromium, and axe-core in it: Debian's own browser, found on the path, never downloaded."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NO_BROWSER = "no chromium with chromedriver here"
NO_AXE = "no axe-core here (npm install --prefix .venv axe-core)"
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
def chromium() -> Iterator[Any]:
    """Yield a driver of a fresh browser that keeps what pages log, or None where there is no browser."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        yield None
        return
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            yield found
        finally:
            found.quit()


def set_size(driver: Any, width: int, height: int, *, scale: int = 1, mobile: bool = False) -> None:
    """Give the page the size of a screen."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def axe_core() -> str | None:
    """Return the source of axe-core, or None where it is not installed."""
    places = [folder / "node_modules" / "axe-core" / "axe.min.js" for folder in (ROOT / ".venv", ROOT)]
    found = next((path for path in places if path.exists()), None)
    return None if found is None else found.read_text("utf-8")


STILL = """
const still = document.createElement("style");
still.textContent = "*, *::before, *::after { transition: none !important; animation: none !important }";
document.head.append(still);
document.body.getBoundingClientRect();
"""


def violations(driver: Any, axe: str) -> Any:
    """Return what axe-core finds in the page: a list, or a text where it fails. Transitions are switched off."""
    driver.execute_script(STILL)
    driver.execute_script(axe)
    run = "const done = arguments[0]; axe.run().then((found) => done(found.violations)).catch((e) => done(String(e)))"
    return driver.execute_async_script(run)
