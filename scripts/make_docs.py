"""Write the documentation pages that are generated from the code, so that they stay up to date: docs/generated/."""

from __future__ import annotations

import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import typer.main

import argrank
from argrank.cli import COMMANDS, _app
from argrank.measures import MEASURES
from argrank.measures.conventions import PRESETS, Convention, describe, make_convention
from argrank.rankers.registry import FAMILIES, RANKERS, ranker_class, ranker_names

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "generated"
BASE = "argrank.rankers.base_ranker.BaseRanker"
#: What scikit-learn adds to every estimator; its own documentation describes it.
ROUTING = "get_metadata_routing, set_fit_request, set_predict_request, set_score_request, set_params, get_params"

#: Papers whose claims are listed -> their folders of experiments.
PAPERS = {
    name: ROOT / "experiments" / folder
    for name, folder in {"KDD 2008": "kdd2008", "ORM": "orm", "DirectRank": "directrank", "LogRank": "logrank"}.items()
}

Pages = dict[str, str]  # name -> Markdown

#: What to add -> source files that show how, each with the line that registers it.
RECIPES = {
    "a measure": ("src/argrank/measures/precision.py", "src/argrank/measures/__init__.py"),
    "an objective and its ranker": (
        "src/argrank/objectives/listwise.py",
        "src/argrank/rankers/linear/listwise.py",
        "src/argrank/rankers/registry.py",
    ),
    "a solver": ("src/argrank/solvers/fixed_steps.py", "src/argrank/solvers/__init__.py"),
    "an export target": ("src/argrank/deploy/lightgbm.py", "src/argrank/deploy/registry.py"),
    "something in a package of your own": (
        "examples/plugin/src/argrank_example/ranker.py",
        "examples/plugin/src/argrank_example/measure.py",
        "examples/plugin/src/argrank_example/sql.py",
    ),
    "a command": ("src/argrank/cli/convert.py", "src/argrank/cli/__init__.py"),
}


def conventions() -> str:
    """Return the page of all presets: what each changes against argrank's own convention."""
    lines = [
        "# Conventions of other tools",
        "",
        "To get the number that another tool would print, pass its name as `convention=` in Python or `--convention`",
        "on the command line. A preset changes the switches below and leaves the others at argrank's default;",
        "`ar.why_differs` says which of them moves your value.",
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


def ranker_pages() -> Pages:
    """Return the table of all registered rankers, family by family, and a page for each."""
    lines = [
        "# Rankers",
        "",
        "All rankers by family, with a page for each. Make one with `ar.make_ranker(name)`, or name it on the command",
        "line with `-r name`. [Choosing a ranker](../../guide/choosing.md) says which to try first.",
        "",
    ]
    pages = {}
    for family in FAMILIES:
        names = [name for name in ranker_names(None) if RANKERS[name].family == family]
        if names:
            lines += [f"## {family.capitalize()}", "", "| name | what |", "|---|---|"]
        for name in names:
            lines.append(f"| [`{name}`]({name}.md) | {cell(first_line(ranker_class(name)))} |")
            pages[name] = ranker_page(name)
        lines.append("")
    lines += [
        "## What all rankers share",
        "",
        *rst("autoclass", BASE, ":members:", ":inherited-members:", ":exclude-members: " + ROUTING),
        *contents(pages),
    ]
    return {"index": "\n".join(lines), **pages}


def ranker_page(name: str) -> str:
    """Return the page of a ranker: when to use it, an example, then every parameter."""
    entry, kind = RANKERS[name], ranker_class(name)
    grid = ", ".join(f"`{key}` in {values}" for key, values in entry.grid.items()) or "nothing"
    lines = [
        f"# {name}",
        "",
        f"**When to use it.** {when_to_use()[name]}",
        "",
        *ranker_example(name),
        f"Family: *{entry.family}*. `ar.select` and `argrank cv` try {grid}."
        + (" Features need no scaling." if entry.scale_free else ""),
        "",
        "## Parameters",
        "",
        *rst("autoclass", f"argrank.rankers.{kind.__name__}"),
        "[Methods and attributes of every ranker](index.md#what-all-rankers-share)",
    ]
    return "\n".join(lines) + "\n"


def when_to_use() -> dict[str, str]:
    """Return, for every ranker, when to use it."""
    text = (ROOT / "scripts" / "when_to_use.md").read_text("utf-8")
    found = re.findall(r"^`([\w-]+)`: (.+?)\n(?:\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: " ".join(words.split()) for name, words in found}


def ranker_example(name: str) -> list[str]:
    """Return a program that trains and evaluates a ranker; where that takes more than data, the docstring's example."""
    kind = ranker_class(name)
    if RANKERS[name].takes != "ranking" or name == "custom":
        shown = (inspect.getdoc(kind) or "").partition("Examples\n--------\n")[2].strip()
        return ["```pycon", shown, "```", ""] if shown else []
    return [
        "```python",
        "import argrank as ar",
        "",
        'data = ar.make_ranking(60, 20, 5, random_state=0)  # or ar.load("judged.csv")',
        "train, test = data.split(0.7, 0.3)  # by query",
        f'ranker = ar.make_ranker("{name}").fit(train)',
        'print(ar.evaluate(ranker.predict(test), test, ["ndcg@10", "map"]))',
        "```",
        f"On the command line: `argrank train train.csv -r {name} --test test.csv -o model.json`.",
        "",
    ]


def measure_pages() -> Pages:
    """Return the table of all measures and a page for each."""
    lines = ["# Measures", "", "All measures. [The guide](../../guide/measures.md) shows how to name them.", ""]
    lines += ["| name | also spelled | what |", "|---|---|---|"]
    pages = {}
    for name in sorted(MEASURES, key=str.lower):
        kind = MEASURES[name]
        aliases = ", ".join(f"`{one}`" for one in kind.aliases if one != name)
        lines.append(f"| [`{name}`]({name}.md) | {aliases} | {cell(first_line(kind))} |")
        pages[name] = "\n".join([f"# {name}", "", *rst("autoclass", f"argrank.measures.{kind.__name__}")])
    return {"index": "\n".join([*lines, *contents(pages)]), **pages}


def api_pages() -> Pages:
    """Return the table of all public names and a page for each."""
    lines = [
        "# Python",
        "",
        "The public functions and classes, after `import argrank as ar`. All examples are tested.",
        "",
    ]
    lines += ["| name | what |", "|---|---|"]
    pages = {}
    for name in sorted(set(argrank.__all__) - {"__version__"}, key=str.lower):
        found = getattr(argrank, name)
        lines.append(f"| [`ar.{name}`]({name}.md) | {cell(first_line(found))} |")
        page = [f"# ar.{name}", ""]
        if inspect.ismodule(found):
            page += [docstring(found), ""]
            for member in found.__all__:
                page += [f"## ar.{name}.{member}", "", *autodoc(f"{found.__name__}.{member}", getattr(found, member))]
        else:
            page += autodoc(f"argrank.{name}", found)
        pages[name] = "\n".join(page)
    return {"index": "\n".join([*lines, *contents(pages)]), **pages}


def autodoc(path: str, found: Any) -> list[str]:
    """Return the directive that shows one name."""
    if inspect.isclass(found):
        return rst("autoclass", path, ":members:", ":exclude-members: " + ROUTING)
    return rst("autofunction", path)


def rst(directive: str, path: str, *options: str) -> list[str]:
    """Return a directive of Sphinx for a page in Markdown."""
    return ["```{eval-rst}", f".. {directive}:: {path}", *(f"   {one}" for one in options), "```", ""]


def contents(pages: Pages) -> list[str]:
    """Return the hidden list of a folder's pages, from which the site makes its navigation."""
    return ["", "```{toctree}", ":hidden:", "", *pages, "```", ""]


def command_pages() -> Pages:
    """Return the table of all commands and a page for each."""
    lines = [
        "# Command line",
        "",
        "All commands. A mistake ends in one plain line on standard error and exit code 2.",
        "",
    ]
    lines += ["| command | what |", "|---|---|"]
    pages = {}
    group = typer.main.get_command(_app())
    for name in COMMANDS:
        command = group
        for word in name.split():
            command = command.commands[word]
        text, _, examples = (command.help or "").replace("\b\n", "").partition("For example:\n")
        page_name = name.replace(" ", "-")
        lines.append(f"| [`argrank {name}`]({page_name}.md) | {cell(text.split(chr(10) * 2)[0])} |")
        words = " ".join(placeholder(one) for one in command.params if one.param_type_name == "argument")
        page = [
            f"# argrank {name}",
            "",
            "```",
            f"argrank {name} [OPTIONS] {words}".rstrip(),
            "```",
            "",
            options_as_code(text.strip()),
            "",
        ]
        if examples:
            page += ["```", inspect.cleandoc(examples), "```", ""]
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            entries = [one for one in command.params if one.param_type_name == kind and not getattr(one, "hidden", 0)]
            if entries:
                page += [f"## {title}", "", *(line for one in entries for line in parameter(one))]
        pages[page_name] = "\n".join(page)
    return {"index": "\n".join([*lines, *contents(pages)]), **pages}


def placeholder(one: Any) -> str:
    """Return what stands for the value of an argument or option."""
    return str(one.metavar or one.name.upper())


def parameter(one: Any) -> list[str]:
    """Return an argument or option as an entry of a list of definitions."""
    names = " ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts))
    if one.param_type_name == "argument":
        names = f"`{placeholder(one)}`"
    elif not one.is_flag:
        names += f" `{placeholder(one)}`"
    default = "" if one.default in (None, (), [], False) or callable(one.default) else f" Default: `{one.default}`."
    return [names, f": {cell(options_as_code((one.help or '').strip()))}{default}", ""]


def options_as_code(text: str) -> str:
    """Return text in which the options of a command are set as code."""
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)(?![\w`])", r"`\1`", text)


def contributing() -> str:
    """Return CONTRIBUTING.md with the sources that show how things are added."""
    text = re.sub(r"\]\((?!http)([\w./-]+)\)", "]", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    lines = [
        text.rstrip(),
        "",
        "## Recipes",
        "",
        "The files themselves, as they are in the repository; open what you need.",
    ]
    for what, paths in RECIPES.items():
        lines += ["", f"### To add {what}"]
        for path in paths:
            code = (ROOT / path).read_text("utf-8").rstrip()
            lines += ["", f":::{{dropdown}} `{path}`", "```python", code, "```", ":::"]
    return "\n".join(lines) + "\n"


def experiment_folders() -> list[Path]:
    """Return the folders of experiments that have a page."""
    return sorted(path.parent for path in (ROOT / "experiments").glob("*/README.md"))


def results(folder: Path) -> Pages:
    """Return the pages of a folder of experiments: its README with its figures, which are copied, and its tables."""
    page, pictures = _linked(folder / "README.md", folder), sorted(folder.glob("*.png"))
    if pictures:
        target = TARGET / folder.name
        target.mkdir(parents=True, exist_ok=True)
        for picture in pictures:
            shutil.copyfile(picture, target / picture.name)
    apart = [path for path in pictures if f"({folder.name}/{path.name})" not in page]
    shown = [f"![{path.stem}]({folder.name}/{path.name})" for path in apart]
    name = f"results-{folder.name}"
    found = sorted([*folder.glob("*.md"), *folder.glob("letor/*.md")])  # the folder of LETOR has no page of its own
    tables = {f"{name}-{path.stem}": path for path in found if path.name != "README.md"}
    lists = ["## Tables", *(f"- [{path.name}]({one}.md)" for one, path in tables.items())] if tables else []
    parts = [page, *(["## Figures", *shown] if shown else []), "\n".join(lists)]
    main = (
        "\n\n".join(part for part in parts if part)
        + "\n"
        + "\n".join(contents(dict.fromkeys(tables, "")) if tables else [])
    )
    return {name: main, **{one: _linked(path, folder) + "\n" for one, path in tables.items()}}


def _linked(path: Path, folder: Path) -> str:
    """Return a page with pictures where they are copied to, and other files as text."""

    def link(found: re.Match[str]) -> str:
        picture, text, address = found.groups()
        if address.startswith("http"):
            return found.group()
        if address.endswith("/README.md"):
            return f"[{text}](results-{Path(address).parent.name}.md)"
        if address.endswith(".md") and not address.startswith(".."):
            return f"[{text}](results-{folder.name}-{Path(address).stem}.md)"
        return f"![{text}]({folder.name}/{address})" if picture else text

    page = re.sub(r"(!?)\[([^\]]*)\]\(([^)]+)\)", link, path.read_text("utf-8").rstrip())
    return page if page.startswith("# ") else f"# {path.stem}\n\n{page}"


def docstring(found: object) -> str:
    """Return a NumPy docstring as Markdown: parameters as lists, examples as code."""
    sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(found) or "", flags=re.MULTILINE)
    parts = [_prose(sections[0])]
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        parts.append(f"**{title}**")
        parts.append(f"```\n{body.strip()}\n```" if title == "Examples" else _entries(body))
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Return text with indented and literal blocks kept, examples as code and the rest escaped for Markdown."""
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
    """Return text escaped for Markdown, except for double backquotes."""
    parts = re.split(r"(``.*?``|`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", p) for p in parts)


def cell(text: str) -> str:
    """Return text for a cell of a table."""
    return _safe(text).replace("\n", " ")


def first_line(found: object) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(found) or "").split("\n\n")[0].replace("\n", " ")


def claim_pages() -> Pages:
    """Return the tables of the papers' claims, which docs/results.md includes."""
    sys.path.append(str(ROOT))
    from experiments._claims import page, summary

    return {"summary": summary(PAPERS), **{folder.name: page(folder) for folder in PAPERS.values()}}


PAGES = {"contributing": contributing, "conventions": conventions}
FOLDERS = {
    "api": api_pages,
    "claims": claim_pages,
    "commands": command_pages,
    "measures": measure_pages,
    "rankers": ranker_pages,
}


def main() -> None:
    """Delete the old pages and write all of them."""
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for page in (ROOT / "docs" / "gallery").glob("[0-9]*"):  # of examples that are gone
        if not (ROOT / "examples" / "gallery" / f"{page.name.partition('.')[0]}.py").exists():
            page.unlink()
    for name, make in PAGES.items():
        (TARGET / f"{name}.md").write_text(make(), "utf-8")
    for folder, make_all in FOLDERS.items():
        (TARGET / folder).mkdir()
        for name, page in make_all().items():
            (TARGET / folder / f"{name}.md").write_text(page, "utf-8")
    for folder in (ROOT / "experiments", *experiment_folders()):
        for name, page in results(folder).items():
            (TARGET / f"{name}.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()
