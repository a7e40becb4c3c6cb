"""The memory limit, checked before a large allocation: a clear error instead of a crash."""

from __future__ import annotations

import contextlib
import math
import os
import re
from pathlib import Path

from argrank.errors import InputError, OptionError

VARIABLE = "ARGRANK_MAX_MEMORY"  # a size such as 4GB, or a share of the machine's memory such as 50%
DEFAULT = "80%"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:(%)|([kmgt]?)(i?)b?)", re.IGNORECASE)
_CONTROL_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def parse_memory(text: str, what: str = "max-memory") -> int:
    """Return the number of bytes given by a text: ``500MB``, ``4GiB``, or ``50%`` of the machine's memory."""
    found = _SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or float(found[1]) <= 0:
        raise OptionError(f"{what}: expected a size such as 500MB, 4GB or 50%, got {text!r:.60}")
    if found[2]:
        return int(float(found[1]) / 100 * machine_memory())
    power = "kmgt".index(found[3].lower()) + 1 if found[3] else 0
    return int(float(found[1]) * (1024**power if found[4] else _UNITS[found[3].lower()]))


def max_memory() -> int:
    """Return the limit in bytes for one allocation: from the environment variable, else 80 % of the memory."""
    return parse_memory(os.environ.get(VARIABLE) or DEFAULT)


def machine_memory() -> int:
    """Return the memory of the machine, or the limit of its container or of the process (ulimit) if smaller."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not available on this system
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has no such limits
        import resource

        soft = [resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
        limits += [limit for limit in soft if limit != resource.RLIM_INFINITY]
    for path in _CONTROL_GROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is not a number and means no limit
            limits.append(int(Path(path).read_text("ascii")))
    return min(limits, default=1 << 34)


def check_memory(what: str, n_bytes: float, advice: str) -> None:
    """Raise if something would exceed the memory limit."""
    limit = max_memory()
    if n_bytes > limit:
        raise InputError(
            f"{what}: expected at most {_size(limit)} of memory, got {_size(n_bytes)}; {advice}, "
            f"or allow more (--max-memory, {VARIABLE})"
        )


def _size(n_bytes: float) -> str:
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(int(math.log10(max(n_bytes, 1)) // 3), len(units) - 1)
    return f"{n_bytes / 1000**power:,.{min(power, 1)}f} {units[power]}"
