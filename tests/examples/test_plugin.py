"""Another package's ranker, measure and target, installed into an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import argrank as ar

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin"


def wheel(folder: Path, broken: bool = False) -> Path:
    """Write the package's wheel as its build would, from its pyproject.toml, so that no index is needed."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    name = project["name"].replace("-", "_")
    points = [
        f"[{group}]\n" + "".join(f"{one} = {home}\n" for one, home in lines.items())
        for group, lines in project["entry-points"].items()
    ]
    if broken:
        points[0] += "torn = argrank_example.absent:Nothing\n"
    info = f"{name}-{project['version']}.dist-info"
    files = {f"argrank_example/{path.name}": path.read_text() for path in (PLUGIN / "src/argrank_example").glob("*.py")}
    files |= {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(points),
    }
    files[f"{info}/RECORD"] = "".join(f"{one},,\n" for one in (*files, f"{info}/RECORD"))
    path = folder / f"{name}-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for one, content in files.items():
            archive.writestr(one, content)
    return path


class Environment:
    """A fresh environment that has argrank, its dependencies and the package."""

    def __init__(self, folder: Path, broken: bool = False) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=False)
        self.python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "--disable-pip-version-check"]
        install = [*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel(folder, broken))]
        subprocess.run(install, check=True, capture_output=True)
        library = [str(Path(ar.__file__).parents[1]), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        self.variables = os.environ | {"PYTHONPATH": os.pathsep.join(library)}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python), *arguments],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=600,
        )

    def told(self, code: str) -> str:
        done = self.run("-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    found = Environment(tmp_path_factory.mktemp("plugin"))
    ar.dump(ar.make_ranking(30, 10, 4, random_state=0), found.folder / "train.txt")
    return found


def test_the_names_are_known_and_this_environment_has_none_of_them(environment):
    known = "'shy-svm' in ar.ranker_names(), 'FirstHit' in ar.measure_names(), ar.targets()['sql']"
    code = f"import argrank as ar; print({known})"
    assert environment.told(code) == "True True SQL expression: linear models"
    assert "shy-svm" not in ar.ranker_names()


def test_nothing_is_imported_before_it_is_needed(environment):
    code = (
        "import argrank as ar, sys; ar.make_ranker('rank-svm'); ar.measure('ndcg@10'); "
        "print('argrank_example' in sys.modules)"
    )
    assert environment.told(code) == "False"


def test_they_work_from_python(environment):
    code = (
        "import argrank as ar, json\n"
        "data = ar.load('train.txt')\n"
        "ranker = ar.make_ranker('shy-svm', normalise='standard').fit(data)\n"
        "found = ar.select('shy-svm', 'default', *data.split(0.5, 0.5), 'firsthit', progress=False).ranker.C\n"
        "blend = ar.make_ranker('auto', members=['shy-svm', 'regression']).fit(data)\n"
        "value = ar.evaluate(ranker.predict(data), data, 'firsthit').means['firsthit']\n"
        "wta = ar.evaluate(ranker.predict(data), data, 'wta').means['wta']\n"
        "parity = ar.export(ranker, 'sql', check=data).parity\n"
        "print(json.dumps([found, [one.name for one in blend.members_], value == wta, parity.holds, parity.largest]))"
    )
    C, members, same, holds, largest = json.loads(environment.told(code))
    assert C in (0.001, 0.01)
    assert members == ["shy-svm", "regression"]
    assert same
    assert holds
    assert largest < 1e-12


def test_they_work_from_the_command_line(environment):
    for arguments in (
        ("train", "-r", "shy-svm", "train.txt", "-o", "model.json", "-m", "firsthit"),
        ("predict", "model.json", "train.txt", "-o", "scores.txt"),
        ("evaluate", "train.txt", "scores.txt", "-m", "firsthit"),
        ("export", "model.json", "--to", "sql", "-o", "served", "--check", "train.txt"),
    ):
        done = environment.run("-m", "argrank", *arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    assert "no engine has scored such files" in done.stdout
    assert (environment.folder / "served" / "model.sql").read_text().startswith("SELECT\n")


def test_a_broken_entry_point_is_named_and_the_others_work(tmp_path):
    done = Environment(tmp_path, broken=True).run("-c", "import argrank as ar; print('shy-svm' in ar.ranker_names())")
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr
    assert "the ranker 'torn' of argrank-example (argrank_example.absent:Nothing) is left out" in done.stderr
