"""The class of all registries: names, entry points of other packages, and what a broken one does."""

from __future__ import annotations

import sys

import pytest

from argrank._registry import Registry, imported
from argrank.errors import ArgrankWarning, OptionError

GROUP = "argrank.test-fruit"


def made(own=("apple", "pear")):
    registry = Registry("fruit", dict.fromkeys(own, 1), GROUP, lambda name, line: registry.register(name, line))
    return registry


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder on the path with a package as pip would install it; its entry points are given as lines."""

    def install(points, code="SWEET = 7\n"):
        (tmp_path / "orchard.py").write_text(code)
        folder = tmp_path / "orchard-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: orchard\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    sys.modules.pop("orchard", None)


def test_names_are_sorted_and_found():
    registry = made(("pear", "apple"))
    assert list(registry) == ["apple", "pear"]
    registry.register("fig", 2)
    assert registry.items() == [("apple", 1), ("fig", 2), ("pear", 1)]
    assert registry.values() == [1, 2, 1]
    assert (len(registry), registry["fig"], "fig" in registry, ["fig"] in registry) == (3, 2, True, False)
    assert registry.find(lambda line: line == 2) == "fig"
    assert registry.find(lambda line: line == 3) is None
    registry.register("fig", 3)  # as a cell of a notebook that is run again
    registry.remove("fig")
    assert "fig" not in registry


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(OptionError, match="unknown fruit 'aple'; did you mean apple"):
        made()["aple"]
    with pytest.raises(OptionError, match="unknown fruit"):
        made()[["apple"]]


@pytest.mark.parametrize("name", ["", "a b", "a\n", 7, None, "a/b"])
def test_a_name_is_a_plain_word(name):
    with pytest.raises(OptionError, match="expected a name of letters, digits and dashes"):
        made().register(name, 1)


def test_the_names_of_argrank_stay_its_own():
    registry = made()
    registry.register("plum", 2, own=True)
    for name in ("apple", "plum"):
        with pytest.raises(OptionError, match=f"expected a name that argrank does not have itself, got '{name}'"):
            registry.register(name, 9)
        with pytest.raises(OptionError, match="unknown registered fruit"):
            registry.remove(name)
    assert registry["plum"] == 2


def test_an_entry_point_is_loaded_when_it_is_needed(package):
    package("kiwi = orchard:SWEET")
    registry = made()
    assert registry["apple"] == 1
    assert registry.find(lambda line: line == 1) == "apple"
    assert "orchard" not in sys.modules
    assert registry["kiwi"] == 7
    assert list(made()) == ["apple", "kiwi", "pear"]
    assert made().find(lambda line: line == 7) == "kiwi"


def test_a_module_may_register_with_more_than_the_object(package, monkeypatch):
    registry = made()
    monkeypatch.setattr(sys.modules[__name__], "shared", registry, raising=False)
    package("kiwi = orchard:SWEET", f"import sys\nSWEET = 7\nsys.modules[{__name__!r}].shared.register('kiwi', 8)\n")
    assert registry["kiwi"] == 8


@pytest.mark.parametrize(
    ("points", "code", "reason"),
    [
        ("kiwi = orchard:SWEET", "import a_module_that_nobody_has", "ModuleNotFoundError"),
        ("kiwi = orchard:BITTER", "SWEET = 7", "AttributeError"),
        ("kiwi = orchard:SWEET", "syntax error here", "SyntaxError"),
        ("kiwi = orchard:SWEET", "1 / 0", "ZeroDivisionError"),
        ("apple = orchard:SWEET", "SWEET = 7", "OptionError: fruit: expected a name that argrank does not have"),
    ],
)
def test_a_broken_entry_point_is_a_warning_that_names_it(package, points, code, reason):
    package(points, code)
    registry = made()
    name = points.split(" ")[0]
    with pytest.warns(ArgrankWarning, match=rf"the fruit '{name}' of orchard \(orchard:.*\) is left out: {reason}"):
        assert list(registry) == ["apple", "pear"]
    assert registry["apple"] == 1
    assert len(registry) == 2  # and it is told once


def test_what_stands_at_a_place():
    assert imported(".errors:OptionError", "argrank") is OptionError
    assert imported("argrank.errors:OptionError", "elsewhere") is OptionError
