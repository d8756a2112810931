"""The programs of the six figures, run as a user would: from source text that can be seen, in their own namespace."""

from __future__ import annotations

import linecache
from typing import Any

import autograd_viz

THREE = """a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = a * b
d = torch.tensor(4.0, requires_grad=True)
{extra}e = c * d
e.backward()
"""
PROGRAMS = {
    1: ("c", "a = torch.tensor(2.0)\nb = torch.tensor(3.0)\nc = a * b\n"),
    2: ("c", "a = torch.tensor(2.0, requires_grad=True)\nb = torch.tensor(3.0)\nc = a * b\nc.backward()\n"),
    3: ("e", THREE.format(extra="")),
    4: ("e", THREE.format(extra="c.retain_grad()\n")),
    5: ("e", "a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nb, c, d = a.unbind()\ne = b * c * d\ne.backward()\n"),
    6: (
        "k",
        """a = torch.tensor(2.0)
b = torch.tensor(2.0)
c = a * b
c.requires_grad = True
d = torch.tensor(2.0)
e = c * d
f = torch.tensor(2.0)
g = e * f
h = torch.tensor(2.0, requires_grad=True)
i = g / h
i.retain_grad()
j = i + h
k = j * i
k.backward()
""",
    ),
}


def run(code: str) -> dict[str, Any]:
    """The namespace after running `code` with autograd_viz as torch."""
    name = f"<program {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    namespace: dict[str, Any] = {"torch": autograd_viz, "__name__": "program"}
    exec(compile(code, name, "exec"), namespace)
    return namespace


def figure(number: int, before: bool = False) -> tuple[Any, dict[str, Any]]:
    """The root tensor and the namespace of a figure, before or after its backward()."""
    root, code = PROGRAMS[number]
    if before:
        code = code.replace(f"{root}.backward()\n", "")
    namespace = run(code)
    return namespace[root], namespace
