"""Write what editors and type checkers know of the rankers, from the registry: ``python scripts/make_stub.py``."""

from __future__ import annotations

from pathlib import Path

from argrank.rankers.registry import RANKERS, full_module

STUB = Path(__file__).resolve().parent.parent / "src" / "argrank" / "rankers" / "__init__.pyi"


def ranker_stub() -> str:
    """Return the stub of ``argrank.rankers``: its functions and the class of every registered ranker."""
    homes = {
        "argrank.rankers.base_ranker": ["BaseRanker"],
        "argrank.rankers.registry": ["make_ranker", "objective", "ranker_names"],
    }
    for line in RANKERS.values():
        module, name = line.home.split(":")
        homes.setdefault(full_module(module), []).append(name)
    imports = (
        f"from {module} import {name} as {name}"
        for module, names in sorted(homes.items())
        for name in sorted(names)
    )
    return "\n".join(("# Written by scripts/make_stub.py from the registry of rankers.", *imports, ""))


if __name__ == "__main__":
    STUB.write_text(ranker_stub())
