"""What the four papers claim, and the results here: the file ``claims.toml`` of each paper's folder.

A claim's figure is a sentence with names in braces; each name is a reference to a cell of a table (``_cells``), so that
a page cannot state a number that its table does not have::

    [[claim]]
    item = "Fig. 6"                                  # what the claim is about
    where = "4.2, Fig. 6"                            # where the paper says it
    claim = "SVMmap ends at a small w that is not quite 0"
    paper = ["OHSUMED", "TD2003"]                    # the data of the paper; empty where it is about mathematics
    here = ["OHSUMED", "TD2003 (generated)"]         # the data used here
    verdict = "holds"
    figure = "|w| = {map} at C = 10,000"
    cells.map = "figures4to6.csv | data=OHSUMED-LETOR2 | ranker=SVMmap | C=10000 | norm:.2f"
    see = ["figures4to6.py"]                         # scripts and tests; the tables of the cells are added
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from experiments._cells import cell

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GENERATED = " (generated)"


class Verdict(str, Enum):
    """The possible results of testing a claim."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "fails"
    NOT_HERE = "does not come out here"
    NOT_TESTED = "not tested"


#: Verdict -> its colour on the site.
COLOURS = {
    Verdict.HOLDS: "success",
    Verdict.PARTLY: "warning",
    Verdict.FAILS: "danger",
    Verdict.NOT_HERE: "info",
    Verdict.NOT_TESTED: "secondary",
}


@dataclass(frozen=True)
class Claim:
    """A claim of a paper and its result; ``figure`` still has the names of its cells."""

    item: str
    where: str
    claim: str
    verdict: Verdict
    figure: str
    paper: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    cells: dict[str, str] = field(default_factory=dict)
    see: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a verdict that the data cannot support, and a number that has no source."""
        if self.verdict is Verdict.FAILS and self.paper and not set(self.paper) & set(self.here):
            raise ValueError(f"{self.claim!r} cannot fail on other data than the paper's: {Verdict.NOT_HERE.value!r}")
        if self.verdict is Verdict.NOT_TESTED and self.cells:
            raise ValueError(f"{self.claim!r} is not tested, but has figures")
        if found := re.search(r"\d*\.\d+", re.sub(r"\{\w+\}|LETOR \d\.0", "", self.figure)):
            raise ValueError(f"{self.claim!r} states {found.group()}, which is not a cell of a table")

    def stated(self, folder: Path) -> str:
        """Return the figure with the numbers of the tables."""
        return self.figure.format(**{name: cell(reference, folder) for name, reference in self.cells.items()})

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the tables of the cells, then the other sources."""
        tables = (reference.split(" | ")[0].partition("#")[0] for reference in self.cells.values())
        return tuple(dict.fromkeys((*tables, *self.see)))


def read_claims(folder: Path) -> list[Claim]:
    """Return the claims of a paper, in its order."""
    found = tomllib.loads((folder / "claims.toml").read_text("utf-8"))["claim"]
    return [
        Claim(
            **one
            | {"verdict": Verdict(one["verdict"])}
            | {name: tuple(one[name]) for name in ("paper", "here", "see") if name in one}
        )
        for one in found
    ]


#: Collections that stand for their sets, where a claim is about all of them.
COLLECTIONS = {
    "LETOR 3.0": {"OHSUMED", "TD2003", "TD2004", "HP2003", "HP2004", "NP2003", "NP2004"},
    "LETOR 4.0": {"MQ2008", "MQ2007"},
    "LETOR 2.0": {"OHSUMED", "TD2003", "TD2004"},
}


def page(folder: Path) -> str:
    """Return the table of a paper's claims in Markdown, for the site's page of results."""
    lines = ["| where | claim | verdict | what came out | source |", "|---|---|---|---|---|"]
    for one in read_claims(folder):
        files = "<br>".join(_download(folder, name) for name in one.sources)
        claim = f"{_safe(one.claim)}<br><small>{_data(one)}</small>"
        lines.append(
            f"| {one.where} | {claim} | {_badge(one.verdict)} | {_signed(_safe(one.stated(folder)))} | {files} |"
        )
    return "\n".join(lines) + "\n"


def summary(folders: dict[str, Path]) -> str:
    """Return the number of claims of each paper with each verdict."""
    found = [[one.verdict for one in read_claims(folder)] for folder in folders.values()]
    lines = [f"| verdict | {' | '.join(folders)} |", f"|---|{'--:|' * len(folders)}"]
    lines += [f"| {_badge(one)} | {' | '.join(str(own.count(one)) for own in found)} |" for one in Verdict]
    lines.append(f"| all claims | {' | '.join(str(len(own)) for own in found)} |")
    return "\n".join(lines) + "\n"


def _badge(verdict: Verdict) -> str:
    return f"{{bdg-{COLOURS[verdict]}}}`{verdict.value}`"


def _data(one: Claim) -> str:
    if not one.here:
        return f"paper: {_sets(one.paper)}" if one.paper else "mathematics"
    return f"paper: {_sets(one.paper) or 'no data'}; here: {_sets(one.here)}"


def _sets(names: tuple[str, ...]) -> str:
    left, shown = list(names), []
    for collection, sets in COLLECTIONS.items():
        if sets <= set(left):
            left = [name for name in left if name not in sets]
            shown.append(collection)
    return ", ".join(shown + left)


def _download(folder: Path, name: str) -> str:
    path = name if name.startswith("tests/") else (Path("experiments") / folder.name / name).as_posix()
    return f"{{download}}`{Path(name).name} <../{path}>`"


def _signed(text: str) -> str:
    """Return text whose negative numbers have a minus sign, not a hyphen."""
    return re.sub(r"(?<![\w)])-(?=\.?\d)", "\N{MINUS SIGN}", text)


def _safe(text: str) -> str:
    return text.replace("|", "\\|")
