"""What has run is looked up: why a gradient is missing, and what became of one that is there; the core and watched PyTorch."""

from __future__ import annotations

import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz.answers.checks.errors import TAKES

from .explained import X, kinds, lines, told

W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nv = torch.tensor([3.0, 4.0], requires_grad=True)\n"
NET = (
    "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))\n"
    "x = torch.ones(4, 2)\n"
)  # 3 lines
OPT = NET + "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"  # 4 lines
TURN = "net(x).sum().backward()\n"

# what: program, what is asked, kind and line of the first cause
BOTH: dict[str, tuple[str, str, str, int | None]] = {
    "a constant": (X + "k = torch.ones(3)\n(x * k).sum().backward()", "k", "not_asked", 2),
    "whole numbers": (X + "k = torch.tensor([1, 2, 3])\n(x * k).sum().backward()", "k", "dtype", 2),
    "switched off": (X + "x.requires_grad_(False)\n(x * 2).sum()", "x", "switched_off", 2),
    "a non-leaf": (X + "h = x * 2\nh.sum().backward()", "h", "not_leaf", 2),
    "a leaf that was lost": ("w = torch.ones(2, requires_grad=True) * 0.1\n(w * 3).sum().backward()", "w", "leaf_lost", 1),
    "two leaves that were lost": (
        "w = torch.ones(2, requires_grad=True) * torch.ones(2, requires_grad=True)\n(w * 3).sum().backward()",
        "w", "not_leaf", 1,
    ),
    "a leaf that was lost in what has no name": (
        "def made():\n    h = torch.ones(2, requires_grad=True) * 0.1\n    (h * 3).sum().backward()\n    return lambda: h\n"
        "get = made()", "get()", "not_leaf", 2,
    ),
    "its own update": (W + "(w * v).sum().backward()\nw = w - 0.1 * w.grad\n", "w", "leaf_updated", 4),
    "a leaf that was lost, asked after its pass": (
        "w = torch.ones(2, requires_grad=True) - 0.5\n(w * 3).sum().backward()", "w", "leaf_lost", 1,
    ),
    "detached": (X + "h = x.detach()\n(h * 2).sum()", "h", "cut_detach", 2),
    "the way is cut by detach()": (W + "h = (w * 2).detach()\n(h * v).sum().backward()", "w", "path_cut_detach", 3),
    "the way is cut by a comparison": (W + "h = w > 1\n(h * v).sum().backward()", "w", "path_cut_op", 3),
    "the way is cut by no_grad()": (
        W + "with torch.no_grad():\n    h = w * 2\n(h * v).sum().backward()", "w", "path_cut_no_grad", 4,
    ),
    "of two cuts, that near the loss": (
        W + "h = (w * 2).detach()\nk = (h * v).detach()\n(k * v).sum().backward()", "w", "path_cut_detach", 4,
    ),
    "a mask beside the way is no cut": (W + "h = w * 2\n(h * (h > 0) * v).sum().backward()", "w", "fine", 3),
    "asked of the loss": (W + "h = w.detach() * v\nloss = h.sum()\nloss.backward()", "w, loss", "path_cut_detach", 3),
    "computed under no_grad()": (
        "w = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n    h = w * 2", "h", "cut_no_grad", 3,
    ),
    "no pass": (X + "y = (x * 2).sum()", "x", "no_pass", None),
    "no pass, asked of the loss": (X + "y = (x * 2).sum()", "x, y", "no_pass", None),
    "no pass, and the loss is cut": (W + "y = ((w * 2).detach() * v).sum()", "w, y", "path_cut_detach", 3),
    "no pass, and the loss has no gradient": (W + "y = ((w * 2) > 3).sum()", "w, y", "path_cut_op", 3),
    "grad() gives what it finds": (X + "y = (x * 2).sum()\ntorch.autograd.grad(y, x)", "x", "functional", 3),
    "left out": (W + "y = (w * v).sum()\ny.backward(inputs=[v])", "w", "left_out", 4),
    "cleared": (OPT + TURN + "opt.step()\nopt.zero_grad()", "net[0].weight", "cleared", 7),
    "cleared by hand": (X + "(x * 2).sum().backward()\nx.grad = None", "x", "cleared", 3),
    "cleared before the step": (OPT + TURN + "opt.zero_grad()\nopt.step()", "net[0].weight", "cleared_before_step", 6),
    "a pass that failed": (
        W + "y = w.exp()\ny += 1\ntry:\n    (y * v).sum().backward()\nexcept RuntimeError:\n    pass", "w", "failed", 6,
    ),
    "asked for too late": (
        "k = torch.ones(3)\nx = torch.ones(3, requires_grad=True)\n(x * k).sum().backward()\nk.requires_grad_()",
        "k", "late", 4,
    ),
    "retained too late": (X + "h = x * 2\nh.sum().backward()\nh.retain_grad()", "h", "retained_late", 3),
    "a sum of two passes": (OPT + "for _ in range(2):\n    " + TURN, "net[2].bias", "several", 6),
    "of passes at two lines": (OPT + TURN + TURN, "net[2].bias", "several_lines", 6),
    "cleared in between is no sum": (
        OPT + "for _ in range(2):\n    opt.zero_grad()\n    " + TURN + "    opt.step()", "net[2].bias", "fine", 7,
    ),
    "a leaf that is made again is no sum": (
        "for _ in range(2):\n    w = torch.tensor(3.0, requires_grad=True)\n    y = w * 2\n    y.backward()", "w", "fine", 3,
    ),
    "left from an earlier pass": (
        W + "(w * v).sum().backward()\n(v * 3).sum().backward()", "w", "old", 4,
    ),
    "a leaf used twice": ("x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()", "x", "fine_paths", 2),
    "a learning rate of 0": (
        NET + "opt = torch.optim.SGD(net.parameters(), lr=0.0)\n" + TURN + "opt.step()", "net[2].bias", "rate_zero", None,
    ),
    "no optimizer holds it": (
        NET + "opt = torch.optim.SGD(net[0].parameters(), lr=0.1)\n" + TURN + "opt.step()", "net[2].bias", "not_held", 4,
    ),
    "it never steps": (OPT + "for _ in range(3):\n    opt.zero_grad()\n    " + TURN, "net[2].bias", "no_step", 7),
    "nothing stands out": (OPT + TURN + "opt.step()", "net[2].bias", "fine", 5),
}  # fmt: skip

# what: program, what is run in its last line, kind and line of the first cause
ERRORS: dict[str, tuple[str, str, str, int | None]] = {
    "a loss of data beside a model": (
        NET + "loss = (x * 2).sum()\n", "loss.backward()", "root_of_data", None,
    ),
    "a loss of data beside a weight": (
        W + "x = torch.ones(3)\nloss = (x * 2).sum()\n", "loss.backward()", "root_of_data", None,
    ),
    "a loss of data": (
        "x, t = torch.ones(3), torch.ones(3)\nloss = (x - t).sum()\n", "loss.backward()", "root_of_leaves", None,
    ),
    "a loss that was detached": (W + "loss = (w.detach() * 2).sum()\n", "loss.backward()", "cut_detach", 3),
    "a second pass": (W + "loss = (w * v).sum()\nloss.backward()\n", "loss.backward()", "twice_root", 3),
    "a state that is carried over": (
        W + "h = v\nfor _ in range(2):\n    h = h * w\n    loss = h.exp().sum()\n    if _ == 0:\n        loss.backward()\n",
        "loss.backward()", "twice", 5,
    ),
    "a result changed in place": (W + "y = w.exp()\ny += 1\n", "y.sum().backward()", "modified", 4),
    "a result changed by a layer in place": (
        W + "y = w.tanh()\nz = torch.nn.ReLU(inplace=True)(y)\n", "z.sum().backward()", "modified", 4,
    ),
    "a weight changed by a step": (
        OPT + "h = net(x)\n(h.sum()).backward(retain_graph=True)\nopt.step()\n",
        "(h ** 2).sum().backward()", "modified_by_step", 7,
    ),
    "not a scalar": (W, "(w * v).backward()", "error", None),
    "an optimizer of what was computed": (
        "u = torch.ones(2, requires_grad=True) * 0.1\n", "torch.optim.SGD([u], lr=0.1)", "optimizer_not_leaf", 1,
    ),
    "grad of what was cut off": (
        W + "y = (w.detach() * v).sum()\n", "torch.autograd.grad(y, w)", "path_cut_detach", 3,
    ),
    "grad of what does not require it": (
        W + "k = torch.ones(2)\ny = (w * k).sum()\n", "torch.autograd.grad(y, k)", "wanted_not_asked", 3,
    ),
    "a line that reads a grad that is None": (
        W + "h = w.detach()\n(h * v).sum().backward()\n", "w.grad.norm()", "path_cut_detach", 3,
    ),
}  # fmt: skip
CAUGHT = "try:\n    {0}\nexcept Exception as e:\n    error = e"

TORCH: dict[str, tuple[str, str, str, int | None]] = {
    "cut by .data": (W + "h = w.data\n(h * v).sum().backward()", "w", "path_cut_data", 3),
    "cut by item()": (W + "h = w.sum().item()\n(v * h).sum().backward()", "w", "path_cut_number", 3),
    "cut by float()": (W + "h = float(w.sum())\n(v * h).sum().backward()", "w", "path_cut_number", 3),
    "cut by torch.tensor()": (W + "h = torch.tensor(w)\n(v * h).sum().backward()", "w", "path_cut_new", 3),
    "cut by torch.tensor() of several": (
        W + "h = torch.tensor([a for a in w], requires_grad=True)\n(v * h).sum().backward()", "w", "path_cut_new", 3,
    ),
    "cut by a Parameter that is made in forward()": (
        W + "h = torch.nn.Parameter(w * 2)\n(h * v).sum().backward()", "w", "path_cut_leaf", 3,
    ),
    "a Parameter made of what had a history": (
        W + "h = torch.nn.Parameter(w * 2)\nh.grad = None\n(h * v).sum().backward()", "h", "fine", 5,
    ),
    "a leaf of what was cut, cleared": (
        W + "h = (w * 2).detach().requires_grad_()\n(h * v).sum().backward()\nh.grad = None", "h", "cleared", 5,
    ),
    "cut by numpy()": (W + "h = torch.from_numpy(w.detach().numpy())\n(v * h).sum().backward()", "w", "path_cut_number", 3),
    "cut by argmax()": (W + "h = w.argmax()\n(v * h).sum().backward()", "w", "path_cut_op", 3),
    "cut in a method": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = "
        "torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\n    def forward(self, x):\n        h = self.a(x)\n"
        "        return self.b(h.detach())\nnet = Net()\nnet(torch.ones(3, 2)).sum().backward()",
        "net.a.weight", "path_cut_detach", 7,
    ),
    "a layer that forward() leaves out": (NET + "extra = torch.nn.Linear(2, 2)\n" + TURN, "extra.weight", "not_used", 5),
    "used between the last two passes": (
        W + "v.sum().backward()\ny = w * 2\nv.sum().backward()", "w", "not_in_loss", 4,
    ),
    "used before the last two passes": (
        W + "y = w * 2\nv.sum().backward()\nv.sum().backward()", "w", "not_used", 5,
    ),
    "a result that is not used": (NET + "y = net[0](x)\n(net[2](torch.ones(1, 3))).sum().backward()", "net[0].weight",
                                  "not_in_loss", 4),
    "a layer behind the optimizer": (OPT + "net[2] = torch.nn.Linear(3, 1)\n" + TURN, "net[2].weight", "not_held_new", 4),
    "a model behind the optimizer": (OPT + NET + TURN + "opt.step()", "net[2].weight", "not_held_new", 4),
    "a layer that was replaced": (
        NET + "old = net[2].weight\n" + TURN + "net[2] = torch.nn.Linear(3, 1)\nold.grad = None\n" + TURN, "old", "replaced", 6,
    ),
    "clipped": (
        OPT + TURN + "torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3)", "net[2].bias", "clipped", 6,
    ),
    "zeroed": (OPT + TURN + "opt.zero_grad(set_to_none=False)", "net[2].bias", "grad_zeroed", 6),
    "scaled by hand": (OPT + TURN + "net[2].bias.grad *= 0.5", "net[2].bias", "grad_written", 6),
    "frozen by its module": (OPT + "net[0].requires_grad_(False)\n" + TURN, "net[0].weight", "switched_off", 5),
    "skipped by the scaler": (
        OPT + "scaler = torch.amp.GradScaler('cpu')\nscaler.scale((net(x) * float('inf')).sum()).backward()\nscaler.step(opt)",
        "net[2].bias", "loss_bad", None,
    ),
    "a Function that returns None": (
        W + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return None\n(Twice.apply(w) * v).sum().backward()",
        "w", "nothing_sent", None,
    ),
}  # fmt: skip


def held(program: str) -> str:
    """Every loss has a name: in the core its graph lives with it."""
    return re.sub(r"^( *)(.*)\.backward\(", r"\1loss = \2; loss.backward(", program, flags=re.M)


def check(case: tuple[str, str, str, int | None], **names: Any) -> Any:
    program, ask, kind, line = case
    answer = told(program, ask, **names)
    assert kinds(answer)[0] == kind, answer
    assert line is None or lines(answer)[0] == line, answer
    assert len(str(answer).split()) <= 60, answer
    return answer


CORE = {  # under no_grad() it remembers nothing, and of earlier passes only the line
    "of passes at two lines": "no_step",
    "the way is cut by no_grad()": "no_path",
}


@pytest.mark.parametrize("case", BOTH)
def test_the_core_remembers(case: str) -> None:
    program, ask, kind, line = BOTH[case]
    program = held(program)
    check((program, ask, CORE.get(case, kind), None if "no_grad" in case else line))


@pytest.mark.parametrize(
    "program",
    [X + "(x * 0).sum().backward()", X + "(x - 1).log().sum().backward()", X + "for _ in range(2):\n    x.sum().backward()"],
)
def test_the_core_says_so_if_the_graph_of_the_last_pass_is_gone(program: str) -> None:
    other = "y = torch.ones(2, requires_grad=True)\nz = (y * 2).sum()"
    for more in ("", f"\n{other}"):
        answer = told(program + more)
        assert (kinds(answer), lines(answer)) == (["root_gone"], [program.count("\n") + 1]), answer


@pytest.mark.torch
@pytest.mark.parametrize("case", [*BOTH, *TORCH])
def test_a_watched_program_of_torch_is_looked_up(case: str) -> None:
    check({**BOTH, **TORCH}[case], torch=pytest.importorskip("torch"))


@pytest.mark.parametrize("library", ["core", pytest.param("torch", marks=pytest.mark.torch)])
@pytest.mark.parametrize("case", ERRORS)
def test_an_error_is_traced_to_its_cause(case: str, library: str) -> None:
    program, run, kind, line = ERRORS[case]
    names = {"torch": pytest.importorskip("torch")} if library == "torch" else {}
    program = program if names else held(program)
    check((program + CAUGHT.format(run), "error", kind, line), **names)


def test_what_the_loss_uses_and_no_grad_kept_from_being_recorded_is_named() -> None:
    lines = "with torch.no_grad():\n    h = v * 2\nloss = (h * w * torch.ones(2)).sum()\nloss.backward()"
    assert "The loss uses h, computed under no_grad()." in str(told(W + lines, "v"))
    other = "u = torch.ones(2)\nloss = (w * u).sum()\nloss.backward()"
    assert kinds(told(W + other, "v")) == ["no_path"]


def test_what_did_not_require_grad_yet_is_named() -> None:
    program = "a = torch.tensor(2.0)\nc = a * 3\na.requires_grad_()\n" + CAUGHT.format("c.backward()")
    assert str(check((program, "error", "made_early", 2))).startswith("a did not require grad yet when a * 3 ran (line 2).\n")


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("torch.tensor(3.0)", "Write x = torch.tensor(3.0, requires_grad=True)."),
        ("torch.ones(2,)", "Write x = torch.ones(2, requires_grad=True)."),
        ("torch.ones(2, requires_grad=False)", "Create the tensor whose gradient you want with requires_grad=True."),
        ("F.relu(torch.ones(2))", "requires_grad"),  # the leaf has no name
    ],
)
def test_the_line_of_the_only_leaf_is_written_with_requires_grad(code: str, wanted: str) -> None:
    said = str(told(f"x = {code}\ny = (x * x).sum()\n" + CAUGHT.format("y.backward()"), "error"))
    assert ("x does not require grad (line 1)." in said) == wanted.startswith("Write"), said
    assert wanted in said or "None of the loss's inputs requires grad" in said, said


def test_each_function_that_takes_requires_grad_takes_it_here_too() -> None:
    for name in TAKES:
        given: tuple[Any, ...] = (2,)
        given = (av.ones(2),) if name.endswith("like") else given
        given = (0, 1, 3) if name == "linspace" else given
        given = (*given, 1.0) if name.startswith("full") else ((1.0,) if name in ("arange", "tensor") else given)
        given = ((2,), 1.0) if name == "full" else given
        assert getattr(av, name)(*given, requires_grad=True).requires_grad, name


@pytest.mark.torch
def test_of_an_unwatched_program_the_variables_are_named_and_no_model_is_spoken_of() -> None:
    names = {"torch": pytest.importorskip("torch")}
    program = "x = torch.tensor(3.0)\ny = x * x\n" + CAUGHT.format("y.backward()")
    said = str(told(program, "error", watched=False, **names))
    assert said.startswith("requires_grad is False for x.") and "model" not in said
    for innocent in ("m = torch.nn.Linear(1, 1)\n", "w = torch.ones(1, requires_grad=True)\n"):
        assert "requires_grad is False" not in str(told(innocent + program, "error", watched=False, **names))


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("torch.ones(2, requires_grad=True) * 0.1", "torch.ones(2, requires_grad=True) * 0.1"),
        ("torch.ones(2, requires_grad=True) * (0.1 + 0.2 + 0.3 + 0.4)", "… * …"),  # too long
        ("halved(torch.ones(2, requires_grad=True))", "leaf / 2"),
        ("torch.ones(2, requires_grad=True).mul(0.1)", "… * …"),
    ],
)
def test_an_operator_is_named_as_it_stands_in_the_code(code: str, name: str) -> None:
    said = str(told(f"def halved(leaf):\n    return leaf / 2\nw = {code}\n(w * 3).sum().backward()", "w"))
    assert f"it is not a leaf; {name} ran after requires_grad=True" in said


@pytest.mark.torch
@pytest.mark.parametrize("case", ["the way is cut by detach()", "cut by item()", "a layer that forward() leaves out"])
def test_what_was_not_recorded_is_not_guessed(case: str) -> None:
    answer = told(*{**BOTH, **TORCH}[case][:2], watched=False, torch=pytest.importorskip("torch"))
    assert kinds(answer) == ["no_loss_here"] and "or call av.watch() before the pass" in str(answer)


def test_the_cause_comes_first_then_what_to_do_and_the_code_is_a_detail() -> None:
    answer = told(held(BOTH["the way is cut by detach()"][0]), "w")
    cause, advice = str(answer).split("\n")
    assert cause == "w.grad is None: detach() cut the path from w to the loss (line 3)."
    assert advice == "→ Use the tensor itself where a gradient should flow."
    assert answer.details == "line 3: h = (w * 2).detach()"


def test_the_answer_speaks_chinese() -> None:
    av.set_language("zh")
    try:
        answer = str(told(held(BOTH["the way is cut by detach()"][0]), "w"))
    finally:
        av.set_language("en")
    assert answer.startswith("w.grad 是 None：从 w 到损失的路径被 detach() 切断了（第 3 行）。\n→ 需要梯度流过的地方")
