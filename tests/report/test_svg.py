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


def test_many_points_in_one_place_have_names_apart():
    names = [f"system-{number}" for number in range(12)]
    tree = ET.fromstring(svg.points(names, [1.0] * 11 + [100.0], [0.5] * 11 + [0.6], "t", "x", "y"))
    places = [
        (float(e.get("x")), float(e.get("y")), e.get("text-anchor")) for e in tree.iter("text") if e.text in names
    ]
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}
    boxes = [(x - shift[anchor] * 60, y) for x, y, anchor in places]
    near = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if abs(a[0] - b[0]) < 60 and abs(a[1] - b[1]) < 11]
    assert len(boxes) == 12
    assert not near


NAME_BOXES = {  # of a name 40 wide beside, before, above and below a point at (200, 100): left, top, right, bottom
    "start": (209, 92, 250, 107),
    "end": (150, 92, 191, 107),
    "above": (180, 78, 220, 91),
    "below": (180, 109, 220, 122),
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("side", range(4))
def test_a_name_goes_elsewhere_only_where_it_would_cover_something(place, side):
    boxes = list(NAME_BOXES.values())
    left, top, right, bottom = boxes[place]
    beyond = [(left - 5, top, left, bottom), (left, top - 5, right, top), (right, top, right + 5, bottom)]
    beyond.append((left, bottom, right, bottom + 5))
    box = beyond[side]
    nearer = [(0, 0, 0.5, 0), (0, 0, 0, 0.5), (-0.5, 0, 0, 0), (0, -0.5, 0, 0)][side]
    covering = tuple(end + more for end, more in zip(box, nearer, strict=True))
    inside = [((a + c) / 2, (b + d) / 2, (a + c) / 2 + 0.1, (b + d) / 2 + 0.1) for a, b, c, d in boxes[:place]]
    assert svg._free_place(200, 100, 40, [*inside, box])[2] == boxes[place]
    assert svg._free_place(200, 100, 40, [*inside, covering])[2] != boxes[place]


def test_bars_reach_from_zero_to_their_values_and_whiskers_to_the_ends_of_intervals():
    tree = ET.fromstring(svg.bars(["a", "b"], [2.0, -1.0], "t", "x", [(1.0, 3.0), (-1.5, -0.5)]))
    zero = float(next(e for e in tree.iter("line") if e.get("class") == "axis").get("x1"))
    first, second = ((float(e.get("x")), float(e.get("width")), e.get("class")) for e in tree.iter("rect"))
    unit = first[1] / 2
    assert (first[0], first[2]) == (pytest.approx(zero, abs=0.11), "bar c0")
    assert (second[0], second[0] + second[1], second[2]) == (
        pytest.approx(zero - unit, abs=0.21),
        pytest.approx(zero, abs=0.21),
        "bar c1",
    )
    paths = [e.get("d") for e in tree.iter("path") if e.get("class") == "whisker"]
    for path, (low, high), middle in zip(paths, [(1.0, 3.0), (-1.5, -0.5)], (22, 46), strict=True):
        (a, at), end, (c, from_), (d, again) = [
            [float(word) for word in step.split()] if " " in step else float(step)
            for step in path.replace("v8", "").replace("H", "M")[1:].split("M")
        ]
        assert (a, end) == (pytest.approx(zero + unit * low, abs=0.3), pytest.approx(zero + unit * high, abs=0.3))
        assert (c, d, at) == (a, end, middle)
        assert from_ == again == middle - 4


def test_columns_stand_on_the_axis_as_high_as_their_counts():
    tree = ET.fromstring(svg.columns(["a", "b", "c"], [4, 1, 0], "t", "x", "y"))
    drawn = [{key: float(e.get(key)) for key in ("x", "y", "width", "height")} for e in tree.iter("rect")]
    assert [one["y"] + one["height"] for one in drawn] == pytest.approx([svg.HEIGHT - svg.BOTTOM] * 3, abs=0.11)
    assert drawn[0]["height"] == pytest.approx(4 * drawn[1]["height"], abs=0.3)
    assert drawn[2]["height"] == 0
    share = (svg.WIDTH - svg.LEFT - svg.RIGHT) / 3
    centres = [one["x"] + one["width"] / 2 for one in drawn]
    assert centres == pytest.approx([svg.LEFT + share * (i + 0.5) for i in range(3)], abs=0.11)
    names = [float(e.get("x")) for e in tree.iter("text") if e.text in ("a", "b", "c")]
    assert names == pytest.approx(centres, abs=0.11)


def test_dots_stand_in_their_intervals():
    tree = ET.fromstring(svg.dots([("a", 0), ("b", 11)], [0.5, 0.6], [(0.4, 0.6), (0.3, 0.7)], "t", "x"))
    groups = [e for e in tree.iter("g") if e.get("data-system") is not None]
    assert [e.get("class") for e in groups] == ["series c0", "series c1"]
    a, b = (float(e.find("circle").get("cx")) for e in groups)
    lines = [[float(word) for word in e.find("path").get("d")[1:].replace("H", " ").split()] for e in groups]
    tenth = b - a
    assert lines == [
        pytest.approx([a - tenth, 23, a + tenth], abs=0.3),
        pytest.approx([a - 2 * tenth, 49, a + 2 * tenth], abs=0.3),
    ]
