"""explain, where grad is None."""

from __future__ import annotations

import pytest

import autograd_viz as av

from .explained import X, kinds, lines, told

W = "w = torch.ones(3, requires_grad=True)\n"
PASS = "loss.backward()\n"

# program, what is asked, kind of the cause, line that it names, words of the sentence
CASES = {
    "a non-leaf": (X + "h = x * 2\nloss = h.sum()", "h", "not_leaf", 2, "MulBackward0 made it"),
    "a non-leaf after a pass": (
        X + "h = x * 2\nloss = h.sum()\n" + PASS, "h", "not_leaf_passed", 2, "[1.0, 1.0, 1.0] arrived there",
    ),
    "a leaf lost in its own line": (
        "w = torch.ones(2, requires_grad=True) * 0.5\n(w * 3).sum().backward()", "w", "leaf_lost", 1, "its grad is [1.5, 1.5]",
    ),
    "a leaf lost to an update": (
        "w = torch.tensor(5.0, requires_grad=True)\n(w * 3).backward()\nw = w - 0.1 * w.grad", "w", "leaf_lost", 3,
        "its grad is 3.0",
    ),
    "whole numbers": ("x = torch.tensor([1, 2])", "x", "dtype", 1, "is int64"),
    "inference mode": ("with torch.inference_mode():\n    x = torch.ones(2) * 2", "x", "inference", None, "inference mode"),
    "nobody asked": ("x = torch.ones(2)", "x", "not_asked", 1, "nobody asked"),
    "switched off": (
        "lin = torch.nn.Linear(1, 1)\nlin.weight.requires_grad_(False)", "lin.weight", "switched_off", 2, "switched off",
    ),
    "made by detach": (X + "h = x.detach()", "h", "made_detach", 2, "detach() cut it off"),
    "made by .data": (X + "h = x.data", "h", "made_data", 2, ".data gives the values"),
    "made under no_grad": (X + "with torch.no_grad():\n    h = x * 2", "h", "made_no_grad", 3, "made under no_grad()"),
    "made after set_grad_enabled(False)": (
        X + "torch.set_grad_enabled(False)\nh = x * 2\ntorch.set_grad_enabled(True)", "h", "made_no_grad", 3,
        "made under set_grad_enabled(False)",
    ),
    "made after set_grad_enabled(True)": (
        "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\na = torch.ones(2)\nh = a * 2",
        "h", "made_of_constants", 4, "computed from a",
    ),
    "another name for what was switched off": (
        "lin = torch.nn.Linear(1, 1)\nlin.weight.requires_grad_(False)\nq = lin.weight", "q", "switched_off", 2, "switched off",
    ),
    "switched off in a loop over a part": (
        "net = torch.nn.Sequential(torch.nn.Linear(1, 1))\nfor n, p in net[0].named_parameters():\n    p.requires_grad = False",
        "net[0].weight", "switched_off", 3, "switched off",
    ),
    "made not to require it": (
        "p = torch.nn.Parameter(torch.ones(1), requires_grad=False)", "p", "switched_off", 1, "requires_grad=False",
    ),
    "switched off where it was made": (
        "lin = torch.nn.Linear(1, 1).requires_grad_(False)", "lin.weight", "switched_off", 1, "switched off",
    ),
    "made of a number": (X + "h = torch.tensor(x.sum().item())", "h", "made_new_tensor", 2, "tensor() makes a new tensor"),
    "made before requires_grad_": (
        "a = torch.tensor(2.0)\nc = a * 3\na.requires_grad_()", "c", "made_early", 2, "a did not require grad yet when Mul ran",
    ),
    "made of what was made before requires_grad_": (
        "a = torch.tensor(2.0)\nc = a * 3\nd = c + 1\na.requires_grad_()", "d", "made_early", 2, "a did not require grad yet",
    ),
    "a slice beside the loss": (
        X + "h = x * 2\na = h[0]\nloss = (x * 3).sum()\n" + PASS, "a", "not_leaf_beside", 3, "no path leads from loss to it",
    ),
    "a loss that another followed": (
        X + "a = x.sum()\na.backward()\nloss = (x * 3).sum()\n" + PASS, "a", "not_leaf_passed", 2, "because only leaves keep",
    ),
    "made of a comparison": (X + "m = (x > 1).float() * 2", "m", "made_by_cutting_op", 2, "Gt gives a result outside"),
    "made of what requires nothing": (
        "a = torch.ones(2)\nc = (a * 3).sum()", "c", "made_of_constants", 2, "it was computed from a",
    ),
    "a gradient without a graph": (
        X + "loss = (x ** 3).sum()\ng, = torch.autograd.grad(loss, x)", "g", "made_gradient", 3, "has no graph of its own",
    ),
    "nothing computed": (X, "x", "no_loss", None, "in no graph"),
    "nothing left": (X + "(x * 2).sum().backward()\nx.grad = None", "x", "no_loss_cleared", 3, "this cleared it"),
    "another loss": (X + W + "loss = w.sum()\n" + PASS, "x", "unreached", None, "No path leads from loss to x"),
    "cut by detach": (X + W + "h = (x * 2).detach()\nloss = (h * w).sum()\n" + PASS, "x", "cut_detach", 3, "cut by detach()"),
    "cut behind a name": (
        X + W + "z = x * 2\nloss = (z.detach() * w).sum()\n" + PASS, "x", "cut_detach", 4, "cut by detach()",
    ),
    "not cut, but not asked": (
        X + W + "z = (x * 2).sum()\nloss = (z.detach() * w).sum()", "x", "not_run", None, "z depends on x",
    ),
    "cut by .data": (X + W + "h = x.data * 2\nloss = (h * w).sum()\n" + PASS, "x", "cut_data", 3, "cut by .data"),
    "cut by no_grad": (
        X + W + "with torch.no_grad():\n    h = x * 2\nloss = (h * w).sum()\n" + PASS, "x", "cut_no_grad", 4, "no_grad()",
    ),
    "cut by a decorator": (
        X + W + "@torch.no_grad()\ndef double(v):\n    return v * 2\nloss = (double(x) * w).sum()\n" + PASS,
        "x", "cut_no_grad", 5, "no_grad()",
    ),
    "cut in a function": (
        X + W + "def scale(a, b):\n    k = a.sum().item()\n    return b * k\nloss = scale(x, w).sum()\n" + PASS,
        "x", "cut_item", 4, ".item()",
    ),
    "cut by item": (X + W + "s = x.sum().item()\nloss = (s * w).sum()\n" + PASS, "x", "cut_item", 3, "a plain number has no"),
    "cut by float": (X + W + "s = float(x.sum())\nloss = (s * w).sum()\n" + PASS, "x", "cut_item", 3, "float()"),
    "cut by NumPy": (
        X + W + "a = x.detach().numpy() * 2\nt = torch.from_numpy(a)\nloss = (t * w).sum()\n" + PASS, "x", "cut_numpy", 3,
        "numpy()",
    ),
    "cut by a new tensor": (
        X + W + "t = torch.tensor([v.item() for v in x])\nloss = (t * w).sum()\n" + PASS, "x", "cut_item", 3, "item()",
    ),
    "cut by argmax": (X + W + "i = x.argmax()\nloss = (i * w).sum()\n" + PASS, "x", "cut_dtype", 3, "int64"),
    "cut by a cast": (X + W + "i = x.long()\nloss = (i * w).sum()\n" + PASS, "x", "cut_dtype", 3, "int64"),
    "cut by grad()": (
        X + W + "loss = (x ** 3).sum()\ng, = torch.autograd.grad(loss, x)\npenalty = (g * w).sum()\npenalty.backward()",
        "x, penalty", "cut_gradient", 4, "no graph of its own",
    ),
    "used too early": (
        W + "x = torch.ones(3)\nh = x * 2\nx.requires_grad_()\nloss = (h * w).sum()\n" + PASS, "x", "cut_early", 3,
        "did not require grad yet",
    ),
    "all of it under no_grad": (X + "with torch.no_grad():\n    loss = (x * x).sum()", "x, loss", "cut_no_grad", 3, "no_g"),
    "not run": (X + "loss = (x * x).sum()", "x", "not_run", None, "loss depends on x"),
    "left out by inputs": (
        X + W + "loss = (x * w).sum()\nloss.backward(inputs=[w])", "x", "left_out_at", 4, "left x out",
    ),
    "left out by grad()": (X + "loss = (x * x).sum()\ntorch.autograd.grad(loss, x)", "x", "left_out_at", 3, "grad()"),
    "cleared": (X + "loss = (x * x).sum()\n" + PASS + "x.grad = None", "x", "cleared_at", 4, "[2.0, 4.0, 6.0] did arrive"),
    "cleared by an optimizer": (
        X + "opt = torch.optim.SGD([x], lr=0.1)\nloss = (x * x).sum()\n" + PASS + "opt.zero_grad()", "x", "cleared_at", 5,
        "opt.zero_grad()",
    ),
    "changed in place": (
        X + W + "h = x * w\nwith torch.no_grad():\n    w -= 1\nloss = h.sum()\n"
        "try:\n    loss.backward()\nexcept RuntimeError:\n    pass",
        "x", "modified", 5, "MulBackward0 (line 3) saved w at version 0",
    ),
    "a Function that returns None": (
        X + "class G(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n        return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return None\nloss = G.apply(x).sum()\n" + PASS,
        "x", "nothing_sent", 9, "GBackward sent no gradient",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_missing_gradient_has_a_cause_with_its_line(case: str) -> None:
    program, ask, kind, line, words = CASES[case]
    answer = told(program, ask)
    assert (kinds(answer), lines(answer)) == ([kind], [line]), answer
    said = str(answer).split("\n")
    assert said[0].endswith(".grad is None.") and words in said[1]
    assert line is None or f"line {line}" in said[1]


def test_the_advice_comes_last() -> None:
    answer = told(X + "h = x * 2\nloss = h.sum()", "h")
    assert str(answer).split("\n")[-1] == "→ Call h.retain_grad() before backward() on what is computed from it."


def test_a_non_leaf_that_is_cut_off_from_the_loss_is_told_the_cut() -> None:
    answer = told(X + W + "h = x * 2\nloss = (h.detach() * w).sum()\n" + PASS, "h")
    assert (kinds(answer), lines(answer)) == (["not_leaf_cut", "cut_detach"], [3, 4]) and "call h.retain" not in str(
        answer
    ).lower()


def test_the_loss_is_found_among_the_variables_of_a_function() -> None:
    def train() -> tuple[object, ...]:
        p = av.tensor(2.0, requires_grad=True)
        other = av.tensor(3.0, requires_grad=True)
        unused = other * 2
        total = p * p
        return av.explain(p), unused, total

    answer, *_ = train()
    assert kinds(answer) == ["not_run"] and "total depends on p" in str(answer)


def test_the_latest_pass_is_meant() -> None:
    answer = told(X + "one = (x * 2).sum()\ntwo = (x * 5).sum()\ntwo.backward()\none.backward()\nx.grad = None")
    assert "[2.0, 2.0, 2.0] did arrive" in str(answer)


def test_only_the_latest_pass_is_asked_what_it_brought() -> None:
    program = X + "one = (x * 2).sum()\ntwo = (x * 5).sum()\ntwo.backward()\nx.grad = None\none.backward()"
    answer = told(program)
    assert (kinds(answer), lines(answer)) == (["came_from"], [2])


def test_what_a_cell_magic_breaks_is_still_read() -> None:
    answer = told(X + W + "h = x.data * 2\nloss = (h * w).sum()\nloss.backward()")
    assert kinds(answer) == ["cut_data"]
    assert kinds(told("'%matplotlib inline'\n" + X + "h = x.data", "h")) == ["made_data"]


def test_the_parameter_of_a_function_is_not_the_variable_of_another() -> None:
    other = "def other():\n    p = torch.zeros(7)\n    return p\n"
    answer = told(other + "ask = explain\ndef explain(p):\n    return ask(p)\nx = torch.ones(2)")
    assert kinds(answer) == ["not_asked"] and "zeros(7)" not in str(answer)
