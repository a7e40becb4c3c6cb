"""Draw the picture of the report on the home page and in the README, light and dark: docs/_static/report*.png.

``python scripts/make_picture.py``, where chromium with chromedriver is installed; some minutes. The report itself is
left in build/picture.html.
"""

from __future__ import annotations

import base64
import io
import sys

from headless import NO_BROWSER, ROOT, chromium, set_size
from PIL import Image

import argrank as ar

SIZE = (1200, 700)  # pixels of the screen
RANKERS = ["regression", "rank-svm", "listnet", "lambda-mart", "mart"]


def main() -> None:
    """Train, write the report, and photograph its first screen."""
    found = ar.benchmark(ar.load_bundled(), ["ndcg@10", "map", "mrr@10"], RANKERS)
    (ROOT / "build").mkdir(exist_ok=True)
    page = ar.write_report(ROOT / "build" / "picture.html", found, title="Shop search", baseline="bm25_title")
    with chromium() as driver:
        if driver is None:
            sys.exit(NO_BROWSER)
        set_size(driver, *SIZE, scale=2)
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
            media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            driver.get(page.as_uri())
            shot = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
            few_colours = Image.open(io.BytesIO(shot)).convert("RGB").quantize(256)
            few_colours.save(ROOT / "docs" / "_static" / name, optimize=True)


if __name__ == "__main__":
    main()
