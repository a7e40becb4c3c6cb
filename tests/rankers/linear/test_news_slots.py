"""The recipe for news slots (docs/recipes/news-slots.md): articles are matched to slots, not ranked."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

RECIPE = Path(__file__).parents[3] / "docs" / "recipes" / "news-slots.md"


def test_the_recipe_runs_and_keeps_its_promise():
    code = "\n".join(re.findall(r"```python\n(.*?)```", RECIPE.read_text(), re.DOTALL))
    names: dict[str, object] = {}
    exec(compile(code, str(RECIPE), "exec"), names)
    assert names["earned"] == pytest.approx(names["by_regression"], rel=0.01)
    new, page = names["new"], names["page"]
    for number, rows in enumerate(names["pages"]):
        assert len(set(rows.tolist())) == len(names["SLOTS"])
        assert (page[new][rows] == np.unique(page[new])[number]).all()
