"""The trace of a fit: what every iteration saw, the watcher that records it, and what the fit ends with."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from argrank._progress import Progress
from argrank._results import frame_of
from argrank._tables import number_text, table, to_text
from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.engines import is_distributed
from argrank.models.linear import LinearModel
from argrank.models.model import Model, Stayed
from argrank.solvers.problem import Keeper, Result, Stop

Facts = Mapping[str, float]


class Trace:
    """One row per iteration. ``trace["objective"]`` is a column, ``trace[-1]`` a row, ``len(trace)`` their number."""

    seconds_before: float = 0.0  # spent on this fit by earlier processes, from a checkpoint

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []

    def append(self, facts: Facts) -> None:
        """Add the facts of one iteration."""
        self._rows.append(dict(facts))

    @property
    def columns(self) -> list[str]:
        """Names of what was recorded, in order of appearance."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self._rows)

    def __getitem__(self, key: str | int) -> Floats | dict[str, float]:
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(key)
            return np.array([row.get(key, np.nan) for row in self._rows])
        return self._rows[key]

    @property
    def last(self) -> dict[str, float]:
        """The last row."""
        return self._rows[-1]

    def to_dict(self) -> dict[str, list[float]]:
        """Return the columns as lists."""
        return {name: [row.get(name, float("nan")) for row in self._rows] for name in self.columns}

    def to_pandas(self) -> Any:
        """Return the iterations as a pandas data frame."""
        return frame_of("pandas", self.to_dict(), "the data frame of a trace")

    def __repr__(self) -> str:
        if not self._rows:
            return "Trace: no iterations"
        columns = self.columns
        shown = self._rows if len(self._rows) <= 12 else [*self._rows[:5], {}, *self._rows[-6:]]
        rows = [[number_text(row[name], 6) if name in row else "…" for name in columns] for row in shown]
        return to_text([table(columns, rows, 0)])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


class Validation(NamedTuple):
    """Data evaluated after every iteration: its column in the trace, and the measure."""

    column: str
    data: Dataset
    measure: Callable[[Any], float]

    def scores_of(self, model: Model) -> Any:
        """Return the argument of ``measure``: the scores of a model, or the model itself for data on a cluster."""
        return model if is_distributed(self.data) else model.scores(self.data.X, self.data.indptr)


class Watcher:
    """Called by a solver after every iteration: records, evaluates on validation data, shows progress."""

    keeper: Keeper = Keeper()  # a Checkpoint, if there is one

    def __init__(self, name: str, validations: Sequence[Validation], verbose: int) -> None:
        self.trace = Trace()
        self.notes: list[str] = []  # warnings of the fit
        self.validations, self._begin = validations, time.perf_counter()
        self._progress = Progress(f"training {name}", None, enabled=verbose >= 0)
        self._watching = 0.0  # seconds spent here, not in the solver

    def __call__(self, weights: Floats, facts: Facts) -> None:
        """Record one iteration of a linear model."""
        self.record([part.scores_of(LinearModel(weights)) for part in self.validations], facts)

    def record(self, scores: Sequence[Floats], facts: Facts) -> dict[str, float]:
        """Record one iteration and return its row; ``scores`` of each validation set's rows, in stored order."""
        now = time.perf_counter()
        row: dict[str, float] = {"iteration": len(self.trace) + 1, **facts}
        row |= {part.column: part.measure(mine) for part, mine in zip(self.validations, scores, strict=True)}
        row["seconds"] = now - self._begin - self._watching
        self._watching += time.perf_counter() - now
        self.trace.append(row)
        shown = "objective" if "objective" in row else self.validations[0].column if self.validations else None
        note = "" if shown is None else f", {shown} {row[shown]:.6g}"
        self._progress.advance(1, f"iteration {len(self.trace)}{note}")
        return row

    def expect(self, n_rounds: int) -> None:
        """Set the largest number of iterations for the progress bar; those of a checkpoint are done."""
        self._progress.expect(n_rounds)
        self._progress.done = float(len(self.trace))

    @property
    def seconds(self) -> float:
        """Time since the fit began, without time spent here."""
        return time.perf_counter() - self._begin - self._watching

    def resume(self, rows: Sequence[Facts], seconds: float) -> None:
        """Continue the trace of a fit from another process."""
        for row in rows:
            self.trace.append(row)
        self._begin -= seconds
        self.trace.seconds_before = seconds

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.__exit__(None, None, None)


class Interruption:
    """A context in which Ctrl-C ends a training and keeps the earlier rounds; without any, it ends the fit."""

    stop: Stop = Stop.DONE
    note: str | None = None  # the reason as text

    def __init__(self, n_rounds: Callable[[], int]) -> None:
        self._n_rounds = n_rounds

    def __enter__(self) -> Interruption:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        kept = self._n_rounds()
        if kind is not KeyboardInterrupt or kept == 0:
            return False
        self.stop, self.note = Stop.INTERRUPTED, f"interrupted; the {kept} earlier rounds were kept"
        return True


PRECISE = 1e-3  # relative gap that may remain with float32 features


class Outcome(NamedTuple):
    """The result of a ranker's solver: a model of the (normalised) features, and how it was found."""

    model: Model
    objective: float
    gap: float
    n_iter: int
    stop: Stop = Stop.DONE
    note: str | None = None  # the reason as text, if the fit ended early
    stayed: Stayed | None = None  # near another method's model

    @classmethod
    def of(cls, result: Result) -> Outcome:
        """Convert a linear solver's result. Stopping at the limit of precision counts as converged."""
        precise = result.reason is Stop.PRECISION and result.gap <= PRECISE * abs(result.objective)
        stop = Stop.DONE if precise else result.reason
        note = None if stop.is_done else result.message
        return cls(LinearModel(result.w), result.objective, result.gap, result.n_iter, stop, note)

    def numbers(self) -> dict[str, Any]:
        """Return everything but the model, for a checkpoint."""
        return {**self._asdict(), "stop": self.stop.value, "model": None}

    @classmethod
    def restored(cls, model: Model, numbers: Mapping[str, Any]) -> Outcome:
        """Return the outcome that a checkpoint holds."""
        values = {name: numbers[name] for name in cls._fields}
        stayed = None if numbers["stayed"] is None else Stayed(*numbers["stayed"])
        return cls(**{**values, "stop": Stop(numbers["stop"]), "model": model, "stayed": stayed})
