"""``python -m tests.fuzz [AREA …] [--seconds S] [--cases N] [--seed K]``: try hostile input, in processes of their own.

Every area runs in a child process, so that a signal is seen and told together with the case that caused it. A case that
takes long (a million rounds, say) is interrupted as Ctrl-C would, which is one more thing to survive. The end prints a
table of what was tried and what failed; the exit code is 1 where anything did.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

MOST_SHOWN = 20  # failures of an area that are printed
LONGEST = 30.0  # seconds of a case; compiling a kernel takes some of them
MEMORY = "1GB"  # that one thing may take


def work(area: str, seconds: float, cases: int | None, seed: int, log: Path) -> int:
    """Try the cases of an area in this process; note every case before it is tried."""
    import numpy as np
    from tests.fuzz.areas import AREAS

    import argrank as ar
    from argrank.errors import ArgrankError

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    os.environ.setdefault("ARGRANK_MAX_MEMORY", MEMORY)
    for name in (
        () if area in ("letor", "tables", "archives") else ("rank-svm", "mart")
    ):  # what is imported and compiled first must not be interrupted
        ar.make_ranker(name, n_jobs=1, verbose=-1).fit(ar.make_ranking(5, 5, 2, random_state=0))
    failures, tried, late, begin = 0, 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder, log.open("w", errors="backslashreplace") as current:
        for name, attempt in itertools.islice(AREAS[area](seed, Path(folder)), cases):
            if time.monotonic() - begin > seconds:
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
    print(f"tried {tried} failed {failures} interrupted {late}", flush=True)
    return failures


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    """Interrupt what takes too long; systems without such a clock wait."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run areas one after the other and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each area")
    parser.add_argument("--cases", type=int, default=None, help="most cases of each area")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", type=Path, default=None, help="run here, and note the present case in this file")
    given = parser.parse_args()
    if given.worker is not None:
        return min(1, work(given.areas[0], given.seconds, given.cases, given.seed, given.worker))
    from tests.fuzz.areas import AREAS

    rows, failed = [], 0
    for area in given.areas or AREAS:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "case"
            command = [sys.executable, "-m", "tests.fuzz", area, "--seconds", str(given.seconds)]
            command += ["--seed", str(given.seed), "--worker", str(log)]
            command += [] if given.cases is None else ["--cases", str(given.cases)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            lines = done.stdout.splitlines()
            print("\n".join(line for line in lines if line.startswith("FAILED")), end="\n" if len(lines) > 1 else "")
            if lines and lines[-1].startswith("tried"):
                tried, failures, late = (int(lines[-1].split()[at]) for at in (1, 3, 5))
            else:  # ended by a signal, or broken itself
                tried, failures, late = 0, 1, 0
                last = log.read_text(errors="replace") if log.exists() else ""
                print(f"FAILED {area}: ended with code {done.returncode} in {last:.500}\n{done.stderr[-2000:]}")
            rows.append((area, tried, failures, late))
            failed += failures
    print(f"{'area':12}{'tried':>9}{'failed':>8}{'interrupted':>13}")
    for area, tried, failures, late in rows:
        print(f"{area:12}{tried:9,}{failures:8,}{late:13,}")
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
