"""A signal during a training keeps what was learned."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import argrank as ar


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM that can be listened to")
def test_sigterm_saves_the_model_of_a_long_training(tmp_path: Path) -> None:
    data = ar.make_ranking(10, 8, 3, random_state=0)
    ar.dump(data, tmp_path / "train.txt")
    command = [sys.executable, "-m", "argrank", "train", "train.txt", "-r", "lambdarank", "-p", "max_iter=100000000"]
    command += ["-o", "model.json", "--checkpoint", "fit.ckpt", "--every", "0.1"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        while not (tmp_path / "fit.ckpt").exists() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 3, complaint
    assert "the best model so far is in model.json; the same command goes on from fit.ckpt" in complaint
    assert np.ptp(ar.load_model(tmp_path / "model.json").predict(data)) > 0
