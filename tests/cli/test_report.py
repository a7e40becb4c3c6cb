from __future__ import annotations

import pytest

import argrank as ar
from argrank import cli


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = ar.make_ranking(12, 8, 3, random_state=0)
    ar.dump(data, "test.txt")
    ar.make_ranker("regression").fit(data).save("model.json")
    ar.write_scores(data.X[:, 0], "first.txt")
    return tmp_path


def test_writes_models_and_scores_into_one_page(files, capsys):
    with pytest.raises(SystemExit) as done:
        cli.main(["report", "test.txt", "model.json", "one=first.txt", "-m", "ndcg@10", "-o", "out.html"])
    assert done.value.code == 0
    assert "out.html" in capsys.readouterr().out
    page = (files / "out.html").read_text("utf-8")
    assert "Ranking report: test.txt" in page
    assert '"name":"model"' in page
    assert '"name":"one"' in page


def test_a_model_for_other_features_is_one_line(files, capsys):
    ar.dump(ar.make_ranking(5, 4, 7, random_state=0), "other.txt")
    with pytest.raises(SystemExit) as done:
        cli.main(["report", "other.txt", "model.json"])
    assert done.value.code == 2
    assert "3 features" in capsys.readouterr().err
    assert not (files / "report.html").exists()
