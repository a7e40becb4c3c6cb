"""A fit that was killed and goes on ends with the same bits as one that never was."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.rankers.checkpoint_work import DRAWS, TREES, WORK

import argrank as ar
from argrank._files import write_bytes
from argrank.errors import ArgrankWarning, FormatError, InputError, OptionError
from argrank.rankers._archive import DamagedError, Store, restored, unpacked
from argrank.rankers.checkpoint import Checkpoint, model_state

ROOT = Path(__file__).resolve().parents[2]
DATA = ar.make_ranking(24, 10, 5, random_state=3)
VALID = ar.make_ranking(8, 10, 5, random_state=4)


class Killed(BaseException):
    """Ends a fit as a signal would: nobody catches it."""


def made(work: str, **changed: Any) -> Any:
    name, parameters = WORK[work]
    return ar.make_ranker(name, verbose=-1, **{**parameters, **changed})


def killed_fit(work: str, path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> bool:
    """Fit until the checkpoint has been written so often; tell whether the fit was killed before its end."""
    count, write = [0], Checkpoint._write

    def counted(self: Checkpoint, outcome: Any) -> None:
        if outcome is None:
            write(self, outcome)
            count[0] += 1
        if count[0] == after or outcome is not None:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "_write", counted)
        with pytest.raises(Killed):
            made(work).fit(DATA, eval_set=VALID, checkpoint=path, every=1e-9)
    return count[0] == after


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.predict(DATA), other.predict(DATA))
    np.testing.assert_array_equal(
        [one.objective_, one.gap_, one.n_iter_], [other.objective_, other.gap_, other.n_iter_]
    )
    assert len(one.trace_) == len(other.trace_)
    for column in ("objective", "validation", "iteration", "n_passes"):
        if column in other.trace_.columns:
            np.testing.assert_array_equal(one.trace_[column], other.trace_[column])


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
@pytest.mark.parametrize("work", WORK)
def test_killed_and_resumed_is_never_killed(work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = made(work).fit(DATA, eval_set=VALID)
    n_killed = 0
    for after in (1, 3):
        path = tmp_path / f"{after}.ckpt"
        n_killed += killed_fit(work, path, monkeypatch, after)
        assert_same(made(work).fit(DATA, eval_set=VALID, checkpoint=path), whole)
    assert n_killed > 0
    monkeypatch.setattr(type(whole), "_train", None)  # a finished fit is read, not repeated
    assert_same(made(work).fit(DATA, eval_set=VALID, checkpoint=path), whole)


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
@pytest.mark.parametrize("work", ["bundle", "fixed steps", "trees with draws"])
def test_a_file_holds_little_more_than_arrays_the_model_and_the_trace(work: str, tmp_path: Path) -> None:
    many = {"max_iter": 500} if work == "fixed steps" else {"n_trees": 60} if work.startswith("trees") else {}
    path, ranker = tmp_path / "fit.ckpt", made(work, **many)
    ranker.fit(DATA, eval_set=VALID, checkpoint=path, every=1e-9)
    before = path.with_name("fit.ckpt.1")  # the last one before the end, with the whole state
    with zipfile.ZipFile(before) as archive:
        arrays = sum(one.file_size for one in archive.infolist() if one.filename.endswith(".npy"))
    model, trace = len(json.dumps(model_state(ranker.model_))), 8 * len(ranker.trace_) * len(ranker.trace_.columns)
    assert before.stat().st_size < arrays + model + 1.5 * trace + 4000  # names of parameters and of files


def test_matrices_come_back_with_all_their_bits_symmetric_or_not(tmp_path: Path) -> None:
    half = np.random.default_rng(0).standard_normal((5, 5))
    signed = np.array([[1.0, 0.0], [-0.0, 1.0]])  # equal to its transpose, but not to the bit
    state = {"symmetric": half + half.T, "any": half, "signed": signed, "empty": np.zeros((0, 0))}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        plain = Store(archive).plain(state)
        arrays = sum(one.file_size for one in archive.infolist())
    with zipfile.ZipFile(content) as archive:
        found = restored(plain, lambda name: np.load(io.BytesIO(archive.read(name))))
    assert {name: one.tobytes() for name, one in found.items()} == {name: one.tobytes() for name, one in state.items()}
    assert arrays == 4 * 128 + 8 * (15 + 25 + 4)


def test_a_process_killed_at_any_moment_goes_on(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.kill_matrix",
        "bundle, then cutting planes",
        "select",
        "--moments",
        "2",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same bits") == 2


def test_ctrl_c_writes_the_last_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, count, offer = tmp_path / "fit.ckpt", [0], Checkpoint.offer

    def interrupted(self: Checkpoint, state: Any) -> None:
        offer(self, state)
        count[0] += 1
        if count[0] == 3:
            signal.default_int_handler(signal.SIGINT, None)  # as Ctrl-C does; in the background the signal is ignored

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "offer", interrupted)
        with pytest.warns(ArgrankWarning, match="interrupted"):
            stopped = made("bundle").fit(DATA, checkpoint=path)  # ten minutes between two writings
    assert stopped.n_iter_ < made("bundle").fit(DATA).n_iter_
    assert path.exists()
    assert_same(made("bundle").fit(DATA, checkpoint=path), made("bundle").fit(DATA))


@pytest.mark.parametrize("name", ["mart", "symmetric-mart"])
def test_an_interrupted_search_for_the_number_of_trees_goes_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(**saved: Any) -> Any:
        return ar.make_ranker(name, n_trees=30, early_stopping=4, verbose=-1).fit(DATA, **saved)

    path, count, offer = tmp_path / "fit.ckpt", [0], Checkpoint.offer

    def interrupted(self: Checkpoint, state: Any) -> None:
        offer(self, state)
        count[0] += 1
        if count[0] == 3:
            signal.default_int_handler(signal.SIGINT, None)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "offer", interrupted)
        with pytest.warns(ArgrankWarning, match="interrupted"):
            fit(checkpoint=path, every=1e-9)
    assert_same(fit(checkpoint=path), fit())


def test_a_checkpoint_of_another_fit_is_refused_with_the_difference(tmp_path: Path) -> None:
    path = tmp_path / "fit.ckpt"
    made("bundle").fit(DATA, checkpoint=path)
    with pytest.raises(InputError, match=r"with another C: 1\.0 instead of 2\.0; remove it to start again"):
        made("bundle", C=2.0).fit(DATA, checkpoint=path)
    with pytest.raises(InputError, match="with another data"):
        made("bundle").fit(VALID, checkpoint=path)
    with pytest.raises(InputError, match="with another validation"):
        made("bundle").fit(DATA, eval_set=VALID, checkpoint=path)
    with pytest.raises(InputError, match="with another ranker: 'SVMndcg' instead of 'SVMmap'"):
        made("cutting planes").fit(DATA, checkpoint=path)
    weighed = ar.Dataset(DATA.X, DATA.y, group=DATA.sizes, query_weight=np.arange(1.0, 25.0))
    with pytest.raises(InputError, match="with another data"):
        made("bundle").fit(weighed, checkpoint=path)


def test_a_finished_fit_is_read_with_its_warnings_and_all_it_knows(tmp_path: Path) -> None:
    path, silent = tmp_path / "fit.ckpt", ar.Dataset(np.ones((6, 1)), [0, 1, 2, 0, 1, 2], group=[3, 3])
    parameters: dict[str, Any] = {"bound": "convex", "C": 1.0, "max_iter": 50, "verbose": -1}
    with pytest.warns(ArgrankWarning, match="the optimum is w = 0 for every C") as first:
        whole = ar.make_ranker("svm-ndcg", **parameters).fit(DATA).fit(silent, checkpoint=path)  # the second time
    with pytest.warns(ArgrankWarning) as again:
        read = ar.make_ranker("svm-ndcg", **parameters).fit(silent, checkpoint=path)
    assert [str(one.message) for one in again] == [str(one.message) for one in first]
    assert (read.collapsed_, read.objective_at_zero_) == (whole.collapsed_, whole.objective_at_zero_)
    assert read.collapsed_.norm <= read.collapsed_.tolerance
    assert read.trace_.seconds_before > 0


def test_the_number_of_trees_is_chosen_once(tmp_path: Path) -> None:
    path, parameters = tmp_path / "fit.ckpt", {"n_trees": 4, "n_leaves": 4, "min_documents": 3, "verbose": -1}
    whole = ar.make_ranker("direct-rank-trees", **parameters).fit(DATA)
    for _ in range(2):  # the second time it is read
        kept = ar.make_ranker("direct-rank-trees", **parameters).fit(DATA, checkpoint=path, every=1e-9)
        assert_same(kept, whole)
        assert kept.gain_ == whole.gain_ >= 0


def test_parameters_that_no_other_process_knows_again_are_refused(tmp_path: Path) -> None:
    from sklearn.tree import DecisionTreeRegressor

    for name, parameters in (
        ("direct-rank-trees", {"base_estimator": DecisionTreeRegressor()}),
        ("direct-rank", {"measure": len}),
        ("mart", {"callbacks": [print]}),
        ("mart", {"init_model": made("bundle").fit(DATA)}),
    ):
        with pytest.raises(
            OptionError, match=rf"checkpoint: .* got {next(iter(parameters))}=.*; fit without a checkpoint"
        ):
            ar.make_ranker(name, **parameters).fit(DATA, checkpoint=tmp_path / "fit.ckpt")


def test_more_passes_and_a_smaller_tolerance_go_on(tmp_path: Path) -> None:
    path = tmp_path / "fit.ckpt"
    first = made("bundle", tol=0.3, n_jobs=1).fit(DATA, checkpoint=path, every=1e-9)
    again = made("bundle", tol=1e-4, n_jobs=2).fit(DATA, checkpoint=path)
    assert again.n_iter_ > first.n_iter_
    assert again.gap_ <= 1e-4 * again.objective_


def test_a_damaged_checkpoint_gives_way_to_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fit.ckpt"
    killed_fit("bundle", path, monkeypatch, 3)
    whole = path.read_bytes()
    for damage in (b"", whole[: len(whole) // 2], whole[:200] + bytes(50) + whole[250:], b"no archive"):
        path.write_bytes(damage)
        with pytest.warns(ArgrankWarning, match=r"fit.ckpt: the checkpoint is damaged and not used"):
            found = Checkpoint(path, 600, unpacked(path.with_name("fit.ckpt.1"))["identity"])._found
        assert found["state"]["n_iter"] == 2
    with pytest.warns(ArgrankWarning, match="damaged"):
        again = made("bundle").fit(DATA, eval_set=VALID, checkpoint=path)
    assert_same(again, made("bundle").fit(DATA, eval_set=VALID))


def rewritten(path: Path, state: bytes, compression: int = zipfile.ZIP_DEFLATED) -> None:
    """Replace the state of a checkpoint by other text, in an archive that is whole."""
    with zipfile.ZipFile(path) as archive:
        others = {name: archive.read(name) for name in archive.namelist() if name != "state.json"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in others.items():
            archive.writestr(name, content)
        archive.writestr("state.json", state, compression)


def states(path: Path) -> list[bytes]:
    """Return states that no fit has written: nested too deep, of other types, with parts missing or of other types."""
    with zipfile.ZipFile(path) as archive:
        whole = json.loads(archive.read("state.json"))
    found: list[Any] = [1, [1, 2], None, "x", {}, {"fields": 3}, {"array": "x.npy"}, {"triangle": "1.npy", "n": 10**6}]
    for name in whole["fields"]:
        values = (7, "x", [1, 2], [3, {"fields": {}}], {"fields": {}}, None, -1, {"float": "nan"}, 10**400)
        found += [{"fields": {**whole["fields"], name: value}} for value in values]
        found.append({"fields": {other: one for other, one in whole["fields"].items() if other != name}})
    texts = [json.dumps(one).encode() for one in found]
    return [*texts, b"[" * 100_000, b'{"fields":' * 100_000, b"\xff", b"", b"[1e999]"]


@pytest.mark.filterwarnings("ignore::argrank.errors.ArgrankWarning")
@pytest.mark.parametrize("work", ["bundle", "fixed steps"])
def test_a_well_formed_archive_of_nonsense_ends_no_fit(
    work: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fit.ckpt"
    killed_fit(work, path, monkeypatch, 3)
    whole, before = path.read_bytes(), path.with_name("fit.ckpt.1").read_bytes()
    expected = made(work).fit(DATA, eval_set=VALID)
    for state in states(path):
        path.write_bytes(whole)
        path.with_name("fit.ckpt.1").write_bytes(before)
        rewritten(path, state)
        try:
            assert made(work).fit(DATA, eval_set=VALID, checkpoint=path).n_iter_ >= 1
        except (FormatError, InputError) as error:  # a state that can be read and belongs to another fit, or to none
            assert "fit.ckpt" in str(error)  # noqa: PT017
    path.write_bytes(whole)
    assert_same(made(work).fit(DATA, eval_set=VALID, checkpoint=path), expected)


def test_every_flipped_bit_gives_way_to_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, rng = tmp_path / "fit.ckpt", np.random.default_rng(29)
    killed_fit("bundle", path, monkeypatch, 3)
    whole = path.read_bytes()
    identity = unpacked(path)["identity"]
    for place in rng.integers(8 * len(whole), size=400).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = Checkpoint(path, 600, identity)._found
        assert found is not None
        assert found["state"]["n_iter"] == (2 if told else 3)  # what does not count, such as a date, may be damaged
        assert all("fit.ckpt: the checkpoint is damaged" in str(one.message) for one in told)


def test_a_lone_damaged_checkpoint_begins_anew_and_is_set_aside(tmp_path: Path) -> None:
    path, expected = tmp_path / "fit.ckpt", made("bundle").fit(DATA)
    made("bundle").fit(DATA, checkpoint=path)
    whole = path.read_bytes()
    for damage in (b"", whole[: len(whole) // 2], whole[2:], bytes(1000)):
        path.with_name("fit.ckpt.1").unlink(missing_ok=True)
        path.write_bytes(damage)
        with pytest.warns(ArgrankWarning, match="fit.ckpt: the checkpoint is damaged and not used"):
            assert_same(made("bundle").fit(DATA, checkpoint=path), expected)
        assert path.with_name("fit.ckpt.damaged").read_bytes() == damage
        assert_same(made("bundle").fit(DATA, checkpoint=path), expected)


def test_a_full_disk_ends_no_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, tries = tmp_path / "fit.ckpt", [0]

    def full(target: Path) -> Any:
        tries[0] += 1
        if tries[0] <= 3:
            raise InputError(f"{target}: cannot be written: No space left on device")
        return write_bytes(target)

    monkeypatch.setattr("argrank.rankers.checkpoint.write_bytes", full)
    with pytest.warns(ArgrankWarning, match="the checkpoint will be tried again later: .*No space left") as told:
        ranker = made("bundle").fit(DATA, checkpoint=path, every=1e-9)
    assert len(told) == 1
    assert tries[0] > 4
    monkeypatch.undo()
    monkeypatch.setattr(type(ranker), "_train", None)  # the last one was written and is read
    assert_same(made("bundle").fit(DATA, checkpoint=path), ranker)
    with pytest.raises(InputError, match="cannot be written"):
        made("bundle").fit(DATA, checkpoint=tmp_path / "nowhere" / "fit.ckpt")


def test_a_small_checkpoint_cannot_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fit.ckpt"
    made("bundle").fit(DATA, checkpoint=path)
    monkeypatch.setenv("ARGRANK_MAX_MEMORY", "20MB")
    for state in (b" " * 30_000_000, b"[" + b"[]," * 300_000 + b"[]]"):
        rewritten(path, state)
        with pytest.raises(DamagedError, match=r"expected at most 20\.0 MB"):
            unpacked(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.npy", bytes(30_000_000))
        archive.writestr("state.json", '{"array": "1.npy"}')
    with pytest.raises(DamagedError, match="not compressed"):
        unpacked(path)


def test_what_is_no_checkpoint_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    with pytest.raises(FormatError, match=r"notes.txt: expected a checkpoint of argrank"):
        made("bundle").fit(DATA, checkpoint=path)
    assert path.read_text() == "mine"
    with pytest.raises(OptionError, match=r"expected a name such as fit\.ckpt"):
        made("bundle").fit(DATA, checkpoint=tmp_path / "fit.ckpt.gz")
    with pytest.raises(OptionError, match="expected a random_state"):
        made("bundle", random_state=None).fit(DATA, checkpoint=tmp_path / "fit.ckpt")
    with pytest.raises(OptionError, match="every"):
        made("bundle").fit(DATA, checkpoint=tmp_path / "fit.ckpt", every=0)


def test_a_checkpoint_holds_no_objects(tmp_path: Path) -> None:
    path = tmp_path / "fit.ckpt"
    made("cutting planes").fit(DATA, checkpoint=path, every=1e-9)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                if name.endswith(".npy"):
                    assert np.lib.format.read_array(member, allow_pickle=False).dtype.kind in "fi"


def test_a_number_of_rounds_chosen_on_held_out_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(**more: Any) -> Any:
        return ar.make_ranker("mart", early_stopping=2, verbose=-1, **{**TREES, **DRAWS}).fit(DATA, **more)

    whole, write, n_writes = fit(), Checkpoint._write, len(fit().trace_) + fit().n_iter_ - 2
    for after in (1, n_writes):
        path, count = tmp_path / f"{after}.ckpt", [0]

        def counted(self: Checkpoint, outcome: Any, count: list[int] = count, after: int = after) -> None:
            write(self, outcome)
            count[0] += 1
            if count[0] == after:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoint, "_write", counted)
            with pytest.raises(Killed):
                fit(checkpoint=path, every=1e-9)
        assert_same(fit(checkpoint=path), whole)
