"""What ``make docs`` checks in the built site, and what ``make dist`` tries, on small examples."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import argrank

ROOT = Path(__file__).resolve().parent.parent


def script(name):
    sys.path.insert(0, str(ROOT / "scripts"))  # as Python does for a script: they import each other
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(ROOT / "scripts"))
    return module


def test_dead_links_missing_places_and_fetched_resources_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "here.css").write_text("")
    (tmp_path / "index.html").write_text(
        '<link rel="stylesheet" href="here.css"><link rel="canonical" href="https://a.b/">'
        '<script src="https://cdn.example/x.js"></script><img src="gone.png"><h1 id="top">x</h1>'
        '<a href="sub/page.html#there">ok</a><a href="sub/page.html#nowhere">no</a><a href="none.html">no</a>'
        '<a href="https://elsewhere.example/">not ours</a><a href="htps://typo.example/">no</a><a href="#top">ok</a>'
    )
    (tmp_path / "sub" / "page.html").write_text('<p id="there">x</p><a href="../index.html#top">ok</a>')
    assert list(script("check_site").check(tmp_path)) == [
        "index.html: misses gone.png",
        "index.html: fetches https://cdn.example/x.js",
        "index.html: links to htps://typo.example/, which is no address of another site",
        "index.html: links to none.html, which does not exist",
        "index.html: links to sub/page.html#nowhere, which has no such place",
    ]


def test_the_smoke_test_covers_every_extra():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\n", project, re.DOTALL)[1]
    smoke = script("smoke")
    assert set(re.findall(r"^(\w+) =", extras, re.MULTILINE)) == {*smoke.EXTRAS, "all"}
    together = re.search(r"all = \[\"argrank\[([\w,]+)\]\"\]", extras)[1].split(",")
    assert set(together) == set(smoke.EXTRAS) - set(smoke.NOT_IN_ALL)


def test_the_citation_names_this_version():
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {argrank.__version__}\n" in cited
    assert "\nlicense: BSD-3-Clause\n" in cited
