"""explain names the pass, the line and the tensor that were meant, of several alike. `T` is PyTorch or the core."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autograd_viz as av

from .explained import kinds, lines, told
from .test_torch import asked

pytestmark = pytest.mark.torch
W = "w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
SQUARE = W + "loss = (w * w).exp().sum()\n"
AGAIN = "try:\n    loss.backward()\nexcept RuntimeError as e:\n    error = e\n"
CASES = {  # program, what is asked, kind of the first cause, its line
    "the pass that freed, in a function": (
        "def go(l):\n    l.backward()\n" + SQUARE + "loss.backward(retain_graph=True)\ngo(loss)\n" + AGAIN,
        "error", "freed_among", 2,
    ),
    "the pass that freed, not one on another graph": (
        "a = torch.ones(2, requires_grad=True)\n(a * 3).sum().backward()\n" + SQUARE
        + "try:\n    raise KeyError\nexcept KeyError:\n    loss.backward()\n" + AGAIN, "error", "freed_among", 8,
    ),
    "no line where only one above the save is seen": (
        W + "h = w * 1\nh += 1\nh.mul_(2)\ny = h ** 2\nfns = [lambda: h.mul_(3)]\nfor fn in fns:\n    fn()\n"
        "loss = y.sum()\n" + AGAIN, "error", "modified_somewhere", 5,
    ),
    "another name for what was made elsewhere": (
        "def act(d, a):\n    d['h'] = torch.tanh(a)\n" + W + "kept = {}\nact(kept, w)\nh = kept['h']\nloss = (h * h).sum()\n"
        "loss.backward()", "h", "not_leaf", None,
    ),
    "the row of a loop": (
        W + "buf = torch.zeros(4, 3)\nfor i in range(4):\n    buf[i] = w * buf[i - 1] + 1\nloss = buf.sum()\n" + AGAIN,
        "error", "modified", 4,
    ),
    "changed in place": (W + "h = w * 2\nh += 1\nloss = h.sum()\nloss.backward()", "h", "not_leaf", 3),
    "one of two that a line made": (W + "a, b = w * 2, w + 1\nloss = (a * b).sum()\nloss.backward()", "b", "not_leaf", 2),
    "switched off, on, and off again": (
        "lin = torch.nn.Linear(2, 1)\nlin.requires_grad_(False)\nlin.requires_grad_(True)\nif lin.weight.dim() > 1:\n"
        "    lin.weight.requires_grad_(False)", "lin.weight", "switched_off", 5,
    ),
    "the case that ran": (
        SQUARE + "opt = torch.optim.SGD([w], lr=0.1)\nloss.backward()\nmatch 1:\n    case 0:\n        opt.zero_grad()\n"
        "    case 1:\n        opt.zero_grad()", "w", "left_out_or_cleared", None,
    ),
    "a mode that was switched back": (
        W + "v = torch.ones(3, requires_grad=True)\ntry:\n    torch.set_grad_enabled(False)\n    k = w * 2\n"
        "    torch.set_grad_enabled(True)\nexcept ValueError:\n    k = w\nloss = (k * v).sum()\nloss.backward()",
        "w, loss", "cut_maybe", 5,
    ),
    "a copy that nothing reads": (
        "import copy\nnet = torch.nn.Linear(2, 1)\nkept = {}\nwith torch.no_grad():\n    kept['y'] = net(torch.ones(3, 2))\n"
        "loss = kept['y'].sum()\ntarget = copy.deepcopy(net)", "net.weight, loss", "unreached", None,
    ),
    "a loss without a graph, on which the pass was called": (
        W + "vals = [v * 2 for v in w]\nloss = torch.tensor([v.item() for v in vals]).sum()\n" + AGAIN, "w", "cut_item", 3,
    ),
    "a list of computed numbers": (
        "a = torch.tensor(0.3, requires_grad=True)\nR = torch.tensor([[torch.cos(a), 0.0], [0.0, 1.0]])\nloss = R.sum()",
        "R", "made_new_tensor", 2,
    ),
    "a function of Python's": (
        "import math\na = torch.tensor(2.0, requires_grad=True)\nb = math.exp(a.detach())\nloss = torch.tensor(b) * 2",
        "a, loss", "cut_item", 3,
    ),
    "a pass that raised": (
        W + "d = w * 2\ntry:\n    g, = torch.autograd.grad(d.sum(), torch.ones(3))\nexcept RuntimeError as e:\n    pass",
        "w", "not_run_array", None,
    ),
    "a pass that kept the graph, in a function": (
        "def grads(l, w):\n    return torch.autograd.grad(l, w, create_graph=True)\n" + SQUARE + "g = grads(loss, w)",
        "w", "not_run_or_kept", None,
    ),
    "a step before a pass that did not need it": (
        "a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\nc = torch.nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD([*a.parameters(), *b.parameters(), *c.parameters()], lr=0.1)\nh = a(torch.ones(3, 2))\n"
        "one, two = b(h).sum(), (c(h) ** 2).sum()\none.backward(retain_graph=True)\nopt.step()\n"
        "opt.zero_grad()\ntwo.backward()",
        "b.weight", "cleared_by", 8,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_one_that_was_meant_is_named(case: str) -> None:
    program, ask, kind, line = CASES[case]
    answer = asked(program, ask)
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer


def test_a_pass_whose_gradient_was_cleared_leads_nowhere() -> None:
    answer = asked(
        "x = torch.zeros(3, requires_grad=True)\nn = torch.sqrt((x ** 2).sum())\nn.backward()\nx.grad = None\n"
        "m = x.norm()\nm.backward()", "x",
    )  # fmt: skip
    assert kinds(answer) == ["zero_abs"], answer


def seen_in(program: str) -> list[Any]:
    """What explain said where the program calls it and keeps the answer in `seen`."""
    torch = pytest.importorskip("torch")
    seen: list[Any] = []
    told(program, "w", torch=torch, seen=seen)
    return seen


def test_statements_on_one_line_have_an_order() -> None:
    program = W + "l = (w * w).sum(); l.backward()\nb = torch.zeros(1, requires_grad=True); l = (b * 0).sum(); l.backward(); "
    (answer,) = seen_in(program + "seen.append(explain(b))\n")
    assert "other_pass" not in kinds(answer) and kinds(answer)[0].startswith("zero_"), answer


def test_a_hook_asks_while_the_pass_is_running() -> None:
    (answer,) = seen_in(W + "h = w * 2\nh.register_hook(lambda g: seen.append(explain(w)))\nh.sum().backward()")
    assert kinds(answer) == ["running"], answer


def test_a_leaf_can_be_asked_about_in_inference_mode() -> None:
    (answer,) = seen_in(W + "with torch.inference_mode():\n    seen.append(explain(w))")
    assert kinds(answer) == ["no_loss"], answer


CORE = {  # what the core remembers
    "indices of topk": (
        W + "v = torch.ones(2, requires_grad=True)\nh = w * 2\nloss = (h.topk(2).indices.float() * v).sum()\nloss.backward()",
        "cut_dtype", 4,
    ),
    "a late retain_grad() in a function": (
        "def keep(t):\n    t.retain_grad()\n" + W + "w = w * 2\nloss = (w * w).sum()\nloss.backward()\nkeep(w)",
        "retained_late", 2,
    ),
    "another graph's pass": (
        W + "o = torch.ones(2, requires_grad=True)\nother = o.sum()\nother.backward()\nloss = (w * w).sum()\n"
        "(loss * 0).backward()", "beyond", None,
    ),
    "a line that did not run": (SQUARE + "loss.backward()\nw.grad[:] = 0\nif False:\n    w.grad.zero_()", "zeroed_at", 4),
}  # fmt: skip


@pytest.mark.parametrize("case", CORE)
def test_the_core_names_the_one_that_was_meant(case: str) -> None:
    program, kind, line = CORE[case]
    answer = told(program, "w")
    assert (kinds(answer)[0], lines(answer)[0]) == (kind, line), answer


def test_a_line_in_another_file_is_told_with_the_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere_of_explain.py").write_text("def f(w):\n    return (w * 2).sum()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    answer = told(
        "import elsewhere_of_explain\n" + W + "loss = elsewhere_of_explain.f(w) + (w * 3).sum()\nloss.backward()", "w"
    )
    assert "(elsewhere_of_explain.py, line 2)" in str(answer) and "MulBackward0 (line 3)" in str(answer), answer


def test_what_python_warns_of_in_a_file_does_not_come_out_of_explain(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code = 'import autograd_viz as av\ndef g():\n    return "\\ "\ndef f(w):\n    return av.explain(w), av.show(w * 2)\n'
    (tmp_path / "escapes_of_explain.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import escapes_of_explain  # type: ignore[import-not-found]
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        answer, figure = escapes_of_explain.f(av.ones(2, requires_grad=True))
    assert kinds(answer) == ["no_loss"] and "w * 2" in figure.svg
    assert not [str(w.message) for w in given]
