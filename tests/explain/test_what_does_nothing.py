"""Lines that seem to do something, and do nothing or too much: each fault is told, its near twins are not."""

from __future__ import annotations

import warnings

import pytest

import autograd_viz as av

from .checked import BEGIN, found
from .explained import told

pytestmark = pytest.mark.torch
AVERAGE = """
import copy
net = nn.Linear(4, 2)
mean = copy.deepcopy(net).requires_grad_(False)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(4):
    opt.zero_grad(); net(torch.randn(8, 4)).pow(2).mean().backward(); opt.step()
    with torch.no_grad():
        for m, p in zip(mean.parameters(), net.parameters()):
            {0}
"""
CLIPPED = """
net = nn.Linear(4, 1)
opt = optim.RMSprop(net.parameters(), 1e-3)
for i in range(4):
    opt.zero_grad(); (net(torch.randn(8, 4)).mean() - net(torch.randn(8, 4)).mean()).backward(); opt.step()
    kept = []
    for p in net.parameters():
        {0}
"""
SAMPLED = """
actor, net = nn.Linear(3, 2), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
oa, oq = optim.Adam(actor.parameters(), 1e-3), optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    s = torch.randn(16, 3)
    q_loss = (net(torch.cat([s, torch.rand(16, 1)], 1)) - torch.randn(16, 1)).pow(2).mean()
    oq.zero_grad(); q_loss.backward(); oq.step()
    mu, spread = actor(s).chunk(2, 1)
    d = torch.distributions.Normal(mu, spread.exp())
    u = d.{0}()
    loss = {1}
    oa.zero_grad(); loss.backward(); oa.step()
"""
SOFT = "(0.01 * d.log_prob(u) - net(torch.cat([s, u.tanh()], 1))).mean()"
SCORE = "-(d.log_prob(u) * net(torch.cat([s, u], 1)).detach()).mean() + 0 * (net(torch.cat([s, u], 1)) - 1).pow(2).mean()"
TEACHER = """
x, y = torch.randn(32, 6), torch.arange(32) % 3
teacher, net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)), nn.Linear(6, 3)
first = optim.Adam(teacher.parameters(), 1e-2)
for i in range(2):
    first.zero_grad(); F.cross_entropy(teacher(x), y).backward(); first.step()
opt = optim.Adam([*net.parameters(), {0}], 1e-2)
for i in range(3):
    s, t = net(x), teacher(x)
    loss = F.kl_div(F.log_softmax(s, 1), F.softmax(t, 1), reduction="batchmean"){1}
    opt.zero_grad(); loss.backward(); opt.step()
"""
HINGE = """
net, X = nn.Linear(4, 1), torch.randn(12, 4)
y = {0}
loss = torch.clamp(1 - y[:8] * net(X[:8]).squeeze(1), min=0).mean()
loss.backward()
"""
WEIGHTED = """
net, w = nn.Linear(6, 4), nn.Parameter(torch.ones(2))
net.w = w
opt = optim.Adam(net.parameters(), 1e-2)
for i in range(3):
    out = net(torch.randn(8, 6))
    a, b = F.cross_entropy(out[:, :3], torch.arange(8) % 3), F.mse_loss(out[:, 3], torch.randn(8))
    loss = {0}
    opt.zero_grad(); loss.backward(); opt.step()
"""
CRITIC = """
actor, net = nn.Sequential(nn.Linear(3, 1), nn.Tanh()), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
oa, oc = optim.Adam(actor.parameters(), 1e-3), optim.Adam(net.parameters(), 1e-3)
for i in range(4):
    s, a, r = torch.randn(16, 3), torch.rand(16, 1), torch.randn(16, 1)
    oa.zero_grad(); oc.zero_grad()
    (-net(torch.cat([s, actor(s)], 1)).mean()).backward(); oa.step(){0}
    F.mse_loss(net(torch.cat([s, a], 1)), r).backward(); oc.step()
"""
HEADS = """
net, a, b = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
on, oa, ob = (optim.SGD(m.parameters(), 1e-3) for m in (net, a, b))
for i in range(4):
    on.zero_grad(); oa.zero_grad(); ob.zero_grad()
    h = net(torch.randn(8, 4))
    F.mse_loss(a(h), torch.randn(8, 1)).backward(); oa.step()
    F.mse_loss(b(net(torch.randn(8, 4))), torch.randn(8, 1)).backward(); ob.step(); on.step()
"""
FOCAL = """
net, y, gain = nn.Linear(4, 3), torch.arange(12) % 3, torch.tensor([0.2, 0.5, 0.9])
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    logp = F.log_softmax(net(torch.randn(12, 4)), 1).gather(1, y[:, None]).squeeze(1)
    loss = ({0}gain[y] * (1 - logp.exp()) ** 2 * logp).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
TRANSLATED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Embedding(9, 4), nn.Embedding(9, 4)
        self.encoder, self.decoder = nn.GRU(4, 8, batch_first=True), nn.GRU(4, 8, batch_first=True)
        self.head = nn.Linear(8, 9)

    def forward(self, source, target):
        _, h = self.encoder(self.a(source))
        return self.head(self.decoder(self.b(target), h)[0])

net = Net()
opt = optim.Adam(net.parameters(), 1e-3)
source, target = torch.randint(1, 9, (16, 5)), torch.randint(1, 9, (16, 6))
for i in range(3):
    loss = {0}
    opt.zero_grad(); loss.backward(); opt.step()
"""
SPREAD = """
net = nn.Linear(2, 1)
G = torch.tensor({0})
G = (G - G.mean()) / (G.std() + 1e-9)
loss = (net(torch.randn(len(G), 2)).squeeze(1) * G).sum()
loss.backward()
"""
PADDED = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
net, rnn = nn.Linear(6, 2), nn.LSTM(4, 6, batch_first=True)
packed = pack_padded_sequence(torch.randn(3, 5, 4), torch.tensor({0}), batch_first=True, enforce_sorted=False)
out, (h, c) = rnn(packed)
out, sizes = pad_packed_sequence(out, batch_first=True)
F.cross_entropy(net({1}), torch.tensor([0, 1, 0])).backward()
"""
PICTURE = """
net = nn.Conv2d(3, 4, 3).requires_grad_(False)
image = torch.rand(1, 3, 8, 8, requires_grad=True)
opt = optim.Adam([image], lr=0.05)
for i in range(4):
    opt.zero_grad(); net(image).pow(2).mean().backward(); opt.step()
    {0}
"""
CODES = """
net, table, decoder = nn.Linear(6, 3), nn.Embedding(8, 3), nn.Linear(3, 6)
x = torch.randn(16, 6)
z = net(x)
code = table(torch.cdist(z, table.weight).argmin(1))
near = F.mse_loss(code, z.detach())
{0}
(F.mse_loss(decoder(code), x) + near).backward()
"""
LOADED = """
net, other = nn.Linear(4, 2), nn.Linear(4, 2)
net.load_state_dict({0}, strict=False)
F.mse_loss(net(torch.randn(8, 4)), torch.zeros(8, 2)).backward()
"""
KINDS = {  # the fault, its twins, what is said of the fault alone
    "an average of weights that is given to a name": (
        AVERAGE.format("m = 0.9 * m + 0.1 * p"),
        [AVERAGE.format("m.mul_(0.9).add_(p, alpha=0.1)"), AVERAGE.format("m.copy_(0.9 * m + 0.1 * p)"),
         AVERAGE.format("m = m.mul_(0.9); m += 0.1 * p"), AVERAGE.format("m.data = 0.9 * m + 0.1 * p")],
        "gives the name m to a new tensor",
    ),
    "weights that are clamped, and nothing keeps them": (
        CLIPPED.format("p.data.clamp(-0.01, 0.01)"),
        [CLIPPED.format("p.data.clamp_(-0.01, 0.01)"), CLIPPED.format("kept.append(p.data.clamp(-0.01, 0.01))"),
         CLIPPED.format("p.data = p.data.clamp(-0.01, 0.01)"), CLIPPED.format("torch.clamp(p.data, -0.01, 0.01, out=p.data)")],
        "returns a new tensor, which nothing keeps",
    ),
    "a score of a draw without a path": (
        SAMPLED.format("sample", SOFT), [SAMPLED.format("rsample", SOFT), SAMPLED.format("sample", SCORE)],
        "Use rsample()",
    ),
    "a teacher in the optimizer of its student": (
        TEACHER.format("*teacher.parameters()", ""),
        [TEACHER.format("", ""), TEACHER.format("*teacher.parameters()", " + F.cross_entropy(t, y)"),
         TEACHER.format("*teacher.parameters()", "").replace("teacher", "peer")],
        "Adam trains teacher as well as net",
    ),
    "a hinge of labels 0 and 1": (
        HINGE.format("(torch.arange(12) % 2).float()"), [HINGE.format("(torch.arange(12) % 2).float() * 2 - 1")],
        "clamp(1 - y * x) takes the labels 1 and -1",
    ),
    "learned weights of losses": (
        WEIGHTED.format("w[0] * a + w[1] * b"),
        [WEIGHTED.format("(w.softmax(0) * torch.stack([a, b])).sum()"),
         WEIGHTED.format("((-w).exp() * torch.stack([a, b]) + w).sum()"),
         WEIGHTED.format("w[0] * a + w[1] * b").replace("opt.step", "w.grad.neg_(); opt.step"),
         WEIGHTED.format("w[0] * a + w[1] * b - w.log().sum()"), WEIGHTED.format("a + b + 0.1 * w.pow(2).sum()"),
         WEIGHTED.format("w[0] * a + w[1] * b + (w.sum() - 2).pow(2)")],
        "and nothing holds it",
    ),
    "a gradient of the actor's loss in the critic's step": (
        CRITIC.format(""), [CRITIC.format("; oc.zero_grad()"), HEADS], "which the step of net uses",
    ),
    "a focal loss with a plus": (
        FOCAL.format(""), [FOCAL.format("-"), FOCAL.format("-1.0 * ")], "enters the loss with a plus",
    ),
    "a decoder that gets its targets": (
        TRANSLATED.format("F.cross_entropy(net(source, target).transpose(1, 2), target)"),
        [TRANSLATED.format("F.cross_entropy(net(source, target[:, :-1]).transpose(1, 2), target[:, 1:])"),
         TRANSLATED.format("F.cross_entropy(net(target, target.roll(1, 1)).transpose(1, 2), target)")],
        "the tokens that the model gets",
    ),
    "a spread of one element": (
        SPREAD.format("[2.0]"), [SPREAD.format("[2.0, 3.0]"), SPREAD.format("[2.0]").replace("std()", "std(correction=0)")],
        "std() or var() of one element divides by 0",
    ),
    "the last step of padded rows": (
        PADDED.format("[5, 2, 3]", "out[:, -1]"),
        [PADDED.format("[5, 5, 5]", "out[:, -1]"), PADDED.format("[5, 2, 3]", "h[-1]"),
         PADDED.format("[5, 2, 3]", "out[torch.arange(3), sizes - 1]")],
        "takes the last step of padded rows",
    ),
    "a name that a line of the loop gives to another tensor": (
        PICTURE.format("image = image.clamp(0, 1).detach().requires_grad_()"),
        [PICTURE.format("image.data.clamp_(0, 1)"),
         PICTURE.format("image = image.clamp(0, 1).detach().requires_grad_(); opt = optim.Adam([image], lr=0.05)")],
        "steps the one that had its name before",
    ),
    "a code that is looked up": (
        CODES.format(""), [CODES.format("code = z + (code - z).detach()")], "argmin() has no gradient",
    ),
    "a dictionary of other keys": (
        LOADED.format("{'module.' + k: v for k, v in other.state_dict().items()}"),
        [LOADED.format("other.state_dict()"), LOADED.format("{'weight': other.weight, 'head.bias': other.bias}"),
         LOADED.format("{}")],
        "found none of the parameters: not weight, but module.weight",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_fault_is_told_and_its_twins_are_not(name: str) -> None:
    fault, twins, said = KINDS[name]
    assert said in str(found(BEGIN + fault, "torch"))
    for twin in twins:
        answer = str(found(BEGIN + twin, "torch"))
        assert said not in answer, (twin, answer)


def asked(program: str, ask: str) -> str:
    import torch

    return str(told(BEGIN + program, ask, torch=torch))


def test_a_gradient_of_an_earlier_phase_that_no_step_uses_is_no_fault() -> None:
    program = TEACHER.format("", "").replace("s, t = net(x), teacher(x)", "s, t = net(x), teacher(x).detach()")
    assert "no step() uses it" in asked(program, "teacher[0].weight")
    used = program.replace("opt.step()\n", "opt.step(); first.step()\n")
    assert "left over" in asked(used, "teacher[0].weight")


def test_a_switch_on_a_module_switches_nothing_on() -> None:
    program = """
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).requires_grad_(False)
net[1].requires_grad{0}
error = None
try:
    net(torch.randn(8, 4)).sum().backward()
except RuntimeError as e:
    error = e
"""
    assert "net.1.requires_grad = True sets an attribute of the module" in asked(program.format(" = True"), "error")
    assert "Nothing stands out" in asked(program.format("_()"), "error")


def test_a_gradient_of_the_wrong_shape_is_told_with_both_shapes() -> None:
    program = """
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w.t()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, x.t() @ g

error = None
try:
    Times.apply(torch.randn(8, 6), torch.randn(4, 6, requires_grad=True)).sum().backward()
except RuntimeError as e:
    error = e
"""
    said = asked(program, "error")
    assert "Gradient 1 that TimesBackward returned has the shape [6, 4], and its input [4, 6]" in said


def test_a_layer_that_some_passes_skip_is_used_at_times() -> None:
    program = """
net, head = nn.ModuleList(nn.Linear(4, 4) for _ in range(2)), nn.Linear(4, 1)
opt = optim.SGD([*net.parameters(), *head.parameters()], 1e-2)
for i in range(12):
    h = net[0](torch.randn(8, 4))
    if {0}:
        h = net[1](h)
    opt.zero_grad(); head(h).pow(2).mean().backward(); opt.step()
"""
    said = "no op used it in the forward pass of the last backward()"
    assert said in str(found(BEGIN + program.format("i > 99"), "torch"))
    assert said not in str(found(BEGIN + program.format("i in (1, 3)"), "torch"))


def test_a_limit_for_each_element_scales_no_gradient() -> None:
    program = "net = nn.Linear(4, 2)\nnet(torch.ones(8, 4)).sum().backward()\nnn.utils.clip_grad_{0}_(net.parameters(), 0.5)\n"
    assert "scaled its gradient" in asked(program.format("norm"), "net.weight")
    assert "Nothing stands out" in asked(program.format("value"), "net.weight")


def test_a_slice_that_is_made_for_grad_was_not_used() -> None:
    program = """
net, error = nn.Linear(2, 1), None
x = torch.rand(8, 2, requires_grad=True)
try:
    torch.autograd.grad(net(x).sum(), {0})
except RuntimeError as e:
    error = e
"""
    assert "x[:, :1] makes a new tensor" in asked(program.format("x[:, :1]"), "error")
    assert "makes a new tensor" not in asked(program.format("torch.ones(2, requires_grad=True)"), "error")
    assert "it was created after the loss" in asked(program.format("x * 2"), "error")


RUNS = {
    "a loop over batches": "for x in torch.randn(3, 8, 4):\n        x = net(x)",
    "a value that is read after the loop": "for p in net.parameters():\n        p = p.abs()\n    print(p.max())",
    "a loop that measures time": "for _ in range(3):\n        net.weight.mul(2.0)",
    "a write behind .data": "for p in net.parameters():\n        p = p.data.mul_(0.9)",
    "a function that writes": "f = lambda t: t.mul_(0.9)\n    for p in net.parameters():\n        p = f(p.data)",
    "a match": "for p in net.parameters():\n        match p.ndim:\n            case 1:\n                q = p.abs()",
    "a set": "seen = set()\n    for p in net.parameters():\n        seen.add(p.abs().sum())",
}


@pytest.mark.parametrize("name", RUNS)
def test_a_loop_that_is_not_over_parameters_or_is_read_rebinds_nothing(name: str) -> None:
    program = """
net = nn.Linear(4, 2)
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    opt.zero_grad(); net(torch.randn(8, 4)).pow(2).mean().backward(); opt.step()
with torch.no_grad():
    """
    assert "new tensor" not in str(found(BEGIN + program + RUNS[name] + "\n", "torch"))


def test_sizes_that_are_symbols_get_no_guard() -> None:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    table, at, rows = torch.rand(9), torch.randint(0, 9, (6,)), torch.rand(6, 6)
    for f, given in (
        (lambda a, b: a * b, (torch.ones(6, 4), torch.ones(4))),
        (lambda a, b: a == b, (torch.ones(6, 1), torch.ones(4))),
        (lambda t, i, m: t[i] * m, (table, at, rows)),
    ):
        plain = make_fx(f, tracing_mode="symbolic")(*given)
        with av.watch() as watch:
            watched = make_fx(f, tracing_mode="symbolic")(*given)
            assert not watch.faults
        assert len(watched.shape_env.guards) == len(plain.shape_env.guards)
    with av.watch() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("error", torch.jit.TracerWarning)
        torch.jit.trace(lambda m, i: table[i] * m, (rows, at))
        assert not watch.faults


def test_a_compiled_function_that_fills_a_module_is_compiled_no_more_often_than_without_a_watch() -> None:
    import torch
    from torch._dynamo.testing import CompileCounter

    net = torch.nn.Linear(4, 2)

    def filled(x: torch.Tensor) -> torch.Tensor:
        net.load_state_dict(net.state_dict())
        return net(x)

    def frames() -> int:
        torch._dynamo.reset()
        counter = CompileCounter()
        torch.compile(filled, backend=counter)(torch.ones(3, 4))
        return counter.frame_count

    plain = frames()
    with av.watch():
        assert 0 < frames() <= plain  # what fills the module is left out
