"""What must not be lost or misread: damaged checkpoints and packs, and values that NumPy would change on the way in.

These areas ask for more than one of argrank's errors: a fit that goes on from a damaged file ends with the same bits as
one that never stopped, a damaged pack trains to the same bits or not at all, and data that is taken is taken as it is.
"""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import argrank as ar
from argrank.errors import ArgrankError, FormatError

Case = tuple[str, Callable[[], Any]]
Change = Callable[[bytes, random.Random], bytes]


def flipped(text: bytes, rng: random.Random) -> bytes:
    """Return bytes with one bit changed."""
    found, place = bytearray(text), rng.randrange(8 * len(text))
    found[place // 8] ^= 1 << place % 8
    return bytes(found)


def cut(text: bytes, rng: random.Random) -> bytes:
    """Return bytes without their end."""
    return text[: rng.randrange(len(text))]


def zeroed(text: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are zeros, as after a crash."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice((1, 16, 512, 4096)))
    return text[:start] + bytes(end - start) + text[end:]


def scrambled(text: bytes, rng: random.Random) -> bytes:
    """Return bytes with some of them replaced."""
    start = rng.randrange(len(text))
    end = min(len(text), start + rng.choice((1, 16, 512)))
    return text[:start] + rng.randbytes(end - start) + text[end:]


CHANGES: dict[str, Change] = {"a bit": flipped, "the end": cut, "zeros": zeroed, "noise": scrambled}
NONSENSE: list[Any] = [None, True, -1, 7, 10**30, 1.5, "", "x", [], [1], {}, {"fields": {}}, {"array": "9.npy"}]
NONSENSE += [{"float": "x"}, {"triangle": "1.npy", "n": 10**9}, {"arrays": "1.npy", "shapes": [[10**9, 10**9]]}]


def checkpoints(seed: int, folder: Path) -> Iterator[Case]:
    """Checkpoints that are damaged beside one that is whole, alone, or well-formed with nonsense in them."""
    rng, data, path = random.Random(seed), ar.make_ranking(12, 8, 4, random_state=seed), folder / "fit.ckpt"
    before = folder / "fit.ckpt.1"

    def fit(**more: Any) -> bytes:
        ranker = ar.make_ranker("svm-map", C=1.0, n_jobs=1, verbose=-1)
        return bytes(ranker.fit(data, **more).coef_.tobytes())

    expected = fit(checkpoint=path, every=1e-9)
    whole = before.read_bytes()  # the state of the last iteration
    with zipfile.ZipFile(before) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    state = json.loads(members.pop("state.json"))

    def attempt(content: bytes, alone: bool, damaged: bool) -> None:
        path.write_bytes(content)
        before.unlink(missing_ok=True)
        if not alone:
            before.write_bytes(whole)
        try:
            found = fit(checkpoint=path)
        except ArgrankError as error:
            if damaged or "fit.ckpt" not in str(error):
                raise AssertionError(f"ended the fit: {error}") from error
            return
        if damaged and found != expected:
            raise AssertionError("other bits")

    while True:
        alone = rng.random() < 0.3
        if rng.random() < 0.75:
            how = rng.choice(list(CHANGES))
            content = CHANGES[how](whole, rng)
            foreign = alone and not (content.startswith(b"PK") or b"state.json" in content or not content.strip(b"\0"))
            yield f"{how}, alone={alone}", lambda c=content, a=alone, f=foreign: attempt(c, a, damaged=not f)
        else:
            text = json.dumps(_nonsense(state, rng)) if rng.random() < 0.9 else rng.choice("[{") * 100_000
            target = folder / "made"
            with zipfile.ZipFile(target, "w") as archive:
                for name, content in members.items():
                    archive.writestr(name, content)
                archive.writestr("state.json", text, zipfile.ZIP_DEFLATED)
            content = target.read_bytes()
            yield f"nonsense {text[:200]}", lambda c=content, a=alone: attempt(c, a, damaged=False)


def _nonsense(value: Any, rng: random.Random) -> Any:
    """Return a nested state with one value replaced."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        return {**value, key: _nonsense(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        return [*value[:at], _nonsense(value[at], rng), *value[at + 1 :]]
    return rng.choice(NONSENSE)


def packs(seed: int, folder: Path) -> Iterator[Case]:
    """Packs of which one file is damaged: the same bits, or an error that names the pack."""
    rng = random.Random(seed)
    made = {}
    for kind, density in (("dense", None), ("sparse", 0.4)):
        data = ar.make_ranking(10, 8, 5, random_state=seed, density=density)
        ar.pack(data, folder / f"{kind}.pack", progress=False)
        model = ar.make_ranker("regression", ridge=0.1, n_jobs=1).fit(data)
        made[kind] = (folder / f"{kind}.pack", model.coef_.tobytes(), data.query_ids.tolist())

    def attempt(kind: str, file: Path, content: bytes) -> None:
        path, expected, ids = made[kind]
        whole = file.read_bytes()
        file.write_bytes(content)
        try:
            data = ar.load(path)
            found = ar.make_ranker("regression", ridge=0.1, n_jobs=1).fit(data)
            if found.coef_.tobytes() != expected or data.query_ids.tolist() != ids:
                raise AssertionError("trained on other data")
        except FormatError as error:
            if str(path) not in str(error):
                raise AssertionError(f"does not name the pack: {error}") from error
        finally:
            file.write_bytes(whole)

    while True:
        kind, how = rng.choice(list(made)), rng.choice(list(CHANGES))
        file = rng.choice([file for file in sorted(made[kind][0].iterdir()) if file.name != "pack.json"])
        content = CHANGES[how](file.read_bytes(), rng)
        yield f"{kind} {file.name} {how}", lambda k=kind, f=file, c=content: attempt(k, f, c)


IDS: list[Any] = [
    0,
    1,
    -1,
    2**53,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**63 + 1,
    2**64,
    -(2**63),
    "",
    "a",
    "a\0",
    "a\0\0",
    "\0",
]
IDS += ["1", b"a", b"a\0", (1, 2), (1, "x"), 1.5]
SIZES = [1, 2, 3, 4, 12, 127, 128, 255, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def door(seed: int, folder: Path) -> Iterator[Case]:
    """Ids, sizes, masks, times and Arrow tables: taken as they are, or refused."""
    rng = random.Random(seed)
    while True:
        kind = rng.choice((_ids, _sizes, _masks, _times, _arrow))
        number = rng.randrange(2**32)
        yield f"{kind.__name__} {number}", lambda kind=kind, number=number: kind(random.Random(number))


def _ids(rng: random.Random) -> None:
    ids = [rng.choice(IDS) for _ in range(12)]
    if rng.random() < 0.5:
        ids = [one for one in ids if type(one) is type(ids[0])]
    data = ar.Dataset(np.zeros((len(ids), 1)), np.zeros(len(ids)), ids)
    if data.query_ids.tolist() != list(dict.fromkeys(ids)):
        raise AssertionError(f"{ids} became {data.query_ids.tolist()}")


def _sizes(rng: random.Random) -> None:
    dtype = rng.choice((np.int64, np.uint64, np.uint8, np.int8, np.uint32))
    sizes = [rng.choice(SIZES) for _ in range(rng.randrange(1, 6))]
    sizes = [size for size in sizes if size <= np.iinfo(dtype).max]
    n_rows = rng.choice((sum(sizes) % 2**64, sum(sizes) % 2**8, sum(sizes), 12))
    n_rows = n_rows if 0 < n_rows < 2000 else 12
    try:
        data = ar.Dataset(np.zeros((n_rows, 1)), np.zeros(n_rows), group=np.array(sizes, dtype))
    except ArgrankError:
        if sum(sizes) == n_rows:
            raise AssertionError(f"refused {sizes}") from None
        return
    if sum(sizes) != n_rows or data.sizes.tolist() != sizes:
        raise AssertionError(f"took {sizes} for {n_rows} rows")


def _masks(rng: random.Random) -> None:
    values = np.array([[rng.randrange(3) for _ in range(3)] for _ in range(6)], rng.choice((float, int, np.float32)))
    mask = np.array([[rng.random() < 0.2 for _ in range(3)] for _ in range(6)])
    X = np.ma.array(values, mask=mask)
    found = ar.Dataset(rng.choice((X, list(X))), values[:, 0], [1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(found.X, np.where(mask, np.nan, values))
    column = X[:, 0]
    for argument in ("y", "qid", "document_ids", "sample_weight"):
        given = {"y": values[:, 0], "qid": [1, 1, 1, 2, 2, 2], argument: column}
        try:
            ar.Dataset(values, **given)
        except ArgrankError:
            continue
        if mask[:, 0].any():
            raise AssertionError(f"{argument} lost its mask")


def _times(rng: random.Random) -> None:
    times: Any = np.array([rng.randrange(100) for _ in range(4)], rng.choice(("M8[D]", "M8[ns]", "m8[s]", "M8[Y]")))
    times = rng.choice((times, list(times), np.array(list(times), object)))
    for X, y in ((np.eye(4), times), (np.asarray(times)[:, None], [0, 1, 0, 1])):
        try:
            ar.Dataset(X, y, [1, 1, 2, 2])
        except ArgrankError:
            continue
        raise AssertionError("times became numbers")


def _arrow(rng: random.Random) -> None:
    names = rng.sample(["label", "qid", "a", "b", "docid"], 5)
    values = {"label": [1, 0, 2, 0], "qid": ["x", "x", "y", "y"], "a": [1.0, 2.0, 3.0, 4.0], "b": [4, 3, 2, 1]}
    batch = pa.record_batch({name: values.get(name, ["p", "q", "r", "s"]) for name in names})
    as_stream = rng.random() < 0.5
    data = ar.Dataset(pa.RecordBatchReader.from_batches(batch.schema, [batch]) if as_stream else batch)
    features = tuple(name for name in names if name in ("a", "b"))
    if data.feature_names != features or data.y.tolist() != values["label"] or data.n_queries != 2:
        raise AssertionError(f"misread {names}: {data!r}")
