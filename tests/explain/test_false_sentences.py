"""Programs about which explain once said something false: what it has to say, and what it must not."""

from __future__ import annotations

import pytest

import autograd_viz as av

from .explained import kinds, run

pytestmark = pytest.mark.torch
LOOP = "m = torch.nn.Linear(2, 1)\no = torch.optim.SGD(m.parameters(), lr=0.1)\n"
ONE_LINE = "for _ in range(3):\n    o.zero_grad(); m(torch.randn(8, 2)).pow(2).mean().backward(); o.step()\n"
QUANTIZE = """
class Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None, None


m = torch.nn.Linear(2, 2)
loss = Quantize.apply(m(torch.ones(1, 2)), 3).sum()
loss.backward()
"""
BLOCK = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 2))

    def forward(self, x):
        return x + self.branch(x)


m = torch.nn.Linear(2, 2)
with torch.no_grad():
    m.bias.fill_(-100.0)
loss = Block()(m(torch.ones(1, 2))).sum()
loss.backward()
"""
FROZEN = """
m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
o = torch.optim.Adam(m.parameters())
for i in range(3):
    o.zero_grad(set_to_none=False)
    m(torch.randn(4, 2)).pow(2).mean().backward()
    o.step()
    m[0].requires_grad_(False)
"""
SCALED = """
m = torch.nn.Linear(2, 1)
o, scaler = torch.optim.SGD(m.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
scaler.scale(m(torch.ones(4, 2)).pow(2).mean()).backward()
torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
"""
STOPS = (
    LOOP
    + """
run = av.watch(m)
error = None
for i in range(3):
    y = m(torch.ones(4, 2)) * (i != 2 or {factor})
    loss = y.pow(2).sum().sqrt()
    o.zero_grad()
    try:
        loss.backward()
        o.step()
    except av.NotFiniteError as e:
        error = e
run.close()
"""
)
ZEROED = """
m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
m[1].register_full_backward_hook(lambda module, sent, arrived: (sent[0] * {factor},))
loss = m(torch.ones(5, 3)).pow(2).mean()
loss.backward()
"""
# the program, what is asked, a part of what is said, a part of what was said
TOLD = {
    "reads of a run of its own": (LOOP + "run = av.watch(m)\n" + ONE_LINE + "run.close()", "m.weight", "", "tolist"),
    "a root after the model": (
        LOOP + "a, b = torch.ones(1, 2), torch.ones(1, 2)\nloss = (m(a) - m(b)).pow(2).sum().sqrt()\nloss.backward()",
        "m.weight",
        "sqrt is 0",
        "check the data",
    ),
    "a recorded loss": (
        LOOP + "with av.record():\n    loss = m(torch.ones(1, 2)).sum()\nloss.backward()", "m.weight", "", "record",
    ),
    "a Function that returns None": (QUANTIZE, "m.weight", "the backward of Quantize returned None", "TBackward"),
    "log of a target of zero": (
        "q = torch.full((2,), 0.5, requires_grad=True)\nt = torch.tensor([0.0, 1.0])\n"
        "loss = (t * torch.log(t / q)).sum()\nloss.backward()",
        "q",
        "log returned -inf",
        "record",
    ),
    "ctc of a short input": (
        "x = torch.randn(4, 1, 5, requires_grad=True)\n"
        "loss = F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2, 3, 4, 1, 2]]), torch.tensor([4]), torch.tensor([6]))\n"
        "loss.backward()",
        "x",
        "zero_infinity=True",
        "clamp",
    ),
    "a clipped scaled gradient": (SCALED, "m.weight", "unscale_", "Raise the limit"),
    "a frozen layer that moves": (FROZEN, "m[0].weight", "still moves it", "if it should learn"),
    "an in-place relu before a skip": (BLOCK, "m.weight", "Leave inplace=True out", "leaky_relu"),
    "an update that is no leaf": (
        "w = torch.ones(2, requires_grad=True)\nw.sum().backward()\nw = w - 0.1 * w.grad\nloss = w.sum()\nloss.backward()",
        "w, loss",
        "no_grad()",
        "requires_grad_() last",
    ),
    "an unused layer": (
        LOOP + "unused = torch.nn.Linear(2, 2)\n" + ONE_LINE, "unused.weight", "no op", "detach",
    ),
    "grad mode left off": (
        "w = torch.ones(2, requires_grad=True)\ntorch.set_grad_enabled(False)\nloss = (w * 2).sum()\n"
        "torch.set_grad_enabled(True)\ntry:\n    loss.backward()\nexcept RuntimeError as e:\n    error = e",
        "error",
        "no_grad()",
        "None of the loss's inputs",
    ),
    "a copy was trained": (
        "import copy\nmeta = torch.nn.Linear(2, 1)\nfast = copy.deepcopy(meta)\nfast(torch.ones(1, 2)).sum().backward()",
        "meta.weight",
        "copy",
        "Use that result",
    ),
    "a run that stops, beside a recorder": (STOPS.format(factor=0), "error", "sqrt is 0", "Before the error"),
    "a hook that zeroes": (ZEROED.format(factor=0), "m[0].weight", "hook of a module returned zeros", "unbind"),
    "a reward of a drawn action": (
        "m = torch.nn.Linear(2, 2)\nd = torch.distributions.Categorical(logits=m(torch.ones(3, 2)))\na = d.sample()\n"
        "reward = float(a[0]) + 1\nloss = -(d.log_prob(a) * reward).mean()\nloss.backward()",
        "m.weight",
        "its gradient",
        "lacks a part",
    ),
    "an input that a physical loss differentiates": (
        LOOP + "x = torch.ones(3, 2, requires_grad=True)\nfor _ in range(3):\n    loss = m(x).pow(2).mean()\n"
        "    o.zero_grad()\n    loss.backward()\n    o.step()",
        "x",
        "else clear its grad yourself",
        "Less likely",
    ),
    "a target that is updated through .data": (
        "import copy\n" + LOOP + "t = copy.deepcopy(m)\nfor _ in range(3):\n"
        "    loss = (m(torch.ones(3, 2)) - t(torch.ones(3, 2)).detach() - 1).pow(2).mean()\n    o.zero_grad()\n"
        "    loss.backward()\n    o.step()\n    for p, q in zip(m.parameters(), t.parameters()):\n"
        "        q.data.copy_(0.9 * q.data + 0.1 * p.data)",
        "t.weight",
        "detach()",
        "first used after",
    ),
    "a frozen copy that got other data": (
        "import copy\n" + LOOP + "t = copy.deepcopy(m).requires_grad_(False)\n"
        "for p in t.parameters():\n    p.data = p.data * 2\n"
        "loss = (m(torch.ones(3, 2)) - t(torch.ones(3, 2))).pow(2).mean()\nloss.backward()",
        "t.weight",
        "does not require grad",
        "was created without",
    ),
    "a bias that a loss of differences does not count": (
        LOOP + "h = m(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).squeeze(1)\nloss = (h[0] - h[1]).pow(2)\nloss.backward()",
        "m.bias",
        "the rows of the gradient that addmm received cancel",
        "sent zero",
    ),
    "DDP waits for a parameter": (
        "error = RuntimeError('Expected to have finished reduction in the prior iteration before starting a new one.')",
        "error",
        "av.gather(loss) names them",
        "its message",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_what_was_said_falsely_is_said_no_more(name: str) -> None:
    program, ask, wanted, unwanted = TOLD[name]
    said = str(run(program.strip(), "torch", ask, watched=True))
    assert wanted in said and unwanted not in said, said


UNWATCHED = {  # the same for programs that nothing has recorded
    "a run that stops": (STOPS.format(factor=0), "error", "sqrt is 0", "what was recorded"),
    "a parameter of a run that stopped": (STOPS.format(factor=0), "m.weight", "sqrt is 0", "what was recorded"),
    "a hook that zeroes": (ZEROED.format(factor=0), "m[0].weight", "not recorded", "returned None"),
}


@pytest.mark.parametrize("name", UNWATCHED)
def test_what_nobody_has_recorded_is_not_told_falsely(name: str) -> None:
    program, ask, wanted, unwanted = UNWATCHED[name]
    said = str(run(program.strip(), "torch", ask))
    assert wanted in said and unwanted not in said, said


@pytest.mark.parametrize(
    ("program", "ask"),
    [(STOPS.format(factor=1), "m"), (ZEROED.format(factor=2), "m[0].weight")],
)
@pytest.mark.parametrize("watched", [True, False])
def test_their_innocent_twins_are_not_accused(program: str, ask: str, watched: bool) -> None:
    said = str(run(program.strip(), "torch", ask, watched))
    assert "sqrt is 0" not in said and "returned zeros" not in said and "returned None" not in said, said


def test_an_error_of_the_program_s_own_is_not_that_of_a_run() -> None:
    program = STOPS.format(factor=1) + "error = FloatingPointError('nan')"
    assert "knows no more" in str(run(program.strip(), "torch", "error", watched=True))


@pytest.mark.parametrize(("detach", "arrows"), [(".detach()", 1), ("", 0)])
def test_the_map_of_a_discriminators_loss_names_the_detach(detach: str, arrows: int) -> None:
    torch = pytest.importorskip("torch")
    d, g, real, z = torch.nn.Linear(2, 1), torch.nn.Linear(3, 2), torch.randn(4, 2), torch.randn(4, 3)
    names = {"d": d, "g": g, "real": real, "z": z, "softplus": torch.nn.functional.softplus}
    with av.record():
        loss = eval(f"softplus(-d(real)).mean() + softplus(d(g(z){detach})).mean()", names)
    assert av.map(loss, params={"d": d, "g": g}).svg.count("no gradient goes back") == arrows


def test_dropout_in_place_in_evaluation_mode_writes_nothing() -> None:
    net = "torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(True), torch.nn.Dropout(0.5, inplace=True))"
    answer = run(f"net = {net}.eval()\nnet(torch.rand(4, 3)).sum().backward()", "torch", "net[0].weight", watched=True)
    assert "written_as_data" not in kinds(answer), answer
