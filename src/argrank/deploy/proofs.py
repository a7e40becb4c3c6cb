"""What was run to prove a target: ``proofs.json`` holds what ``scripts/prove_targets.py`` found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

RECORD = Path(__file__).with_name("proofs.json")
NOTHING_RUN = "Proof: argrank's simulation alone; no engine has scored such files."


class Proof(NamedTuple):
    """Who scored a target's files, and how the scores compare with the target's ``simulate``."""

    by: str
    models: int
    rows: int
    within: float  # of the largest score; 0 for the same bits

    @property
    def sentence(self) -> str:
        """What is printed with an export."""
        how = "to the bit" if self.within == 0 else f"within {self.within:.0e} of the largest"
        return (
            f"Proof: {self.by} scored the files of {self.models} models; on {self.rows} rows the simulated scores are "
            f"the same {how}."
        )


def recorded() -> dict[str, Proof]:
    """Return what was run, by target."""
    return {name: Proof(**line) for name, line in json.loads(RECORD.read_text("utf-8")).items()}


def sentence(to: str) -> str:
    """Return what is known of a target."""
    proof = recorded().get(to)
    return NOTHING_RUN if proof is None else proof.sentence
