"""Check the built site: links lead somewhere, nothing is fetched, no page is wider than a phone, axe-core passes.

``python scripts/check_site.py site``; ``make docs`` does it. Widths and accessibility need chromium with chromedriver,
and axe-core. Without them these checks are skipped with a message; in CI that is an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from headless import NO_AXE, NO_BROWSER, axe_core, chromium, set_size, violations

PHONE, DESK = 390, 1280  # pixels
#: One page of each kind, which axe-core looks at.
KINDS = (
    "index.html",
    "getting-started.html",
    "guide/data.html",
    "guide/peers.html",
    "results.html",
    "generated/results-kdd2008.html",
    "theory/mistakes.html",
    "gallery/index.html",
    "gallery/05_compare_two_systems.html",
    "generated/rankers/lambda-mart.html",
    "generated/measures/nDCG.html",
    "search.html",
)
CLAIMS = ("results.html", *(f"generated/results-{name}.html" for name in ("kdd2008", "orm", "directrank", "logrank")))
LONG_CELLS = """
const claims = [...document.querySelectorAll("table")].filter((table) => /verdict/.test(table.tHead?.textContent));
return claims.flatMap((table) => [...table.querySelectorAll("td")]).filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect().height > 8.3 * parseFloat(getComputedStyle(cell).lineHeight);
}).map((cell) => cell.textContent);
"""
RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}


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
    """Return the pages, without those among the files of themes."""
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
                if parts.scheme != "https" or "." not in parts.netloc or " " in address:
                    yield f"{name}: links to {address}, which is no address of another site"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                yield f"{name}: links to {address}, which does not exist"
            elif parts.fragment and target.suffix == ".html":
                known = next((one for other, one in pages.items() if other.resolve() == target), None)
                if known is not None and unquote(parts.fragment) not in known.places:
                    yield f"{name}: links to {address}, which has no such place"


def in_browser(site: Path) -> Iterator[str]:
    """Yield what is wrong with the pages as a browser shows them."""
    with chromium() as driver:
        if driver is None:
            yield from unchecked(f"{NO_BROWSER}: widths and accessibility of pages are NOT checked")
            return
        yield from too_wide(driver, site)
        yield from too_tall(driver, site)
        axe = axe_core()
        if axe is None:
            yield from unchecked(f"{NO_AXE}: accessibility is NOT checked")
            return
        yield from inaccessible(driver, site, axe)


def unchecked(reason: str) -> Iterator[str]:
    """Print a clear message about what is not checked; in CI that counts as a mistake."""
    if os.environ.get("CI") == "true":
        yield reason
    else:
        print(f"\n*** {reason} ***\n", file=sys.stderr)


def show(driver: Any, path: Path) -> None:
    """Open a page and unfold what is folded in its text."""
    driver.get(path.resolve().as_uri())
    driver.execute_script('for (const one of document.querySelectorAll("article details")) one.open = true')


def too_wide(driver: Any, site: Path) -> Iterator[str]:
    """Yield the pages that are wider than a phone."""
    set_size(driver, PHONE, 844, mobile=True)
    for path in pages_of(site):
        show(driver, path)
        width = driver.execute_script("return document.documentElement.scrollWidth")
        if width > PHONE:
            yield f"{path.relative_to(site)}: {width} pixels wide on a phone of {PHONE}"


def inaccessible(driver: Any, site: Path, axe: str) -> Iterator[str]:
    """Yield what axe-core finds serious or critical in one page of each kind, light and dark, wide and narrow."""
    for scheme, width in (("light", DESK), ("dark", DESK), ("light", PHONE)):
        set_size(driver, width, 900, mobile=width == PHONE)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        for name in KINDS:
            show(driver, site / name)
            found = violations(driver, axe)
            if not isinstance(found, list):
                yield f"{name}: axe-core failed: {found}"
                continue
            for one in found:
                if one["impact"] in ("serious", "critical"):
                    times, first = len(one["nodes"]), one["nodes"][0]["html"][:160]
                    yield f"{name}, {scheme}, {width} pixels wide: {one['id']}, {times} times, such as {first}"


def too_tall(driver: Any, site: Path) -> Iterator[str]:
    """Yield the cells of the tables of claims that take more than eight lines on a desktop screen."""
    set_size(driver, DESK, 900)
    for name in CLAIMS:
        show(driver, site / name)
        for text in driver.execute_script(LONG_CELLS):
            yield f"{name}: a cell of more than eight lines: {text}"


def main() -> None:
    """Check, print what is wrong, and exit with 1 if anything is."""
    site = Path(sys.argv[1])
    wrong = [*check(site), *in_browser(site)]
    for one in wrong:
        print(one, file=sys.stderr)
    print(f"{len(pages_of(site))} pages: {len(wrong) or 'no'} {'mistake' if len(wrong) == 1 else 'mistakes'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
