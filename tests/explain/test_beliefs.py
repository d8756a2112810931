"""What people wrongly believe of autograd, each as a small program: explain says how it is."""

from __future__ import annotations

import pytest

from .explained import kinds, told

A = "a = torch.tensor(2.0, requires_grad=True)\nb = torch.tensor(3.0, requires_grad=True)\n"

# belief: program, what is asked, kinds of the causes, words
BELIEFS = {
    "every tensor that requires grad gets one": (
        A + "c = a * b\ne = c * 4\ne.backward()", "c", ["not_leaf_passed"], "4.0 arrived there and was handed on",
    ),
    "what I made with requires_grad=True is the parameter": (
        "w = torch.ones(2, requires_grad=True) * 0.1\n(w * 3).sum().backward()", "w", ["leaf_lost"], "its grad is [0.3, 0.3]",
    ),
    "a leaf is what I typed in": (
        "p = torch.tensor(2.0)\nc = p * 3\nc.requires_grad_()\ne = c * 4\ne.backward()", "c", ["came_from"], "c.grad is 4.0",
    ),
    "a second use overwrites the first": (
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()", "x", ["sum_of"], "sum of 2 paths: 3.0 from",
    ),
    "each path is walked separately": (
        "x = torch.tensor(2.0, requires_grad=True)\nh = x * 3\nd = h * h * (h + 1)\nd.backward()", "x", ["came_from"],
        "What arrives here comes from MulBackward0 (line 2",
    ),
    "backward() sets grad": (
        "w = torch.tensor(1.0, requires_grad=True)\nloss = w * 2\nloss.backward(retain_graph=True)\nloss.backward()", "w",
        ["came_from", "accumulated"], "2.0 arrived in the last pass; 2.0 was there before",
    ),
    "None and zero are the same (zero)": (A + "loss = a * 0 + b\nloss.backward()", "a", ["zero_number"], "multiplies by 0"),
    "None and zero are the same (None)": (
        A + "loss = b * 2\nloss.backward()", "a", ["unreached"], "No path leads from loss to a",
    ),
    "grad is there after zero_grad": (
        A + "opt = torch.optim.SGD([a], lr=0.1)\nloss = a * b\nloss.backward()\nopt.zero_grad()", "a", ["cleared_at"],
        "line 6: opt.zero_grad()",
    ),
    "a result may be changed when I like": (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x.exp()\ny += 1\n"
        "try:\n    y.backward()\nexcept RuntimeError:\n    pass",
        "x", ["modified"], "ExpBackward0 (line 2) saved y at version 0",
    ),
    "w = w - lr * w.grad updates the parameter": (
        "w = torch.tensor(5.0, requires_grad=True)\n(w * 3).backward()\nw = w - 0.1 * w.grad",
        "w", ["leaf_lost"], "grad is 3.0",
    ),
    ".data is detach()": (
        "x = torch.tensor([1.0], requires_grad=True)\ny = x * x\nx.data.mul_(100)\ny.backward()",
        "x", ["sum_of", "data_written"],
        "x was changed through .data after MulBackward0 had saved it",
    ),
    "detach() stops all gradients": (
        "x = torch.tensor([2.0], requires_grad=True)\ny = (x + 1).detach() * (x + 2)\ny.backward()", "x", ["came_from"],
        "AddBackward0 (line 2",
    ),
    "eval() switches gradients off": (
        "lin = torch.nn.Linear(1, 1, bias=False)\nlin.eval()\nloss = lin(torch.ones(1, 1)).sum()\nloss.backward()",
        "lin.weight",
        ["came_from"], "lin.weight.grad is [[1.0]]",
    ),
    "requires_grad_() reaches back": (
        "a = torch.tensor(2.0)\nc = a * 3\na.requires_grad_()", "c", ["made_early"], "a did not require grad yet when Mul ran",
    ),
    "a hook only looks": (
        A + "c = a * b\nc.register_hook(lambda g: g + 2)\ne = c * 4\ne.backward()", "a", ["came_from", "hook_on_way"],
        "from 4.0 to 6.0",
    ),
    "if it runs, it is connected": (
        "x = torch.tensor([1.4, 2.6], requires_grad=True)\nw = torch.ones(1, requires_grad=True)\n"
        "y = x.sum().item() * w\ny.backward()",
        "x", ["cut_item"], ".item()",
    ),
    "round() is differentiable": (
        "x = torch.tensor([1.4], requires_grad=True)\ny = x.round()\ny.backward()",
        "x", ["zero_flat"], "RoundBackward0 is flat",
    ),
    "where() protects the branch not taken": (
        "a = torch.tensor(100.0, requires_grad=True)\nb = torch.where(a <= 0, torch.exp(a), 1 + a)\nb.backward()", "a",
        ["born_exp", "zero_times_inf"], "0 times infinity is nan",
    ),
    "a broadcast tensor has a broadcast gradient": (
        "v = torch.zeros(3, requires_grad=True)\nloss = (torch.ones(2, 3) + v).sum()\nloss.backward()", "v", ["came_from"],
        "v.grad is [2.0, 2.0, 2.0]",
    ),
    "writing into a slice leaves the graph alone": (
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * 2\ny[0] = 10.0\nloss = y[0]\nloss.backward()", "x",
        ["zero_overwritten"], "line 3: y[0] = 10.0",
    ),
    "changing a gradient in place is returning another": (
        A + "def times(g):\n    g *= 100\nb.register_hook(times)\ne = a + b\ne.backward()", "a", ["came_from", "start_not_one"],
        "times",
    ),
}  # fmt: skip


@pytest.mark.parametrize("belief", BELIEFS)
def test_explain_says_how_it_is(belief: str) -> None:
    program, ask, expected, words = BELIEFS[belief]
    answer = told(program, ask)
    assert kinds(answer) == expected, answer
    assert words in str(answer)
