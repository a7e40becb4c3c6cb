"""A few seconds of ``make fuzz``: hostile input ends in one of argrank's errors or in something that works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("area", "cases"),
    [("letor", 150), ("tables", 150), ("archives", 150), ("models", 100), ("functions", 50), ("commands", 40)],
)
def test_nothing_but_our_errors(area: str, cases: int) -> None:
    command = [sys.executable, "-m", "tests.fuzz", area, "--cases", str(cases), "--seconds", "600", "--seed", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{area:12}{cases:9}{0:8}" in done.stdout
