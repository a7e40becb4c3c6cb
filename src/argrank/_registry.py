"""One class for everything that has a name: rankers, measures, solvers, targets, kinds of model.

A registry holds argrank's own lines, one for each name. Other packages add theirs with the public ``register_…``
functions, or by an entry point, which is loaded when somebody lists the names or asks for one that is not known yet:

    [project.entry-points."argrank.rankers"]
    my-ranker = "my_package:MyRanker"

Its object is what the ``register_…`` function takes after the name. A module that registers the name itself while it is
imported, with a grid say, is left as it did.
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
    """Names and what is known of each, in the order of the names.

    Parameters
    ----------
    kind : str
        What the names are of, as messages say it.
    own : mapping
        argrank's lines; nobody can take their names.
    group : str, optional
        The group of entry points by which other packages add lines; without one none are looked for.
    adopt : callable(name, object), optional
        Registers what an entry point stands for.
    """

    def __init__(
        self, kind: str, own: Mapping[str, Line], group: str = "", adopt: Callable[[str, Any], None] | None = None
    ) -> None:
        self._kind, self._lines, self._own = kind, dict(own), set(own)
        self._group, self._adopt = group, adopt
        self._lock, self._loaded = threading.RLock(), adopt is None

    def register(self, name: str, line: Line, *, own: bool = False) -> None:
        """Add a line, or replace one that was added before; ``own`` says that argrank itself adds it."""
        if not isinstance(name, str) or not name.replace("-", "_").isidentifier():
            raise OptionError(f"{self._kind}: expected a name of letters, digits and dashes, got {shown(name)}")
        if name in self._own and not own:
            raise OptionError(f"{self._kind}: expected a name that argrank does not have itself, got {name!r}")
        self._lines[name] = line
        if own:
            self._own.add(name)

    def remove(self, name: str) -> None:
        """Take away a line that was registered."""
        check_name(f"registered {self._kind}", name, self._lines.keys() - self._own)
        del self._lines[name]

    def find(self, fits: Callable[[Line], bool]) -> str | None:
        """Return the first name whose line fits; entry points are loaded only if no known line does."""
        for names in (sorted(self._lines), self):
            for name in names:
                if fits(self._lines[name]):
                    return name
        return None

    def own(self) -> dict[str, Line]:
        """Return argrank's own lines; entry points stay where they are."""
        return {name: self._lines[name] for name in sorted(self._own)}

    def items(self) -> list[tuple[str, Line]]:
        """Return all names with their lines."""
        return [(name, self._lines[name]) for name in self]

    def values(self) -> list[Line]:
        """Return the lines of all names."""
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
        """Load the entry points, once; one that fails is named in a warning and left out."""
        with self._lock:
            if self._loaded or self._adopt is None:
                return
            self._loaded = True  # first: what is imported now may itself ask for names
            from importlib.metadata import entry_points

            for point in sorted(entry_points(group=self._group)):
                self._take_in(point, self._adopt)

    def _take_in(self, point: EntryPoint, adopt: Callable[[str, Any], None]) -> None:
        try:
            with uninterrupted():
                thing = point.load()
            if point.name not in self._lines or point.name in self._own:
                adopt(point.name, thing)
        except Exception as error:  # another package's code: whatever it raises must not end ours
            package = point.dist.name if point.dist else "an unknown package"
            warnings.warn(
                f"the {self._kind} {point.name!r} of {package} ({point.value}) is left out: "
                f"{type(error).__name__}: {error}",
                ArgrankWarning,
                stacklevel=5,
            )


def imported(home: str, package: str) -> Any:
    """Return the module, or what stands at ``module:name``; ``.module`` is below the package."""
    module, _, name = home.partition(":")
    with uninterrupted():
        found = importlib.import_module(module, package)
    return getattr(found, name) if name else found
