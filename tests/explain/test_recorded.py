"""explain, of a program that only `av.record()` has seen: it knows the ops, and no passes."""

from __future__ import annotations

import gc
import re
from typing import Any

import pytest

import autograd_viz as av
from autograd_viz import words
from autograd_viz.words import en, zh

from .explained import kinds, lines, run

pytestmark = pytest.mark.torch
NET = "net, x = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)), torch.ones(4, 2)\n"
UNRECORDED = ("not_recorded", "not_asked_unseen")

# lines of a recording (the first is line 3), what is asked, the kind, its line
RECORDED: dict[str, tuple[str, str, str, int | None]] = {
    "a pass": ("loss = net(x).sum()\nloss.backward()", "net[0].weight", "fine_unseen", None),
    "detach()": ("h = net[0](x).detach()\nloss = net[1](h).sum()\nloss.backward()", "net[0].weight", "path_cut_detach", 3),
    "what was detached": ("h = net[0](x).detach()\nloss = net[1](h).sum()", "h", "cut_detach", 3),
    "no_grad()": ("with torch.no_grad():\n    h = net[0](x)\nloss = net[1](h).sum()", "h", "cut_no_grad", 4),
    "a weight under no_grad()": (
        "with torch.no_grad():\n    h = net[0](x)\nloss = net[1](h).sum()\nloss.backward()",
        "net[0].weight",
        "path_cut_no_grad",
        4,
    ),
    "a comparison": ("h = net[0](x) > 0\nloss = (net[1](x @ torch.ones(2, 3)) * h).sum()", "h", "cut_op", 3),
    "argmax()": ("h = net(x).argmax(0)\nloss = net(x)[h].sum()", "h", "cut_op", 3),
    "data": ("y = torch.ones(3) * 2", "y", "not_asked", 3),
    "before the pass": ("loss = net(x).sum()", "net[0].weight", "not_freed", None),
    "before the pass, of exp()": ("loss = net(x).exp().sum()", "net[0].weight", "not_freed", None),
    "cleared": ("loss = net(x).exp().sum()\nloss.backward()\nnet.zero_grad()", "net[0].weight", "pass_unseen", None),
    "not used": ("loss = net[1](torch.ones(1, 3)).sum()\nloss.backward()", "net[0].weight", "no_path_from", None),
    "a root of 0": ("loss = (net(x) - net(x)).pow(2).sum(1).sqrt().sum()\nloss.backward()", "net[0].weight", "born_sqrt", 3),
    "an overflow": ("loss = (net(x) * 1e30 * 1e30).sum()\nloss.backward()", "net[0].weight", "forward_overflow", 3),
    "gradients that cancel": ("loss = (net(x) - net(x)).sum()\nloss.backward()", "net[0].weight", "not_shown", None),
    "a large gradient": ("loss = (net(x) * 1e13).sum()\nloss.backward()", "net[0].weight", "huge", None),
    "the loss is gone": ("(net(x) * 0).sum().backward()", "net[0].weight", "no_loss_here", None),
}  # fmt: skip


def recorded(body: str, ask: str) -> Any:
    inside = "".join(f"    {line}\n" for line in body.split("\n"))
    return run(f"{NET}with record():\n{inside}", "torch", ask)


@pytest.mark.parametrize("case", RECORDED)
def test_what_was_recorded_is_not_called_unrecorded(case: str) -> None:
    body, ask, kind, line = RECORDED[case]
    answer = recorded(body, ask)
    assert kinds(answer)[0] == kind and not {*kinds(answer)} & {*UNRECORDED}, answer
    assert line is None or lines(answer)[0] == line
    assert "record" not in str(answer).replace("what was recorded does not show", "")


@pytest.mark.parametrize(
    "body", ["loss = (w * 2).sum()\nloss.backward()\nw.grad = None", "loss = (w * 0).sqrt().sum()\nloss.backward()"]
)
def test_what_was_not_recorded_is_told_so(body: str) -> None:
    answer = run(f"w = torch.ones(3, requires_grad=True)\n{body}", "torch", "w")
    assert kinds(answer)[0] in ("not_recorded", "born_sqrt"), answer


def test_a_pass_that_watch_has_not_kept_is_not_called_unrecorded() -> None:
    program = f"import autograd_viz\nautograd_viz.watch(keep=0)\n{NET}loss = (net(x) - net(x)).sum()\nloss.backward()"
    answer = run(program, "torch", "net[0].weight", watched=True)
    assert kinds(answer) == ["not_shown"] and "→ Compute the loss again and step it" in str(answer)


def test_in_a_replayed_pass_the_grad_of_now_is_not_that_from_before() -> None:
    """The grad was changed after the pass: nothing was in it before."""
    program = f"{NET}loss = net(x).sum()\nloss.backward()\nnet[0].weight.grad.mul_(float('nan'))"
    answer = run(program, "torch", "net[0].weight", watched=True)
    assert (kinds(answer), lines(answer)) == (["bad_since"], [4]), answer


@pytest.mark.parametrize("texts", [en, zh])
def test_only_one_word_names_a_magic(texts: Any) -> None:
    """It is chosen where the magic exists; the others are said in scripts, too."""
    named = [name for name, text in vars(texts).items() if isinstance(text, str) and re.search(r"%%\w|%load", text)]
    assert named == ["RECORD_IN_CELL"]


def test_a_script_is_told_of_a_block() -> None:
    answer = run("x = torch.ones(3, requires_grad=True)\nloss = (x * -1).log().sum()\nloss.backward()", "torch")
    assert words.RECORD_IN_CODE in str(answer) and "av.record()" in words.RECORD_IN_CODE and callable(av.record)


def test_parameters_are_asked_about_with_one_look_at_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that was not recorded, only all objects tell which optimizers there are."""
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(*(torch.nn.Linear(3, 3) for _ in range(8)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    every, looks = gc.get_objects, list[int]()
    monkeypatch.setattr(gc, "get_objects", lambda *args, **named: looks.append(1) or every(*args, **named))
    av.explain(net)
    assert len(looks) == 1
