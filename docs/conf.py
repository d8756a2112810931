"""How the site is built: ``python -m sphinx -W docs SITE``. Nothing in it comes from the network."""

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import autograd_viz  # noqa: E402

project = "autograd_viz"
version = release = autograd_viz.__version__
copyright = "the autograd_viz authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "public_names", "live"]

# the address of the repository: [project.urls] names it, or GitHub does while it builds the site
URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
repository = URLS.get("Repository", "")
if not repository and (name := os.environ.get("GITHUB_REPOSITORY")):
    repository = f"https://github.com/{name}"

html_theme = "furo"
html_title = f"autograd_viz {version}"
html_static_path, html_css_files = ["_static"], ["live.css"]
html_favicon = "_static/icon.svg"
if repository:
    html_theme_options = {"source_repository": repository, "source_branch": "HEAD", "source_directory": "docs/"}
html_copy_source = html_show_sourcelink = False

myst_heading_anchors = 3  # links to headings, as on GitHub
default_role = "py:obj"  # `show` in a docstring is a link where there is a page for it
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
napoleon_use_ivar = True  # attributes in a list, with the class
napoleon_use_rtype = False

SEVERAL = re.compile(r"^ +[a-z]\w*(?:, \w+)+: ")  # "least, most, mean: of the finite elements"


def together(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Names that are described together stay together: Sphinx would take all but the last for a type."""
    lines[:] = [SEVERAL.sub(lambda names: names[0].replace(", ", ","), line) for line in lines]


def setup(app: Any) -> None:
    """Tell Sphinx, before napoleon reads the docstrings."""
    app.connect("autodoc-process-docstring", together, priority=400)
