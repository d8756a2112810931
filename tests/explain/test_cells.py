"""explain, where the program stands in several places: the cells of a notebook, and modules of the user's."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
import IPython  # noqa: E402
from IPython.core.compilerop import CachingCompiler  # noqa: E402

import autograd_viz as av  # noqa: E402

from .explained import told  # noqa: E402

pytestmark = pytest.mark.torch

Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run cells one after the other, known to IPython's own compiler as its shell would make them known; gives `answer`."""
    compiler, variables, numbers = CachingCompiler(), dict[str, Any](torch=torch, av=av), itertools.count(1)
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(compile=compiler))

    def runs(*cells: str) -> Any:
        for cell in cells:
            name = compiler.cache(f"{cell}\n", next(numbers))
            with contextlib.suppress(SyntaxError):
                exec(compile(f"{cell}\n", name, "exec"), variables)
        return variables.get("answer")

    return runs


MODEL = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.m = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x):
        return self.m(x) + self.l(x).detach()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = torch.nn.ModuleList([Block() for _ in range(2)]), torch.nn.Linear(2, 1)
    def forward(self, x):
        for i, block in enumerate(self.blocks):
            x = block(x)
        return self.head(x)
"""
TRAINS = "net = Net()\nloss = net(torch.ones(3, 2)).sum()\nloss.backward()"


def test_a_cut_in_an_earlier_cell_is_named_with_the_cells_number(run: Run) -> None:
    answer = run(
        "w = torch.ones(2, requires_grad=True)\nz = (w * 2).data", "v = torch.ones(2, requires_grad=True)",
        "loss = (z * v).sum()\nloss.backward()", "answer = av.explain(w, loss)",
    )  # fmt: skip
    assert "cut by .data, which gives the values without their history (In [1], line 2: z = (w * 2).data)" in str(answer)


def test_a_cut_inside_a_block_of_a_list_is_found_in_the_cell_of_the_class(run: Run) -> None:
    answer = run(MODEL, TRAINS, "answer = av.explain(net.blocks[1].l.weight)")
    assert "cut by detach() (In [1], line 7: return self.m(x) + self.l(x).detach())" in str(answer), answer


def test_a_cell_that_ran_again_counts_where_it_ran_last(run: Run) -> None:
    start, zero = "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()", "w.grad = None"
    assert "this cleared grad: In [2], line 1: w.grad = None" in str(run(start, zero, "answer = av.explain(w)"))
    again = run(zero, start, "answer = av.explain(w)")  # the pass came after the clearing now
    assert "None" not in str(again).split("\n")[0]


def test_cells_that_are_no_python_hide_nothing(run: Run) -> None:
    answer = run(
        "this is no python", "w = torch.ones(2, requires_grad=True)\nz = w.detach()", "%pwd",
        "loss = (z * torch.ones(2, requires_grad=True)).sum()", "answer = av.explain(w, loss)",
    )  # fmt: skip
    assert "cut by detach()" in str(answer), answer


def test_a_cell_that_awaits_is_read(run: Run) -> None:
    run("w = torch.ones(2, requires_grad=True)\nglobals().update(z=w.detach())", "await waited()\nz = w.detach()")
    answer = run("loss = (z * torch.ones(2, requires_grad=True)).sum()", "answer = av.explain(w, loss)")
    assert "cut by detach() (In [2], line 2: z = w.detach())" in str(answer), answer


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `wares` with the model in a file of its own, that its `__init__` imports."""
    package = tmp_path / "wares"
    package.mkdir()
    (package / "__init__.py").write_text("from .nets import Net\nfrom .parts import *\n")
    (package / "nets.py").write_text(f"import torch\nfrom .parts import freeze\n{MODEL}")
    (package / "parts.py").write_text("def freeze(m):\n    for p in m.parameters():\n        p.requires_grad_(False)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [n for n in sys.modules if n.split(".")[0] == "wares"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "imports", ["from wares import Net", "import wares.nets\nNet = wares.nets.Net", "from wares.nets import Net as Net"]
)
@pytest.mark.usefixtures("models")
def test_a_cut_in_an_imported_model_is_named_with_its_file(imports: str) -> None:
    made = TRAINS.replace("Net()", "wares.nets.Net()") if "wares.nets\n" in imports else TRAINS
    answer = told(f"{imports}\n{made}", "net.blocks[0].l.weight", torch=torch)
    assert "cut by detach() (nets.py, line 9: return self.m(x) + self.l(x).detach())" in str(answer), answer


@pytest.mark.usefixtures("models")
def test_a_function_that_is_imported_with_a_star_is_followed() -> None:
    answer = told("from wares import *\nnet = torch.nn.Linear(1, 1)\nfreeze(net)", "net.weight", torch=torch)
    assert "switched off (parts.py, line 3: p.requires_grad_(False))" in str(answer), answer


def test_what_was_installed_is_not_followed() -> None:
    answer = told(
        "from torch.nn import Linear\nnet = Linear(1, 1)\nw = torch.ones(1, requires_grad=True)\nloss = net(w.detach()).sum()",
        "w, loss", torch=torch,
    )  # fmt: skip
    assert "line 4" in str(answer) and "linear.py" not in str(answer), answer


def test_lines_of_other_cells_are_counted_from_their_own_first(run: Run) -> None:
    answer = run(
        "u = torch.ones(1, requires_grad=True)\nw = torch.ones(3)", "y = (w * 2).sum()",
        "w.requires_grad_()\nloss = y + u.sum()", "answer = av.explain(w, loss)",
    )  # fmt: skip
    assert "used (line 1): that came later (In [3], line 1: w.requires_grad_())" in str(answer), answer


LATE = {  # program, what is asked, words
    "a tensor": (
        "w = torch.ones(3)\ny = (w * 2).sum()\nw.requires_grad_()\nloss = y + U.sum()", "w", "line 2): that came later",
    ),
    "a frozen part": (
        "m = torch.nn.Linear(1, 1)\nm.requires_grad_(False)\ny = m(torch.ones(1)).sum()\nm.requires_grad_(True)\n"
        "loss = y + U.sum()", "m.weight", "line 3): that came later",
    ),
    "used after it": (
        "w = torch.ones(3)\nw.requires_grad_()\ny = (w * 2).sum().detach()\nloss = y + U.sum()", "w", "cut by detach()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_what_required_grad_too_late_is_told_so(case: str) -> None:
    program, ask, words = LATE[case]
    answer = told(f"{program}\nloss.backward()", f"{ask}, loss", torch=torch, U=torch.ones(1, requires_grad=True))
    assert words in str(answer), answer
