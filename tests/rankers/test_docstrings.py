"""Every ranker can be imported as a class and describes every parameter it has."""

from __future__ import annotations

import inspect

import pytest
from scripts.make_stub import stubs

import argrank.rankers
from argrank.rankers.docstrings import complete, names_of
from argrank.rankers.registry import RANKERS, ranker_class


class Base:
    """A base.

    Parameters
    ----------
    C : float
        Weight of the risk.
    first, second : int
        Two counts.
    absent : int
        Described for classes that have it.
    """

    C: float
    first: int
    second: int


def test_inherited_parameters_follow_the_own_ones():
    class Child(Base):
        """A child.

        It has more words.

        Parameters
        ----------
        second : int
            Its own count.

        Examples
        --------
        >>> 1
        1
        """

    complete(Child)
    assert (
        Child.__doc__
        == inspect.cleandoc(
            """A child.

        It has more words.

        Parameters
        ----------
        second : int
            Its own count.
        C : float
            Weight of the risk.
        first : int
            Two counts.

        Examples
        --------
        >>> 1
        1
        """
        )
        + "\n"
    )


def test_a_class_without_parameters_of_its_own_shows_the_inherited_ones():
    class Plain(Base):
        """Plain."""

    complete(Plain)
    assert Plain.__doc__.startswith("Plain.\n\nParameters\n----------\nC : float\n")


@pytest.mark.parametrize("name", RANKERS)
def test_every_parameter_is_in_signature_and_docstring(name):
    cls = ranker_class(name)
    parameters = inspect.signature(cls).parameters
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in parameters.values())
    section = inspect.getdoc(cls).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    described = {one for line in section.split("\n") if line and not line[0].isspace() for one in names_of(line)}
    assert described == set(parameters)
    assert "    See ``" not in section


def test_every_registered_class_is_a_name_of_the_package():
    classes = {line.place.split(":")[1] for line in RANKERS.values()}
    assert classes <= set(argrank.rankers.__all__)
    for name in classes:
        assert inspect.isclass(getattr(argrank.rankers, name))
    assert all(hasattr(argrank.rankers, name) for name in argrank.rankers.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'SVMmpa'"):
        _ = argrank.rankers.SVMmpa


def test_type_checkers_know_every_public_name_and_every_registered_class():
    for path, text in stubs().items():
        assert path.read_text() == text, "run python scripts/make_stub.py"
