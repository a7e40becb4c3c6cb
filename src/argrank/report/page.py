"""One self-contained HTML page: no network, nothing to install, and a policy that forbids all other scripts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from argrank._version import __version__
from argrank.report.embed import embedded_json
from argrank.report.svg import escape

SECTIONS = {"data": "Data", "comparison": "Comparison", "queries": "Queries", "training": "Training", "model": "Model"}


def page(title: str, subtitle: str, sections: Mapping[str, str], data: Any) -> str:
    """Return the page: ``sections`` by their ids (HTML), ``data`` for the explorer."""
    script, style = _resource("explorer.js"), _resource("report.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    shown = {name: heading for name, heading in SECTIONS.items() if sections.get(name)}
    links = "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading in shown.items())
    body = "".join(
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{heading}</h2>{sections[name]}</section>'
        for name, heading in shown.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">To the contents</a>
<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p><nav aria-label="Sections"><ul>{links}</ul></nav></header>
<main id="main">{body}</main>
<footer>Made by argrank {escape(__version__)}.</footer>
<script type="application/json" id="report-data">{embedded_json(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def explorer_skeleton() -> str:
    """Return what the script fills: controls, the plot of differences, the list of queries, two rankings, the why."""
    return _resource("explorer.html")


def _resource(name: str) -> str:
    return (files("argrank.report") / name).read_text("utf-8")
