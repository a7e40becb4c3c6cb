"""Which modules' examples are tested, that of PyTorch where it is installed; what an example registers goes with it."""

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from argrank.rankers.registry import RANKERS

collect_ignore = [] if find_spec("torch") else ["argrank/torch.py"]


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    before = set(RANKERS)
    yield
    for name in set(RANKERS) - before:
        RANKERS.remove(name)
