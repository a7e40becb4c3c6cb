"""Commands as shells run them: inputs through files, pipes and devices, streams closed, signals at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import argrank as ar
from argrank.data.io.scores import write_scores

Case = tuple[str, Callable[[], Any]]
ARGRANK = f"{sys.executable} -m argrank"
COMMANDS = ("evaluate {0} {1} -q", "evaluate {0} {1} --json", "predict model.json {0}", "inspect {0} --json")
WAYS = ("{}", "<(cat {})", "pipe", "-", "/dev/stdin")
CLOSED = ("", "", "", ">&-", "2>&-", ">&- 2>&-", "> /dev/full", "| head -c 1 > /dev/null")
CODES = (0, 1, 2, 130)


def shell(seed: int, folder: Path) -> Iterator[Case]:
    """Yield lines for bash; what is not disturbed prints what it prints for files."""
    rng = random.Random(seed)
    os.chdir(folder)
    data = ar.make_ranking(8, 5, 3, random_state=seed)
    for name in ("data.txt", "data.csv", "data.parquet"):
        ar.dump(data, name)
    ranker = ar.make_ranker("regression").fit(data)
    ranker.save("model.json")
    write_scores(ranker.predict(data), "scores.txt")
    seen: dict[str, str] = {}
    while True:
        command, file = rng.choice(COMMANDS), rng.choice(("data.txt", "data.csv", "data.parquet"))
        line, before = command, ""
        for place, source in enumerate((file, "scores.txt")):
            way = rng.choice(WAYS) if f"{{{place}}}" in command else "{}"
            if way in ("-", "/dev/stdin") and (before or source != "data.txt" or place):
                way = "<(cat {})" if source != "data.csv" and source != "data.parquet" else "{}"
            if way == "<(cat {})" and not source.endswith(".txt"):
                way = "pipe"  # whose name says what it holds
            if way in ("-", "/dev/stdin"):
                before = f"cat {source} | "
            line = line.replace(f"{{{place}}}", _pipe(source) if way == "pipe" else way.format(source))
        named = [one for one in (file, "scores.txt") if _pipe(one) in line]
        feed = "".join(f"((exec > /dev/null 2>&1; cat {one} > {_pipe(one)}) &) ; " for one in named)
        closed, moment = rng.choice(CLOSED), rng.choice((None, None, rng.uniform(0.1, 1.5)))
        plain = command.format(file, "scores.txt")
        whole = f"{feed}{before}ARGRANK {line} {closed}"
        yield (
            f"{whole} {moment}",
            lambda plain=plain, whole=whole, closed=closed, moment=moment: _tried(seen, plain, whole, closed, moment),
        )


def _pipe(source: str) -> str:
    return f"pipe-{source}"


def _tried(seen: dict[str, str], plain: str, line: str, closed: str, moment: float | None) -> None:
    if moment is None and not closed and plain not in seen:
        seen[plain] = _run(f"ARGRANK {plain}", None)[1]
    code, out, err = _run(line, moment)
    if code not in CODES or "Traceback" in err or err.count("\n") > 1:
        raise AssertionError(f"exit code {code}: {err[-500:]}")
    if moment is None and not closed and (code != 0 or _without_names(out) != _without_names(seen[plain])):
        raise AssertionError(f"exit code {code}, other output than for files: {out[:300]!r} {err[:200]!r}")


def _without_names(text: str) -> str:
    """Return what was printed without the lines that name the file."""
    return "\n".join(line for line in text.split("\n") if not any(word in line for word in ("data.", "/dev/", '"-"')))


def _run(line: str, moment: float | None) -> tuple[int, str, str]:
    """Run a line of bash; send Ctrl-C to all of it some seconds after Python is up."""
    for source in ("data.txt", "data.csv", "data.parquet", "scores.txt"):
        Path(_pipe(source)).unlink(missing_ok=True)
        os.mkfifo(_pipe(source))
    begun = f'{sys.executable} -c \'import argrank.__main__ as a; open("up", "w").close(); a.main()\''
    Path("up").unlink(missing_ok=True)
    process = subprocess.Popen(
        ["bash", "-c", f"set -o pipefail; {line.replace('ARGRANK', begun)}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        if moment is not None:
            while not Path("up").exists() and process.poll() is None:
                time.sleep(0.01)
            time.sleep(moment)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):  # also what still waits for a reader of its pipe
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    code = process.returncode
    return 130 if moment is not None and code in (-signal.SIGINT, 128 + signal.SIGINT) else code, out, err
