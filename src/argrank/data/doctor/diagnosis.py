"""Findings, and their table."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from argrank._declared import checked
from argrank._tables import Table, counted, table, to_html, to_text
from argrank.data.summary import FeatureSummary

Severity = Literal["error", "warning", "note"]
SEVERITIES = get_args(Severity)
HEADER = ("severity", "what was found", "what to do")
WIDTHS = (8, 52, 56)


@dataclass(frozen=True)
class Finding:
    """One problem: its severity, what it is, how often it occurs, an example, and what to do about it."""

    check: str
    severity: str
    what: str
    count: int
    example: str
    advice: str
    data: str = ""

    @property
    def sentence(self) -> str:
        """The finding, with its data set and an example."""
        place = f"{self.data}: " if self.data else ""
        return f"{place}{self.what}" + (f" (such as {self.example})" if self.example else "")


@dataclass(frozen=True)
class Diagnosis:
    """The doctor's findings, most severe first, and a summary of the features of every data set."""

    findings: tuple[Finding, ...]
    features: tuple[FeatureSummary, ...] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity)))
        object.__setattr__(self, "findings", ordered)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @checked
    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of one severity: "error", "warning" or "note"."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values, for example for JSON."""
        return {"findings": [asdict(finding) for finding in self.findings]}

    @property
    def headline(self) -> str:
        """The number of findings of each severity, as text."""
        counts = [(len(self.of(severity)), severity) for severity in SEVERITIES]
        words = [counted(count, severity, f"{severity}s") for count, severity in counts if count]
        return "Doctor: " + (", ".join(words) if words else "no problems found")

    def __repr__(self) -> str:
        return "\n".join([self.headline, *(to_text([one]) for one in self._tables())])

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.headline)}</p>\n{to_html(self._tables())}"

    def _tables(self) -> list[Table]:
        rows = [(one.severity, one.sentence, one.advice) for one in self.findings]
        return [table(HEADER, rows, len(HEADER), WIDTHS)] if rows else []
