"""How Sphinx builds the site. ``make docs`` first writes docs/generated, then builds with warnings as errors."""

from __future__ import annotations

import inspect
import os
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes

import argrank

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_extensions"))

project = "argrank"
author = "The argrank developers"
copyright = "The argrank developers"
version = release = argrank.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_extensions",
    "_templates",
    "generated/claims",
    "gallery/README.md",
    "gallery/*.ipynb",
    "gallery/*.codeobj.json",
]
nitpicky = False
highlight_language = "none"  # of blocks that name no language: commands and output
smartquotes_action = "qe"  # quotes and ellipses; two hyphens are an option of a command

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

autodoc_typehints = "none"  # numpydoc shows types beside the parameters
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
python_maximum_signature_line_length = 10_000  # wrapped by the page: the parameters are described below

# Links into other projects' pages need their inventories, which are fetched: only where the builder asks for it.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
    if os.environ.get("ARGRANK_DOCS_INTERSPHINX")
    else {}
)

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "ignore_repr_types": r"matplotlib|'list'",
    "write_computation_times": False,  # its page fetches scripts
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "reset_modules": ("matplotlib", "gallery_style.reset"),
    "thumbnail_size": (560, 320),
    "plot_gallery": "True",
}
warnings.filterwarnings("ignore", module="sphinx_gallery")

html_theme = "pydata_sphinx_theme"
html_title = "argrank"
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_css_files = ["argrank.css"]
html_js_files = ["argrank.js"]
html_show_sourcelink = False
html_context = {"default_mode": "auto"}  # light or dark as the reader's system
html_copy_source = False
html_theme_options = {
    "logo": {"text": "argrank", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg", "alt_text": ""},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "getting-started": [], "install": [], "migrating": [], "results": []}

_ENTRY = re.compile(r"^(\w+)( : .*)?$")


def _defaults(app: object, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Write the default of every parameter of a ranker beside its type."""
    if what != "class" or not name.startswith("argrank.rankers."):
        return
    signature = inspect.signature(found)  # type: ignore[arg-type]
    for at, line in enumerate(lines):
        entry = _ENTRY.match(line)
        parameter = signature.parameters.get(entry[1]) if entry else None
        if parameter is not None and parameter.default is not parameter.empty and "default" not in line:
            lines[at] = f"{line}{', ' if entry[2] else ' : '}default ``{parameter.default!r}``"


_LITERAL = re.compile(r"(``.*?``|`[^`]*`)")


def _plain(app: object, what: str, name: str, found: object, options: object, lines: list[str]) -> None:
    """Escape what reStructuredText would read as markup: our docstrings use backquotes alone."""
    example = False
    for at, line in enumerate(lines):
        example = line.lstrip().startswith((">>>", "...")) or (example and bool(line.strip()))
        if not example and not line.startswith(("    ::", ".. ")):
            parts = _LITERAL.split(line)
            lines[at] = "".join(
                one if one.startswith("`") else re.sub(r"(?<!\\)([*|])|_(?=\W|$)", r"\\\g<0>", one) for one in parts
            )


def _measures(app: object, doctree: nodes.document) -> None:
    """Make text again of what reStructuredText takes for addresses of mail: ndcg@10."""
    for found in list(doctree.findall(nodes.reference)):
        if found.get("refuri", "").startswith("mailto:"):
            found.replace_self(found.children)


def setup(app: object) -> None:
    """Read docstrings as they are written."""
    app.connect("doctree-read", _measures)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _defaults, priority=90)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _plain, priority=100)  # type: ignore[attr-defined]
