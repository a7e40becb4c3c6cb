"""What is tried: every area yields (name of the case, function), all from one seed.

A function may return or raise one of argrank's errors; anything else, and any signal, is a failure.
"""

from __future__ import annotations

import base64
import bz2
import contextlib
import gzip
import io
import json
import lzma
import math
import os
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from tests.fuzz import damage, nasty_data
from tests.fuzz.doors import doors
from tests.fuzz.order import order
from tests.fuzz.shell import shell
from tests.fuzz.values import TheirOwnError, failing
from tests.models.test_symmetric import random_forest

import argrank as ar
from argrank import cli
from argrank.data.io.letor.format import Options
from argrank.data.io.letor.reader import read_text
from argrank.data.io.trec.files import read_qrels, read_run
from argrank.errors import ArgrankError
from argrank.models import files
from argrank.models.trees import TreesModel
from argrank.rankers import ranker_names

Case = tuple[str, Callable[[], Any]]

STORED = Path(__file__).resolve().parent.parent / "deploy" / "stored"

LETOR = b"""# a file of every kind of line
2 qid:10 1:0.03 2:0.5 46:1e-3 #docid = GX008-86 inc = 1 prob = 0.0246
0 qid:10 1:NULL 2:NaN 3:-1.5e300 #docid = GX1
1 qid:9 3:12345678901234567890 2:2.47032822920623272e-324\t7:.5\r
0.5 qid:caf\xc3\xa9 1:1 # \xe2\x82\xac

3 qid:10 1:+4 5:00012
"""
CSV = b'label,qid,docid,comment,f1,f2\n1,a,x,"one, ""two""",0.5,NULL\n0,a,y,,1e-3,2\n2,b,z,"line\nend",-0,NaN\n'
RUN = b"q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 2.5 tag\nq2 Q0 d1 1 -1e-3 tag\n"
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
TOKENS = [
    b"", b" ", b"\n", b"\r", b"\t", b"\0", b":", b"#", b"qid:", b",", b'"', b"-", b"+", b".", b"e", b"1", b"0",
    b"9" * 25, b"1e400", b"1e-400", b"nan", b"inf", b"NULL", b"2147483647:1", b"2147483646:1", b"-1:1", b"0:1", b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\x1b[31m", b"1_0", b"0x1", b"label", b"qid", b"docid = ",
        b"\xed\xa0\x80", b"true", b"{}", b"[]", b"null",
]  # fmt: skip


def mutated(text: bytes, rng: random.Random) -> bytes:
    """Return a text with a few accidents: bytes changed, tokens put in, pieces cut out, doubled or moved."""
    found = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at, kind = rng.randrange(len(found) + 1), rng.randrange(6)
        end = min(len(found), at + rng.choice((1, 2, 5, 20, 200)))
        if kind == 0 and at < len(found):
            found[at] = rng.randrange(256)
        elif kind == 1:
            found[at:at] = rng.choice(TOKENS)
        elif kind == 2:
            del found[at:end]
        elif kind == 3:
            found[at:at] = found[at:end]
        elif kind == 4:
            found[at:end] = rng.choice(TOKENS)
        else:
            del found[at:]
    return bytes(found)


# ---- readers ------------------------------------------------------------------------------------------------------


def letor(seed: int, folder: Path) -> Iterator[Case]:
    """LETOR texts: the small reader, the compiled one with small chunks, and both must agree."""
    rng = random.Random(seed)
    while True:
        text = mutated(LETOR * rng.choice((1, 1, 3)), rng)
        how = (
            rng.choice(("float64", "float32")),
            rng.choice(("auto", True, False)),
            rng.choice((None, None, 46)),
            None,
        )
        yield f"letor {how} {text!r}", lambda text=text, how=how: _both_readers(text, Options.checked(*how))


def _both_readers(text: bytes, options: Options) -> None:
    outcomes = []
    for small in (True, False):
        try:
            data = read_text(text, "text", options, small=small, n_jobs=1, chunk=40)
            X = data.X.toarray() if data.is_sparse and data.X.shape[1] < 10**6 else data.X
            values = X.tobytes() if not sparse.issparse(X) else (X.data.tobytes(), X.indices.tobytes())
            outcomes.append((values, data.y.tobytes(), data.query_ids.tolist(), data.indptr.tolist(), data.fingerprint))
        except ArgrankError as error:  # noqa: PERF203
            outcomes.append(str(error))
    if outcomes[0] != outcomes[1]:
        raise AssertionError(f"the two readers disagree: {outcomes}")


def tables(seed: int, folder: Path) -> Iterator[Case]:
    """CSV, TSV, Parquet and Arrow files, TREC runs and judgements, files of scores."""
    rng = random.Random(seed)
    data = ar.make_ranking(3, 4, 2, random_state=0)
    whole = {"a.csv": CSV, "a.tsv": CSV.replace(b",", b"\t"), "a.run": RUN, "a.qrels": QRELS, "a.txt": b"0.5\n" * 12}
    for name in ("a.parquet", "a.arrow"):
        ar.dump(data, folder / name)
        whole[name] = (folder / name).read_bytes()
    readers: dict[str, Callable[[Path], Any]] = {
        "a.run": read_run, "a.qrels": read_qrels, "a.txt": lambda path: ar.read_scores(path, data)
    }  # fmt: skip
    while True:
        name = rng.choice(list(whole))
        path, text = folder / f"b{Path(name).suffix}", mutated(whole[name], rng)

        def read(path: Path = path, text: bytes = text, name: str = name) -> None:
            path.write_bytes(text)
            readers.get(name, ar.load)(path)

        yield f"{name} {text!r:.300}", read


def archives(seed: int, folder: Path) -> Iterator[Case]:
    """Compressed files, damaged."""
    rng = random.Random(seed)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside.txt", LETOR)
    whole = {".zip": buffer.getvalue(), ".gz": gzip.compress(LETOR), ".bz2": bz2.compress(LETOR)}
    whole[".xz"] = lzma.compress(LETOR)
    while True:
        suffix = rng.choice(list(whole))
        path, content = folder / f"a{suffix}", mutated(whole[suffix], rng)

        def read(path: Path = path, content: bytes = content) -> None:
            path.write_bytes(content)
            ar.load(path)

        yield f"{suffix} {content!r:.300}", read


# ---- models -------------------------------------------------------------------------------------------------------

HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 10**6, 2**31, 2**63, 10**400, 0.5, -1e308, 1e-320, "", "x", "\ud800", [], [[]], {},
    [1, "x"], {"a": 1}, [None], [1e308] * 3, "linear", "trees",
]  # fmt: skip


def models(seed: int, folder: Path) -> Iterator[Case]:
    """Model files with a right checksum and wrong contents, and LightGBM's text."""
    rng = random.Random(seed)
    data = ar.make_ranking(4, 6, 3, random_state=0)
    payloads, small = [], {"n_trees": 2, "n_leaves": 3, "min_documents": 1, "verbose": -1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("rank-svm", "mart", "mcrank", "rankboost", "query-mart", "symmetric-mart"):
            made = ar.make_ranker(name)
            made.set_params(**{key: value for key, value in small.items() if key in made.get_params()})
            if "n_rounds" in made.get_params():
                made.set_params(n_rounds=3)
            made.set_params(normalise=rng.choice((None, "standard", "query-minmax"))).fit(data).save(folder / "m.json")
            payloads.append(json.loads((folder / "m.json").read_text())["payload"])
    for codes in (None, {2: np.array([0.3, np.nan])}):
        random_forest(seed, 3, 2, codes, 3).save(folder / "m.json")
        payloads.append(json.loads((folder / "m.json").read_text())["payload"])
    text = (STORED / "lightgbm.txt").read_bytes()
    others = [STORED / name for name in ("xgboost.json", "xgboost.ubj", "catboost.json")]
    while True:
        kind = rng.randrange(4)
        if kind == 0:
            changed = mutated(text, rng)
            yield f"lightgbm {changed!r:.300}", lambda changed=changed: _use_trees(changed.decode("utf-8", "replace"))
        elif kind == 1:
            source = rng.choice(others)
            path, content = folder / source.name, mutated(source.read_bytes(), rng)
            yield f"{source.name} {content!r:.300}", lambda path=path, content=content: _import(path, content)
        else:
            payload = _altered(rng.choice(payloads), rng)
            path = folder / "altered.json"
            yield (
                f"model {json.dumps(payload)[:300]}",
                lambda path=path, payload=payload: _use_file(path, payload, data),
            )


def _altered(value: Any, rng: random.Random) -> Any:
    """Return plain data with one part replaced."""
    if isinstance(value, dict) and "shape" in value and rng.random() < 0.7:  # an array: other bytes of it
        (kind,) = set(value) - {"shape"}
        content = bytearray(base64.b64decode(value[kind]))
        for _ in range(rng.choice((1, 1, 8)) if content else 0):
            content[rng.randrange(len(content))] = rng.choice((0, 1, 127, 255, rng.randrange(256)))
        return {**value, kind: base64.b64encode(content).decode()}
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _altered(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:at] + value[at + 1 :]
        return [*value[:at], _altered(value[at], rng), *value[at + 1 :]]
    return rng.choice(HOSTILE)


def _use_file(path: Path, payload: Any, data: Any) -> None:
    try:
        checksum = files._checksum(payload)
    except (UnicodeEncodeError, ValueError):
        checksum = ""
    path.write_text(json.dumps({"argrank_model": 1, "sha256": checksum, "payload": payload}))
    model = ar.load_model(path)
    scores = model.predict(data)
    if not np.isfinite(scores).all():
        raise AssertionError("a score that is no number")
    model.save(path)
    ar.load_model(path)


def _use_trees(text: str) -> None:
    model = TreesModel.from_lightgbm(text)
    X = np.zeros((2, model.n_features))
    scores = model.predict(X)
    again = TreesModel.from_dict(json.loads(json.dumps(model.to_dict()))).predict(X)
    if not np.array_equal(scores, again):
        raise AssertionError("other scores after saving")


def _import(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    model = ar.import_model(path)
    if model.n_features < 10_000:
        model.predict(np.zeros((2, model.n_features)))


# ---- the public face ----------------------------------------------------------------------------------------------


def hostile_arguments(folder: Path) -> list[Any]:
    """Return objects that are not valid arguments."""
    data = ar.make_ranking(4, 5, 2, random_state=0)
    return [
        *HOSTILE, math.nan, math.inf, b"bytes", object(), failing, lambda *_: "x", data, data.X, data.y,
        data.X[:0], "ndcg@10",
        "rank-svm", np.array(["a", "b"]), np.array([1j]), np.array(3.0), {"a": data.y}, {"a": data.y[:3]}, ["ndcg@10"],
        ["ndcg@0"], "ndcg@-1", folder, folder / "absent", str(folder / "a\0b"), np.array([None, 1], object),
        np.full(len(data.y), np.nan), sparse.csr_matrix(data.X), iter([1]), range(3), {1, 2}, (1, 2), type,
        np.float32(1),
    ]  # fmt: skip


def functions(seed: int, folder: Path) -> Iterator[Case]:
    """Every public function with hostile arguments, and every ranker with hostile parameters."""
    rng = random.Random(seed)
    # the first is no function, the next only write, the others are to be derived from
    skipped = {"__version__", "write_report", "plot", "load_bundled"}
    skipped |= {"BaseRanker", "LinearRanker", "Measure", "Objective", "Prepared"}
    names = [name for name in ar.__all__ if name not in skipped and callable(getattr(ar, name))]
    arguments = hostile_arguments(folder)
    data = ar.make_ranking(4, 5, 2, random_state=0)
    os.chdir(folder)  # for what writes to a relative name
    while True:
        if rng.random() < 0.5:
            name = rng.choice(names)
            given = [rng.choice(arguments) for _ in range(rng.choice((0, 1, 1, 2, 2, 3)))]
            yield f"ar.{name} {given!r:.300}", lambda name=name, given=given: _call(name, given)
        else:
            ranker = ar.make_ranker(rng.choice(ranker_names()))
            parameter = rng.choice(sorted(set(ranker.get_params(deep=False)) - {"verbose", "callbacks"}))
            value = rng.choice(arguments)
            yield (
                f"{type(ranker).__name__}({parameter}={value!r:.100})",
                lambda ranker=ranker, parameter=parameter, value=value: _fit_with(ranker, parameter, value, data),
            )


def _call(name: str, given: list[Any]) -> None:
    try:
        getattr(ar, name)(*given)
    except TheirOwnError:
        pass
    except TypeError as error:
        if not any(words in str(error) for words in ("positional argument", "required keyword", "keyword-only")):
            raise  # else the call itself is no call


def _fit_with(ranker: Any, parameter: str, value: Any, data: Any) -> None:
    small = {"n_trees": 1, "n_rounds": 2, "max_iter": 3, "n_jobs": 1, "verbose": -1, "time_limit": 1.0, "max_trees": 6}
    ranker.set_params(**{key: one for key, one in small.items() if key in ranker.get_params(deep=False)})
    ranker.set_params(**{parameter: value})
    with contextlib.suppress(TheirOwnError):
        ranker.fit(data).predict(data)


def commands(seed: int, folder: Path) -> Iterator[Case]:
    """Every command with hostile arguments: an exit code of the list, one line of complaint, no traceback."""
    rng = random.Random(seed)
    data = ar.make_ranking(6, 5, 3, random_state=0)
    os.chdir(folder)
    ar.dump(data, "data.txt")
    ar.dump(data, "data.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ar.make_ranker("rank-svm", verbose=-1).fit(data).save("model.json")
    Path("bad.txt").write_bytes(b"1 qid:1 1:x\n")
    Path("empty").write_bytes(b"")
    Path("scores.txt").write_text("0.5\n" * data.n_documents)
    Path("run.txt").write_text("\x1b[31m 0 0.5\n")
    words = [
        "data.txt", "data.csv", "model.json", "bad.txt", "empty", "scores.txt", "run.txt", "absent", "-", ".",
        "/dev/null", "/dev/full", "-o", "out", "-o/dev/full", "-o/dev/null", "-oout.json", "-r", "regression",
        "mart", "factor-rank",
        "-p", "C=1", "C=x", "C=-1", "n_trees=2", "nonsense=1", "-m", "ndcg@10", "map,mrr", "ndcg@0", "--convention",
        "letor3", "--normalise", "standard", "query-minmax", "--valid", "--test", "--grid", "C=1,2", "--json", "-q",
        "-v", "--max-memory", "1kB", "x", "--folds", "2", "99", "--format", "html", "latex",
        "--checkpoint", "fit.ckpt", "--resume", "work",
        "--target", "opensearch", "solr", "\x1b[31m", "a\ud800", "", "=", "a=b", "--help", "--nonsense", "9" * 30,
    ]  # fmt: skip
    names = [name for name in cli.COMMANDS if name not in ("demo", "compile", "experiment")]
    while True:
        given = [*rng.choice(names).split(), *(rng.choice(words) for _ in range(rng.choice((0, 1, 2, 2, 3, 4, 6))))]
        yield f"argrank {given!a}", lambda given=given: _command(given)


def _command(given: list[str]) -> None:
    out, err, memory = io.StringIO(), io.StringIO(), os.environ.get("ARGRANK_MAX_MEMORY", "1GB")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with open(os.devnull) as nothing, _standard_input(nothing):
                cli.main(given)
        except SystemExit as ended:
            code = ended.code
    os.environ["ARGRANK_MAX_MEMORY"] = memory  # which --max-memory may have changed
    if code not in (0, 1, 2, 3, 130):
        raise AssertionError(f"exit code {code}: {err.getvalue()[:500]}")
    if "Traceback" in err.getvalue() or "\x1b" in err.getvalue():
        raise AssertionError(err.getvalue()[:500])


@contextlib.contextmanager
def _standard_input(stream: Any) -> Iterator[None]:
    import sys

    before, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = before


def rankers(seed: int, folder: Path) -> Iterator[Case]:
    """Every ranker on every nasty data set, in random order."""
    pairs = [(ranker, name) for ranker in ranker_names() for name in nasty_data.CASES]
    random.Random(seed).shuffle(pairs)
    for ranker, name in pairs:
        yield f"{ranker} on {name}", lambda ranker=ranker, name=name: _nasty(ranker, name, folder)


def _nasty(ranker: str, name: str, folder: Path) -> None:
    wrong = nasty_data.attempt(ranker, name, folder)
    if wrong is not None:
        raise AssertionError(wrong)


AREAS: dict[str, Callable[[int, Path], Iterator[Case]]] = {
    "letor": letor,
    "tables": tables,
    "archives": archives,
    "models": models,
    "functions": functions,
    "commands": commands,
    "order": order,
    "shell": shell,
    "rankers": rankers,
    "checkpoints": damage.checkpoints,
    "packs": damage.packs,
    "door": damage.door,
    "doors": doors,
}
