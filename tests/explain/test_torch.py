"""explain, asked about PyTorch's tensors: after the fact, where the graph does not remember much, and recorded."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .explained import X, kinds, lines, told

pytestmark = pytest.mark.torch
W = "w = torch.ones(3, requires_grad=True)\n"
PASS = "loss.backward()\n"


def asked(program: str, ask: str = "x") -> Any:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return told(program, ask, torch=torch, F=torch.nn.functional)


# program, what is asked, kinds, line of the first, words
CASES = {
    "a non-leaf": (X + "h = x * 2\nloss = h.sum()", "h", ["not_leaf"], 2, "MulBackward0 made it (line 2: h = x * 2)"),
    "a slice beside the loss": (
        X + "h = x * 2\na = h[0]\nloss = (x * 3).sum()\n" + PASS, "a", ["not_leaf_beside"], 3, "no path leads from loss to it",
    ),
    "a loss that another followed": (
        X + "a = x.sum()\na.backward()\nloss = (x * 3).sum()\n" + PASS, "a", ["not_leaf"], 2, "Only leaves keep",
    ),
    "a leaf lost": (
        "w = torch.tensor(5.0, requires_grad=True)\n(w * 3).backward()\nw = w - 0.1 * w.grad", "w", ["leaf_lost"], 3,
        "its grad is 3.0",
    ),
    "whole numbers": ("x = torch.tensor([1, 2])", "x", ["dtype"], 1, "is int64"),
    "inference": ("with torch.inference_mode():\n    x = torch.ones(2) * 2", "x", ["inference"], None, "inference mode"),
    "frozen": (
        "lin = torch.nn.Linear(1, 1)\nfor p in lin.parameters():\n    p.requires_grad_(False)", "lin.weight",
        ["switched_off"], 3, "switched off",
    ),
    "a Function that returns None": (
        X + "class Drop(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return None\nloss = Drop.apply(x).sum()\n" + PASS,
        "x", ["nothing_sent"], None, "DropBackward sent no gradient",
    ),
    "made under no_grad": (X + "with torch.no_grad():\n    h = x * 2", "h", ["made_no_grad"], 3, "made under no_grad()"),
    "cut by detach": (X + W + "h = (x * 2).detach()\nloss = (h * w).sum()\n" + PASS, "x", ["cut_detach"], 3, "detach()"),
    "cut by .data": (X + W + "h = x.data * 2\nloss = (h * w).sum()\n" + PASS, "x", ["cut_data"], 3, ".data"),
    "cut by item": (X + W + "s = x.sum().item()\nloss = (s * w).sum()\n" + PASS, "x", ["cut_item"], 3, ".item()"),
    "cut by argmax": (X + W + "i = x.argmax()\nloss = (i * w).sum()\n" + PASS, "x", ["cut_integer"], 3, "whole numbers"),
    "cut by the indices of topk": (
        X + W + "i = x.topk(2).indices\nloss = w[i].sum()\n" + PASS, "x", ["cut_integer"], 3, "cut by .indices",
    ),
    "cut by the second of two": (
        X + W + "_, i = x.sort()\nloss = w[i].sum()\n" + PASS, "x", ["cut_integer"], 3, "cut by sort()[1]",
    ),
    "not cut by the first of two": (
        X + W + "v, _ = x.sort()\nloss = (v.detach() * w).sum()\n" + PASS, "x", ["cut_detach"], 4, "detach()",
    ),
    "cut by item, behind a number": (
        "w = torch.tensor(3.0, requires_grad=True)\n" + X + "q = w * 2\nloss = (x * q.item()).sum()\n" + PASS, "w",
        ["cut_item"], 4, ".item()",
    ),
    "cut in a function": (
        X + W + "@torch.no_grad()\ndef double(v):\n    return v * 2\nloss = (double(x) * w).sum()\n" + PASS, "x",
        ["cut_no_grad"], 5, "no_grad()",
    ),
    "unreached": (X + W + "loss = w.sum()\n" + PASS, "x", ["unreached"], None, "No path leads from loss to x"),
    "not run": (X + "loss = (x * x).sum()", "x", ["not_run"], None, "loss depends on x"),
    "cleared": (X + "loss = (x * x).sum()\n" + PASS + "x.grad = None", "x", ["cleared_by"], 4, "this cleared grad"),
    "left out": (
        X + "loss = (x * x).sum()\ntorch.autograd.grad(loss, x)", "x", ["left_out_at"], 3, "left x out",
    ),
    "left out where nothing is saved": (
        X + "loss = (x * 2).sum()\ng, = torch.autograd.grad(loss, x)", "x", ["left_out_at"], 3, "left x out",
    ),
    "left out, and perhaps not": (
        X + "loss = (x * x).sum()\nif loss > 0:\n    torch.autograd.grad(loss, x)", "x", ["left_out_or_cleared"], None, "left",
    ),
    "left out of the last of two passes": (
        X + "loss = (x * x).sum()\nloss.backward(retain_graph=True)\nx.grad = None\ntorch.autograd.grad(loss, x)", "x",
        ["left_out_or_cleared"], None, "left x out",
    ),
    "another graph's grad()": (
        X + "loss = (x * 2).sum()\ny = x * x\ntorch.autograd.grad(y.sum(), x)\ndel y", "x", ["not_run"], None, "no pass",
    ),
    "round": (X + "loss = x.round().sum()\n" + PASS, "x", ["zero_flat"], 2, "RoundBackward0 is flat"),
    "power 0": (X + "loss = (x ** 0).sum()\n" + PASS, "x", ["zero_exponent"], 2, "its exponent is 0"),
    "nan of what was not kept": (
        X + "loss = (x * float('inf') * 0).sum()\n" + PASS, "x", ["loss_bad", "written"], None, "forward pass",
    ),
    "another name by a loop": (X + "h = x * 2\nfor t in [h]: pass\ndel h", "t", ["not_leaf"], None, "made it (line not"),
    "clamp": (X + "loss = x.clamp(5, 6).sum()\n" + PASS, "x", ["zero_clamp"], 2, "its input is 1.0 … 3.0"),
    "relu by its result": (X + "y = (-x).relu()\nloss = y.sum()\n" + PASS, "x", ["zero_relu"], 2, "here it is ≤ 0"),
    "a suspect": (X + "loss = (-x).relu().sum() + 1\n" + PASS, "x", ["zero_only"], None, ": ReluBackward0 in line 2 (where"),
    "rows": (
        "x = torch.ones(4, 2, requires_grad=True)\nloss = F.embedding(torch.tensor([0, 2]), x).sum()\n" + PASS, "x",
        ["rows_unused"], 2, "Its rows 1, 3 are zero",
    ),
    "inf in the loss": (X + "loss = (x - 1).log().sum()\n" + PASS, "x", ["loss_bad"], None, "LogBackward0"),
    "nan behind where": (
        X + "loss = torch.where(x > 1, (x - 1).sqrt(), x).sum()\n" + PASS, "x", ["bad_unknown"], None, "SqrtBackward0",
    ),
    "nan with the input at hand": (
        X + "d = x - 1\ny = d.sqrt()\nloss = torch.where(x > 1, y, x).sum()\n" + PASS, "x", ["born_sqrt"], 3, "Sqrt",
    ),
    "fine": (X + "loss = (x * x).sum()\n" + PASS, "x", ["paths"], 2, "2 paths lead here, from MulBackward0, MulBackward0"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_torch_program_is_explained_after_the_fact(case: str) -> None:
    program, ask, expected, line, words = CASES[case]
    answer = asked(program, ask)
    assert (kinds(answer), lines(answer)[0]) == (expected, line), answer
    assert words in str(answer)


CAUGHT = "try:\n    {0}\nexcept RuntimeError as e:\n    error = e"
ERRORS = {
    "freed": ("loss = (x * x).sum()\nloss.backward()\n", "loss.backward()", ["freed"], 3, "line 3: loss.backward()"),
    "changed": (
        "h = x.exp()\nh += 1\nloss = h.sum()\n",
        "loss.backward()",
        ["modified"],
        3,
        "ExpBackward0 saved h at version 0",
    ),
    "a leaf changed": ("", "x += 1", ["error"], 3, "A leaf that requires grad was changed"),
    "not a scalar": ("y = x * 2\n", "y.backward()", ["error"], 4, "sum() first"),
    "no graph": ("y = x.detach().sum()\n", "y.backward()", ["error", "made_detach"], 4, "detach()"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_error_of_torch_is_explained(case: str) -> None:
    torch = pytest.importorskip("torch")
    program, run, expected, line, words = ERRORS[case]
    if case == "changed" and not hasattr(torch._C._autograd.SavedTensor, "data"):  # before PyTorch 2.12 nothing tells of what
        expected, line, words = ["modified_somewhere"], None, "ExpBackward0 saved _saved_result at version 0"
    answer = asked(X + program + CAUGHT.format(run), "error")
    assert (kinds(answer), lines(answer)[0]) == (expected, line), answer
    assert words in str(answer)


def test_a_recorded_program_names_values_and_lines() -> None:
    program = "with av.record():\n    y = (-x).relu() * 2\n    loss = y.sum()\nloss.backward()"
    import autograd_viz as av

    torch = pytest.importorskip("torch")
    answer = told(X + program, "x", torch=torch, av=av)
    assert kinds(answer) == ["zero_relu"] and lines(answer) == [3] and "here it is -3.0 … -1.0" in str(answer)
    cut = told(X + W + "with av.record():\n    h = x.detach()\n    loss = (h * w).sum()\n" + PASS, "x", torch=torch, av=av)
    assert kinds(cut) == ["cut_detach"] and lines(cut) == [4]


def test_the_users_graph_is_untouched() -> None:
    torch = pytest.importorskip("torch")
    import autograd_viz as av

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen: list[Any] = []
    x.register_hook(seen.append)
    loss = (x * x).sum()
    av.explain(x, loss)
    av.explain(x, show=True)
    assert x.grad is None and not seen
    loss.backward()
    assert x.grad.tolist() == [2.0, 4.0] and len(seen) == 1


def test_versions_are_those_of_when_it_was_saved_and_of_now() -> None:
    answer = asked(
        "w = torch.ones(2, requires_grad=True)\ny = w.exp()\nloss = y.sum()\ny.add_(1)\ny.mul_(2)\n"
        "try: loss.backward()\nexcept RuntimeError as e: error = e", "error",
    )  # fmt: skip
    assert "saved y at version 0" in str(answer) and "version 2" in str(answer), answer


def test_a_sparse_leaf() -> None:
    answer = asked("x = torch.eye(2).to_sparse().requires_grad_()\nloss = torch.sparse.mm(x * 2, torch.ones(2, 1)).sum()", "x")
    assert kinds(answer) == ["not_run"], answer


def test_a_nested_leaf_is_answered() -> None:
    nested = "x = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)\n"
    assert kinds(asked(nested)) == ["no_loss"]
