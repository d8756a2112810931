"""explain says nothing that is not so: of cuts in a row, tensors that were not chosen, leaves changed since, other hooks."""

from __future__ import annotations

import pytest

from .explained import told

W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nv = torch.tensor([3.0, 4.0], requires_grad=True)\n"
ERROR = "\nexcept (RuntimeError, ValueError) as e:\n    answer = explain(e)\n    e = answer"

BOTH = {  # program, what is asked, what is said, what is not said
    "two lines under no_grad": (
        W + "with torch.no_grad():\n    best = w * 2\n    y = best + 1\nloss = (v * y).sum()\nloss.backward()", "w, loss",
        ["(line 4: best = w * 2)", "(line 5: y = best + 1)"], [],
    ),
    "not chosen by a condition": (
        W + "u = (w if len(v) == 2 else v).detach()\nloss = (u * torch.ones(2, requires_grad=True)).sum()\nloss.backward()",
        "v, loss", ["if this line ran"], ["is cut by"],
    ),
    "not chosen by a key": (
        W + "both = {'a': w, 'b': v}\nkey = 'a'\nu = both[key].detach()\n"
        "loss = (u * torch.ones(2, requires_grad=True)).sum()\nloss.backward()", "v, loss", ["if this line ran"], ["is cut by"],
    ),
    "chosen by a key that is written": (
        W + "both = {'a': w, 'b': v}\nu = both['b'].detach()\nloss = (u * w).sum()\nloss.backward()", "v, loss",
        ["is cut by detach() (line 4"], ["if this line ran"],
    ),
    "all, one after the other": (
        W + "both = {'a': w, 'b': v}\nloss = sum((both[k].detach() * torch.ones(2, requires_grad=True)).sum() for k in both)\n"
        "loss.backward()", "v, loss", ["is cut by detach()"], ["if this line ran"],
    ),
    "a part of the loss of the pass": (
        W + "a = (w * 2).sum()\nb = (w * w).sum()\ntotal = a + b\ntotal.backward()", "w, a", [], ["not by a's graph"],
    ),
    "a pass that did not run": (
        "def run(train):\n    w = torch.ones(3, requires_grad=True)\n    loss = (w * 2).sum()\n    if train:\n"
        "        loss.backward(retain_graph=True)\n    return explain(w, loss)\nsaid = run(False)\n"
        "w = torch.ones(2, requires_grad=True)", "w) or (said", ["loss"], ["line 5"],
    ),
    "a leaf behind a model": (
        "W = torch.ones(2, 2, requires_grad=True)\ndef model(x):\n    return (x @ W).relu()\n"
        "out = model(torch.ones(1, 2, requires_grad=True))\nloss = out.sum()\nloss.backward()", "out",
        ["retain_grad()"], ["another tensor"],
    ),
    "asked while the pass runs": (
        "x = torch.tensor(1.0, requires_grad=True)\nsaid = []\ny = x * 2\n"
        "y.register_hook(lambda g: said.append(explain(x)))\n(y * 3).backward()", "x) and (said[0]",
        ["A backward pass is running"], ["left x out"],
    ),
    "a step of one's own": (
        W + "y = (w ** 2).sum()\ny.backward(retain_graph=True)\nwith torch.no_grad():\n    w -= 0.1 * w.grad\n"
        "try:\n    y.backward()" + ERROR,
        "w) and (answer", ["this step changed it", "(line 3)", "Run the forward pass anew"], ["x += 1"],
    ),
    "a gradient that was used without its graph": (
        W + "y = (w ** 3).sum()\ng = torch.autograd.grad(y, w)[0]\ntry:\n    torch.autograd.grad(g.sum(), w)" + ERROR,
        "w) and (answer", ["line 4: g = torch.autograd.grad(y, w)[0]"], ["line 6: torch.autograd.grad(g.sum(), w)). "],
    ),
    "no parameters are left": (
        "net = torch.nn.Linear(2, 1)\nfor p in net.parameters():\n    p.requires_grad_(False)\ntry:\n"
        "    torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)" + ERROR, "net.weight) and (answer",
        ["all are frozen"], [],
    ),
    "nan that was put in by hand": (
        W + "w.data = w.data * float('nan')\nloss = (w * v).sum()\nloss.backward()", "v",
        ["w itself holds it"], ["from the start"],
    ),
    "the same, kept": (
        W + "y = (w ** 3).sum()\n(g,) = torch.autograd.grad(y, w)\ntry:\n    (h,) = torch.autograd.grad(g.sum(), w)" + ERROR,
        "w) and (answer", ["line 4: (g,) = torch.autograd.grad(y, w)"], ["line 6: (h,) = torch.autograd.grad(g.sum(), w)). "],
    ),
    "nan in the grad of a loss without a name": (
        W + "(w * v).sum().backward()\nw.grad[0] = float('nan')", "w", ["line 4: w.grad[0]"], ["a graph that is gone"],
    ),
}  # fmt: skip

CORE = {
    "an exp that overflowed behind a log of 0": (
        "z = torch.tensor([1.0, 200.0], requires_grad=True)\ne = z.exp()\np = e / e.sum()\nloss = -p[0].log()\nloss.backward()",
        "z", ["Exp overflowed", "line 2: e = z.exp()"], ["Log made it"],
    ),
    "the root of grad()": (
        W + "f = (w ** 4).sum()\nf.retain_grad()\ng = torch.autograd.grad(f, w)[0]", "f", ["It is the root"], ["another"],
    ),
    "a pass beside it, and clipping": (
        W + "one = (v ** 2).sum()\none.backward()\nloss = (w ** 2).sum()\nloss.backward()\n"
        "torch.nn.utils.clip_grad_norm_([w], 1.0)", "w", ["grad has been changed"], ["because backward() adds", "zero_grad"],
    ),
    "a gradient that was halved": (
        W + "one = (w * v).sum()\none.backward()\nw.grad = None\nloss = (w ** 2).sum()\nloss.backward()\nw.grad.mul_(0.5)",
        "w, loss", ["this has changed grad since (it is 0.5 times that): line 8"], ["because backward() adds"],
    ),
    "two passes, two paths each": (
        W + "for _ in range(2):\n    loss = (w * w).sum()\n    loss.backward()", "w, loss",
        ["What arrived in the last pass is the sum of 2 paths", "[2.0, 4.0] was there before"], ["It is the sum"],
    ),
}  # fmt: skip

TORCH = {
    "two cuts in a row": (
        W + "h = (w * 2).detach()\nmask = (h > 0).float()\nloss = (v * mask).sum()\nloss.backward()", "w, loss",
        ["detach() (line 3", "h > 0", "(line 4", "Leave detach() out"], [],
    ),
    "used before it required grad": (
        "def f(img, w):\n    loss = (img * w).sum()\n    img.requires_grad_()\n    loss.backward()\n"
        "    return explain(img, loss)\n"
        "said = f(torch.ones(2), torch.ones(2, requires_grad=True))\nw = torch.ones(1, requires_grad=True)", "w) and (said",
        ["(line 2)", "line 3: img.requires_grad_()"], ["No path leads"],
    ),
    "an input that was changed since": (
        "q = torch.zeros(2, requires_grad=True)\nloss = q.sqrt().sum()\nloss.backward()\nwith torch.no_grad():\n"
        "    q.clamp_(min=0.01)",
        "q, loss", ["SqrtBackward0 in line 2 (where its input is 0"], ["No op on the way"],
    ),
    "indices beside what was used too early": (
        "w = torch.tensor([1.0, 2.0], requires_grad=True)\nx = torch.tensor([3.0, 4.0])\ns = w * x\nx.requires_grad_()\n"
        "loss = s[s.argmax()]\nloss.backward()", "x, loss", ["did not require grad yet when it was used"], ["argmax()"],
    ),
    "detached, of what is frozen": (
        "net = torch.nn.Linear(2, 1)\nnet.requires_grad_(False)\nu = net(torch.ones(1, 2)).detach()", "u",
        ["nothing is seen here that requires grad"], [],
    ),
    "detached, of what is not": (
        "net = torch.nn.Linear(2, 1)\nu = net(torch.ones(1, 2)).detach()", "u", ["Leave detach()"], ["nothing is seen"],
    ),
    "an update under no_grad that made no node": (
        "w = torch.ones(3, requires_grad=True) * 0.01\ntry:\n    for _ in range(2):\n        loss = (torch.ones(3) * w).sum()\n"
        "        loss.backward()\n        with torch.no_grad():\n            w -= 0.1 * w.grad\nexcept TypeError:\n    pass",
        "w", ["not a leaf"], ["line 7"],
    ),
    "a step of the turn before": (
        "cell, head = torch.nn.GRUCell(3, 4), torch.nn.Linear(4, 1)\n"
        "opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)\nh = torch.zeros(2, 4)\ntry:\n"
        "    for t in range(3):\n        h = cell(torch.randn(2, 3), h)\n        loss = head(h).pow(2).mean()\n"
        "        loss.backward(retain_graph=True)\n        opt.step()" + ERROR, "head.weight) and (answer",
        ["this step changed it", "line 9: opt.step()", "Run the forward pass anew"], ["x += 1"],
    ),
    "a hook of another leaf": (
        W + "v.register_hook(lambda g: g * 2)\nk = 0.0\nloss = (w * k).sum()\nloss.backward()\nw.register_hook(print)",
        "w, loss", ["MulBackward0"], ["v.register_hook"],
    ),
    "a hook behind the accumulation": (
        W + "def zap(p):\n    p.grad.zero_()\nw.register_post_accumulate_grad_hook(zap)\nloss = (w * 2).sum()\nloss.backward()",
        "w, loss", ["zap"], ["Only this op"],
    ),
    "a loss beside that of the pass": (
        W + "a = (w * 2).sum()\nb = (w * w).sum()\ntotal = a + b\ntotal.backward()", "w, a", ["may have added"], [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [*BOTH, *CORE])
def test_what_is_said_is_so(case: str) -> None:
    _check(*(BOTH | CORE)[case])


@pytest.mark.torch
@pytest.mark.parametrize("case", [*BOTH, *TORCH])
def test_what_is_said_of_pytorch_is_so(case: str) -> None:
    torch = pytest.importorskip("torch")
    _check(*(BOTH | TORCH)[case], torch=torch)


def _check(program: str, ask: str, said: list[str], unsaid: list[str], **names: object) -> None:
    text = str(told(program, ask, **names))
    assert all(part in text for part in said) and not any(part in text for part in unsaid), text
