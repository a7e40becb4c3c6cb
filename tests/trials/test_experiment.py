from __future__ import annotations

import csv
import hashlib
import json
import sys

import numpy as np
import pytest
from scipy import stats

import argrank as ar
from argrank.errors import InputError
from argrank.rankers.registry import default_grid
from argrank.trials import experiment, outputs
from argrank.trials.store import Store, code_identity

CONFIG = """
title = "three | folds"
convention = "letor3"
measures = ["ndcg@1", "ndcg@5", "map"]
select_by = "map"

[[data]]
name = "made data"
preprocess = [{ impute = "zero" }, { normalise = "standard" }]
files = [
  { train = "train1.txt", valid = "valid1.txt", test = "test1.txt" },
  { train = "train2.txt", valid = "valid2.txt", test = "test2.txt" },
]

[[ranker]]
name = "regression"

[[ranker]]
name = "svm"
ranker = "rank-svm"
grid.C = [0.0005, 0.05]

[[expected]]
data = "made data"
ranker = "svm"
measure = "map"
value = 0.5
tolerance = 0.5
"""


@pytest.fixture
def config(tmp_path):
    data = ar.make_ranking(40, (5, 15), 4, noise=1.0, random_state=4)
    for number, fold in enumerate(ar.QueryKFold(3).folds(data), 1):
        for role, part in zip(("train", "valid", "test"), fold, strict=True):
            ar.dump(part, tmp_path / f"{role}{number}.txt")
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def no_plots(monkeypatch):
    monkeypatch.setattr(outputs, "draw", lambda results, folder: [])


@pytest.fixture
def runs(monkeypatch):
    """Count the runs that are computed; the n-th may be made to fail."""

    class Counter:
        calls, fail_at = 0, None

    original = experiment.run_fold

    def counted(*arguments, **options):
        Counter.calls += 1
        if Counter.calls == Counter.fail_at:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(experiment, "run_fold", counted)
    return Counter


@pytest.mark.usefixtures("no_plots")
def test_figures_are_those_of_the_protocol_done_by_hand(config, tmp_path):
    results = ar.run_experiment(config, tmp_path / "out")
    for ranker in ("regression", "svm"):
        means = []
        for fold in (1, 2):
            train, valid, test = (ar.load(tmp_path / f"{role}{fold}.txt") for role in ("train", "valid", "test"))
            valid, test = (ar.normalise(part, "standard", fit_on=train) for part in (valid, test))
            train = ar.normalise(train, "standard")
            (run,) = [run for run in results.of("made data", ranker) if run.fold == fold]
            trained = ar.make_ranker("regression" if ranker == "regression" else "rank-svm", **run.params).fit(train)
            means.append(ar.evaluate(trained.predict(test), test, "map", convention="letor3").means["map"])
            assert run.means["map"] == pytest.approx(means[-1], rel=1e-9)
            assert run.validation == pytest.approx(
                ar.evaluate(trained.predict(valid), valid, "map", convention="letor3").means["map"], rel=1e-9
            )
            np.testing.assert_allclose(run.scores, trained.predict(test), rtol=1e-6)
        assert results.mean("made data", ranker, "map") == pytest.approx(np.mean(means), rel=1e-9)


def test_outputs(config, tmp_path):
    out = tmp_path / "out"
    results = ar.run_experiment(config, out)
    table = (out / "results.md").read_text()
    assert table.startswith("# three | folds\n")
    assert "Convention letor3" in table
    assert f"{results.mean('made data', 'svm', 'map'):.4f}" in table
    document = json.loads((out / "results.json").read_text())
    assert document["means"]["made data"]["svm"]["map"] == results.mean("made data", "svm", "map")
    assert [check["holds"] for check in document["expected"]] == [True]
    with (out / "per_query" / "made_data.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    test = [ar.load(tmp_path / f"test{fold}.txt") for fold in (1, 2)]
    assert len(rows) == 2 * sum(part.n_queries for part in test)
    first = [float(row["map"]) for row in rows if (row["ranker"], row["fold"]) == ("svm", "1") and row["map"]]
    assert np.mean(first) == pytest.approx(results.of("made data", "svm")[0].means["map"], abs=0.5)
    scores = ar.read_scores(out / "scores" / "made_data" / "svm-fold2.txt", test[1])
    assert np.array_equal(scores, results.of("made data", "svm")[1].scores)
    drawn = {path.name for path in (out / "plots").iterdir()}
    assert drawn == {"made_data-measures.png", "made_data-ndcg.png", "made_data-svm-C.png"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in (out / "plots").iterdir())


@pytest.mark.usefixtures("no_plots")
def test_an_interrupted_experiment_goes_on_where_it_stopped(config, tmp_path, runs):
    runs.fail_at = 3
    with pytest.raises(KeyboardInterrupt):
        ar.run_experiment(config, tmp_path / "out")
    assert len(list((tmp_path / "out" / "runs").iterdir())) == 2
    runs.calls, runs.fail_at = 0, None
    resumed = ar.run_experiment(config, tmp_path / "out")
    assert (runs.calls, resumed.computed) == (2, 2)
    whole = ar.run_experiment(config, tmp_path / "other")
    for one, other in zip(resumed.runs, whole.runs, strict=True):
        assert (one.data, one.fold, one.ranker, one.params, one.means) == (
            other.data, other.fold, other.ranker, other.params, other.means,
        )  # fmt: skip


@pytest.mark.usefixtures("no_plots")
def test_force_computes_again(config, tmp_path, runs):
    ar.run_experiment(config, tmp_path / "out")
    again = ar.run_experiment(config, tmp_path / "out", force=True)
    assert (runs.calls, again.computed) == (8, 4)


@pytest.mark.usefixtures("no_plots")
def test_what_determines_a_run_makes_it_new(config, tmp_path, runs):
    ar.run_experiment(config, tmp_path / "out")
    runs.calls = 0
    config.write_text(CONFIG.replace("[0.0005, 0.05]", "[0.0005, 0.005]"))
    ar.run_experiment(config, tmp_path / "out")
    assert runs.calls == 2  # of the ranker that changed
    runs.calls = 0
    data = ar.load(tmp_path / "test2.txt")
    ar.dump(data.select(np.arange(1, data.n_queries)), tmp_path / "test2.txt")
    ar.run_experiment(config, tmp_path / "out")
    assert runs.calls == 2  # of the fold that changed
    runs.calls = 0
    config.write_text(config.read_text().replace("tolerance = 0.5", "tolerance = 0.6").replace("three", "two"))
    ar.run_experiment(config, tmp_path / "out")
    assert runs.calls == 0


@pytest.mark.usefixtures("no_plots")
def test_a_data_set_evaluated_by_its_own_convention(config, tmp_path):
    data = CONFIG[CONFIG.index("[[data]]") : CONFIG.index("[[ranker]]")]
    more = data.replace('name = "made data"', 'name = "by default"\nconvention = "default"')
    config.write_text(CONFIG.replace(data, data + more))
    results = ar.run_experiment(config, tmp_path / "out")
    for name, convention in (("made data", "letor3"), ("by default", "default")):
        for run in results.of(name, "svm"):
            test = ar.load(tmp_path / f"test{run.fold}.txt")
            expected = ar.evaluate(run.scores, test, ["ndcg@5", "map"], convention=convention).means
            assert {measure: run.means[measure] for measure in expected} == pytest.approx(dict(expected), rel=1e-12)
    assert results.mean("made data", "svm", "ndcg@5") != results.mean("by default", "svm", "ndcg@5")
    assert "Convention letor3, of by default default;" in (tmp_path / "out" / "results.md").read_text()
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["conventions"] == {"made data": "letor3", "by default": "default"}


@pytest.mark.usefixtures("no_plots")
def test_a_damaged_run_is_computed_again(config, tmp_path, runs):
    ar.run_experiment(config, tmp_path / "out")
    runs.calls = 0
    first, second = sorted((tmp_path / "out" / "runs").iterdir())[:2]
    first.write_text(first.read_text()[:100])
    second.write_text("{}")
    assert ar.run_experiment(config, tmp_path / "out").computed == 2


@pytest.mark.usefixtures("no_plots")
def test_figures_that_leave_their_range(config, tmp_path):
    value = ar.run_experiment(config, tmp_path / "out").mean("made data", "svm", "map")
    config.write_text(CONFIG.replace("value = 0.5\ntolerance = 0.5", f"value = {value + 0.01}\ntolerance = 0.005"))
    (failure,) = ar.run_experiment(config, tmp_path / "out").failures
    assert str(failure).startswith("made data, svm, map: expected ")
    assert "NO" in (tmp_path / "out" / "results.md").read_text()
    config.write_text(CONFIG.replace("value = 0.5\ntolerance = 0.5", f"value = {value + 0.005}\ntolerance = 0.005"))
    assert ar.run_experiment(config, tmp_path / "out").failures == []


@pytest.mark.usefixtures("no_plots")
def test_warnings_of_a_fit_are_kept_with_the_run(config, tmp_path, runs):
    config.write_text(CONFIG.replace('ranker = "rank-svm"', 'ranker = "rank-svm"\nparameters = { max_iter = 1 }'))
    for _ in range(2):
        results = ar.run_experiment(config, tmp_path / "out")
        assert any("RankSVM" in note for note in results.of("made data", "svm")[0].notes)
    assert runs.calls == 4


def test_without_matplotlib_there_are_no_plots_and_a_note(config, tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ar.run_experiment(config, tmp_path / "out")
    assert "argrank[plot]" in caplog.text
    assert (tmp_path / "out" / "results.md").exists()


@pytest.mark.usefixtures("no_plots")
def test_a_folder_of_folds(config, tmp_path):
    for fold in (1, 2):
        (tmp_path / "own" / f"Fold{fold}").mkdir(parents=True)
        for role, name in (("train", "train"), ("valid", "vali"), ("test", "test")):
            (tmp_path / f"{role}{fold}.txt").rename(tmp_path / "own" / f"Fold{fold}" / f"{name}.txt")
    start, end = CONFIG.index("files = ["), CONFIG.index("[[ranker]]")
    config.write_text(CONFIG[:start] + 'folder = "own"\nfolds = [1, 2]\n' + CONFIG[end:])
    assert len(ar.run_experiment(config, tmp_path / "out").runs) == 4


def test_an_output_that_cannot_be_made(config, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(InputError, match="cannot be created"):
        ar.run_experiment(config, tmp_path / "out")


def test_names_become_file_names(tmp_path):
    identity = {"data": {"name": "../a b"}, "fold": 1, "ranker": {"name": "x/y"}}
    path = Store(tmp_path).path(identity)
    assert path.parent == tmp_path
    assert path.name.startswith("a_b-fold1-x_y-")


@pytest.mark.usefixtures("no_plots")
def test_changed_code_makes_every_run_new(config, tmp_path, runs, monkeypatch):
    ar.run_experiment(config, tmp_path / "out")
    runs.calls = 0
    monkeypatch.setattr(experiment, "code_identity", lambda: "another solver")
    assert ar.run_experiment(config, tmp_path / "out").computed == runs.calls == 4


def test_the_identity_of_code_is_that_of_its_contents(tmp_path):
    identities = []
    for number, text in enumerate(("x = 1\n", "x = 1\n", "x = 2\n")):
        folder = tmp_path / str(number)
        (folder / "part").mkdir(parents=True)
        (folder / "part" / "module.py").write_text(text)
        (folder / "notes.txt").write_text(str(number))
        identities.append(code_identity(folder))
    assert identities[0] == identities[1] != identities[2]
    assert code_identity() == code_identity()


# ---- tests between rankers, tables, the manifest ---------------------------------------------------------------------


def paired_p(differences: np.ndarray) -> float:
    """Student's p, with two imagined queries at a quarter, whose weight falls while up to 50 queries differ."""
    n = len(differences)
    added = 2 / 16 / n * max(0, 1 - np.count_nonzero(np.abs(differences) > 1e-12) / 50)
    t = np.mean(differences) / np.sqrt((np.var(differences, ddof=1) + added) / n)
    return float(2 * stats.t.sf(abs(t), n - 1))


@pytest.mark.usefixtures("no_plots")
def test_rankers_are_compared_over_all_folds_and_within_each(config, tmp_path):
    results = ar.run_experiment(config, tmp_path / "out")
    tested = results.comparisons["made data"]
    a, b = (
        np.concatenate([run.values["map"] for run in results.of("made data", name)]) for name in ("regression", "svm")
    )
    (pair,) = [pair for pair in tested.pairs if pair.measure == "map"]
    known = ~np.isnan(a - b)
    assert pair.p_value == pytest.approx(paired_p(a[known] - b[known]))
    assert tested.means["svm"]["map"] == results.mean("made data", "svm", "map")
    for place, fold in enumerate((1, 2)):
        x, y = (results.of("made data", name)[place].values["map"] for name in ("regression", "svm"))
        (pair,) = [pair for pair in results.fold_comparisons["made data"][fold].pairs if pair.measure == "map"]
        known = ~np.isnan(x - y)
        assert pair.p_value == pytest.approx(paired_p(x[known] - y[known]))
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert document["comparisons"]["made data"] == tested.to_dict()
    assert set(document["fold_letters"]["made data"]) == {"1", "2"}
    assert "Paired t-test, two-sided" in (tmp_path / "out" / "results.md").read_text()


@pytest.mark.usefixtures("no_plots")
def test_the_test_and_the_correction_are_told(config, tmp_path):
    more = CONFIG.replace(
        "[[expected]]", '[[ranker]]\nname = "mean"\nranker = "regression"\nparameters.ridge = 1e9\n\n[[expected]]'
    )
    config.write_text('test = "wilcoxon"\ncorrection = "none"\nbaseline = "regression"\n' + more)
    results = ar.run_experiment(config, tmp_path / "out")
    pairs = results.comparisons["made data"].pairs
    assert {(pair.a, pair.b) for pair in pairs} == {("svm", "regression"), ("mean", "regression")}
    assert all(pair.p_corrected == pair.p_value for pair in pairs)
    assert "Wilcoxon signed-rank test, two-sided; p not corrected for the 2 pairs" in repr(results)


@pytest.mark.usefixtures("no_plots")
@pytest.mark.parametrize(
    ("grid", "caption"),
    [
        ("grid.C = [0.0005, 0.05]", "parameters chosen by validation map, of regression as given"),
        ("grid = 'default'", "parameters chosen by validation map, of regression as given"),
        ("", "parameters as given"),
    ],
)
def test_the_caption_says_what_was_chosen(config, tmp_path, grid, caption):
    config.write_text(CONFIG.replace("grid.C = [0.0005, 0.05]", grid))
    results = ar.run_experiment(config, tmp_path / "out")
    assert f"Convention letor3; {caption}; argrank" in repr(results)
    tried = {len(run.points) for run in results.of("made data", "svm")}
    assert (tried == {1}) == (grid == "")


@pytest.mark.usefixtures("no_plots")
def test_the_default_grid_is_the_rankers_own_and_open(config, tmp_path, runs):
    config.write_text(CONFIG.replace("grid.C = [0.0005, 0.05]", "grid = 'default'"))
    run = ar.run_experiment(config, tmp_path / "out").of("made data", "svm")[0]
    own = default_grid("rank-svm")
    assert [point.params["C"] for point in run.points][: len(own["C"])] == own["C"]
    runs.calls = 0
    config.write_text(CONFIG.replace("[0.0005, 0.05]", str(list(own["C"]))))
    ar.run_experiment(config, tmp_path / "out")
    assert runs.calls == 2  # the same values, which do not go on beyond their ends: another run


@pytest.mark.usefixtures("no_plots")
def test_ranges_of_cutoffs(config, tmp_path):
    config.write_text(CONFIG.replace('["ndcg@1", "ndcg@5", "map"]', '["ndcg@1..3", "map"]'))
    results = ar.run_experiment(config, tmp_path / "out")
    assert results.config.measures == ("ndcg@1", "ndcg@2", "ndcg@3", "map")
    assert list(results.runs[0].means) == ["ndcg@1", "ndcg@2", "ndcg@3", "map"]


@pytest.mark.usefixtures("no_plots")
def test_tables_for_papers(config, tmp_path):
    results = ar.run_experiment(config, tmp_path / "out")
    text = (tmp_path / "out" / "results.tex").read_text()
    assert text == f"{results.to_latex()}\n"
    assert text.startswith(r"\section*{three \textbar{} folds}")
    assert text.count(r"\begin{tabular}") == 4  # means, pairs, folds, expected
    assert results.to_markdown() + "\n" == (tmp_path / "out" / "results.md").read_text()
    frame = results.to_pandas()
    assert frame["map"].tolist() == [run.means["map"] for run in results.runs]
    assert frame["fold"].tolist() == [1, 1, 2, 2]


@pytest.mark.usefixtures("no_plots")
def test_the_manifest_holds_versions_data_and_seeds(config, tmp_path):
    manifests = []
    for number in range(3):
        if number == 2:
            data = ar.load(tmp_path / "test2.txt")
            ar.dump(data.select(np.arange(1, data.n_queries)), tmp_path / "test2.txt")
        ar.run_experiment(config, tmp_path / "out")
        manifests.append(json.loads((tmp_path / "out" / "manifest.json").read_text()))
    first, again, changed = manifests
    assert first == again
    assert first["data"]["made data"]["1"] == changed["data"]["made data"]["1"]
    assert first["data"]["made data"]["2"] != changed["data"]["made data"]["2"]
    assert first["argrank"] == ar.__version__
    assert first["packages"]["numpy"] == np.__version__
    assert first["config"]["text"] == CONFIG
    assert first["config"]["sha256"] == hashlib.sha256(CONFIG.encode()).hexdigest()
    assert first["seeds"] == {"svm": 0}
    assert first["parameters"]["svm"]["C"] == ar.make_ranker("rank-svm").C
