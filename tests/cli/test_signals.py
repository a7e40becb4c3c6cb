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
from argrank import cli
from argrank.errors import ArgrankWarning
from argrank.trials import select as selecting


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
    assert "the best model so far is in model.json; run the same command again to continue from fit.ckpt" in complaint
    assert np.ptp(ar.load_model(tmp_path / "model.json").predict(data)) > 0


@pytest.mark.parametrize(
    "command",
    [
        ["cv", "train.txt", "-r", "regression", "-r", "rank-svm", "-k", "3", "--resume", "work", "-q", "-j", "1"],
        ["train", "train.txt", "--valid", "train.txt", "-r", "rank-svm", "--grid", "C=1,9", "--resume", "work", "-q"],
    ],
)
def test_an_interrupted_command_goes_on_from_its_folder(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ar.dump(ar.make_ranking(12, 8, 3, random_state=0), "train.txt")

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(list(arguments))
        return ended.value.code, *capsys.readouterr()

    count, wait = [0], selecting._map

    def interrupted(*arguments: object) -> object:
        count[0] += 1
        found = wait(*arguments)
        if count[0] == (2 if command[0] == "cv" else 1):
            raise KeyboardInterrupt
        return found

    whole = run(*[one for one in command if one not in ("--resume", "work")])
    assert whole[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(selecting, "_map", interrupted)
        code, _, complaint = run(*command)
    assert (code, complaint) == (3, "argrank: interrupted: run the same command again to continue from work\n")
    assert any(Path("work").iterdir())
    assert run(*command) == whole


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_a_damaged_file_in_the_folder_never_ends_the_command(
    damage: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ar.dump(ar.make_ranking(12, 8, 3, random_state=0), "train.txt")
    command = ["train", "train.txt", "-r", "rank-svm", "-p", "C=1", "--resume", "work", "-o", "model.json"]
    with pytest.raises(SystemExit):
        cli.main(command)
    before = Path("model.json").read_bytes()
    for path in Path("work").iterdir():
        path.write_bytes(path.read_bytes()[:300] if damage is None else damage)
    with pytest.raises(SystemExit) as ended, pytest.warns(ArgrankWarning, match=r"rank-svm-.*\.ckpt: "):
        cli.main(command)
    assert ended.value.code == 0, capsys.readouterr().err
    assert Path("model.json").read_bytes() == before


def test_what_a_training_cannot_keep_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for options in (
        ["-r", "factor-rank", "--checkpoint", "fit.ckpt"],
        ["-r", "orm", "--stream", "--resume", "work"],
        ["-r", "rank-svm", "--resume", "work", "--checkpoint", "fit.ckpt"],
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", "absent.txt", *options])
        assert ended.value.code == 2
        assert "expected" in capsys.readouterr().err
