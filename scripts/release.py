"""Prepare a release: ``make release VERSION=0.1.0``. What remains is a push of the commit and its tag.

Asks for a clean tree and a section "Unreleased: VERSION" in CHANGELOG.md; writes the version, the date and the install
lines; builds, installs into clean environments and runs the smoke test; commits and tags. Where something fails, the
files are as they were before.
"""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The pages that say how to install, and what a release changes in them.
PAGES = ("README.md", "docs/index.md", "docs/getting-started.md", "docs/install.md")
RECIPE = "conda.recipe/meta.yaml"
INSTALL_LINES = (
    (r"There is no release on a package index yet\. (?:In|From) a checkout, with Python", "With Python"),
    (r"There is no release on a package index yet\. (?:In|From) a checkout:", "In an environment of your own:"),
    (r'"\.\[all\]"', '"argrank[all]"'),
    (r"argrank has no release yet", "argrank is at 0.x, and minor releases may change it"),
)


def released(page: str) -> str:
    """Return a page as it reads once there is a release."""
    for before, after in INSTALL_LINES:
        page = re.sub(before, after, page)
    return page


def changes(version: str, day: str) -> dict[str, str]:
    """Return the files that a release changes, with their new content; the program ends if something is not ready."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        sys.exit(f"VERSION: expected such as 0.1.0, got {version!r}")
    files = {name: (ROOT / name).read_text("utf-8") for name in (*PAGES, "CHANGELOG.md", "CITATION.cff", RECIPE)}
    heading = f"## Unreleased: {version}\n"
    if heading not in files["CHANGELOG.md"]:
        sys.exit(f"CHANGELOG.md: expected the heading {heading.strip()!r}")
    new = {name: released(files[name]) for name in PAGES}
    new["CHANGELOG.md"] = files["CHANGELOG.md"].replace(heading, f"## {version} ({day})\n")
    new["CITATION.cff"] = re.sub(r"(?m)^version: .*$", f"version: {version}", files["CITATION.cff"])
    new[RECIPE] = re.sub(r'(?m)^(\{% set version = )".*"', rf'\1"{version}"', files[RECIPE])
    home = "src/argrank/_version.py"
    text = (ROOT / home).read_text("utf-8")
    new[home] = re.sub(r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"', text)
    return new


def git(*arguments: str) -> str:
    """Run git in the project."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Check, change, try out, commit and tag."""
    version = sys.argv[1] if len(sys.argv) > 1 else ""
    new = changes(version, dt.datetime.now(dt.timezone.utc).date().isoformat())
    if git("status", "--porcelain"):
        sys.exit("git: expected a clean tree; commit or stash first")
    tag = f"v{version}"
    if git("tag", "--list", tag):
        sys.exit(f"git: the tag {tag} exists")
    try:
        for name, text in new.items():
            (ROOT / name).write_text(text, "utf-8", newline="\n")
        subprocess.run([sys.executable, str(ROOT / "scripts" / "check_dist.py")], check=True)
        git("commit", "--all", "--message", f"Release {version}")
    except BaseException:
        git("checkout", "--", *new)
        raise
    git("tag", "--annotate", tag, "--message", f"argrank {version}")
    print(f"{tag} is tagged. What remains: git push origin HEAD {tag}")


if __name__ == "__main__":
    main()
