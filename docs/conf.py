"""How the site is built: ``python -m sphinx -W docs SITE``. Nothing in it comes from the network."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "autograd_viz"
copyright = "the autograd_viz authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "public_names"]

html_theme = "furo"
html_title = "autograd_viz"
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
