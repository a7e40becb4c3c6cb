"""``python -m tests.fuzz [AREA …] [--seconds S] [--cases N] [--moments M] [--seed K]``: hostile input, and one table.

Every area runs in a child process, so that a signal is seen and reported with the case that caused it. A case that
takes long (a million rounds, say) is interrupted by Ctrl-C, which it must survive, too. "kills" is the matrix
of ``tests.fuzz.kill_matrix``, "bombs" are the files of ``tests.fuzz.bombs``. The end prints a table of what was tried,
what failed, and the most memory that the process had; the exit code is 1 where anything failed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MOST_SHOWN = 20  # failures of an area that are printed
LONGEST = 10.0  # seconds of a case, and of what compiles in it
MEMORY = "1GB"  # that one thing may take
WHOLE = {"rankers": 4.0}  # areas that are gone through as a whole, in up to this many times the seconds of others


class Row(NamedTuple):
    """One line of the table."""

    area: str
    tried: int
    failed: int
    note: str
    peak: float | None = None  # bytes of resident memory, of the process and of what it ran

    def text(self) -> str:
        """Return the line as text."""
        peak = f"{self.peak / 1e6:,.0f} MB" if self.peak else ""
        return f"{self.area:26}{self.tried:13,}{self.failed:10,}{peak:>9}  {self.note}".rstrip()


def work(area: str, seconds: float, cases: int | None, seed: int, log: Path) -> int:
    """Try the cases of an area in this process; note every case before it is tried."""
    import numpy as np
    from tests.fuzz.areas import AREAS

    from argrank.errors import ArgrankError

    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it for what runs in the background
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.environ.setdefault("ARGRANK_MAX_MEMORY", MEMORY)
    failures, tried, late, begin = 0, 0, 0, _cpu()
    with tempfile.TemporaryDirectory() as folder, log.open("w", errors="backslashreplace") as current:
        for name, attempt in itertools.islice(AREAS[area](seed, Path(folder)), cases):
            if _cpu() - begin > seconds:
                break
            current.seek(0)
            current.truncate()
            current.write(name)
            current.flush()
            tried += 1
            try:
                with _alarm():
                    attempt()
            except ArgrankError:
                pass
            except KeyboardInterrupt:
                late += 1
            except Exception as error:
                failures += 1
                if failures <= MOST_SHOWN:
                    print(f"FAILED {name!a:.500}: {type(error).__name__}: {str(error)!a:.500}", flush=True)
    print(f"tried {tried} failed {failures} interrupted {late} peak {_peak()}", flush=True)
    return failures


def _cpu() -> float:
    """Return the seconds of CPU that this process and the commands that it ran have taken."""
    return sum(os.times()[:4])


def _peak() -> int:
    """Return the most bytes that this process, or one that it ran, had in memory; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    used = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return max(used) * (1 if sys.platform == "darwin" else 1024)


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """Interrupt what takes too long; systems without such a clock wait."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def in_child(area: str, seconds: float, cases: int | None, seed: int) -> Row:
    """Try an area in a process of its own, and print what failed."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "case"
        command = [sys.executable, "-m", "tests.fuzz", area, "--seconds", str(seconds), "--seed", str(seed)]
        command += ["--worker", str(log), *([] if cases is None else ["--cases", str(cases)])]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        lines = done.stdout.splitlines()
        print("\n".join(line for line in lines if line.startswith("FAILED")), end="\n" if len(lines) > 1 else "")
        if lines and lines[-1].startswith("tried"):
            tried, failures, late, peak = (int(word) for word in lines[-1].split()[1::2])
            return Row(area, tried, failures, f"{late} interrupted after {LONGEST:.0f} s" if late else "", peak)
        last = log.read_text(errors="replace") if log.exists() else ""  # ended by a signal, or broken itself
        print(f"FAILED {area}: ended with code {done.returncode} in {last:.500}\n{done.stderr[-2000:]}")
        return Row(area, 0, 1, f"ended with code {done.returncode}")


def nasty(row: Row) -> Row:
    """Say which share of the catalogue of rankers and inputs was tried."""
    from tests.fuzz import nasty_data

    from argrank.rankers import ranker_names

    n_rankers, n_inputs = len(ranker_names()), len(nasty_data.CASES)
    note = f"{n_rankers} rankers x {n_inputs} inputs = {n_rankers * n_inputs:,}"
    return row._replace(note=", ".join(filter(None, (note, row.note))))


def kills(moments: int, seed: int) -> Row:
    """Return the line of the kill matrix."""
    from tests.fuzz import kill_matrix

    rows = kill_matrix.matrix(None, moments, random.Random(seed))
    failed = sum(row.failed for row in rows)
    note = f"{len(rows)} kinds of work x {moments} moments: " + ("same bits" if not failed else "OTHER BITS")
    return Row("kills", sum(row.kills for row in rows), failed, note)


def exploded() -> Iterator[Row]:
    """Yield a line for every bomb."""
    from tests.fuzz import bombs

    for bomb in bombs.tried(bombs.GIGABYTES, bombs.LIMIT):
        yield Row(f"bomb {bomb.name}", 1, int(bomb.failed), f"a file of {bomb.size / 1e6:.2f} MB", bomb.resident)


def main() -> int:
    """Run areas one after the other and print the table."""
    from tests.fuzz.areas import AREAS

    parser = argparse.ArgumentParser()
    parser.add_argument("areas", nargs="*", help=f"of {', '.join(AREAS)}, kills, bombs; all by default")
    parser.add_argument("--seconds", type=float, default=60.0, help="of CPU, for each area")
    parser.add_argument("--cases", type=int, default=None, help="most cases of each area")
    parser.add_argument("--moments", type=int, default=1, help="kills of each kind of work")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", type=Path, default=None, help="run here, and note the present case in this file")
    given = parser.parse_args()
    if given.worker is not None:
        return min(1, work(given.areas[0], given.seconds, given.cases, given.seed, given.worker))
    chosen = given.areas or [*AREAS, "kills", "bombs"]
    rows: list[Row] = []
    for area in chosen:
        print(f"… {area}", file=sys.stderr, flush=True)
        if area == "kills":
            rows.append(kills(given.moments, given.seed))
        elif area == "bombs":
            rows += exploded()
        else:
            row = in_child(area, given.seconds * WHOLE.get(area, 1.0), given.cases, given.seed)
            rows.append(nasty(row) if area == "rankers" else row)
        print(rows[-1].text(), file=sys.stderr, flush=True)
    print(f"\n{'area':26}{'inputs tried':>13}{'failures':>10}{'peak':>9}")
    for row in (*rows, Row("all", sum(row.tried for row in rows), sum(row.failed for row in rows), "")):
        print(row.text())
    return min(1, sum(row.failed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
