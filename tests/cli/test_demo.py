from __future__ import annotations

import contextlib
import io
import re
import warnings

import numpy as np
import pytest

import argrank as ar
from argrank import cli
from argrank.cli.demo import RANKERS, WIDTH
from argrank.data import bundled
from argrank.errors import ArgrankWarning
from argrank.trials.auto.ranker import Auto


@pytest.fixture(scope="module", params=[50, pytest.param(300, marks=pytest.mark.slow)])
def demo(request, tmp_path_factory):
    """The demo on some of its queries, or on all."""
    folder, output, progress = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    data = ar.load_bundled().select(np.arange(request.param))
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(bundled, "load_bundled", lambda: data)
        if data.n_queries < 300:
            patch.setitem(Auto.__init__.__kwdefaults__, "max_trees", 24)
        patch.chdir(folder)
        stack.enter_context(contextlib.redirect_stdout(output))
        stack.enter_context(contextlib.redirect_stderr(progress))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ArgrankWarning)  # of the little data
        with pytest.raises(SystemExit) as done:
            cli.main(["demo"])
    assert done.value.code == 0, progress.getvalue()
    return data, folder, output.getvalue(), progress.getvalue()


def test_walks_through_all_steps(demo):
    data, _, output, _ = demo
    assert re.findall(r"^(\d)\. ", output, re.MULTILINE) == list("12345678")
    assert f"{data.n_queries} queries" in output
    assert "Doctor:" in output


def test_tells_of_every_ranker_as_it_goes(demo):
    *_, progress = demo
    assert re.findall(r"^argrank: ([\w-]+): validation", progress, re.MULTILINE) == RANKERS
    assert RANKERS[0] == "auto"


def test_begins_its_answer_with_a_sentence_that_the_report_has_too(demo):
    _, folder, output, _ = demo
    sentence = re.search(r"^4\. .*?\n=+\n(.*?)\n\n", output, re.MULTILINE | re.DOTALL)[1].replace("\n", " ")
    assert "your current order, bm25_title" in sentence
    assert sentence in (folder / "demo-report" / "index.html").read_text("utf-8")


def test_its_table_fits_a_terminal(demo):
    *_, output, _ = demo
    part = output[output.index("4. The answer") : output.index("5. One query")]
    rows = [line for line in part.splitlines() if re.match(r"[a-i]  ", line)]
    assert [row.split()[1] for row in rows] == RANKERS
    assert max(map(len, part.splitlines())) <= WIDTH


def test_learns_from_clicks_alone(demo):
    *_, output, _ = demo
    part = output[output.index("6. The same from clicks") : output.index("7. Saved")]
    values = dict(re.findall(r"^  ([\w -]+?) +(0\.\d{4})$", part, re.MULTILINE))
    assert list(values) == ["bm25_title", "query-mart from clicks", "query-mart from labels"]
    assert values["query-mart from clicks"] > values["bm25_title"]


def test_its_best_is_the_best_by_validation_and_what_was_saved(demo):
    data, folder, output, progress = demo
    best = re.search(r"Best by ndcg@10 on validation queries: ([\w-]+) ", output)[1]
    values = dict(re.findall(r"^argrank: ([\w-]+): validation ndcg@10 (0\.\d{4})", progress, re.MULTILINE))
    assert values[best] == max(values.values())
    assert f"model.json: {best}, the best on validation queries" in output
    training = ar.load_model(folder / "demo-report" / "model.json").training
    assert training["queries"] == data.n_queries


def test_the_explanation_adds_up(demo):
    *_, output, _ = demo
    part = output[output.index("5. One query") : output.index("6. The same")]
    numbers = [float(one) for one in re.findall(r" ([+-]\d+\.\d{4})$", part, re.MULTILINE)]
    assert len(numbers) > 2
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.001)


def test_writes_the_report(demo):
    _, folder, *_ = demo
    page = (folder / "demo-report" / "index.html").read_text("utf-8")
    for words in ("Weights of", "from 20 trainings", "svm-auc against C", "Training"):
        assert words in page


def test_names_only_commands_that_exist(demo):
    *_, output, _ = demo
    named = re.findall(r"^  argrank (\w+)", output, re.MULTILINE)
    assert named
    assert set(named) <= {words.split()[0] for words in cli.COMMANDS}
