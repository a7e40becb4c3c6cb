"""``python -m tests.fuzz.kill_matrix [WORK …] [--moments N] [--seed K]``: work that is killed, goes on, is compared.

Every kind of work runs once without kills, in a process of its own. Then it runs with a checkpoint (trials with a
folder) and is killed at random moments of that time, each time going on from what the killed process left. What it
ends with must have the same bits. It prints a table; the exit code is 1 where bits differ or nothing could be killed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.rankers.checkpoint_work import WORK

import argrank as ar

DATA = ar.make_ranking(60, 15, 8, random_state=3)
VALID = ar.make_ranking(20, 15, 8, random_state=4)
TREES = {"min_documents": 10, "n_leaves": 6}
TRIED = 20  # times that a moment is drawn anew because the work was done before it


def _fit(name: str, parameters: dict[str, Any], place: Path | None) -> list[Any]:
    if isinstance(signs := parameters.get("signs"), list):
        parameters = {**parameters, "signs": [*signs, 0, 0, 0]}
    if isinstance(centre := parameters.get("w0"), list):
        parameters = {**parameters, "w0": [*centre, 0.0, 0.0, 0.0]}
    kept = {} if place is None else {"checkpoint": place / "fit.ckpt", "every": 1e-9}
    ranker: Any = ar.make_ranker(name, **parameters, n_jobs=1, verbose=-1).fit(DATA, eval_set=VALID, **kept)
    trace = {key: ranker.trace_[key].tobytes() for key in ranker.trace_.columns if "seconds" not in key}
    numbers = [float(number) for number in (ranker.objective_, ranker.gap_, ranker.n_iter_)]
    return [ranker.predict(DATA).tobytes(), numbers, trace, getattr(ranker, "estimate_", None)]


def _cross_validate(place: Path | None) -> list[Any]:
    rankers = {"rank-svm": ar.make_ranker("rank-svm"), "mart": ar.make_ranker("mart", n_trees=30, **TREES)}
    grid = {"rank-svm": {"C": [0.1, 1.0, 10.0]}, "mart": {"learning_rate": [0.03, 0.1]}}
    found = ar.cross_validate(rankers, DATA, ["ndcg@10"], grid=grid, n_folds=3, n_jobs=1, progress=False, resume=place)
    return _told(found)


def _benchmark(place: Path | None) -> list[Any]:
    rankers = ["regression", "listnet", "rank-svm"]
    return _told(ar.benchmark(DATA, ["ndcg@10"], rankers, n_folds=3, n_jobs=1, progress=False, resume=place))


def _told(found: Any) -> list[Any]:
    told = {key: one for key, one in found.to_dict().items() if key != "seconds"}
    return [told, {name: one.tobytes() for name, one in found.scores.items()}, found.ranker().predict(DATA).tobytes()]


def _select(place: Path | None) -> list[Any]:
    grid = {"C": [0.1, 1.0, 10.0], "max_iter": [50, 1000]}
    found = ar.select("listnet", grid, DATA, VALID, "ndcg@10", n_jobs=1, progress=False, resume=place)
    points = [(point.params, point.value, point.objective) for point in found.points]
    return [found.params, points, found.ranker.predict(DATA).tobytes()]


def _work() -> dict[str, Callable[[Path | None], list[Any]]]:
    blend = {"members": ["listnet", ar.make_ranker("mart", **TREES), "rank-svm"], "max_trees": 400, "n_folds": 2}
    fits = {**WORK, "auto": ("auto", blend)}
    found: dict[str, Callable[[Path | None], list[Any]]] = {
        name: lambda place, one=one: _fit(*one, place) for name, one in fits.items()
    }
    return {**found, "cv": _cross_validate, "benchmark": _benchmark, "select": _select}


class Row(NamedTuple):
    """One line of the table."""

    work: str
    seconds: float
    kills: int
    same: bool

    @property
    def failed(self) -> bool:
        """Whether bits differ, or nothing could be killed."""
        return not self.same or self.kills == 0


def examine(name: str, moments: int, rng: random.Random) -> Row:
    """Run work without and with kills; compare."""
    work = _work()[name]
    with tempfile.TemporaryDirectory() as folder:
        place, result = Path(folder) / "place", Path(folder) / "result"
        place.mkdir()
        begin = time.monotonic()
        _run(work, None, result, None)
        seconds, whole = time.monotonic() - begin, result.read_text()
        kills, latest = 0, seconds
        for _ in range(TRIED):
            result.unlink(missing_ok=True)
            if kills == moments:
                break
            kills += _run(work, place, result, rng.uniform(0.0, latest))
            if result.exists():  # it was done before, as what compiled in peace does not compile again: begin anew
                latest *= 0.7
                for path in place.iterdir():
                    path.unlink()
        result.unlink(missing_ok=True)
        _run(work, place, result, None)
        return Row(name, seconds, kills, result.read_text() == whole)


def _run(work: Callable[[Path | None], list[Any]], place: Path | None, result: Path, moment: float | None) -> bool:
    """Run work in a process of its own and kill it after some seconds; tell whether it was killed."""
    process = os.fork()
    if process == 0:
        try:
            warnings.simplefilter("ignore")
            text = hashlib.sha256(repr(work(place)).encode()).hexdigest()
            result.write_text(text)
        except BaseException as error:  # a child must never run the parent's code
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        finally:
            os._exit(0)
    if moment is not None:
        time.sleep(moment)
        if not result.exists():
            os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status)


def matrix(names: Sequence[str] | None, moments: int, rng: random.Random) -> list[Row]:
    """Examine kinds of work, all by default, and print a line for each."""
    importlib.import_module("numba")  # once, and not in every process
    importlib.import_module("lightgbm")
    rows = []
    print(f"{'work':40}{'seconds':>8}{'kills':>7}", flush=True)
    for name in names or _work():
        row = examine(name, moments, rng)
        rows.append(row)
        print(f"{row.work:40}{row.seconds:8.2f}{row.kills:7}  {'same bits' if row.same else 'OTHER BITS'}", flush=True)
    return rows


def main() -> int:
    """Examine work, print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", nargs="*", help="all by default")
    parser.add_argument("--moments", type=int, default=5, help="kills of each work")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = matrix(given.work, given.moments, random.Random(given.seed))
    failed = sum(row.failed for row in rows)
    print(f"{len(rows)} kinds of work, {sum(row.kills for row in rows)} kills, {failed} failures")
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
