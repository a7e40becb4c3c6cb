"""One self-contained HTML page: no network, nothing to install, and a policy that forbids all other scripts."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from argrank._version import __version__
from argrank.report.svg import escape

#: Headings inside sections that the table of contents shows on wide screens: ``<h3 id="…">…</h3>``.
_HEADING = re.compile(r'<h3 id="([\w-]+)">(.+?)</h3>')
#: Characters that are special in HTML, or end a line in scripts, as JSON escapes.
_UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


class Section(NamedTuple):
    """A part of the page: its heading, its HTML, and a one-line summary shown when it is folded."""

    heading: str
    html: str
    teaser: str = ""
    is_open: bool = False


def page(title: str, subtitle: str, sections: Mapping[str, Section], data: Any) -> str:
    """Return the page: ``sections`` by their ids, ``data`` for the explorer. The first section does not fold."""
    scripts, style = [resource("page.js"), resource("explorer.js")], resource("report.css")
    allowed = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode('ascii')}'" for one in scripts
    )
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'"
    shown = {name: section for name, section in sections.items() if section.html}
    links = "".join(_links(name, section) for name, section in shown.items())
    body = "".join(_section(name, section, folds=number > 0) for number, (name, section) in enumerate(shown.items()))
    script = "".join(f"<script>{one}</script>" for one in scripts)
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
<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p></header>
<div class="layout">
<nav aria-label="Sections"><ul>{links}</ul></nav>
<main id="main">{body}</main>
</div>
<footer>Made by argrank {escape(__version__)}.</footer>
<script type="application/json" id="report-data">{embedded_json(data)}</script>
{script}
</body>
</html>
"""


def _links(name: str, section: Section) -> str:
    inner = "".join(f'<li><a href="#{one}">{text}</a></li>' for one, text in _HEADING.findall(section.html))
    return f'<li><a href="#{name}">{section.heading}</a>{f"<ul>{inner}</ul>" if inner else ""}</li>'


def _section(name: str, section: Section, folds: bool) -> str:
    heading = f'<h2 id="{name}-h">{section.heading}</h2>'
    inner = heading + section.html
    if folds:
        teaser = f'<span class="teaser">{escape(section.teaser)}</span>' if section.teaser else ""
        state = " open" if section.is_open else ""
        inner = f'<details class="part"{state}><summary>{heading}{teaser}</summary>{section.html}</details>'
    return f'<section id="{name}" aria-labelledby="{name}-h">{inner}</section>'


def resource(name: str) -> str:
    """Return a file of this folder; ``explorer.html`` has the elements that the explorer's script fills."""
    return (files("argrank.report") / name).read_text("utf-8")


def embedded_json(value: Any) -> str:
    """Return JSON for the inside of a script element: it can hold neither ``</script>`` nor ``<!--``."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text
