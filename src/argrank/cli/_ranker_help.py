"""``argrank train -r NAME --help``: the ranker's parameters, as its class declares them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

FLAGS = ("-r", "--ranker")


def parameters_text(arguments: Sequence[str]) -> str | None:
    """Return the parameters of the ranker given with ``-r``, with types, ranges and defaults."""
    named = [after for flag, after in itertools.pairwise(arguments) if flag in FLAGS]
    if "train" not in arguments[:1] or "--help" not in arguments or not named:
        return None
    from argrank._declared import parameters_of
    from argrank.rankers import make_ranker

    ranker = make_ranker(named[-1])
    kind: type = type(ranker)
    declared = parameters_of(kind)
    lines = [f"Parameters of {named[-1]}, for -p and --grid:"]
    for name, default in ranker.get_params(deep=False).items():
        head = declared[name].head if name in declared else ""
        lines.append(f"  {name}={default}{f': {head}' if head else ''}")
    return "\b\n" + "\n".join(lines)  # a backspace keeps the lines of a paragraph as they are
