"""Write the pages of the documentation that follow from the code, so that they cannot go stale: docs/generated/."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import argrank
from argrank.cli import COMMANDS, _app
from argrank.measures.conventions import PRESETS, Convention, describe, make_convention
from argrank.rankers.registry import FAMILIES, RANKERS, ranker_class, ranker_names

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "generated"

#: What to add -> source files that show how, each with the line that registers it.
RECIPES = {
    "a measure": ("src/argrank/measures/precision.py", "src/argrank/measures/__init__.py"),
    "an objective and its ranker": (
        "src/argrank/objectives/listwise.py",
        "src/argrank/rankers/linear/listwise.py",
        "src/argrank/rankers/registry.py",
    ),
    "a solver": ("src/argrank/solvers/fixed_steps.py", "src/argrank/solvers/__init__.py"),
    "a command": ("src/argrank/cli/convert.py", "src/argrank/cli/__init__.py"),
}


def conventions() -> str:
    """Return the page of all presets: what each changes against argrank's own convention."""
    lines = [
        "# Conventions of other tools",
        "",
        "Pass the name as `convention=` (Python) or `--convention` (command line). A preset changes the switches below",
        "and leaves the others at argrank's default; `ar.why_differs` says which of them moves your value.",
        "",
        "## The default",
        "",
        "| switch | default |",
        "|---|---|",
        *(f"| `{name}` | {cell(describe(value))} |" for name, value in Convention().switches().items()),
        "",
        "## Presets",
        "",
        "| preset | what it changes |",
        "|---|---|",
    ]
    own = Convention().switches()
    for name in sorted(PRESETS):
        switches = make_convention(name).switches()
        changed = [f"`{key}` {cell(describe(value))}" for key, value in switches.items() if value != own[key]]
        lines.append(f"| **{name}** | {'; '.join(changed) or 'nothing'} |")
    lines += ["", "## What the switches mean", "", docstring(Convention)]
    return "\n".join(lines) + "\n"


def rankers() -> str:
    """Return the page of all registered rankers, family by family."""
    lines = ["# Registered rankers", "", "Make one with `ar.make_ranker(name)`; `-r name` on the command line.", ""]
    for family in FAMILIES:
        names = [name for name in ranker_names() if RANKERS[name].family == family]
        if names:
            lines += [f"## {family.capitalize()}", "", "| name | what | parameters |", "|---|---|---|"]
            for name in names:
                parameters = ", ".join(f"`{one}`" for one in ranker_class(name)._get_param_names())
                lines.append(f"| `{name}` | {cell(first_line(ranker_class(name)))} | {parameters} |")
            lines.append("")
    return "\n".join(lines)


def api() -> str:
    """Return the reference of every public name."""
    lines = ["# Python reference", "", "`import argrank as ar`. Examples run in `make test`.", ""]
    for name in sorted(argrank.__all__, key=str.lower):
        if name == "__version__":
            continue
        found = getattr(argrank, name)
        if inspect.ismodule(found):
            lines += [f"## ar.{name}", "", docstring(found), ""]
            for member in found.__all__:
                lines += entry(f"ar.{name}.{member}", getattr(found, member), "###")
        else:
            lines += entry(f"ar.{name}", found, "##")
    return "\n".join(lines)


def entry(name: str, found: Any, heading: str) -> list[str]:
    """Return the signature and docstring of one name; of a class also its methods, a line each."""
    lines = [f"{heading} {name}", "", "```", f"{name}{signature(found)}", "```", "", docstring(found), ""]
    if inspect.isclass(found):
        methods = [one for one in vars(found).items() if not one[0].startswith("_") and inspect.getdoc(one[1])]
        lines += ["**Methods and properties**", ""]
        lines += [f"- `{title}`: {cell(first_line(method))}" for title, method in methods]
        lines.append("")
    return lines


def signature(found: Any) -> str:
    """Return a signature as source code has it, one parameter a line where it is long."""
    whole = inspect.signature(found)
    parts, keyword_only = [], False
    for one in whole.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            parts, keyword_only = [*parts, "*"], True
        note = "" if one.annotation is one.empty else f": {one.annotation}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        star = {one.VAR_KEYWORD: "**", one.VAR_POSITIONAL: "*"}.get(one.kind, "")
        parts.append(f"{star}{one.name}{note}{default}")
    back = "" if whole.return_annotation is whole.empty else f" -> {whole.return_annotation}"
    if len(", ".join(parts)) <= 80:
        return f"({', '.join(parts)}){back}"
    return "(\n    " + ",\n    ".join(parts) + f",\n){back}"


def commands() -> str:
    """Return the help of every command."""
    lines = ["# Command line", "", "Mistakes end in one plain line on standard error and exit code 2.", ""]
    for name in COMMANDS:
        done = CliRunner().invoke(_app(), [name, "--help"], prog_name="argrank", env={"COLUMNS": "100"})
        if done.exit_code:
            raise RuntimeError(f"argrank {name} --help failed: {done.output}")
        lines += [f"## argrank {name}", "", "```", done.output.strip("\n"), "```", ""]
    return "\n".join(lines)


def contributing() -> str:
    """Return CONTRIBUTING.md with the sources that show how things are added."""
    text = re.sub(r"\]\((?!http)([\w./-]+)\)", "]", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    lines = [text.rstrip(), "", "## Recipes", "", "The files themselves, as they are in the repository."]
    for what, paths in RECIPES.items():
        lines += ["", f"### To add {what}"]
        for path in paths:
            lines += ["", f"`{path}`", "", "```python", (ROOT / path).read_text("utf-8").rstrip(), "```"]
    return "\n".join(lines) + "\n"


def experiment_folders() -> list[Path]:
    """Return the folders of experiments that have a page."""
    return sorted(path.parent for path in (ROOT / "experiments").glob("*/README.md"))


def results(folder: Path) -> str:
    """Return the page of a folder of experiments: its README, its tables, and its figures, which are copied."""
    page, pictures = _demoted(folder / "README.md", folder, 0), sorted(folder.glob("*.png"))
    tables = [_demoted(path, folder, 1) for path in sorted(folder.glob("*.md")) if path.name != "README.md"]
    if pictures:
        target = TARGET / folder.name
        target.mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            shutil.copyfile(picture, target / picture.name)
    apart = [path for path in pictures if f"({folder.name}/{path.name})" not in page]
    shown = [f"![{path.stem}]({folder.name}/{path.name})" for path in apart]
    return "\n\n".join([page, *tables, *(["## Figures", *shown] if shown else [])]) + "\n"


def _demoted(path: Path, folder: Path, by: int) -> str:
    """Return a page with its headings lowered, its pictures where they are copied to, other files as text."""

    def link(found: re.Match[str]) -> str:
        picture, text, address = found.groups()
        if address.startswith("http"):
            return found.group()
        if address.endswith("/README.md"):
            return f"[{text}](results-{Path(address).parent.name}.md)"
        return f"![{text}]({folder.name}/{address})" if picture else text

    text = re.sub(r"(!?)\[([^\]]*)\]\(([^)]+)\)", link, path.read_text("utf-8").rstrip())
    lines, is_code = [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        lines.append("#" * by + line if line.startswith("#") and not is_code else line)
    return "\n".join(lines)


def docstring(found: object) -> str:
    """Return a NumPy docstring as Markdown: parameters as lists, examples as code."""
    sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(found) or "", flags=re.MULTILINE)
    parts = [_prose(sections[0])]
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        parts.append(f"**{title}**")
        parts.append(f"```\n{body.strip()}\n```" if title == "Examples" else _entries(body))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Return text with indented and literal blocks kept, examples as code and the rest safe from Markdown."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith((">>>", "    ", "::")):
            blocks.append(f"```\n{block}\n```")
        else:
            blocks.append(_safe(block).replace("\n::", ""))
    return "\n\n".join(blocks)


def _entries(body: str) -> str:
    items: list[str] = []
    for line in body.strip().splitlines():
        if line and not line.startswith(" "):
            items.append(f"- `{line}`")
        elif line.strip() and items:
            items[-1] += f"  \n  {_safe(line.strip())}" if items[-1].endswith("`") else f" {_safe(line.strip())}"
    return "\n".join(items)


def _safe(text: str) -> str:
    """Return text in which only double backquotes mean something."""
    parts = re.split(r"(``.*?``|`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", p) for p in parts)


def cell(text: str) -> str:
    """Return text for a cell of a table."""
    return _safe(text).replace("\n", " ")


def first_line(found: object) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")


PAGES = {
    "api": api, "commands": commands, "contributing": contributing, "conventions": conventions, "rankers": rankers,
}  # fmt: skip


def main() -> None:
    """Write all pages."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (TARGET / f"{name}.md").write_text(make(), "utf-8")
    for folder in (ROOT / "experiments", *experiment_folders()):
        (TARGET / f"results-{folder.name}.md").write_text(results(folder), "utf-8")


if __name__ == "__main__":
    main()
