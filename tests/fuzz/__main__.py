"""``python -m tests.fuzz [AREA …] [--seconds S] [--cases N] [--seed K]``: try hostile input, in processes of their own.

Every area runs in a child process, so that a signal is seen and told together with the case that caused it. The end
prints a table of what was tried and what failed; the exit code is 1 where anything did.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

MOST_SHOWN = 20  # failures of an area that are printed


def work(area: str, seconds: float, cases: int | None, seed: int, log: Path) -> int:
    """Try the cases of an area in this process; note every case before it is tried."""
    import numpy as np
    from tests.fuzz.areas import AREAS

    from argrank.errors import ArgrankError

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    failures, tried, begin = 0, 0, time.monotonic()
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
                attempt()
            except ArgrankError:
                pass
            except Exception as error:
                failures += 1
                if failures <= MOST_SHOWN:
                    print(f"FAILED {name!a:.500}: {type(error).__name__}: {str(error)!a:.500}", flush=True)
    print(f"tried {tried} failed {failures}", flush=True)
    return failures


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
                tried, failures = int(lines[-1].split()[1]), int(lines[-1].split()[3])
            else:  # ended by a signal, or broken itself
                tried, failures = 0, 1
                last = log.read_text(errors="replace") if log.exists() else ""
                print(f"FAILED {area}: ended with code {done.returncode} in {last:.500}\n{done.stderr[-2000:]}")
            rows.append((area, tried, failures))
            failed += failures
    print(f"{'area':12}{'tried':>9}{'failed':>8}")
    for area, tried, failures in rows:
        print(f"{area:12}{tried:9,}{failures:8,}")
    return min(1, failed)


if __name__ == "__main__":
    sys.exit(main())
