"""How the site is built: ``python -m sphinx -W docs SITE``. Nothing in it comes from the network."""

import sys
from pathlib import Path

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
