"""Model files: one JSON document that cannot run code; long arrays are base64 inside it (see arrays.py).

::

    {"argrank_model": 2, "sha256": "…", "payload": {"kind": "linear", "version": "…", "training": {…}, "model": {…}}}

The checksum is of the payload written without spaces and with sorted keys, so re-indenting a file is harmless and
damage is detected. It is not a signature: anyone who alters a file can also write a new checksum.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from argrank._declared import checked
from argrank._files import write_bytes
from argrank._json import json_value, parse_json
from argrank._version import __version__
from argrank.errors import ArgrankError, ModelError
from argrank.models import KINDS, model_from
from argrank.models.model import Model, StoredModel

FORMAT = 2
READABLE = (1, 2)  # format 1 has lists for all arrays
LONGEST_INTEGER = 300  # digits; float64 ends at 1e308
LARGEST = 1 << 30  # bytes; larger model files are not read


def save_model(model: StoredModel, path: str | os.PathLike[str]) -> None:
    """Write a model file atomically."""
    try:
        payload = {
            "kind": model.kind,
            "version": __version__,
            "training": json_value(model.training),  # a NaN in the summary must not prevent saving the weights
            "model": model.to_dict(),
        }
        document = {"argrank_model": FORMAT, "sha256": _checksum(payload), "payload": payload}
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode()
    except ModelError as error:
        raise ModelError(f"{os.fspath(path)}: not saved: {error}") from error
    except UnicodeEncodeError as error:
        raise ModelError(f"{os.fspath(path)}: not saved: expected names that UTF-8 text can hold: {error}") from error
    except ValueError as error:  # NaN or infinity
        raise ModelError(f"{os.fspath(path)}: not saved: expected a model of finite numbers: {error}") from error
    with write_bytes(path) as stream:
        stream.write(text + b"\n")


@checked
def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file. Nothing in it is executed; a damaged or altered file raises an error with the reason."""
    try:
        return _load(Path(path))
    except OSError as error:
        raise ModelError(f"{os.fspath(path)}: not loaded: {error.strerror}") from error
    except (ArgrankError, ValueError, TypeError, LookupError, OverflowError, RecursionError, MemoryError) as error:
        raise ModelError(f"{os.fspath(path)}: not loaded: {str(error) or type(error).__name__}") from error


def _load(path: Path) -> Model:
    size = path.stat().st_size
    if size > LARGEST:
        raise ModelError(f"expected at most {LARGEST:,} bytes, got {size:,}")
    if not path.is_file():
        raise ModelError("expected a file, got a folder, a pipe or a device")
    document = parse_json(
        path.read_bytes(),
        "model",
        parse_constant=_refuse_constant,
        parse_float=_finite,
        parse_int=_bounded,
        object_pairs_hook=_refuse_repeats,
    )
    if not isinstance(document, dict) or "argrank_model" not in document:
        raise ModelError("expected an argrank model file")
    if document["argrank_model"] not in READABLE:
        raise ModelError(f"expected format {FORMAT}, got {document['argrank_model']!r}; a newer argrank may read it")
    payload = document.get("payload")
    if not isinstance(payload, dict) or document.get("sha256") != _checksum(payload):
        raise ModelError("the checksum does not match: the file was altered or damaged")
    kind, fields, training = payload.get("kind"), payload.get("model"), payload.get("training")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(f"expected a model of kind {' or '.join(KINDS)}, got {kind!r:.60}")
    if not isinstance(fields, dict) or not isinstance(training, dict):
        raise ModelError("expected the model and its training summary")
    return replace(model_from(kind, fields), training=training)


def _checksum(payload: dict[str, Any]) -> str:
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _refuse_constant(name: str) -> float:
    raise ModelError(f"expected finite numbers, got {name}")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse_constant(text[:60])


def _bounded(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise ModelError(f"expected numbers within the range of floats, got one of {len(text)} digits")
    return int(text)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ModelError("a key occurs twice")
    return fields
