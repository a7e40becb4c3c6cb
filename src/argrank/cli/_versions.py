"""What ``argrank --version`` prints: the versions that a bug report needs."""

from __future__ import annotations

import platform
from importlib import metadata

from argrank._version import __version__

#: Packages that results may depend on; the last ones are extras.
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "pyarrow", "narwhals", "lightgbm", "pandas", "onnx", "torch")


def versions() -> str:
    """Return a line for argrank, then Python and the platform, then the packages; nothing is imported."""
    found = [f"argrank {__version__}", f"Python {platform.python_version()}, {platform.platform()}"]
    return "\n".join([*found, ", ".join(f"{name} {_version(name)}" for name in PACKAGES)])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
