"""The public interface is complete and quick to import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import argrank
from argrank.cli import COMMANDS
from argrank.deploy.registry import TARGETS
from argrank.models import KINDS
from argrank.rankers.registry import RANKERS
from argrank.solvers import SOLVERS


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_every_public_name_loads_and_is_listed():
    assert sorted(argrank.__all__) == argrank.__dir__()
    assert set(argrank.__all__) == {*argrank._HOME, "__version__", "errors"}
    for name in argrank.__all__:
        assert getattr(argrank, name) is not None


def test_type_checkers_see_the_same_names():
    stub = Path(argrank.__file__).with_suffix(".pyi").read_text()
    for name in argrank.__all__:
        assert f" import {name} as {name}\n" in stub, name


def test_errors_are_reachable_without_an_import_of_their_own():
    assert run("import argrank as ar; print(ar.errors.OptionError.__name__)") == "OptionError"


@pytest.mark.parametrize("code", ["ar.make_ranker('auto')", "ar.rankers.make_ranker('auto')", "ar.rankers.Auto()"])
def test_auto_is_known_without_heavy_imports_before(code):
    assert run(f"import argrank as ar, argrank.rankers; print('sklearn' in __import__('sys').modules, {code})") == (
        "False Auto()"
    )


def test_the_lines_of_a_registry_stay_within_its_folder():
    """A path in a string must not bypass the layers: only ``trials`` names a class of its own in full."""
    homes = {
        "argrank.rankers": {name: line.home for name, line in RANKERS.own().items()},
        "argrank.solvers": {name: line.home for name, line in SOLVERS.own().items()},
        "argrank.deploy": {name: line.home for name, line in TARGETS.own().items()},
        "argrank.models": dict(KINDS.items()),
        "argrank.cli": COMMANDS,
    }
    outside = {name for lines in homes.values() for name, home in lines.items() if not home.startswith(".")}
    assert outside == {"auto"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = argrank.nonsense


def test_import_is_light():
    heavy = ["numba", "pandas", "polars", "pyarrow", "matplotlib", "lightgbm", "sklearn", "rich", "typer"]
    loaded = run(f"import argrank, sys; print([m for m in {heavy!r} if m in sys.modules])")
    assert loaded == "[]"


def test_evaluating_a_small_file_compiles_nothing(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n2 qid:2 1:1\n0 qid:2 1:3\n")
    code = (
        "import argrank as ar, sys; "
        f"data = ar.load({str(path)!r}); "
        "ar.evaluate(data.X[:, 0], data, ['ndcg@10', 'map', 'mrr']); "
        "print('numba' in sys.modules)"
    )
    assert run(code) == "False"


def test_no_module_goes_round_the_layers_through_the_package_itself():
    package = Path(argrank.__file__).parent
    found = []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_import = isinstance(node, ast.Import) and any(one.name == "argrank" for one in node.names)
            is_from = isinstance(node, ast.ImportFrom) and node.module == "argrank" and node.level == 0
            submodules = is_from and all(
                (package / f"{one.name}.py").exists() or (package / one.name).is_dir() for one in node.names
            )
            if is_import or (is_from and not submodules):
                found.append(f"{path.relative_to(package)}:{node.lineno}")
    assert found == []


# ---- types: what they leave open must not grow ---------------------------------------------------------------------

SOURCE = Path(argrank.__file__).parent


def open_parameters() -> tuple[int, int]:
    """Count the parameters of all functions but self and cls, and those whose annotation mentions Any or is missing."""
    n_all = n_open = 0
    for path in SOURCE.rglob("*.py"):
        functions = [one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.FunctionDef)]
        for given in (one.args for one in functions):
            several = [given.vararg, given.kwarg]
            for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, several)):
                if parameter.arg not in ("self", "cls"):
                    n_all += 1
                    n_open += parameter.annotation is None or "Any" in ast.unparse(parameter.annotation)
    return n_all, n_open


def test_fewer_than_19_percent_of_all_parameters_may_be_anything():
    n_all, n_open = open_parameters()
    assert n_all > 7000
    assert n_open / n_all < 0.19


def test_type_checks_are_switched_off_in_at_most_20_lines():
    lines = [line for path in SOURCE.rglob("*.py") for line in path.read_text().splitlines()]
    assert sum("# type: ignore" in line for line in lines) <= 20
