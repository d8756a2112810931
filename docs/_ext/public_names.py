"""The directive ``public-names``: the names of a namespace, as the package itself lists them."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import autograd_viz as av
from autograd_viz.twin.core.base.public import names_of
from autograd_viz.twin.nn import Module
from autograd_viz.twin.optim import Optimizer


def names_in(namespace: str) -> list[str]:
    """The names of ops in a namespace ("torch", "Tensor", "linalg", ...), of modules in "nn", of optimizers in "optim"."""
    if namespace not in ("nn", "optim"):  # their ops are loaded when they are named
        getattr(av, namespace, None)
        return [n for n in names_of(namespace) if not n.startswith("_")]
    base = {"nn": Module, "optim": Optimizer}[namespace]
    return sorted(n for n, v in vars(getattr(av, namespace)).items() if isinstance(v, type) and issubclass(v, base))


class PublicNames(SphinxDirective):
    """``{public-names} linalg``"""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """A paragraph that counts and lists them."""
        names = names_in(self.arguments[0])
        paragraph = nodes.paragraph("", f"{len(names)}: ")
        for i, name in enumerate(names):
            paragraph += [nodes.Text(", ")] * bool(i) + [nodes.literal(text=name)]
        return [paragraph]


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
