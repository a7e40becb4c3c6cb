from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from argrank.report import svg

EVIL = "<script>alert(1)</script>\"'&"

CHARTS = {
    "lines": lambda: svg.lines([svg.Series(EVIL, [1, 2, 3], [0.1, math.nan, 0.3])], EVIL, EVIL, EVIL),
    "columns": lambda: svg.columns([EVIL, "b"], [3, 0], EVIL, EVIL, EVIL),
    "bars": lambda: svg.bars([EVIL, "b"], [0.5, -1.0], EVIL, EVIL, [(0.1, 0.9), (-2.0, 0.0)]),
    "points": lambda: svg.points([EVIL, "b"], [0.1, 10.0], [0.5, 0.5], EVIL, EVIL, EVIL),
    "legend": lambda: svg.legend([EVIL, "b"]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_well_formed_and_hold_only_text(name):
    tree = ET.fromstring(CHARTS[name]())
    assert "script" not in {element.tag for element in tree.iter()}
    assert "nan" not in ET.tostring(tree, encoding="unicode")


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "legend"])
def test_charts_have_a_name_and_a_description(name):
    picture = ET.fromstring(CHARTS[name]()).find("svg")
    named = picture.get("aria-labelledby").split()
    assert picture.get("role") == "img"
    assert [picture.find("title").get("id"), picture.find("desc").get("id")] == named
    assert picture.find("title").text == EVIL


def test_a_single_value_makes_a_chart():
    tree = ET.fromstring(svg.lines([svg.Series("a", [1], [2.0])], "t", "x", "y", log_x=True))
    assert len(tree.findall(".//circle")) == 1


@pytest.mark.parametrize("chart", ["bars", "points", "columns", "lines"])
def test_nothing_is_drawn_beyond_the_picture(chart):
    """The largest value reaches towards the end, and no further."""
    tree = ET.fromstring(CHARTS[chart]())
    width = float(tree.find("svg").get("viewBox").split()[2])
    ends = [float(e.get("cx") or e.get("x2") or 0) for e in tree.iter()]
    ends += [float(e.get("x")) + float(e.get("width")) for e in tree.iter("rect")]
    assert 0.6 * width < max(ends) <= width


def test_names_of_points_do_not_cover_each_other():
    names = ["first", "second", "third", "fourth"]
    tree = ET.fromstring(svg.points(names, [1.0, 1.0, 1.0, 100.0], [0.5, 0.502, 0.504, 0.9], "t", "x", "y"))
    places = [
        (float(e.get("x")), float(e.get("y")), e.get("text-anchor")) for e in tree.iter("text") if e.text in names
    ]
    assert len(set(places)) == len(names)
