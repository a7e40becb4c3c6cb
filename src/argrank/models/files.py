"""Model files: one JSON document that a person can read and that cannot run code.

::

    {"argrank_model": 1, "sha256": "…", "payload": {"kind": "linear", "version": "…", "training": {…}, "model": {…}}}

The checksum is of the payload written without spaces and with sorted keys, so re-indenting a file does no harm and
changing or losing anything is noticed.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from argrank._files import write_bytes
from argrank._version import __version__
from argrank.errors import ArgrankError, ModelError
from argrank.models import KINDS
from argrank.models.model import Model, StoredModel

FORMAT = 1
LARGEST = 1 << 30  # bytes; a model file beyond this is refused unread


def save_model(model: StoredModel, path: str | os.PathLike[str]) -> None:
    """Write a model file; it appears whole or not at all."""
    payload = {
        "kind": model.kind,
        "version": __version__,
        "training": dict(model.training),
        "model": model.to_dict(),
    }
    document = {"argrank_model": FORMAT, "sha256": _checksum(payload), "payload": payload}
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    with write_bytes(path) as stream:
        stream.write(text.encode() + b"\n")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file. Nothing in it is executed; a damaged or altered file is refused with the reason."""
    try:
        return _load(Path(path))
    except (ArgrankError, ValueError, RecursionError) as error:
        raise ModelError(f"{os.fspath(path)}: not loaded: {error}") from error
    except OSError as error:
        raise ModelError(f"{os.fspath(path)}: not loaded: {error.strerror}") from error


def _load(path: Path) -> Model:
    size = path.stat().st_size
    if size > LARGEST:
        raise ModelError(f"expected at most {LARGEST:,} bytes, got {size:,}")
    document = json.loads(path.read_bytes(), parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
    if not isinstance(document, dict) or "argrank_model" not in document:
        raise ModelError("expected an argrank model file")
    if document["argrank_model"] != FORMAT:
        raise ModelError(f"expected format {FORMAT}, got {document['argrank_model']!r}; a newer argrank may read it")
    payload = document.get("payload")
    if not isinstance(payload, dict) or document.get("sha256") != _checksum(payload):
        raise ModelError("the checksum does not match: the file was altered or damaged")
    kind, fields, training = payload.get("kind"), payload.get("model"), payload.get("training")
    if kind not in KINDS:
        raise ModelError(f"expected a model of kind {' or '.join(KINDS)}, got {kind!r}")
    if not isinstance(fields, dict) or not isinstance(training, dict):
        raise ModelError("expected the model and its training summary")
    module, name = KINDS[kind]
    model = getattr(importlib.import_module(module), name).from_dict(fields)
    return cast(Model, replace(model, training=training))


def _checksum(payload: dict[str, Any]) -> str:
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _refuse_constant(name: str) -> float:
    raise ModelError(f"expected finite numbers, got {name}")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ModelError("a key occurs twice")
    return fields
