"""The manifest of an experiment: what has to be the same for its figures to come out again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from argrank._json import json_value
from argrank._version import __version__
from argrank.trials.config import Config
from argrank.trials.store import code_identity

#: Packages whose versions may move the last digits of a figure, or more.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "lightgbm", "pyarrow", "pandas", "polars")


def manifest_of(config: Config, rankers: Mapping[str, Any], hashes: Mapping[str, Mapping[int, str]]) -> dict[str, Any]:
    """Return versions, the configuration and its hash, the hash of every fold's data, and all parameters and seeds.

    The hash of a fold is that of features, labels, queries and weights as the rankers saw them, after preprocessing.
    """
    text = config.path.read_bytes() if config.path.is_file() else b""
    parameters = {name: ranker.get_params() for name, ranker in rankers.items()}
    found = {
        "argrank": __version__,
        "code": code_identity(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "config": {"file": config.path.name, "sha256": hashlib.sha256(text).hexdigest(), "text": text.decode()},
        "data": {name: {str(fold): one for fold, one in own.items()} for name, own in hashes.items()},
        "parameters": parameters,
        "seeds": {name: own.get("random_state") for name, own in parameters.items() if "random_state" in own},
    }
    plain: dict[str, Any] = json_value(found)
    return plain


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
