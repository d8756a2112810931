"""explain, about training code as it is written: several losses and optimizers, kept graphs, branches, steps."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from .test_torch import asked  # noqa: E402

pytestmark = pytest.mark.torch

HEADS = (
    "t, a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)\nh = torch.tanh(t(torch.ones(3, 2)))\n"
    "first, second = a(h).mean(), b(h).mean()\nfirst.backward()\n"
)
W = "w = torch.ones(3, requires_grad=True)\n"
NETS = "G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(D.parameters(), lr=0.1)\n"
GAN = f"{NETS}loss = D(G(torch.ones(3, 2))).mean()\nloss.backward()\n"
BRANCH = """
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    def forward(self, x, mode=None):
        h = self.b(x)
        if mode == "frozen":
            h = h + self.a(x).detach()
        return h, self.a(h.detach())
m = M()
"""
# program, what is asked, what the answer says
SAID = {
    "the other head has not run": (HEADS, "b.weight, second", "has not run on second, which depends on b.weight"),
    "the trunk has got its share": (HEADS, "t.weight, second", "TBackward0 sends to here (line 2"),
    "under a condition it was not switched off": (
        "m = torch.nn.Linear(1, 1)\nfor p in m.parameters():\n    p.requires_grad = False\nif 1 > 2:\n"
        "    m.weight.requires_grad_(False)", "m.weight", "switched off (line 3",
    ),
    "a function that switches as it is told": (
        "def req(m, on):\n    for p in m.parameters():\n        p.requires_grad_(on)\nm = torch.nn.Linear(1, 1)\nreq(m, False)",
        "m.weight", "switched off (line 3",
    ),
    "what stands below an early return": (
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n    def forward(self, x):\n"
        "        if x is not None:\n            return self.b(x)\n        return self.b(self.a(x).detach())\n"
        "m = M()\nloss = m(torch.ones(1, 2)).sum()\nloss.backward()", "m.a.weight, loss", "or, if this line ran",
    ),
    "the pass that gave it up, not another": (
        "w = torch.ones(2, requires_grad=True)\nh = w.exp()\nsome, other = h.sum(), (h * h).sum()\nalone = (w * w).sum()\n"
        "some.backward()\nalone.backward()\ntry: other.backward()\nexcept RuntimeError as e: error = e", "error",
        "earlier pass had given up: line 5: some.backward()",
    ),
    "a buffer that was written into": (
        "w = torch.ones(2, requires_grad=True)\nbuf = torch.zeros(2)\nfor i in range(2):\n    buf[i] = w[i] * 2\n"
        "loss = buf.sum()\nloss.backward()", "buf", "made it (line 4: buf[i] = w[i] * 2)",
    ),
    "a row that is masked throughout": (
        "import autograd_viz as av\nx = torch.zeros(1, 2, requires_grad=True)\n"
        "loss = (x + torch.full((1, 2), float('-inf'))).softmax(-1).sum()\nloss.backward()", "x", "It came in at Add",
    ),
    "a stepped Function that returns None": (
        f"import autograd_viz as av\n{W}class Bad(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, x): return x * 3\n    @staticmethod\n    def backward(ctx, g): return None\n"
        "loss = Bad.apply(w.exp()).sum()\nav.step(loss).finish()", "w", "BadBackward sent no gradient",
    ),
    "a kept graph, and a grad that was cleared": (
        f"{W}loss = (w * w).sum()\nloss.backward(retain_graph=True)\nw.grad = None", "w", "this cleared grad: line 4",
    ),
    "a pass from another root, which was kept": (
        HEADS.replace("backward()", "backward(retain_graph=True)"), "b.weight, second",
        "has not run: second depends on b.weight",
    ),
    "grad() keeps the graph": (
        f"{W}loss = (w * w).sum()\ng, = torch.autograd.grad(loss, w, create_graph=True)", "w", "left w out, as grad() does",
    ),
    "a step after a kept graph": (
        "net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloss = net(torch.ones(3, 2)).mean()\n"
        "loss.backward(retain_graph=True)\nopt.step()\nopt.zero_grad()", "net[0].weight", "this cleared grad: line 6",
    ),
    "another optimizer's zero_grad": (f"{GAN}G.weight.grad = None\nopt.zero_grad()", "G.weight", "line 5: G.weight.grad"),
    "a zero_grad that may not have run": (
        f"{GAN}G.weight.grad = None\nif 1 > 2:\n    G.zero_grad()", "G.weight", "line 5: G.weight.grad = None",
    ),
    "lines of a function that never ran": (
        f"{W}loss = (w * w).sum()\nloss.backward()\nw.grad = None\ndef never():\n    w.grad = None", "w", "line 4",
    ),
    "a cut that may not have run": (
        f"{BRANCH}loss = m(torch.ones(1, 2))[0].sum()\nloss.backward()", "m.a.weight, loss", "or, if this line ran",
    ),
    "the other of two results": (
        f"{BRANCH}h, other = m(torch.ones(1, 2))\nloss = h.sum()\nloss.backward()", "m.a.weight, loss", "or, if this line ran",
    ),
    "recorded, nothing used it": (
        f"import autograd_viz as av\n{BRANCH}with av.record(m):\n    loss = m.b(torch.ones(1, 2)).sum()\nloss.backward()",
        "m.a.weight, loss", "No path leads from loss to m.a.weight",
    ),
    "a nan that a step has put there": (
        "w = torch.tensor([0.0, 1.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "loss = (w * torch.log(w)).sum()\nloss.backward()\nopt.step()", "w", "can make it: LogBackward0",
    ),
    "an inf that was a mask": (
        "import autograd_viz as av\nmask = torch.full((2, 2), float('-inf')).triu(1)\ns = torch.zeros(2, requires_grad=True)\n"
        "with av.record():\n    loss = ((torch.ones(2, 2) + mask).softmax(-1).sum(-1) * (s / s)).sum()\nloss.backward()",
        "s", "Div made it of [0.0, 0.0]",
    ),
    "a loss that was made to require grad": (
        "net = torch.nn.Linear(2, 3)\nloss = net(torch.ones(4, 2)).argmax(1).float().mean()\nloss.requires_grad = True\n"
        "loss.backward()", "net.weight", "cut by .argmax()",
    ),
    "a list of numbers": (
        "net = torch.nn.Linear(2, 1)\nlosses = []\nfor x in torch.ones(4, 2):\n    losses.append(net(x).sum().item())\n"
        "loss = torch.tensor(losses).mean().requires_grad_()\nloss.backward()", "net.weight, loss", "cut by .item()",
    ),
    "a comparison": (
        "th = torch.tensor(0.5, requires_grad=True)\nw = torch.ones(1, requires_grad=True)\n"
        "loss = ((torch.ones(3) > th).float() * w).mean()\nloss.backward()", "th, loss", "cut by torch.ones(3) > th",
    ),
    "a Function behind another op": (
        f"{W}class Bad(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 3\n"
        "    @staticmethod\n    def backward(ctx, g): return None\nloss = Bad.apply(w.exp()).sum()\nloss.backward()",
        "w", "BadBackward sent no gradient",
    ),
    "a reentrant checkpoint": (
        "from torch.utils.checkpoint import checkpoint\nnet = torch.nn.Linear(2, 1)\nx = torch.ones(4, 2, requires_grad=True)\n"
        "loss = checkpoint(net, x, use_reentrant=True).sum()\nloss.backward()", "net.weight, loss", "that may have brought it",
    ),
    "put there by hand": (f"{W}w.grad = torch.ones(3)", "w", "put there by hand: line 2"),
    "what a function made": (
        "net = torch.nn.Linear(2, 1)\ndef f(x):\n    with torch.no_grad():\n        return net(x)\nout = f(torch.ones(1, 2))",
        "out", "made under no_grad(), where nothing is recorded (line 4",
    ),
    "detach in place": ("net = torch.nn.Linear(2, 1)\nh = net(torch.ones(1, 2))\nh.detach_()", "h", "detach() cut it off"),
    "the gradient of something linear": (
        f"{W}loss = (w * 2).sum()\ng, = torch.autograd.grad(loss, w, create_graph=True)", "g", "as that of something linear",
    ),
    "clipped to nothing": (
        "net = torch.nn.Linear(2, 1)\nloss = net(torch.ones(1, 2)).sum()\nloss.backward()\n"
        "torch.nn.utils.clip_grad_norm_(net.parameters(), 0.0)", "net.weight", "clip_grad_norm_",
    ),
    "a norm at 0": ("a = torch.zeros(3, requires_grad=True)\nd = a.norm()\nd.backward()", "a", "takes 0 as the derivative"),
    "all of it overwritten": (
        "y = torch.ones(4, requires_grad=True)\nz = y * 2\nz[:] = 0.0\nloss = z.sum()\nloss.backward()", "y",
        "overwritten there",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_training_code_is_explained(case: str) -> None:
    program, ask, words = SAID[case]
    answer = asked(program, ask)
    assert words in str(answer), answer


def test_a_method_of_the_class_in_which_the_question_is_asked_is_followed() -> None:
    answer = asked(
        "class T:\n    def __init__(self):\n        self.enc, self.dec = torch.nn.Linear(3, 2), torch.nn.Linear(2, 3)\n"
        "    def loss(self, x):\n        with torch.no_grad():\n            z = self.enc(x)\n"
        "        return self.dec(z).mean()\n"
        "    def step(self, x):\n        loss = self.loss(x)\n        loss.backward()\n"
        "        return explain(self.enc.weight, loss)\nx = T().step(torch.ones(1, 3))\nexplain = lambda said: said",
    )  # fmt: skip
    assert "cut by no_grad()" in str(answer) and "z = self.enc(x)" in str(answer), answer
