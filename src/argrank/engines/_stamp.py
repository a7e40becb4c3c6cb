"""What code a process runs, compared between the client and its workers: other code makes another model."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import NamedTuple

from argrank._version import __version__
from argrank.errors import ClusterError


class Stamp(NamedTuple):
    """Versions by which bits may differ; ``code`` is the SHA-256 of all of argrank's modules, altered ones included."""

    argrank: str
    code: str
    numpy: str
    numba: str

    @property
    def own(self) -> tuple[str, str]:
        """What has to be the same everywhere."""
        return self.argrank, self.code

    @property
    def libraries(self) -> str:
        """What may make other roundings."""
        return f"NumPy {self.numpy}, numba {self.numba}"


@functools.cache
def stamp() -> Stamp:
    """Return that of this process."""
    folder, code = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        code.update(path.relative_to(folder).as_posix().encode())
        code.update(path.read_bytes())
    numpy, numba = (importlib.metadata.version(name) for name in ("numpy", "numba"))
    return Stamp(__version__, code.hexdigest(), numpy, numba)


def check_stamp(client: Stamp) -> None:
    """Raise in a worker whose argrank is not that of the client."""
    here = stamp()
    if here.own != client.own:
        place = f"the worker with process id {os.getpid()} on {platform.node()}"
        raise ClusterError(f"expected {named(client)}, as on the client, got {named(here, client)} on {place}")


def named(one: Stamp, client: Stamp | None = None) -> str:
    """Return a version in words."""
    altered = client is not None and one.argrank == client.argrank
    return f"argrank {one.argrank} {'with altered modules ' if altered else ''}({one.code[:8]})"
