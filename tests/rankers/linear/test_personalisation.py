"""The recipe for personalised rankings (docs/recipes/personalisation.md): user features times document features."""

from __future__ import annotations

import re
from pathlib import Path

RECIPE = Path(__file__).parents[3] / "docs" / "recipes" / "personalisation.md"


def test_the_recipe_runs_and_keeps_its_promise():
    code = "\n".join(re.findall(r"```python\n(.*?)```", RECIPE.read_text(), re.DOTALL))
    names: dict[str, object] = {}
    exec(compile(code, str(RECIPE), "exec"), names)
    assert names["personal"] > names["impersonal"] + 0.1
    assert names["by_factors"] > 0.85
    assert [len(items) for items in names["for_three"]] == [5, 5, 5]
