"""Why something ended is a value. No code reads a sentence back, and no word in the data can be taken for one."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import argrank as ar
from argrank.errors import ArgrankWarning
from argrank.rankers.base_ranker import BaseRanker
from argrank.solvers.problem import Stop

SOURCES = sorted(Path(ar.__file__).parent.rglob("*.py"))
SENTENCES = {"message", "note", "notes", "complaint"}  # attributes that hold sentences
READING = {"startswith", "endswith", "find", "index", "count", "match", "search", "fullmatch", "partition"}
#: Who asks another library's message for what that library says in no other way, and whose.
FOREIGN = {"_jit.py": "numba", "rankers/boosted/trees/seeded_boosters.py": "LightGBM", "trials/schema.py": "tomllib"}


def words_of_messages() -> list[str]:
    """Return all words of all texts in the code that could be a message: those with a space, but no docstrings."""
    texts = []
    for path in SOURCES:
        tree = ast.parse(path.read_text("utf-8"))
        docs = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        constants = (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in docs)
        texts += [one.value for one in constants if isinstance(one.value, str)]
    found = {word for text in texts if " " in text for word in re.findall(r"[A-Za-z][\w-]+", text)}
    return sorted(found - {"interrupted"})


WORDS = [*words_of_messages(), "interrupted_calls", "interrupted", "interrupted; the 3 earlier rounds were kept"]


@pytest.fixture(scope="module")
def data():
    """Data whose features are nearly constant, so that warnings quote their names, and named by all words."""
    made = ar.make_ranking(6, 6, len(WORDS), random_state=0)
    X = 1.0 + 1e-7 * made.X
    X[:, :3] = made.X[:, :3]
    return ar.Dataset(X, made.y, group=made.sizes, feature_names=WORDS)


QUICK = {"n_trees": 2, "n_rounds": 2, "max_iter": 3, "halvings": 1, "n_seeds": 1, "n_samples": 5, "folds": 0}


def quick(name):
    ranker = ar.make_ranker(name)
    known = ranker.get_params()
    ranker.set_params(**{key: value for key, value in QUICK.items() if key in known})
    return ranker.set_params(members=["rank-svm", "mart"]) if name == "auto" else ranker


@pytest.mark.parametrize("normalise", [None, "query-sum"])
@pytest.mark.parametrize("name", ar.ranker_names())
def test_every_ranker_trains_on_features_named_by_all_words_of_all_messages(name, normalise, data, tmp_path):
    part = data if name not in ("coordinate-ascent", "direct-rank", "adarank") else narrow(data)
    ranker = quick(name).set_params(normalise=normalise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        ranker.fit(part, checkpoint=tmp_path / "fit.ckpt")
        again = quick(name).set_params(normalise=normalise).fit(part, checkpoint=tmp_path / "fit.ckpt")
    assert isinstance(ranker.stop_, Stop)
    assert ranker.stop_ is not Stop.INTERRUPTED
    assert again.stop_ is ranker.stop_
    np.testing.assert_array_equal(ranker.predict(part), again.predict(part))


def narrow(data):
    """Return the features that end in "interrupted", for rankers that take one at a time."""
    chosen = [number for number, word in enumerate(WORDS) if number < 3 or "interrupt" in word]
    return ar.Dataset(data.X[:, chosen], data.y, group=data.sizes, feature_names=[WORDS[one] for one in chosen])


def test_a_member_of_a_blend_may_warn_of_a_feature_called_interrupted(tmp_path):
    made = ar.make_ranking(10, 6, 3, random_state=0)
    X = np.column_stack((made.X, 1.0 + 1e-9 * made.X[:, 0]))
    data = ar.Dataset(X, made.y, group=made.sizes, feature_names=["a", "b", "c", "interrupted_calls"])
    ranker = ar.make_ranker("auto", family="linear", normalise="query-sum")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArgrankWarning)
        ranker.fit(data)
    assert ranker.stop_ is Stop.DONE


def sentence_readings(tree: ast.AST) -> list[int]:
    """Return the lines on which a sentence is compared, looked into or taken apart."""

    def is_sentence(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in SENTENCES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
            return any(is_error(one) for one in node.args)
        return False

    def is_error(node: ast.AST) -> bool:
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        return name in {"error", "exception", "warning", "message", "complaint"}

    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            values = [node.left, *node.comparators]
            nothing = any(isinstance(one, ast.Constant) and one.value is None for one in values)
            collected = isinstance(node.ops[0], ast.In | ast.NotIn) and is_list_of_notes(node.comparators[0])
            if not nothing and not collected and any(map(is_sentence, values)):
                lines.append(node.lineno)
        reads = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING
        if reads and any(map(is_sentence, (node.func.value, *node.args))):
            lines.append(node.lineno)
    return lines


def is_list_of_notes(node: ast.AST) -> bool:
    """Tell whether a sentence is only looked for among others, to be said once."""
    return isinstance(node, ast.Attribute) and node.attr == "notes"


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(SOURCES[0].parent)) for path in SOURCES])
def test_nobody_reads_a_sentence_back(path):
    name = path.relative_to(SOURCES[0].parent).as_posix()
    assert name in FOREIGN or sentence_readings(ast.parse(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "code",
    [
        'if "interrupted" in str(one.message): raise KeyboardInterrupt',
        'if outcome.complaint is not None and outcome.complaint.startswith("interrupted"): pass',
        'done = outcome.note == "interrupted"',
        're.search("interrupted", result.message)',
        'if "file" in str(error): pass',
    ],
)
def test_the_check_finds_what_it_is_for(code):
    assert sentence_readings(ast.parse(code)) == [1]


def test_every_fit_says_why_it_ended():
    data = ar.make_ranking(10, 8, 3, random_state=0)
    assert ar.make_ranker("rank-svm").fit(data).stop_ is Stop.GRADIENT
    with pytest.warns(ArgrankWarning, match="stopped after"):
        assert ar.make_ranker("svm-map", max_iter=1).fit(data).stop_ is Stop.PASSES
    with pytest.warns(ArgrankWarning, match="still rising"):
        climb = ar.make_ranker("coordinate-ascent", max_iter=1, tol=0.0).fit(data)
    assert climb.stop_ is Stop.ROUNDS
    assert issubclass(type(climb), BaseRanker)
