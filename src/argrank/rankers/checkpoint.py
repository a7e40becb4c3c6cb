"""Checkpoints: a fit's state in a file, from which another process continues with bit-identical results.

A new file is written separately, synced and replaces the old one, which is kept as ``NAME.1`` and used if the new one
is damaged. If both are damaged, the fit starts again, and the damaged file is renamed to ``NAME.damaged``. If a
checkpoint cannot be written, for example on a full disk, the fit warns, continues, and tries again the next time.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from argrank import models
from argrank._files import split_suffixes, write_bytes
from argrank._json import json_value
from argrank._version import __version__
from argrank.data.dataset import Dataset
from argrank.engines import is_distributed
from argrank.errors import FormatError, InputError, ModelError, OptionError, check_positive, shown, warn
from argrank.measures.function import FunctionMeasure
from argrank.measures.measure import Measure
from argrank.models.model import Fitted, Model
from argrank.rankers._archive import STATE, DamagedError, packed, unpacked
from argrank.rankers.estimator import Reporting
from argrank.rankers.trace import Watcher
from argrank.solvers.problem import Keeper

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker

FORMAT = 2
#: The entries of a file and their types.
PARTS: dict[str, tuple[type, ...]] = {
    "identity": (dict,),
    "trace": (list,),
    "outcome": (dict, type(None)),
    "state": (dict, type(None)),
    "solve": (int,),
    "results": (list,),
    "rows": (int,),
    "rows_after": (int,),
    "seconds": (int, float),
}
LOOKED_AT = 1 << 16  # bytes at the start and end of a file by which a damaged checkpoint is recognised
FREE = ("n_jobs", "verbose")  # parameters that do not change the model
GO_ON = ("max_iter", "tol")  # parameters that may be increased to continue a finished fit
MAY_DIFFER = (*GO_ON, *FREE)


class Checkpoint(Keeper):
    """The file of one fit: what it holds from before, and what is written to it."""

    def __init__(self, path: str | os.PathLike[str], every: float, identity: Mapping[str, Any]) -> None:
        check_positive("every", every)
        self.path, self._every, self._identity = Path(path), every, dict(identity)
        if split_suffixes(self.path)[1]:
            raise OptionError(f"checkpoint: expected a name such as fit.ckpt, got {shown(str(path))}")
        if not os.access(self.path.parent, os.W_OK):
            raise InputError(f"{self.path}: cannot be written: expected a folder that files can be written to")
        self._found = self._load()
        self.goes_on = self._found is not None
        self._failed = False  # write errors are reported once
        self._watcher: Watcher | None = None
        self._results: list[Mapping[str, Any]] = []
        self._last: dict[str, Any] | None = None
        self._written = time.monotonic()

    def attach(self, watcher: Watcher) -> Mapping[str, Any] | None:
        """Start or continue; return the outcome of a training that was finished with the same parameters."""
        self._watcher, watcher.keeper = watcher, self
        if self._found is None:
            return None
        outcome: Mapping[str, Any] | None = self._found["outcome"]
        same = determining(self._found["identity"]) == determining(self._identity)
        rows = self._found["rows_after"] if outcome is None else None if same else self._found["rows"]
        watcher.resume(self._found["trace"][:rows], self._found["seconds"])
        if outcome is None or same:
            return outcome
        self._found["results"] = self._found["results"][: self._found["solve"]]  # the last solve continues
        return None

    # ---- a keeper for solvers -----------------------------------------------------------------------------------

    def finished(self) -> Mapping[str, Any] | None:
        """Return the result of the next solve, if stored."""
        number = len(self._results)
        if self._found is None or number >= len(self._found["results"]):
            return None
        self._results.append(self._found["results"][number])
        return self._results[-1]

    def finish(self, result: Mapping[str, Any]) -> None:
        """Store the result of a solve."""
        self._results.append(result)
        if self._last is None:
            self._note(None)
        rows, results = len(cast(Watcher, self._watcher).trace), list(self._results)
        self._last = {**cast("dict[str, Any]", self._last), "results": results, "rows_after": rows}

    def resumed(self) -> Mapping[str, Any] | None:
        """Return the state to resume from, once."""
        if self._found is None:
            return None
        found, self._found = self._found, None
        return found["state"] if found["solve"] == len(self._results) else None

    def offer(self, state: Mapping[str, Any] | Callable[[], Mapping[str, Any]], now: bool = False) -> None:
        """Receive a state, and write it ``now`` or after enough time; a function is called only then."""
        due = now or time.monotonic() - self._written >= self._every
        if due or not callable(state):
            self._note(state() if callable(state) else state)
        if due:
            self._write(None)

    def close(self, outcome: Mapping[str, Any] | None) -> None:
        """Write the outcome, or without one the last state: the training was interrupted."""
        if outcome is not None or self._last is not None:
            self._write(outcome)

    def _note(self, state: Mapping[str, Any] | None) -> None:
        assert self._watcher is not None
        rows, seconds = len(self._watcher.trace), self._watcher.seconds
        solve, results = len(self._results), list(self._results)
        numbers = {"solve": solve, "rows": rows, "rows_after": rows, "seconds": seconds}
        self._last = {"state": state, "results": results, **numbers}

    # ---- the file -----------------------------------------------------------------------------------------------

    def _write(self, outcome: Mapping[str, Any] | None) -> None:
        assert self._watcher is not None
        if self._last is None:
            self._note(None)
        last = cast("dict[str, Any]", self._last)
        document = {
            "argrank_checkpoint": FORMAT,
            "identity": self._identity,
            "trace": list(self._watcher.trace)[: None if outcome is not None else last["rows_after"]],
            "outcome": outcome,
            **last,
        }
        if outcome is not None:
            document["seconds"] = self._watcher.seconds
            if not set(self._identity["parameters"]) & set(GO_ON):  # nothing can be resumed from this
                document |= {"state": None, "results": []}
        content = packed(document)
        self._written = time.monotonic()
        try:
            if self.path.exists():
                os.replace(self.path, _beside(self.path, ".1" if _is_whole(self.path) else ".damaged"))
            with write_bytes(self.path) as stream:
                stream.write(content)
        except (InputError, OSError) as error:
            if not self._failed:
                warn(f"the checkpoint will be tried again later: {error}")
            self._failed = True

    def _load(self) -> dict[str, Any] | None:
        """Return the contents of the file, or of the one before if it is damaged; None if there is none."""
        paths = [path for path in (self.path, _beside(self.path, ".1")) if path.exists()]
        for path in paths:
            try:
                document = _read(path)
            except DamagedError as error:
                if paths == [path] and not _is_ours(path):
                    raise FormatError(path, None, "a checkpoint of argrank", f"{error}") from error
                warn(f"{path}: the checkpoint is damaged and not used: {error}")
                continue
            self._refuse_other(path, document["identity"])
            return document
        return None

    def _refuse_other(self, path: Path, found: Mapping[str, Any]) -> None:
        """Raise if the file belongs to another fit, and name the difference."""
        mine, theirs = _fixed(self._identity), _fixed(found)
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise InputError(
                    f"{path}: expected the checkpoint of this fit, got one with another {name}: "
                    f"{shown(theirs.get(name))} instead of {shown(mine.get(name))}; remove it to start again"
                )


def _fixed(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an identity that must be the same to continue a fit, with parameters by name."""
    others = {name: value for name, value in identity.items() if name != "parameters"}
    return others | {name: value for name, value in identity["parameters"].items() if name not in MAY_DIFFER}


def identity(ranker: BaseRanker, data: Dataset, validations: list[Dataset]) -> dict[str, Any]:
    """Return what must be the same to continue a fit."""
    parameters = {name: _plain(name, value) for name, value in ranker.get_params(deep=False).items()}
    if "random_state" in parameters and parameters["random_state"] is None:
        raise OptionError("checkpoint: expected a random_state, got None, with which every fit is different")
    version = ".".join(__version__.split(".")[:2])
    return {
        "ranker": type(ranker).__name__,
        "version": version,
        "data": _digest(data),
        "validation": [_digest(part) for part in validations],
        "parameters": parameters,
    }


def determining(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of an identity on which the model depends."""
    parameters = {name: value for name, value in identity["parameters"].items() if name not in FREE}
    return {**identity, "parameters": parameters}


def _plain(name: str, value: Any) -> Any:
    """Return a parameter in a form that another process can compare; raise if there is none."""
    if isinstance(value, list | tuple):
        return [_plain(name, one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items()}
    is_untrained = isinstance(value, Reporting) and not isinstance(value, Fitted)
    if is_untrained:
        return [type(value).__name__, _plain(name, value.get_params(deep=False))]
    if isinstance(value, FunctionMeasure):
        return [value.name, *_plain(name, type(value).function)]
    if isinstance(value, FunctionType):
        return [value.__name__, _code(name, value)]
    known = value is None or isinstance(value, str | bool | Real | np.generic | np.ndarray | os.PathLike)
    if not known and not (isinstance(value, Measure) and " at 0x" not in repr(value)):
        raise OptionError(
            f"checkpoint: expected parameters that another process can compare (numbers, names, functions), got "
            f"{name}={shown(value)}; fit without a checkpoint"
        )
    return json_value(value)


def _code(name: str, function: FunctionType) -> str:
    """Return a digest of what a function does: its code, defaults and the values that it closes over."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    closed = [_plain(name, one) for one in (*(function.__defaults__ or ()), *cells)]
    return hashlib.sha256(repr([_parts(function.__code__), closed]).encode()).hexdigest()


def _parts(code: CodeType) -> list[Any]:
    constants = [_parts(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, constants]


def _digest(data: Dataset) -> str:
    """Return the fingerprint of data together with its weights and preferences."""
    digest = hashlib.sha256(data.fingerprint.encode())
    by_row = None if is_distributed(data) else data.sample_weight
    for values in (by_row, data.query_weight, *(data.preferences or ())):
        digest.update(b"-" if values is None else np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def model_state(model: Model) -> dict[str, Any]:
    """Return a model as plain data; raise ModelError if a file cannot hold it."""
    try:
        return {"kind": model.kind, "model": json.loads(json.dumps(model.to_dict(), allow_nan=False))}
    except ValueError as error:
        raise ModelError("expected a model of finite numbers") from error


def model_from(state: Mapping[str, Any]) -> Model:
    """Return the model that ``model_state`` described."""
    return models.model_from(state["kind"], state["model"])


def storable(value: Any) -> bool:
    """Tell whether a fitted attribute can go into a checkpoint."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiub"
    if isinstance(value, tuple | list):
        return all(map(storable, value))
    return value is None or isinstance(value, bool | int | float | str)


def _read(path: Path) -> dict[str, Any]:
    """Read a checkpoint, or raise DamagedError where the file is not one."""
    document = unpacked(path)
    if not isinstance(document, dict) or document.get("argrank_checkpoint") != FORMAT:
        raise DamagedError(f"expected a state of format {FORMAT}")
    for name, kinds in PARTS.items():
        if not isinstance(document.get(name, ...), kinds):
            raise DamagedError(f"{name}: expected {' or '.join(kind.__name__ for kind in kinds)}")
    inner = (document["identity"].get("parameters"), *document["trace"], *document["results"])
    if not all(isinstance(one, dict) for one in inner):
        raise DamagedError("expected parameters, rows of a trace and results of solves by name")
    return {name: document[name] for name in PARTS}


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _is_ours(path: Path) -> bool:
    """Tell whether a file is a (perhaps damaged) checkpoint and not a user's file: by its bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
            file.seek(max(0, file.seek(0, os.SEEK_END) - LOOKED_AT))
            tail = file.read()
    except OSError:
        return False
    return head.startswith(b"PK") or STATE.encode() in tail or not (head + tail).strip(b"\0")


def _is_whole(path: Path) -> bool:
    try:
        _read(path)
    except DamagedError:
        return False
    return True
