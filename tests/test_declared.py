"""A declaration says what an argument may be, however it is written, and everything else is refused by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Union

import numpy as np
import pytest

import argrank as ar
from argrank._declared import Above, AtLeast, AtMost, Below, Count, Jobs, Positive, checked, declared, parameters_of
from argrank.errors import InputError, OptionError
from argrank.rankers.linear.rank_svm import RankSVM

NAN, INF = float("nan"), float("inf")
TRUTH = [
    (float, [0, 1.5, np.float32(2), np.int64(3)], [NAN, INF, True, "1", None, 10**400, 1j, np.array([1.0])]),
    (int, [0, -3, np.int8(3), 2**63 - 1], [1.0, True, "1", None, 2**63, np.uint64(2**63)]),
    (bool, [True, False, 0, 1, np.bool_(True)], [2, "True", None, 0.0]),
    (str, ["", "a", np.str_("b")], [b"a", 1, None]),
    (float | None, [1.0, None], ["x", NAN]),
    (Optional[float], [1.0, None], ["x", NAN]),  # noqa: UP045
    (Union[int, str], [1, "x"], [1.5, None]),  # noqa: UP007
    (Annotated[float, Above(0), AtMost(1)], [1e-9, 1], [0, 1.0000001, -1, None, "x", NAN]),
    (Annotated[float, AtLeast(0), Below(1)], [0, 0.5], [1, -1e-9]),
    (Annotated[float | None, Above(0)], [None, 1], [0]),
    (Count | Literal["auto"] | None, [1, "auto", None], [0, "Auto", 1.5, True, -1]),
    (Jobs, [1, -1, None, np.int64(2)], [0, -2, 1.0, "1", True]),
    (Literal["a", "b", 3], ["a", 3], ["c", None, True, np.array(["a"])]),
    (Sequence[int | str], [[], [1, "a"], (1,), np.array([1])], ["ab", [1.5], 3, {"a": 1}, None]),
    (Mapping[str, int], [{}, {"a": 1}], [{1: 1}, {"a": "b"}, [], None]),
    (tuple[float, float], [(1, 2.0), [1, 2]], [(1,), (1, "a"), "ab", 1]),
    (str | os.PathLike[str], ["a", os.fspath("b")], [1, None, b"a"]),
    (Callable[[int], int], [len], [1, None]),
    (ar.Dataset, [ar.make_ranking(2, 3, 2)], [None, 1, "data", np.zeros((2, 2))]),
    (Any, [None, 1, object()], []),
]


@pytest.mark.parametrize(("annotation", "right", "wrong"), TRUTH, ids=[str(one[0]) for one in TRUTH])
def test_what_fits_passes_and_what_does_not_is_refused(annotation, right, wrong):
    for value in right:
        declared(annotation).check("it", value)
    for value in wrong:
        with pytest.raises(InputError if annotation is ar.Dataset else OptionError, match=r"^it: expected .*, got "):
            declared(annotation).check("it", value)


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (Positive, -1, "C: expected a positive number, got -1"),
        (Count, 0, "C: expected a whole number from 1 up, got 0"),
        (Count | None, "x", "C: expected a whole number from 1 up or None, got 'x'"),
        (Annotated[float, Above(0), AtMost(1)], 2, "C: expected a number above 0, at most 1, got 2"),
        (Literal["convex", "tight"], "tigth", "C: expected 'convex' or 'tight', got 'tigth'; did you mean 'tight'?"),
    ],
)
def test_errors_say_what_was_expected(annotation, value, message):
    with pytest.raises(OptionError) as error:
        declared(annotation).check("C", value)
    assert str(error.value) == message


def test_the_docs_show_types_and_ranges_of_the_declaration():
    heads = {name: one.head for name, one in parameters_of(RankSVM).items()}
    assert heads["C"] == "float, above 0"
    assert heads["loss"] == '"squared" or "hinge"'
    assert heads["tol"] == "float, 0 or more, optional"
    assert heads["n_jobs"] == "int (1 or more) or -1, optional"
    assert "\nC : float, above 0\n" in RankSVM.__doc__
    assert '\nloss : "squared" or "hinge"\n' in RankSVM.__doc__
    assert '\nbound : "convex" or "tight"\n' in ar.rankers.SVMmap.__doc__  # as the ranker itself declares it
    assert '\nbound : "convex", "tie-broken" or "tight"\n' in ar.rankers.ORM.__doc__


OUTSIDE = """
from dataclasses import dataclass
from typing import Annotated, Optional
from argrank.rankers.linear.rank_svm import RankSVM

@dataclass(eq=False, repr=False, kw_only=True)
class Own(RankSVM):
    margin: Optional[float] = None
    depth: int = 1

class Plain(RankSVM):
    def __init__(self, width: "Optional[float]" = None, C: float = 1.0):
        self.width = width
        super().__init__(C=C)
"""


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"])
def test_parameters_of_other_packages_rankers_are_checked_however_they_are_written(first, tmp_path, monkeypatch):
    (tmp_path / "outside_ranker.py").write_text(first + OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "outside_ranker", raising=False)
    import outside_ranker

    data = ar.make_ranking(4, 5, 2)
    for cls, wrong in ((outside_ranker.Own, {"margin": "x"}), (outside_ranker.Own, {"depth": 1.5}),
                       (outside_ranker.Own, {"C": -1}), (outside_ranker.Plain, {"width": "x"})):  # fmt: skip
        with pytest.raises(OptionError, match=f"^{next(iter(wrong))}: expected"):
            cls(**wrong).fit(data)
    outside_ranker.Own(margin=1.0, depth=np.int64(2)).fit(data)


def test_a_type_that_only_a_type_checker_knows_leaves_the_others_checked():
    @dataclass(eq=False, repr=False, kw_only=True)
    class Own(RankSVM):
        unknown: NoSuchType = None  # noqa: F821
        depth: int = 1

    with pytest.raises(OptionError, match=r"^depth"):
        Own(depth="x").fit(ar.make_ranking(4, 5, 2))
    Own(unknown=3).fit(ar.make_ranking(4, 5, 2))


def test_functions_are_checked_at_their_door():
    @checked
    def area(width: Positive, *, height: Annotated[float, AtLeast(0)] = 1.0, unit: Literal["m", "km"] = "m") -> float:
        """Return an area."""
        return width * height

    assert area(2) == 2.0
    assert area(2, height=0, unit="km") == 0.0
    assert area.__doc__ == "Return an area."
    for given, named, name in (((-1,), {}, "width"), ((1,), {"height": "x"}, "height"), ((1,), {"unit": "mm"}, "unit")):
        with pytest.raises(OptionError, match=f"^{name}: expected"):
            area(*given, **named)
    with pytest.raises(TypeError, match="nonsense"):
        area(1, nonsense=2)
