"""Kinds of faults in losses and graphs that people post about: each is told, and its nearest innocent program is not."""

from __future__ import annotations

import pytest

from .checked import CLASSES, HAND, STEP, assert_told_apart

pytestmark = pytest.mark.torch
ONE = (
    """
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1){0})
opt = optim.Adam(net.parameters(), {2})
for i in range(4):
    x, y = torch.randn(24, 4), torch.randn(24, 1)
    loss = {1}
"""
    + STEP
)
PLACES = "net = nn.Conv1d(4, 6, 1)\nout = net(torch.randn(8, 4, 12))\ny = torch.arange(96) % 6\n"
DISTILL = """
net, teacher = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)
x = torch.randn(8, 4)
loss = F.kl_div({0}, reduction="batchmean")
loss.backward()
"""
NORMAL = """
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
x = torch.randn(8, 6)
mean, log = enc(x).chunk(2, 1)
z = {0}
loss = F.mse_loss(dec(z), x) + (mean ** 2 + log.exp() - log).mean()
loss.backward()
"""
ROUNDED = """
enc, dec = nn.Linear(6, 4), nn.Linear(4, 6)
x = torch.randn(8, 6)
z = enc(x).tanh()
loss = F.mse_loss(dec(z + (torch.sign(z) - z){0}), x)
loss.backward()
"""
FIELD = """
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.rand(9, 1, requires_grad=True)
u = net(x)
(d,) = torch.autograd.grad(u.sum(), x{0})
loss = (d - x.cos()).pow(2).mean() + net(torch.ones(1, 1)).pow(2).mean()
loss.backward()
"""
OWN = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = {0}
        self.head = nn.Linear(3, 1)
    def forward(self, x):
        return self.head((x @ self.w).relu())
net = Net()
opt = optim.Adam(net.parameters(), 1e-3)
loss = net(torch.randn(8, 4)).mean()
opt.zero_grad(); loss.backward(retain_graph=True); opt.step()
"""
OVERLAP = "net = nn.Conv2d(1, 1, 3, padding=1)\nopt = optim.Adam(net.parameters(), 1e-2)\n" + (
    "for i in range(4):\n    x = torch.rand(4, 1, 8, 8)\n    y = (x > 0.5).float()\n    p = net(x).sigmoid()\n    loss = {0}\n"
    + STEP
)
PENALTY = """
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
opt = optim.SGD(net.parameters(), 1e-3)
for i in range(3):
    x, y = torch.randn(32, 4), torch.randn(32, 3)
    h = net[0](x)
    loss = F.mse_loss(net[1:](h), y) + 0.5 * {0}.abs().sum()
"""
PENALTY += STEP
MASKED = """
q = nn.Linear(4, 4)
opt = optim.SGD(q.parameters(), 0.1)
mask = torch.ones(5, 5).{0}.bool()
for i in range(3):
    x = torch.randn(2, 5, 4)
    scores = (q(x) @ x.transpose(1, 2)).masked_fill(mask, -float("inf"))
    loss = (scores.softmax(-1) @ q(x)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
HOLED = """
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), 0.1)
x = torch.randn(8, 4)
{0}
for i in range(3):
    loss = net(x){1}.mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
TAGS = """
net = nn.Linear(6, 5)
opt = optim.Adam(net.parameters(), 1e-3)
y = torch.arange(28).view(7, 4) % 5
for i in range(3):
    scores = {0}
    loss = -scores.gather(2, y.unsqueeze(2)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
DEGREES = """
net = nn.Linear(4, 2)
opt = optim.Adam(net.parameters(), 0.1)
x, weights = torch.randn(12, 4), torch.linspace(-1, 1, 144).view(12, 12){0}
def scaled(w):
    d = w.sum(1).pow(-0.5)
    return d[:, None] * w * d
for i in range(4):
    loss = F.cross_entropy(scaled(weights) @ net(x){1}, torch.arange(12) % 2)
    opt.zero_grad(); loss.backward(); opt.step()
"""
BOOTSTRAP = """
q, t = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), nn.Linear(4, 1)
s = torch.randn(24, 4)
with torch.no_grad():
    y = {0}
loss = ((q(s) - y) ** 2).mean()
loss.backward()
"""
ALL_PAIRS = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
a, b, y = net(torch.randn(24, 4)), torch.randn(24, 1), torch.randn(24)
loss = {0}
loss.backward()
"""
ALWAYS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 32), nn.Linear(32, 1)
    def forward(self, x):
        return self.b(F.dropout(self.a(x).relu(), 0.2{0}))
net = Net()
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    loss = F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1))
    opt.zero_grad(); loss.backward(); opt.step()
net.eval()
with torch.no_grad():
    drawn = [net(torch.randn(8, 4)) for _ in range(9)]
"""
RESTING = """
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)
    @staticmethod
    def backward(ctx, g):
        s = torch.sigmoid(ctx.saved_tensors[0])
        return {0}s * (1 + ctx.saved_tensors[0] * (1 - s))
x = torch.full((8, 4), -1.2784645, requires_grad=True)  # the least of Swish
Swish.apply(x * 1).sum().backward()
"""
ONE_NET = """
net = nn.Linear(4, 3)
target_net = {0}
opt = optim.SGD([*net.parameters(), *target_net.parameters()], 0.1)
for i in range(4):
    loss = F.mse_loss(net(torch.randn(8, 4)), target_net(torch.randn(8, 4)))
    opt.zero_grad(); loss.backward(); opt.step()
"""
PHYSICS = """
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.rand(9, 1, requires_grad=True)
    u = net(x)
    d = torch.autograd.grad(u, x, torch.ones_like(u){0})[0]
    loss = ({1}).pow(2).mean()
"""
PHYSICS += STEP
ECHO = """
table, rnn, head = nn.Embedding(9, 16), nn.GRU(16, 16, batch_first=True), nn.Linear(16, 9)
opt = optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()], 1e-3)
for i in range(3):
    {0}
    loss = F.cross_entropy(head(rnn(table(x))[0]).reshape(-1, 9), y.reshape(-1))
"""
ECHO += STEP
AHEAD = """
table, layer, head = nn.Embedding(9, 16), nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), nn.Linear(16, 9)
tokens = torch.randint(0, 9, (4, 8))
x, y = {0}
loss = F.cross_entropy(head(layer(table(x))).transpose(1, 2), y)
loss.backward()
"""
INFINITE = (
    "w, mask = torch.tensor([1.0, 0.0], requires_grad=True), torch.tensor([1.0, 0.0])\nloss = ({0}).sum()\nloss.backward()"
)
MIXED = """
a, b, net = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(4, 3)
alpha = nn.Parameter(torch.tensor(0.5))
opt = optim.Adam([alpha], 1e-2)
for i in range(3):
    mixed = {{n: alpha * p.detach() + 1 for n, p in a.named_parameters()}}
    {0}
"""
MIXED += STEP
SCALED = """
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, {0}
net, w = nn.Linear(4, 3), nn.Parameter(torch.ones(3))
opt = optim.SGD([*net.parameters(), w], 0.1)
for i in range(3):
    loss = Scale.apply(net(torch.randn(8, 4)), w).pow(2).mean()
"""
SCALED += STEP
RIDGE = """
net, old = nn.Linear(4, 3), copy.deepcopy(nn.Linear(4, 3))
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
    loss = loss + 0.01 * {0}
"""
RIDGE += STEP
INSIDE = """
net = nn.Linear(4, 1)
x = torch.randn(8, 4{0})
g = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
(g.norm(dim=1) - 1).pow(2).mean().backward()
"""
HEADS = (
    """
qkv, out = nn.Linear(8, 24), nn.Linear(8, 3)
opt = optim.Adam([*qkv.parameters(), *out.parameters()], 1e-3)
for i in range(3):
    q, k, v = qkv(torch.randn(5, 6, 8)).view(5, 6, 3, 2, 4).permute(2, 0, 3, 1, 4)
    mixed = {0} @ v
    loss = F.cross_entropy(out(mixed.transpose(1, 2).reshape(5, 6, 8)).flatten(0, 1), torch.arange(30) % 3)
"""
    + STEP
)
UNNAMED = """
q, k, drop = nn.Linear(8, 8), nn.Linear(8, 8), nn.Dropout({1})
opt = optim.Adam([*q.parameters(), *k.parameters()], 1e-3)
for i in range(3):
    x = torch.randn(6, 5, 8)
    scores = torch.bmm(q(x), k(x).transpose(1, 2))
    weights = {0}
    loss = torch.bmm(drop(weights), x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
SMOOTH = """
class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = {0}
        ctx.save_for_backward(x, s)
        return {1}
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        {2}
net = nn.Linear(3, 4)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.randn(8, 3, requires_grad=True)
    out = Swish.apply(net(x))
    slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
    loss = slope.pow(2).mean() + out.mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
SIGMOID = ("torch.sigmoid(x)", "x * s", "return g * (s + x * s * (1 - s))")
EACH = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.randn(16, 4)
    out = net(x)
    error, size = (out - x).pow(2).sum(-1), out.abs()
    loss = {0}
    opt.zero_grad(); loss.backward(); opt.step()
"""
SPEECH = """
net, out, ctc = nn.LSTM(6, 8, batch_first={0}), nn.Linear(8, 5), nn.CTCLoss()
opt = optim.Adam([*net.parameters(), *out.parameters()], 1e-3)
for i in range(3):
    heard, y = torch.randn(4, 6, 12), torch.randint(1, 5, (4, 3))  # (batch, features, time)
    scores = out(net(heard.permute({1}))[0]).log_softmax(-1){2}
    loss = ctc(scores, y, torch.full((4,), 12), torch.full((4,), 3))
    opt.zero_grad(); loss.backward(); opt.step()
"""
CURVED = """
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt, grad = optim.Adam(net.parameters(), 1e-3), torch.autograd.grad
def residual(x):
    x = x.requires_grad_()
    u = net(x)
    first = grad(u, x, torch.ones_like(u), create_graph=True)[0]
    {0}
for i in range(3):
    loss = residual(torch.rand(9, 2)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
WHOLE = """second = grad(first, x, torch.ones_like(first), create_graph=True)[0]
    return second[:, [0]] + second[:, [1]] + u"""
COLUMN = """second = grad(first[:, 0].sum(), x, create_graph=True)[0]
    return second[:, [0]] + u"""
PACKED = (
    """
net, weigh = nn.Linear(4, 1), nn.Parameter(torch.zeros(2))
opt = optim.Adam([*net.parameters(), weigh], 1e-3)
for i in range(3):
    out = net(torch.randn(24, 4))
    losses = {0}([out.abs().mean(), out.pow(2).mean()])
    loss = ((-weigh).exp() * losses + weigh).sum()
"""
    + STEP
)
PAIRS = {  # the fault, its twin, what is said of the fault alone
    "a logarithm of logarithms": (
        CLASSES.format(", nn.LogSoftmax(1)", "F.nll_loss(net(x).log(), y)"),
        CLASSES.format(", nn.Softmax(1)", "F.nll_loss(net(x).log(), y)"),
        "AV201 log takes the logarithm of what log_softmax gives",
    ),
    "a softmax that was clamped": (
        CLASSES.format(", nn.Softmax(1)", "F.cross_entropy(net(x).clamp(1e-6, 1), y)"),
        CLASSES.format("", "F.cross_entropy(net(x).clamp(-9, 9), y)"),
        "AV201 log_softmax, as in cross_entropy, takes logits",
    ),
    "a row and a column of data": (
        ONE.format("", "F.l1_loss(net(x).squeeze(1), y)", 1e-3), ONE.format("", "F.l1_loss(net(x), y)", 1e-3), "AV203",
    ),
    "a row and a column of data, by hand": (
        ONE.format("", "(y - net(x).squeeze(1)).abs().mean()", 1e-3),
        ONE.format("", "(y - net(x)).abs().mean()", 1e-3),
        "AV203",
    ),
    **{
        f"a column, and a row of data: {out}": (HAND.format(out, "out - y"), HAND.format(out, "out - y[:, None]"), "AV203")
        for out in ("x @ w + b", "x.mm(w).add(b)", "torch.add(x @ w, b)", "w * x + b", "2 * (x @ w) - b")
    },
    "a row that a teacher gave": (BOOTSTRAP.format("t(s).squeeze(1)"), BOOTSTRAP.format("t(s)"), "AV203"),
    "a matrix that a teacher gave": (BOOTSTRAP.format("t(s).squeeze(1)"), BOOTSTRAP.format("t(s) @ t(s).T"), "AV203"),
    **{
        f"pairs that are meant: {loss}": (ALL_PAIRS.format("(a - y).abs().mean()"), ALL_PAIRS.format(loss), "AV203")
        for loss in (
            "F.softplus(a - a.squeeze(1)).mean()",
            "torch.exp(-(a - b.squeeze(1)) ** 2).mean()",
            "2 * (a - b.squeeze(1)).abs().mean() - (a - a.squeeze(1)).abs().mean()",
            "((a - y) ** 2 * torch.eye(24)).sum()",
            "(1 - (a - y)).relu().mean()",
        )
    },
    "a backward that is tested where its slope is 0": (RESTING.format(""), RESTING.format("g * "), "AV701"),
    "dropout that is wanted": (ALWAYS.format(""), ALWAYS.format(", training=True"), "AV503"),
    "dropout that is wanted, in short": (ALWAYS.format(""), ALWAYS.format(", True"), "AV503"),
    "a target that is another network": (
        ONE_NET.format("copy.deepcopy(net)"), ONE_NET.format("net"), "trains target_net as well as net",
    ),
    "a rate that moves all weights": (
        ONE.format("", "(net(x) - y).pow(2).mean()", 2.0), ONE.format("", "(net(x) - y).pow(2).mean()", 0.1), "AV408",
    ),
    "a last relu, and negative targets": (
        ONE.format(", nn.ReLU()", "F.mse_loss(net(x), 3 * y)", 1e-3),
        ONE.format(", nn.ReLU()", "F.mse_loss(net(x), y.abs())", 1e-3),
        "the predictions are the result of relu",
    ),
    "the largest probability, and numbers of classes": (
        CLASSES.format(", nn.Softmax(1)", "F.mse_loss(net(x).max(1)[0], y.float())"),
        CLASSES.format(", nn.Softmax(1)", "F.mse_loss(net(x).max(1)[0], (y == 0).float())"),
        "the predictions are the result of softmax",
    ),
    "classes that stand in the middle": (
        PLACES + "loss = F.cross_entropy(out.view(-1, 6), y)\nloss.backward()",
        PLACES + "loss = F.cross_entropy(out.transpose(1, 2).reshape(-1, 6), y)\nloss.backward()",
        "AV208",
    ),
    "predictions as the target of kl_div": (
        DISTILL.format("teacher(x).softmax(1), net(x).log_softmax(1)"),
        DISTILL.format("teacher(x).log_softmax(1), net(x).softmax(1)"),
        "AV211 kl_div got the predictions as its target",
    ),
    "normal() of what is trained": (
        NORMAL.format("torch.normal(mean, log.exp())"), NORMAL.format("mean + log.exp() * torch.randn_like(log)"), "AV106",
    ),
    "a straight way that is not straight": (ROUNDED.format(""), ROUNDED.format(".detach()"), "adds z back to a difference"),
    "a derivative without a graph, beside its input": (FIELD.format(""), FIELD.format(", create_graph=True"), "AV106"),
    "a parameter times a number": (
        OWN.format("nn.Parameter(torch.randn(4, 3)) * 0.1"), OWN.format("nn.Parameter(torch.randn(4, 3) * 0.1)"), "AV107",
    ),
    "an overlap that is lowered": (
        OVERLAP.format("2 * (p * y).sum() / (p.sum() + y.sum())"),
        OVERLAP.format("1 - 2 * (p * y).sum() / (p.sum() + y.sum())"),
        "the loss is the overlap",
    ),
    "a share that is no overlap": (
        OVERLAP.format("2 * (p * y).sum() / (p.sum() + y.sum())"),
        OVERLAP.format("(p * (y - net(x)) ** 2).sum() / (p.sum() + 1e-6)"),
        "the loss is the overlap",
    ),
    "a cosine that is lowered": (
        ONE.format("", "F.cosine_similarity(net(x), y, 0).mean()", 1e-3),
        ONE.format("", "(1 - F.cosine_similarity(net(x), y, 0)).mean()", 1e-3),
        "the loss is cosine_similarity",
    ),
    "a cosine that is lowered, of two outputs": (
        ONE.format("", "F.cosine_similarity(net(x), y, 0).mean()", 1e-3),
        ONE.format("", "F.cosine_similarity(net(x), net(-x), 0).mean()", 1e-3),
        "the loss is cosine_similarity",
    ),
    "a penalty of weights with as many rows as a batch": (
        PENALTY.format("h"), PENALTY.format("net[0].weight"), "AV223",
    ),
    **{
        f"attention whose weights do not sum to one: {weights}": (
            HEADS.format(weights), HEADS.format("(q @ k.transpose(-2, -1)).softmax(-1)"), "softmax runs over dimension",
        )
        for weights in ("(q @ k.transpose(-2, -1)).softmax(1)", "(q @ k.transpose(-2, -1)).softmax(dim=-3)")
    },
    **{
        f"a softmax over what F.softmax() takes: {twin}, {rate}": (
            UNNAMED.format("F.softmax(scores)", rate), UNNAMED.format(twin, rate), "softmax runs over dimension 0",
        )
        for rate in (0.0, 0.5)
        for twin in ("F.softmax(scores, dim=-1)", "F.softmax(scores.flatten(0, 1)).view(6, 5, 5)", "F.softmax(scores, 0)")
    },
    **{
        f"what a Function saves and has made: {twin[0]}": (SMOOTH.format(*SIGMOID), SMOOTH.format(*twin), "AV702")
        for twin in (
            ("x.sigmoid()", "s", "return g * s * (1 - s)"), ("(x > 0).to(x.dtype)", "x * s", "return g * s"),
            ("torch.rand_like(x)", "x * s", "return g * s"),
        )
    },
    "what a Function saves, of which a graph is kept": (
        SMOOTH.format(*SIGMOID), SMOOTH.format(*SIGMOID).replace("create_graph", "retain_graph"), "AV702",
    ),
    "classes of two kinds, as of transitions": (
        TAGS.format("F.log_softmax(net(torch.randn(7, 4, 6)), 1)"),
        TAGS.format("F.log_softmax(net(torch.randn(7, 4, 6)), 1)").replace(
            "unsqueeze(2))", "unsqueeze(2)).squeeze(2).gather(1, y[:, :1] % 4)"
        ),
        "gather takes the classes",
    ),
    **{
        f"the sum of a batch in each of its rows: {sick}; {twin}": (EACH.format(sick), EACH.format(twin), "adds up all 16")
        for sick in ("(error + size.sum()).mean()", "(error - sum(size.sum(-1))).mean()")
        for twin in (
            "(error + size.sum(-1)).mean()", "(error + sum(p.pow(2).sum() for p in net.parameters())).mean()",
            "(error + size.mean()).mean()", "(error + size.sum() / 16).mean()", "(error / size.sum()).mean()",
        )
    },
    **{
        f"a layer whose steps are the batch, for CTC: {twin}": (
            SPEECH.format(True, "2, 0, 1", ""), SPEECH.format(*twin), "ran along the batch",
        )
        for twin in ((True, "0, 2, 1", ".transpose(0, 1)"), (False, "2, 0, 1", ""), (True, "0, 2, 1", ".permute(1, 0, 2)"))
    },
    "a second derivative of both columns, in a function": (CURVED.format(WHOLE), CURVED.format(COLUMN), "AV240"),
    "losses that become numbers": (
        PACKED.format("torch.Tensor"), PACKED.format("torch.stack"), "torch.Tensor() made a new tensor on the path",
    ),
    **{
        f"classes that a softmax over the batch weighs: {twin}": (
            TAGS.format("F.log_softmax(net(torch.randn(7, 4, 6)), 1)"), TAGS.format(twin), "gather takes the classes",
        )
        for twin in ("F.log_softmax(net(torch.randn(7, 4, 6)), 2)", "F.log_softmax(net(torch.randn(7, 4, 6)), -1)")
    },
    "nan of a function of the data, and of all weights by then": (
        DEGREES.format("", ""), DEGREES.format(".abs()", " - (net(x).sub(50).sqrt())"), "w * d returned it so",
    ),
    "nan of the data, and of all weights by then": (
        HOLED.format("x[3, 1] = float('nan')", ""), HOLED.format("", ".sub(9).sqrt()"), "AV301 x holds nan",
    ),
    "rows that a mask hides as a whole": (MASKED.format("tril()"), MASKED.format("triu(1)"), "softmax of masked rows"),
    **{
        f"a derivative without a graph, inside a residual: {twin}": (
            PHYSICS.format(", retain_graph=True", "d + u - x.cos()"), PHYSICS.format(*twin), "AV106",
        )
        for twin in (
            (", create_graph=True", "d + u - x.cos()"), (", retain_graph=True", "u - d.detach()"),
            (", retain_graph=True", "u * d.abs()"), (", retain_graph=True", "net(x + 0.1 * d.sign())"),
        )
    },
    **{
        f"a derivative that is freed: {twin}": (PHYSICS.format("", "d + u"), PHYSICS.format(*twin), "Pass create_graph=True")
        for twin in ((", create_graph=True", "d + u"), ("", "net(x)"))
    },
    **{
        f"an echo that is meant: {twin}": (
            ECHO.format("x = y = torch.tensor([[1, 2, 3, 4], [4, 3, 0, 1]])"), ECHO.format(twin), "AV215",
        )
        for twin in ("x = torch.randint(0, 9, (4, 8)); y = x", "x = torch.randint(0, 9, (4, 8)); y = x.clone()")
    },
    "a shift that is meant": (
        AHEAD.format("tokens[:, :-1], tokens[:, 1:]"), AHEAD.format("tokens, tokens.roll(-1, 1)"), "AV215",
    ),
    **{
        f"weights that get the numbers of a mixture: {line}": (
            MIXED.format(line + "; loss = net(torch.randn(8, 4)).pow(2).mean()"),
            MIXED.format("loss = torch.func.functional_call(net, mixed, torch.randn(8, 4)).pow(2).mean()"),
            said,
        )
        for line, said in (
            ("net.load_state_dict({n: alpha * p for n, p in a.state_dict().items()})", "the weights got the numbers"),
            ("net.weight.data = alpha * a.weight.data", "the weights got the numbers"),
        )
    },
    "a Function that returns None for a parameter": (SCALED.format("None"), SCALED.format("(g * x).sum(0)"), "AV701"),
    "a Function that returns None for what is fixed": (
        SCALED.format("None"), SCALED.format("None").replace("[*net.parameters(), w]", "net.parameters()")
        .replace("nn.Parameter(torch.ones(3))", "torch.ones(3)"), "AV701",
    ),
    **{
        f"a penalty of weights without history: {sick}; {twin}": (RIDGE.format(sick), RIDGE.format(twin), "AV106")
        for sick in ("sum(p.data.pow(2).sum() for p in net.parameters())", "net.weight.detach().norm()")
        for twin in (
            "sum(p.pow(2).sum() for p in net.parameters())", "(net.weight - old.weight.detach()).pow(2).sum()",
            "(loss - loss.detach())", "net.weight.norm() * net.weight.detach().norm()",
        )
    },
    "a gradient of an input that requires none": (
        INSIDE.format(""), INSIDE.format(", requires_grad=True"), "autograd.grad() is asked about x",
    ),
    **{
        f"0 times an infinite {op}": (INFINITE.format(sick), INFINITE.format(twin), said)
        for op, sick, twin, said in (
            ("log", "mask * w.log()", "mask * (w + 1).log()", "log returned -inf"),
            ("quotient", "w / mask * mask", "w / (mask + 1) * mask", "div divides by 0"),
            ("power", "w ** -1 * mask", "(w + 1) ** -1 * mask", "pow returned inf"),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_told_and_its_twin_is_not(name: str) -> None:
    assert_told_apart(*PAIRS[name])
