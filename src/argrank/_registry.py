"""One class for everything that has a name: rankers, measures, solvers, targets, kinds of model.

A registry holds argrank's own entries, one per name. Other packages add theirs with the public ``register_…``
functions, or by an entry point, which is loaded when the names are listed or an unknown one is looked up:

    [project.entry-points."argrank.rankers"]
    my-ranker = "my_package:MyRanker"

Its object is what the ``register_…`` function takes after the name. If the module registers the name itself during
import, perhaps with a grid, that registration is kept.
"""

from __future__ import annotations

import importlib
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from argrank._uninterrupted import uninterrupted
from argrank.errors import ArgrankWarning, OptionError, check_name, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Line = TypeVar("Line")


class Registry(Generic[Line]):
    """Entries by name, sorted by name.

    Parameters
    ----------
    kind : str
        What is registered, for messages ("ranker").
    own : mapping
        argrank's entries, which cannot be replaced.
    group : str, optional
        The entry-point group of other packages' entries; None for no entry points.
    adopt : callable(name, object), optional
        Registers the object of an entry point.
    """

    def __init__(
        self, kind: str, own: Mapping[str, Line], group: str = "", adopt: Callable[[str, Any], None] | None = None
    ) -> None:
        self._kind, self._lines, self._own = kind, dict(own), set(own)
        self._group, self._adopt = group, adopt
        self._lock, self._loaded = threading.RLock(), adopt is None

    def register(self, name: str, line: Line, *, own: bool = False) -> None:
        """Add an entry, or replace one that was added before; ``own`` marks argrank's own."""
        if not isinstance(name, str) or not name.replace("-", "_").isidentifier():
            raise OptionError(f"{self._kind}: expected a name of letters, digits and dashes, got {shown(name)}")
        if name in self._own and not own:
            raise OptionError(f"{self._kind}: expected a name that argrank does not have itself, got {name!r}")
        self._lines[name] = line
        if own:
            self._own.add(name)

    def remove(self, name: str) -> None:
        """Remove a registered entry."""
        check_name(f"registered {self._kind}", name, self._lines.keys() - self._own)
        del self._lines[name]

    def find(self, fits: Callable[[Line], bool]) -> str | None:
        """Return the first name whose entry matches; entry points are loaded only if no known entry does."""
        for names in (sorted(self._lines), self):
            for name in names:
                if fits(self._lines[name]):
                    return name
        return None

    def own(self) -> dict[str, Line]:
        """Return argrank's own entries; entry points are not loaded."""
        return {name: self._lines[name] for name in sorted(self._own)}

    def items(self) -> list[tuple[str, Line]]:
        """Return all names with their entries."""
        return [(name, self._lines[name]) for name in self]

    def values(self) -> list[Line]:
        """Return all entries."""
        return [self._lines[name] for name in self]

    def __getitem__(self, name: str) -> Line:
        if name not in self:
            check_name(self._kind, name, self._lines)
        return self._lines[name]

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name not in self._lines:
            self._load()
        return name in self._lines

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._lines))

    def __len__(self) -> int:
        self._load()
        return len(self._lines)

    def _load(self) -> None:
        """Load the entry points, once; one that fails gives a warning and is skipped."""
        with self._lock:
            if self._loaded or self._adopt is None:
                return
            self._loaded = True  # set first: the imported packages may list names themselves
            from importlib.metadata import entry_points

            for point in sorted(entry_points(group=self._group)):
                self._take_in(point, self._adopt)

    def _take_in(self, point: EntryPoint, adopt: Callable[[str, Any], None]) -> None:
        try:
            with uninterrupted():
                thing = point.load()
            if point.name not in self._lines or point.name in self._own:
                adopt(point.name, thing)
        except Exception as error:  # another package's code may raise anything
            package = point.dist.name if point.dist else "an unknown package"
            warnings.warn(
                f"the {self._kind} {point.name!r} of {package} ({point.value}) is left out: "
                f"{type(error).__name__}: {error}",
                ArgrankWarning,
                stacklevel=5,
            )


def imported(home: str, package: str) -> Any:
    """Import and return a module, or ``module:name``; ``.module`` is relative to argrank."""
    module, _, name = home.partition(":")
    with uninterrupted():
        found = importlib.import_module(module, package)
    return getattr(found, name) if name else found
