"""A few seconds of ``make fuzz``: hostile input ends in one of argrank's errors or in something that works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("area", "cases"),
    [
        ("letor", 100),
        ("tables", 100),
        ("archives", 100),
        ("models", 60),
        ("functions", 40),
        ("commands", 30),
        ("order", 15),
        ("shell", 5),
        ("rankers", 12),
        ("checkpoints", 40),
        ("packs", 60),
        ("door", 200),
        ("doors", 300),
    ],
)
def test_nothing_but_our_errors(area: str, cases: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz", area, "--cases", str(cases), "--seconds", "600", "--seed", "1"]
    command += ["--worker", str(tmp_path / "case")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"tried {cases} failed 0 " in done.stdout
