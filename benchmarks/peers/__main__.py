"""``python -m benchmarks.peers run|page``: run what the store lacks, write the page from what it has."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.peers.data import SETS, load
from benchmarks.peers.tools import TOOLS

HERE = Path(__file__).parent
STORE = HERE / "runs.jsonl"  # in the repository: the runs take hours
MODES = ["default", "tuned", "folds"]
SUMMARY = HERE / "results.csv"
PAGE = HERE.parents[1] / "docs" / "guide" / "peers.md"


def stored(path: Path) -> list[dict[str, Any]]:
    """Return the runs of the store; a line that a crash cut short is left out."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["set"], row["fold"], row["tool"], row["mode"]


def one(name: str, folds: list[int], tool: str, mode: str) -> None:
    """Run a tool on some folds in this process, and print what it found as a line of JSON each."""
    import argrank as ar
    from benchmarks.peers.tools import run_tool, warm

    for fold in folds:
        data = load(name, fold)
        if data is None or data.valid is None:
            sys.exit(3)
        if fold == folds[0]:
            warm(tool, data.train)
        begin, wall = time.process_time(), time.perf_counter()
        fitted, setting = run_tool(tool, mode, data.train, data.valid)
        cpu, seconds = time.process_time() - begin, time.perf_counter() - wall
        serving = []
        for _ in range(3):
            begin = time.process_time()
            scores = fitted.predict(data.test)
            serving.append(time.process_time() - begin)
        values = ar.evaluate(scores, data.test, "ndcg@10").values["ndcg@10"]
        row = {"set": name, "fold": fold, "tool": tool, "mode": mode, "setting": setting, "cpu": cpu, "wall": seconds}
        row |= {"predict_cpu": min(serving), "documents": data.test.n_documents, "bytes": fitted.n_bytes}
        row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        row["values"] = [None if value != value else round(float(value), 6) for value in values]
        print(json.dumps(row), flush=True)


def run(sets: list[str], folds: list[int] | None, tools: list[str], modes: list[str], store: Path) -> None:
    """Run all that the store lacks, a process for each system and set; failures are printed and tried again later."""
    store.parent.mkdir(parents=True, exist_ok=True)
    done = {key(row) for row in stored(store)}
    for name in sets:
        asked = [fold for fold in SETS[name][0] if folds is None or fold in folds]
        for tool in tools:
            for mode in [mode for mode in modes if mode in ("default", *TOOLS[tool][1])]:
                left = [str(fold) for fold in asked if (name, fold, tool, mode) not in done]
                if left:
                    _run_one(["one", name, ",".join(left), tool, mode], store)


def _run_one(arguments: list[str], store: Path) -> None:
    """Run a process that prints lines, and keep each as soon as it is there."""
    command = [sys.executable, "-m", "benchmarks.peers", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    reason = "failed"
    with subprocess.Popen(command, **streams, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                reason = line.strip() or reason
                continue
            with store.open("a") as file:
                file.write(line)
            found = json.loads(line)
            values = [value for value in found["values"] if value is not None]
            told = ", ".join(map(str, (found["set"], found["fold"], found["tool"], found["mode"])))
            print(f"{told}: {sum(values) / len(values):.4f}, {found['cpu']:.1f} CPU s", flush=True)
    if process.returncode:
        print(f"{' '.join(arguments)}: {reason}", flush=True)


def write_page(store: Path, path: Path) -> None:
    """Write page, plot and the summary of all runs."""
    from benchmarks.peers.page import page, plot, summary

    rows = stored(store)
    if not rows:
        sys.exit(f"{store}: no runs yet; python -m benchmarks.peers run")
    path.write_text(page(rows))
    plot(rows, path.with_suffix(".png"))
    SUMMARY.write_text(summary(rows))
    print(path)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.peers")
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    runs.add_argument("--folds", nargs="+", type=int)
    runs.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    runs.add_argument("--modes", nargs="+", choices=MODES, default=MODES)
    runs.add_argument("--store", type=Path, default=STORE)
    pages = commands.add_parser("page")
    pages.add_argument("--store", type=Path, default=STORE)
    pages.add_argument("--output", type=Path, default=PAGE)
    single = commands.add_parser("one")
    for name in ("set", "folds", "tool", "mode"):
        single.add_argument(name)
    asked = parser.parse_args(arguments)
    if asked.command == "run":
        run(asked.sets, asked.folds, asked.tools, asked.modes, asked.store)
    elif asked.command == "page":
        write_page(asked.store, asked.output)
    else:
        one(asked.set, [int(fold) for fold in asked.folds.split(",")], asked.tool, asked.mode)


main(sys.argv[1:])
