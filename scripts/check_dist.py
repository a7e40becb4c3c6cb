"""Build wheel and sdist, install the wheel into clean environments, and run the smoke test in each; ``make dist``.

Every Python from 3.10 to 3.14 that is found gets the wheel without extras and with all of them; the first one found
also gets it with each extra alone, and built from the sdist. Where all are found, the classifiers of
pyproject.toml must not name any other Python.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
#: Gigabytes with its CUDA libraries, so tried only where asked for: ``check_dist.py torch``.
HUGE = ("torch",)


def pythons() -> dict[str, str]:
    """Return the interpreters by version: on the path, or those of pyenv."""
    found = {}
    for version in VERSIONS:
        own = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}"))
        path = str(own[-1]) if own else shutil.which(f"python{version}")
        if path:
            found[version] = path
    return found


def try_out(python: str, what: str, extra: str) -> None:
    """Install into a fresh environment and run the smoke test there, away from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", f"{folder}/venv"], check=True)
        inside = f"{folder}/venv/bin/python"
        wanted = f"{what}[{extra}]" if extra else what
        subprocess.run([inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted], check=True)
        shutil.copy(ROOT / "scripts" / "smoke.py", folder)
        subprocess.run([inside, "smoke.py", extra], cwd=folder, check=True)


def main() -> None:
    """Build, then try everything; the first failure ends it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(target), str(ROOT)], check=True, stdout=subprocess.DEVNULL
    )
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    found = pythons()
    print(f"{wheel.name} {wheel.stat().st_size / 1e6:.1f} MB, {sdist.name} {sdist.stat().st_size / 1e6:.1f} MB")
    print(
        f"Pythons found: {', '.join(found)}; not found: {', '.join(set(VERSIONS) - set(found)) or 'none'}", flush=True
    )
    first = next(iter(found))
    left_out = set(HUGE) - set(sys.argv[1:])
    extras = sorted(set(project["optional-dependencies"]) - {"all"} - left_out)
    if left_out:
        print(f"*** NOT tried: the extra {', '.join(sorted(left_out))}, as it takes gigabytes ***", flush=True)
    trials = [(version, str(wheel), extra) for version in found for extra in ("", "all")]
    trials += [(first, str(wheel), extra) for extra in extras]
    trials.append((first, str(sdist), ""))
    for version, what, extra in trials:
        try_out(found[version], what, extra)
        print(f"Python {version}, {Path(what).name}{f'[{extra}]' if extra else ''}: works", flush=True)
    claimed = {one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one}
    if claimed - set(found):
        print(f"not run here, though a classifier names it: {', '.join(sorted(claimed - set(found)))}")


if __name__ == "__main__":
    main()
