"""explain, where a Function's backward returned None: it is blamed, and not the op beside it."""

from __future__ import annotations

import pytest

from .explained import LIBRARIES, kinds, lines, run, told

FUNCTIONS = """
def made(name, give):
    def forward(ctx, x, *others):
        return x * 1
    def backward(ctx, g):
        return give(g)
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward), "__module__": ""}
    return type(name, (torch.autograd.Function,), methods)
Quantize = made("Quantize", lambda g: (None, None))
Fine = made("Fine", lambda g: g)
Second = made("Second", lambda g: (g, None))
Zeros = made("Zeros", lambda g: g * 0)
a, b, c = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(2, 3)
x, asked = torch.ones(4, 2), a.weight
"""  # `def backward` is in line 4 of the program

# program -> kind, the Function, the line of its backward
NONE = {
    "loss = b(Quantize.apply(a(x), 8)).sum()": ("nothing_passed_on", "Quantize", 4),
    "asked = a.bias\nloss = b(Quantize.apply(a(x), 8)).sum()": ("nothing_passed_on", "Quantize", 4),
    "asked = torch.ones(3, requires_grad=True)\nloss = Quantize.apply(asked, 8).sum()": ("nothing_sent", "Quantize", 4),
    "asked = a(x)\nasked.retain_grad()\nloss = b(Quantize.apply(asked, 8)).sum()": ("nothing_sent", "Quantize", 4),
    "loss = b(Quantize.apply(Fine.apply(a(x)).tanh() * 2, 8)).sum()": ("zero_of_none", "Quantize", 4),
    "loss = Fine.apply(b(Quantize.apply(a(x).tanh(), 8))).sum()": ("nothing_passed_on", "Quantize", 4),
    "asked = c.weight\nloss = b(Second.apply(a(x), c(x))).sum()": ("nothing_passed_on", "Second", 4),
    "loss = b(Quantize.apply(a(x), 8)).sum() + b(Quantize.apply(a(x) * 2, 8)).sum()": ("nothing_passed_on", "Quantize", 4),
    "loss = sum(b(Quantize.apply(a(x + i), 8)).sum() for i in range(3))": ("nothing_passed_on", "Quantize", 4),
}
INNOCENT = {
    "loss = b(Fine.apply(a(x))).sum()": ["fine", "fine_paths"],
    "loss = b(Second.apply(a(x), c(x))).sum()": ["fine", "fine_paths"],
    "loss = b(Quantize.apply(a(x), 8)).sum() + a(x).sum()": ["fine_paths"],
    "loss = b(Zeros.apply(a(x))).sum()": ["zero_user"],
    "asked = a(x)\nloss = b(Fine.apply(asked)).sum()\nlate = True": ["retained_late"],
}


@LIBRARIES
@pytest.mark.parametrize("program", NONE)
def test_the_function_is_blamed(program: str, library: str) -> None:
    kind, name, line = NONE[program]
    answer = run(f"{FUNCTIONS}{program}\nloss.backward()", library, "asked", watched=True)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer
    assert f"the backward of {name} returned None" in str(answer)


@LIBRARIES
@pytest.mark.parametrize("program", INNOCENT)
def test_an_innocent_function_is_not(program: str, library: str) -> None:
    late = "\nasked.retain_grad()" if "late" in program else ""
    answer = run(f"{FUNCTIONS}{program}\nloss.backward(){late}", library, "asked", watched=True)
    assert kinds(answer)[0] in INNOCENT[program], answer


KEPT = "import autograd_viz\nautograd_viz.watch(keep=0)\n"


@pytest.mark.torch
@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("loss = b(Quantize.apply(a(x), 8)).sum()", "nothing_passed_on"),
        ("loss = Fine.apply(b(Quantize.apply(a(x), 8))).sum()", "nothing_known"),  # one of two
    ],
)
def test_of_a_pass_that_was_not_kept_only_what_is_certain_is_told(program: str, kind: str) -> None:
    answer = run(f"{KEPT}{FUNCTIONS}{program}\nloss.backward()", "torch", "asked", watched=True)
    assert kinds(answer)[0] == kind, answer


@pytest.mark.torch
def test_a_function_written_in_other_ways_is_blamed_at_its_own_line() -> None:
    program = """
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return None
class Vjp(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def vjp(ctx, g):
        return None
a, x = torch.nn.Linear(2, 3), torch.ones(1, 2)
loss = {0}.apply(a(x)).sum()
loss.backward()
"""
    for name, line in (("Once", 7), ("Vjp", 17)):
        answer = run(program.replace("{0}", name), "torch", "a.weight", watched=True)
        assert (kinds(answer), lines(answer)) == (["nothing_passed_on"], [line]), answer


@pytest.mark.torch
def test_a_hook_of_a_module_is_called_a_hook() -> None:
    program = """
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
net[1].register_full_backward_hook(lambda *_: (None,))
net(torch.ones(1, 2)).sum().backward()
"""
    answer = run(program, "torch", "net[0].weight", watched=True)
    assert kinds(answer) == ["nothing_of_hook"] and "a backward hook of a module returned None" in str(answer)


@pytest.mark.torch
@pytest.mark.parametrize("watched", [False, True])
def test_of_a_loss_that_nobody_has_recorded_no_input_is_accused(watched: bool) -> None:
    program = (
        "w = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    loss = (w * 2).sum()\n"
        "try:\n    loss.backward()\nexcept RuntimeError as error:\n    caught = error"
    )
    said = told(program, "caught", watched, torch=pytest.importorskip("torch"))
    assert kinds(said) == ["cut_no_grad" if watched else "root_unseen"]
