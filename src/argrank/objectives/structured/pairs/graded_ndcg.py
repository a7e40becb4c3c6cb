"""How many states the search for the most violated ranking of graded labels may have."""

from __future__ import annotations

from argrank._types import Integers
from argrank.data.dataset import Dataset
from argrank.errors import OptionError
from argrank.objectives.structured.level_counts import MAX_STATES, count_states
from argrank.objectives.structured.problem import Problem


def check_states(problem: Problem, data: Dataset, sizes: Integers) -> None:
    """Refuse data with a graded query whose table would be too large; ``sizes`` are those of the levels."""
    n_states = count_states(sizes, int(data.sizes.max()) if problem.k is None else problem.k)
    n_states[(sizes > 0).sum(axis=1) <= 2] = 0  # those take another oracle
    worst = int(n_states.argmax())
    if n_states[worst] > MAX_STATES:
        raise OptionError(
            f"{problem.name}: expected at most {MAX_STATES:,} states for the exact most violated ranking of graded "
            f"labels, got {n_states[worst]:,} (query {data.query_ids[worst]}: {(sizes[worst] > 0).sum()} levels, "
            f"k={problem.k}); use a smaller k, fewer levels (gain='binary', a gain table), or dorm"
        )
