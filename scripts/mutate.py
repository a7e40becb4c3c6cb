"""Plant small bugs in a folder and see whether its tests find them: ``python scripts/mutate.py data/doctor -n 10``.

A mutant has one operator or one number changed. It is planted in a temporary copy of the tree, so the tree itself stays
clean; the tests of its module run first, then those of its folder. What survives is printed: either the tests lack
something, or the change makes no observable difference. The same seed plants the same bugs.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src") / "argrank"

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Mutant(NamedTuple):
    """One change of one file: the bytes from ``start`` to ``end`` become ``after``."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file; messages, annotations and formatted text are left alone."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        for changed in _changes(node):
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            before, after = ast.unparse(node), ast.unparse(changed)
            yield Mutant(path, node.lineno, start, end, before, f"({after})")


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that count: what a function does, and constants of modules and classes."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            if isinstance(child, ast.expr):
                yield child
            if isinstance(child, ast.AST):
                yield from _expressions(child)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Compare) and type(changed.ops[0]) in COMPARISONS:
        changed.ops[0] = COMPARISONS[type(changed.ops[0])]()
    elif isinstance(changed, ast.BinOp) and type(changed.op) in ARITHMETIC and not _is_text(changed):
        changed.op = ARITHMETIC[type(changed.op)]()
    elif isinstance(changed, ast.BoolOp):
        changed.op = ast.And() if isinstance(changed.op, ast.Or) else ast.Or()
    elif isinstance(changed, ast.UnaryOp) and isinstance(changed.op, ast.Not | ast.USub):
        changed = changed.operand
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, bool):
        changed.value = not changed.value
    elif isinstance(changed, ast.Constant) and isinstance(changed.value, int | float):
        changed.value = changed.value + 1 if isinstance(changed.value, int) or not changed.value else 2 * changed.value
    else:
        return
    yield changed


def _is_text(node: ast.BinOp) -> bool:
    """Tell whether an operation is of texts, lists or types rather than of numbers."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.ListComp | ast.Dict)
        or (isinstance(side, ast.Constant) and not isinstance(side.value, int | float))
        or (isinstance(side, ast.BinOp) and _is_text(side))
        for side in sides
    )


def tests_of(path: Path, more: list[str]) -> list[list[str]]:
    """Return the runs of pytest for a module, near ones first.

    Its own tests and examples come first, then those of its folder, where it has any of its own.
    """
    inside = path.relative_to(PACKAGE).with_suffix("")
    top = Path("tests") / inside.parts[0]
    names = {f"test_{inside.name}.py", f"test_{inside.parent.name}.py"}
    near = sorted(str(one.relative_to(ROOT)) for one in (ROOT / top).rglob("test_*.py") if one.name in names)
    folder = Path("tests") / inside.parent
    if not (ROOT / folder).is_dir():
        return [[str(path), *near, *more]] if near else [[str(path), str(top), *more]]
    return [[str(path), *near], [str(folder), *more]]


def passes(copied: Path, tests: list[str], timeout: float) -> bool:
    """Tell whether the tests pass in the copy; a run that does not end counts as failing."""
    settings = {
        **os.environ,
        "PYTHONPATH": str(copied / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ARGRANK_DATA": os.environ.get("ARGRANK_DATA", str(ROOT.parent / "shared" / "data")),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not dask"]
    try:
        ended = subprocess.run(
            [*command, *tests], cwd=copied, env=settings, capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode in (0, 5)  # 5: no test was found


def copy_tree(folder: Path) -> Path:
    """Copy what git knows of the tree, and compiled kernels, which need not be compiled again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    kernels = (str(one.relative_to(ROOT)) for one in (ROOT / "src").rglob("*.nb[ci]"))
    for name in [*listed.stdout.splitlines(), *kernels]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def main() -> None:
    """Plant the asked number of mutants and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="below src/argrank, such as data/doctor, or one file of it")
    parser.add_argument("-n", type=int, default=10, help="number of mutants (10)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a run of tests; longer is a failure")
    parser.add_argument("--tests", nargs="*", default=[], help="further tests than those of the folder")
    asked = parser.parse_args()
    place = ROOT / PACKAGE / asked.folder
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    every = [mutant for path in files for mutant in mutants_of(path.relative_to(ROOT))]
    chosen = random.Random(asked.seed).sample(every, min(asked.n, len(every)))
    survivors = []
    with tempfile.TemporaryDirectory() as temporary:
        copied = copy_tree(Path(temporary))
        for run in {tuple(run) for mutant in chosen for run in tests_of(mutant.path, asked.tests)}:
            if not passes(copied, list(run), 10 * asked.timeout):
                sys.exit(f"without any change these tests fail: {' '.join(run)}")
        for mutant in chosen:
            target = copied / mutant.path
            source, began = target.read_bytes(), time.perf_counter()
            target.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
            found = not all(passes(copied, run, asked.timeout) for run in tests_of(mutant.path, asked.tests))
            shutil.copy2(ROOT / mutant.path, target)
            print(f"{'found' if found else 'SURVIVES'} {time.perf_counter() - began:5.0f} s  {mutant}", flush=True)
            survivors += [] if found else [mutant]
    print(f"{asked.folder}: {len(survivors)} of {len(chosen)} survive (seed {asked.seed}, {len(every)} possible)")


if __name__ == "__main__":
    main()
