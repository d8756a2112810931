"""The lines that explain finds of PyTorch's ops after the fact are those that PyTorch's own traces name."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from .explained import lines, told

pytestmark = pytest.mark.torch
HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nv = torch.tensor([3.0, 4.0], requires_grad=True)\n"
NET = (
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.one = nn.Linear(3, 4)\n"
    "        self.norm = nn.LayerNorm(4)\n"
    "        self.act = nn.ReLU()\n"
    "        self.body = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    "        self.scale = nn.Parameter(torch.ones(()))\n"
    "    def forward(self, x):\n"
    "        h = self.act(self.one(x))\n"
    "        h = self.norm(h)\n"
    "        return self.scale * self.body(h)\n"
    "net = Net()\n"
)

KNOWN = {  # program, names of leaves: of each the line of every op that it was given to is found
    "signs": (W + "a = w * 3\nb = v / 2\nloss = (a + b).sum()", "w v"),
    "two lines": (W + "a = w * 3\nb = w.exp()\nloss = (a * b).sum()", "w"),
    "two of a line": (W + "loss = (w * w).sum() + (v ** 2).mean() - w.sin().sum()", "w v"),
    "the other way round": (W + "loss = (1 - w).sum() + (-v).sum()", "w v"),
    "a loop": (W + "h = torch.ones(2)\nfor i in range(3):\n    h = torch.tanh(h * w)\nloss = h.sum()", "w"),
    "through a list": (W + "total = 0\nfor p in [w, v]:\n    total = total + p.abs().sum()\nloss = total * 1", "w v"),
    "a function": (W + "def f(t):\n    s = t * t\n    return s.sum()\nloss = f(w) + v.sum()", "w v"),
    "another name": (W + "u = w\nloss = (u * 2).sum() + v.prod()", "w v"),
    "a slice": (W + "loss = w[1:].sum() + v.T.sum()", "w"),
    "a module": (NET + "loss = net(torch.randn(5, 3)).pow(2).mean()", " ".join([
        "net.one.weight", "net.one.bias", "net.norm.weight", "net.body[0].weight", "net.body[2].bias", "net.scale",
    ])),
    "a Sequential": (
        "seq = nn.Sequential(nn.Linear(1, 3), nn.Tanh(), nn.Linear(3, 1))\nx = torch.randn(4, 1)\n"
        "out = seq(x)\nloss = (out - 1).pow(2).mean()",
        "seq[0].weight seq[2].bias",
    ),
    "a functional": (W + "m = torch.ones(2, 2, requires_grad=True)\nloss = F.linear(w, m).sum() + F.relu(v).sum()", "m v"),
}  # fmt: skip
OPEN = {  # where more than one line may be meant, none is named
    "a function that may do the same": (W + "a = F.normalize(w, dim=0)\nb = w / 2\nloss = (a * b).sum()", "w"),
    "the same op twice": (W + "loss = ((w * 3)\n        * (w * 4)).sum()", "w"),
    "a loop and what comes behind it": (
        W + "h = v * 1\nfor i in range(2):\n    h = (h\n         * w).sin()\nloss = (h * w).sum()",
        "w",
    ),
    "a tied weight": (
        "emb = nn.Embedding(4, 3)\nout = nn.Linear(3, 4, bias=False)\nout.weight = emb.weight\nh = emb(torch.tensor([1, 2]))\n"
        "loss = out(h).sum()",
        "emb.weight",
    ),
    "a name that is not seen": (W + "a = (w * 2).sum()\nloss = a + (globals()['w'] * 3).sum()", "w"),
    "a handed-on function": (W + "fs = {'a': lambda t: t * 2}\na = fs['a'](w)\nb = w * 3\nloss = (a * b).sum()", "w"),
}


def explained(program: str, leaf: str) -> tuple[int | None, set[int]]:
    """The line that explain names of an op that the leaf was given to, and those at which PyTorch says that such ops ran."""
    torch = pytest.importorskip("torch")
    kept: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly(check_nan=False):
            answer = told(f"{HEAD}{program}\nloss.backward()\nkept.update(loss=loss, leaf={leaf})", f"{leaf}, loss", kept=kept)
    return lines(answer)[0], true_lines(**kept)


def true_lines(loss: Any, leaf: Any) -> set[int]:
    """The innermost lines of the program in the traces of the nodes that lead to the leaf."""
    found, stack, seen = set(), [loss.grad_fn], set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        after = [n for n, _ in node.next_functions if n is not None]
        if any(getattr(n, "variable", None) is leaf for n in after):
            places = re.findall(r'"<program \d+>", line (\d+)', "".join(node.metadata["traceback_"]))
            found.add(int(places[-1]))
        stack += after
    return found


@pytest.mark.parametrize(("case", "leaf"), [(case, leaf) for case, (_, leaves) in KNOWN.items() for leaf in leaves.split()])
def test_the_line_is_that_of_pytorchs_own_trace(case: str, leaf: str) -> None:
    line, true = explained(KNOWN[case][0], leaf)
    assert line in true, (line, true)


@pytest.mark.parametrize("case", OPEN)
def test_no_line_is_named_where_two_may_be_meant(case: str) -> None:
    line, true = explained(*OPEN[case])
    assert line is None and len(true) > 0, (line, true)
