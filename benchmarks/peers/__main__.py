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
SUMMARY = HERE / "results.csv"
PAGE = HERE.parents[1] / "docs" / "guide" / "peers.md"


def stored(path: Path) -> list[dict[str, Any]]:
    """Return the runs of the store; a line that a crash cut short is left out."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["set"], row["fold"], row["tool"], row["mode"]


def one(name: str, fold: int, tool: str, mode: str) -> None:
    """Run a tool in this process and print what it found as JSON."""
    import argrank as ar
    from benchmarks.peers.tools import run_tool, warm

    data = load(name, fold)
    if data is None or data.valid is None:
        sys.exit(3)
    warm(tool, data.train)
    begin, wall = time.process_time(), time.perf_counter()
    predict, setting = run_tool(tool, mode, data.train, data.valid)
    cpu, seconds = time.process_time() - begin, time.perf_counter() - wall
    begin = time.process_time()
    scores = predict(data.test)
    serving = time.process_time() - begin
    values = ar.evaluate(scores, data.test, "ndcg@10").values["ndcg@10"]
    row = {"set": name, "fold": fold, "tool": tool, "mode": mode, "setting": setting, "cpu": cpu, "wall": seconds}
    row |= {"predict_cpu": serving, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    print(json.dumps(row | {"values": [None if value != value else round(float(value), 6) for value in values]}))


def run(sets: list[str], folds: list[int] | None, tools: list[str], modes: list[str], store: Path) -> None:
    """Run all that the store lacks, each in a process of its own; what fails is told and tried again next time."""
    store.parent.mkdir(parents=True, exist_ok=True)
    done = {key(row) for row in stored(store)}
    for name in sets:
        for fold in SETS[name][0] if folds is None else [one for one in SETS[name][0] if one in folds]:
            for tool in tools:
                for mode in modes if TOOLS[tool][1] else [mode for mode in modes if mode == "default"]:
                    if (name, fold, tool, mode) in done:
                        continue
                    command = [sys.executable, "-m", "benchmarks.peers", "one", name, str(fold), tool, mode]
                    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
                    ended = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
                    if ended.returncode:
                        reason = (ended.stdout + ended.stderr).strip().splitlines()
                        print(f"{name}, fold {fold}, {tool}, {mode}: {reason[-1] if reason else 'failed'}", flush=True)
                        continue
                    line = ended.stdout.strip().splitlines()[-1]
                    with store.open("a") as file:
                        file.write(line + "\n")
                    found = json.loads(line)
                    values = [value for value in found["values"] if value is not None]
                    print(f"{name}, fold {fold}, {tool}, {mode}: {sum(values) / len(values):.4f}, "
                          f"{found['cpu']:.1f} CPU s, {found['megabytes']:.0f} MB", flush=True)  # fmt: skip


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
    runs.add_argument("--modes", nargs="+", choices=["default", "tuned"], default=["default", "tuned"])
    runs.add_argument("--store", type=Path, default=STORE)
    pages = commands.add_parser("page")
    pages.add_argument("--store", type=Path, default=STORE)
    pages.add_argument("--output", type=Path, default=PAGE)
    single = commands.add_parser("one")
    for name in ("set", "fold", "tool", "mode"):
        single.add_argument(name)
    asked = parser.parse_args(arguments)
    if asked.command == "run":
        run(asked.sets, asked.folds, asked.tools, asked.modes, asked.store)
    elif asked.command == "page":
        write_page(asked.store, asked.output)
    else:
        one(asked.set, int(asked.fold), asked.tool, asked.mode)


main(sys.argv[1:])
