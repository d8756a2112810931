"""What is told as certain is so: look-alikes, alternatives and older values under the same name are told apart."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

import autograd_viz as av

from .explained import kinds, lines, told

BOTH = pytest.mark.parametrize("whose", ["core", pytest.param("torch", marks=pytest.mark.torch)])
RECORD = {"core": nullcontext, "torch": av.record}  # the core remembers its ops by itself
W = "w = torch.tensor([1.0, 2.0], requires_grad=True)\nb = torch.tensor([1.0, 1.0], requires_grad=True)\n"
AGENT = """
import copy
class Agent:
    def __init__(self):
        self.q = torch.nn.Linear(3, 2)
        self.t = copy.deepcopy(self.q)
    def loss(self, s):
        q = self.q(s){cut}
        with torch.no_grad():
            t = self.t(s)
        return (q - t).pow(2).mean()
a = Agent()
loss = a.loss(torch.ones(1, 3))
"""
TRY = """
def to_array(t):
    try:
        return t.numpy()
    except RuntimeError:
        return t.detach().numpy()
h = torch.from_numpy(to_array(w * 2))
loss = (h * b).sum()
loss.backward()
"""
CUT_BEHIND = """
class P(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(1, 1)
    def forward(self, x):
        return self.l(x)
net = torch.nn.Sequential(torch.nn.Linear(1, 1), P())
v = torch.ones(1, requires_grad=True)
loss = (net(torch.ones(1, 1)).detach() * v).sum()
"""
CASES = {  # program, what is asked, kinds, lines
    "one part of an object is cut, another is not": (AGENT.format(cut=".detach()"), "a.q.weight, loss", ["cut_detach"], [7]),
    "the other part": (AGENT.format(cut=".detach()"), "a.t.weight, loss", ["cut_no_grad"], [9]),
    "the second of two results is a number": (
        W + "def f():\n    main = (b * 2).sum()\n    other = (w * 2).sum()\n    return main, other.item()\nloss, shown = f()\n"
        "loss.backward()\n", "w, loss", ["unreached"], [None],
    ),
    "the first of two results is a number": (
        W + "def f():\n    main = (b * 2).sum()\n    other = (w * 2).sum()\n    return other.item(), main\nn, loss = f()\n"
        "loss = loss * n\nloss.backward()\n", "w, loss", ["cut_item"], [6],
    ),
    "another name under no_grad computes nothing": (
        W + "with torch.no_grad():\n    h = w * 2\n    g = h\nloss = (g * b).sum()\nloss.backward()\n", "w",
        ["cut_no_grad"], [4],
    ),
    "a line in a try may have raised": (W + TRY, "w", ["cut_maybe", "cut_maybe_too"], [6, 8]),
    "a function that is defined again below": (
        W + "def f(t):\n    return torch.tensor(t.tolist())\nloss = (f(w * 2) * b).sum()\nloss.backward()\n"
        "def f(t):\n    return t.detach()\n", "w", ["cut_item"], [4],
    ),
    "a decorator that does not call": (
        W + "def deco(fn):\n    def inner(t):\n        return t.data * 2\n    return inner\n@deco\ndef f(t):\n"
        "    return t.detach()\nloss = (f(w * 3) * b).sum()\nloss.backward()\n", "w, loss", ["cut_maybe"], [9],
    ),
    "a decorator that calls": (
        W + "def deco(fn):\n    def inner(t):\n        return fn(t)\n    return inner\n@deco\ndef f(t):\n"
        "    return t.detach()\nloss = (f(w * 3) * b).sum()\nloss.backward()\n", "w, loss", ["cut_detach"], [9],
    ),
    "a new tensor of the same name": (
        W + "h = w * 5\nh = h.detach()\nloss = (h * b).sum()\nloss.backward()\nh = w * 5\n", "h", ["not_leaf_beside"], [7],
    ),
    "a leaf made anew": (
        W + "y = (w * 3).tanh()\nw = torch.tensor([1.0, 2.0], requires_grad=True)\nloss = y.sum()\n", "w, loss",
        ["renamed"], [4],
    ),
    "a leaf made anew in a loop": (
        W + "for i in range(2):\n    loss = (w ** 2).sum()\n    loss.backward()\n"
        "    w = (w - 0.1 * w.grad).detach().requires_grad_()\n", "w", ["renamed"], [6],
    ),
    "a line that another op would have made": (
        "w = torch.ones(1, 2, requires_grad=True)\nloss = w.exp().mean()\nif len(w) > 5:\n    loss = loss + w.log().mean()\n",
        "loss", ["not_leaf"], [2],
    ),
    "one of the entries of a dict is cut": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)\n    def forward(self, x):\n"
        "        h = self.a(x)\n        return {'h': h, 'y': self.b(h.detach())}\n"
        "def loss_of(o):\n    return (o['y'] ** 2).mean()\nnet = Net()\n"
        "out = net(torch.ones(2, 1))\nloss = loss_of(out)\nloss.backward()\n", "net.a.weight", ["cut_detach"], [7],
    ),
    "a tensor in an object in an object": (
        W + "class Box:\n    pass\nt = Box()\nt.out = Box()\nt.out.h = w * 2\nloss = t.out.h.sum()\n", "t.out.h",
        ["not_leaf"], None,
    ),
    "a cut in a table over several lines": (
        W + "table = {'a': lambda t: t * 2,\n         'b': lambda t: t.data}\nloss = (table['b'](w) * b).sum()\n", "w, loss",
        None, [None, 4],
    ),
    "a change in place made it": (W + "h = w.sigmoid()\nh.add_(1)\nloss = (h * 3).sum()\n", "h", ["not_leaf"], [4]),
    "a function that changes in place made it": (
        W + "h = w.sigmoid()\ntorch.relu_(h)\nloss = (h * 3).sum()\n", "h", ["not_leaf"], [4],
    ),
    "a change in place that may not have run": (
        W + "h = w.sigmoid() * 1\nif len(w) > 5:\n    h.mul_(1)\nloss = (h * 3).sum()\n", "h", ["not_leaf"], None,
    ),
    "what does not run was not handed on": (
        W + "h = w * 2\nloss = (h * b).sum()\nloss.backward(inputs=[b])\n", "h", ["not_leaf"], [3],
    ),
    "what raised was not handed on": (
        "x = torch.ones(1, requires_grad=True)\nh = x * 2\nh.register_hook(lambda g: g.nothing)\nloss = (h * 3).sum()\n"
        "try:\n    loss.backward()\nexcept AttributeError:\n    pass\n", "h", ["not_leaf"], [2],
    ),
    "a part that may not have led to the cut": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a, self.b, self.two = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1), False\n    def forward(self, x):\n"
        "        h = self.a(x)\n        if self.two:\n            h = h + self.b(x)\n        g = torch.sigmoid(h.detach())\n"
        "        return (g * h).sum()\nnet = Net()\nloss = net(torch.ones(2, 1))\n", "net.b.weight, loss", ["cut_maybe"], [9],
    ),
    "a leaf moved": (W + "y = (w.detach() * b).sum()\nw = w.to(torch.float32)\n", "w, y", ["cut_detach"], [3]),
    "a cut in a function that made it": (W + "def f(t):\n    return t.detach()\nh = f(w * 3)\n", "h", ["made_detach"], [4]),
    "a cut where it was made": (W + "def f(t):\n    return t.data * 2\nh = f(w * 3)\n", "h", ["made_data"], [4]),
    "a part of a Sequential": (
        "class P(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.l = torch.nn.Linear(1, 1)\n    def forward(self, x):\n        return x + self.l(x).detach()\n"
        "net = torch.nn.Sequential(P(), torch.nn.Linear(1, 1))\nloss = net(torch.ones(1, 1)).sum()\n", "net[0].l.weight, loss",
        ["cut_detach"], [6],
    ),
    "another part of a Sequential, which is cut behind": (CUT_BEHIND, "net[0].weight, loss", ["cut_detach"], [9]),
    "a part of the user's in a Sequential, which is cut behind": (CUT_BEHIND, "net[1].l.weight, loss", ["cut_detach"], [9]),
    "a parameter made where nothing is recorded": (
        W + "with torch.no_grad():\n    h = torch.nn.Parameter(w) * 2\n", "h", None, None,
    ),
    "a parameter made in a function where nothing is recorded": (
        W + "def f(t):\n    with torch.no_grad():\n        return torch.nn.Parameter(t) * 2\nh = f(w).sum()\n", "h", None, None,
    ),
    "a method of the class above": (
        W + "class A:\n    def f(self, t):\n        return t.detach()\nclass B(A):\n    def f(self, t):\n        return t * 2\n"
        "    def g(self, t):\n        return super().f(t) * 3\no = B()\nloss = (o.g(w) * b).sum()\n", "w, loss",
        ["cut_detach"], [5],
    ),
    "a function that is called from an op's own line": (
        W + "def f(t):\n    return t * 2\nclass Net:\n    def run(self, t):\n        h = torch.tensor(f(t.detach()).tolist())\n"
        "        return h * b\nnet = Net()\nwith record():\n    loss = net.run(w).sum()\n", "w, loss", ["cut_item"], [7],
    ),
    "a stepped pass is not an older one": (
        "w = torch.zeros(2, requires_grad=True)\nloss = (w + 1).sum()\nloss.backward()\nw.grad = None\nloss = (w * w).sum()\n"
        "step(loss).finish()\n", "w, loss", ["zero_factor"], None,
    ),
    "grad mode that a function left off": (
        W + "def f(t):\n    torch.set_grad_enabled(False)\n    return t * 2\nf(b)\nloss = (w * b).sum()\n", "w, loss",
        ["unreached_off"], [None],
    ),
    "the field of what a call gives": (
        "x = torch.tensor([[1.0, 2.0], [4.0, 3.0]])\nbest = x.max(1).values\n", "best", None, [2],
    ),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("case", CASES)
def test_the_cause_is_told_apart_from_look_alikes(case: str, whose: str) -> None:
    program, ask, expected, at = CASES[case]
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    try:
        answer = told(program, ask, step=av.step, record=RECORD[whose], **others)
    finally:
        others.get("torch", av).set_grad_enabled(True)
    assert str(answer) and (expected is None or kinds(answer) == expected), answer
    assert at is None or lines(answer) == at, answer


@BOTH
def test_a_helper_that_hands_the_question_on_is_looked_through(whose: str) -> None:
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    helper = "def why(p, loss):\n    return explain(p, loss)\n"
    program = f"{helper}{W}out = (w.detach() * b).sum()\nloss = (w * b).sum()\n"
    there: dict[str, object] = {}
    answer = told(f"{program}keep(why(w, out))\n", "w, loss", keep=lambda a: there.update(found=a), **others)
    assert kinds(answer) == ["not_run"] and (kinds(there["found"]), lines(there["found"])) == (["cut_detach"], [5])


@BOTH
def test_what_a_function_computes_is_not_looked_for_outside_of_it(whose: str) -> None:
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    there: dict[str, object] = {}
    program = f"def run(w):\n    loss = (w * 2).sum()\n    keep(explain(w))\n{W}run(w)\n"
    told(program, "w", keep=lambda a: there.update(found=a), **others)
    assert kinds(there["found"]) == ["not_run"] and "loss depends on w" in str(there["found"])


@BOTH
def test_a_line_of_code_without_text_is_not_taken_for_one_of_the_file(whose: str) -> None:
    others = {"torch": pytest.importorskip("torch")} if whose == "torch" else {}
    program = W + "space = {}\nexec('def f(t):\\n    return t.detach()', space)\n"
    answer = told(program + "with record():\n    loss = (space['f'](w) * b).sum()\n", "w, loss", record=RECORD[whose], **others)
    assert "line 2 of <string>, whose text is not to be had" in str(answer), answer


def test_a_value_that_is_only_kept_is_no_candidate() -> None:
    program = (
        W + "class Log:\n    kept = {}\n    def __call__(self, t):\n        self.kept['t'] = t.detach()\n"
        "log = Log()\nhooks = [log.__call__]\nf = [lambda t: t * 2][0]\nloss = f(b).sum()\n"
    )
    assert not any(k.startswith("candidate") for k in kinds(told(program, "w, loss")))
    read = program + "old = log.kept.get('t')\n"
    assert any(k.startswith("candidate") for k in kinds(told(read, "w, loss")))


def test_a_change_of_data_is_told_of_the_gradient_that_it_spoils() -> None:
    program = (
        "w = torch.ones(2, requires_grad=True)\nv = torch.ones(2, requires_grad=True)\nloss = (w * v).sum()\nv.data.mul_(0)\n"
        "loss.backward()\n"
    )
    assert kinds(told(program, "w")) == ["zero_factor", "data_written"]
    assert "data_written" not in kinds(told(program, "v"))


FAILING = (
    "w = torch.tensor(2.0, requires_grad=True)\nfirst = w * 3\nfirst.backward()\ne = (w * 5).exp()\nloss = e * 2\ne.mul_(0)\n"
    "try:\n    loss.backward()\nexcept RuntimeError as error:\n    why = explain(error)\n"
)


def test_what_stands_in_grad_after_a_failed_pass_is_not_told_as_its_own() -> None:
    answer = told(FAILING, "w")
    assert (kinds(answer), lines(answer)) == (["pass_failed", "modified"], [8, 6]), answer
    lit = next(n for n in answer.document.nodes if n.id == answer.culprit)
    assert lit.name == "ExpBackward0"  # and not the tensor that was asked about
    assert kinds(told(FAILING + "w.grad = None\nloss = w * 3\nloss.backward()\n", "w")) == ["came_from"]


def test_a_zero_from_before_a_failed_pass_is_no_hook_s() -> None:
    start = "w = torch.tensor(2.0, requires_grad=True)\nw.grad = torch.tensor(0.0)\n"
    answer = told(start + FAILING.partition("first.backward()\n")[2], "w")
    assert kinds(answer) == ["pass_failed", "modified"], answer


def test_of_two_losses_the_one_that_is_named_brought_a_part() -> None:
    program = "w = torch.tensor(2.0, requires_grad=True)\na = w * 3\nb = w ** 2\na.backward()\nb.backward()\n"
    assert "what a's graph sent here last is 3.0" in str(told(program, "w, a"))


@pytest.mark.torch
def test_of_two_losses_one_that_pytorch_has_let_go_may_have_added() -> None:
    torch = pytest.importorskip("torch")
    program = "w = torch.tensor(2.0, requires_grad=True)\na = w * 3\nb = w ** 2\na.backward()\nb.backward()\n"
    assert "passes from other losses may have added" in str(told(program, "w, a", torch=torch))
    beside = "c = torch.tensor(1.0, requires_grad=True)\nd = c * 2\nd.backward()\nw = torch.tensor(2.0, requires_grad=True)\n"
    assert kinds(told(beside + "a = w * 3\na.backward()\n", "w", torch=torch)) == ["came_from"]


def test_a_grad_that_was_put_there_is_no_sum_of_passes() -> None:
    program = (
        "w = torch.ones(2, requires_grad=True)\nloss = (w * 3).sum()\nloss.backward()\nw.grad = torch.tensor([7.0, 8.0])\n"
    )
    answer = told(program, "w")
    assert (kinds(answer)[-1], lines(answer)[-1]) == ("assigned_over", 4) and "accumulated" not in kinds(answer)


@pytest.mark.torch
@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_hook_of_a_tensor_that_is_gone_is_among_the_suspects(is_recorded: bool) -> None:
    program = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    def forward(self, x):
        h = self.a(x)
        h.register_hook(lambda g: torch.zeros_like(g))
        return self.b(h)
net = Net()
with {0}: loss = net(torch.randn(5, 3)).mean()
loss.backward()
"""
    import contextlib

    import autograd_viz as av

    torch = pytest.importorskip("torch")
    around = "av.record(net)" if is_recorded else "contextlib.nullcontext()"
    answer = told(program.format(around), "net.a.weight", torch=torch, av=av, contextlib=contextlib)
    assert "line 7: h.register_hook(lambda g: torch.zeros_like(g)))" in str(answer), answer


@pytest.mark.torch
def test_a_bias_is_multiplied_by_nothing() -> None:
    program = (
        "lin = torch.nn.Linear(9, 9)\na, b = torch.randn(9, 9), torch.randn(9, 9)\nloss = lin(a).mean() - lin(b).mean()\n"
        "loss.backward()\nlin.weight.grad.zero_()\n"
    )
    torch = pytest.importorskip("torch")
    assert "AddmmBackward0" not in str(told(program, "lin.bias", torch=torch))


@pytest.mark.torch
def test_a_cast_to_a_narrower_type_is_among_the_suspects() -> None:
    program = "w = torch.ones(2).half().requires_grad_()\nloss = (w * 2).float().sum() * 1e-9\nloss.backward()\n"
    answer = told(program, "w", torch=pytest.importorskip("torch"))
    assert "ToCopyBackward0 (if what arrives is too small for its narrower type)" in str(answer), answer
