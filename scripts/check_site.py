"""Check the built site: links lead somewhere, nothing is fetched at view time, no page is wider than a phone.

``python scripts/check_site.py site``; ``make docs`` does it. The widths need chromium with chromedriver: without them
they are not checked, which is said; in CI that is an error.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PHONE = 390  # pixels
RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
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
)


class Page(HTMLParser):
    """What a page links to, what it loads, and which places in it can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.resources: set[str] = set()
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and ids of one element."""
        found = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and found.get("href"):
            self.links.add(str(found["href"]))
        address = found.get(RESOURCES.get(tag, ""))
        if address and not (tag == "link" and found.get("rel") in ("canonical", "search", "index", "next", "prev")):
            self.resources.add(address)


def pages_of(site: Path) -> list[Path]:
    """Return the pages; what themes keep among their files is none."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def check(site: Path) -> Iterator[str]:
    """Yield what is wrong, page by page."""
    pages = {path: Page(path) for path in pages_of(site)}
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in sorted(page.resources):
            if urlsplit(address).netloc:
                yield f"{name}: fetches {address}"
            elif not address.startswith("data:") and not (path.parent / unquote(urlsplit(address).path)).exists():
                yield f"{name}: misses {address}"
        for address in sorted(page.links):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                yield f"{name}: links to {address}, which does not exist"
            elif parts.fragment and target.suffix == ".html":
                known = next((one for other, one in pages.items() if other.resolve() == target), None)
                if known is not None and unquote(parts.fragment) not in known.places:
                    yield f"{name}: links to {address}, which has no such place"


def too_wide(site: Path) -> Iterator[str]:
    """Yield the pages that are wider than a phone, in a browser."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        reason = "no chromium with chromedriver here: the widths of pages are NOT checked"
        if os.environ.get("CI") == "true":
            yield reason
        else:
            print(reason, file=sys.stderr)
        return
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        try:
            size = {"width": PHONE, "height": 844, "deviceScaleFactor": 1, "mobile": True}
            found.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            for path in pages_of(site):
                found.get(path.resolve().as_uri())
                width = found.execute_script("return document.documentElement.scrollWidth")
                if width > PHONE:
                    yield f"{path.relative_to(site)}: {width} pixels wide on a phone of {PHONE}"
        finally:
            found.quit()


def main() -> None:
    """Check, say what is wrong, and end with 1 if there is something."""
    site = Path(sys.argv[1])
    wrong = [*check(site), *too_wide(site)]
    for one in wrong:
        print(one, file=sys.stderr)
    print(f"{len(pages_of(site))} pages: {len(wrong) or 'no'} {'mistake' if len(wrong) == 1 else 'mistakes'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
