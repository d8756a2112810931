"""Kinds of faults that people post about: each is told, and its nearest innocent program is not accused of it."""

from __future__ import annotations

import pytest

from .checked import BEGIN, CLASSES, HAND, STEP, found

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
TEACHER = """
student, teacher = nn.Linear(4, 3), nn.Linear(4, 3)
opt = optim.Adam({0}, 1e-3)
for i in range(4):
    x = torch.randn(8, 4)
    loss = F.mse_loss(student(x), teacher(x){1})
    opt.zero_grad(); loss.backward(); opt.step()
"""
DISTILL = """
net, teacher = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)
x = torch.randn(8, 4)
loss = F.kl_div({0}, reduction="batchmean")
loss.backward()
"""
GAN = """
G, D = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = optim.Adam(G.parameters(), 1e-3), optim.Adam(D.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()
for i in range(4):
    og.zero_grad(); od.zero_grad()
    fake = G(torch.randn(32, 4))
    d_loss = bce(D(torch.randn(32, 2)), torch.ones(32, 1)) + bce(D(fake{0}), torch.{1}(32, 1))
    d_loss.backward(); od.step()
    loss = bce(D(G(torch.randn(32, 4))), torch.ones(32, 1))
    loss.backward(); og.step()
"""
ACTOR = """
actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)
oa, oc = optim.Adam(actor.parameters(), 1e-3), optim.Adam(critic.parameters(), 1e-3)
for i in range(4):
    s, a, y = torch.randn(32, 3), torch.rand(32, 1), torch.randn(32, 1)
    value = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    oc.zero_grad(); value.backward(); oc.step()
    loss = {0}critic(torch.cat([s, actor(s)], 1)).mean()
    oa.zero_grad(); loss.backward(); oa.step()
"""
POLICY = """
policy = nn.Linear(4, 2)
opt = optim.Adam(policy.parameters(), 1e-2)
for i in range(4):
    draws = [torch.distributions.Categorical(logits=policy(torch.randn(4))) for _ in range(6)]
    logs, gains = [d.log_prob(d.sample()) for d in draws], torch.tensor([1.0, -1.0, 0.5, -0.5, 2.0, -2.0])
    loss = torch.stack([{0}l * g for l, g in zip(logs, gains)]).sum()
    opt.zero_grad(); loss.backward(); opt.step()
"""
RATIO = """
policy = nn.Linear(4, 2)
opt = optim.Adam(policy.parameters(), 1e-2)
for i in range(4):
    s, gain = torch.randn(8, 4), torch.randn(8)
    old, new = policy(s).log_softmax(1)[:, 0]{0}, policy(s).log_softmax(1)[:, 0]
    loss = -((new - old).exp() * gain).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
AVERAGE = """
net = nn.Linear(4, 3)
mean = copy.deepcopy(net).requires_grad_(False)
opt = optim.SGD(net.parameters(), 0.1)
for i in range(4):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 3)
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        for p, m in zip(net.parameters(), mean.parameters()):
            {0}
"""
FROZEN = """
body, head = nn.Linear(4, 8), nn.Linear(8, 3)
opt = optim.Adam(head.parameters(), 1e-3)
for p in {0}.parameters():
    p.requires_grad = False
for i in range(4):
    loss = F.cross_entropy(head(body(torch.randn(8, 4)).relu()), torch.arange(8) % 3)
    opt.zero_grad(); loss.backward(); opt.step()
"""
TWO = """
net = nn.Linear(4, 3)
a, b = optim.SGD(net.parameters(), 0.1), optim.Adam(net.parameters(), 1e-3)
for i in range(8):
    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 3)
    a.zero_grad(); b.zero_grad(); loss.backward()
    {0}
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
ANEW = "{0}for i in range(8):\n{1}    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 3)\n" + STEP
MADE = "{0}net = nn.Linear(4, 3)\n{0}opt = optim.SGD(net.parameters(), 0.1)\n"
PENALTY = """
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
opt = optim.SGD(net.parameters(), 1e-3)
for i in range(3):
    x, y = torch.randn(32, 4), torch.randn(32, 3)
    h = net[0](x)
    loss = F.mse_loss(net[1:](h), y) + 0.5 * {0}.abs().sum()
"""
PENALTY += STEP
JUDGED = """
judge, net = nn.Sequential(nn.Linear(8, 6), nn.Tanh()){0}, nn.Linear(8, 8)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.randn(16, 8)
    loss = F.mse_loss(judge(net(x)), judge(x).detach())
"""
JUDGED += STEP
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
HALF = """
net = nn.Linear(4, 3).half()
opt = optim.Adam(net.parameters(), 1e-3{0})
for i in range(3):
    loss = F.relu(net(torch.randn(8, 4).half()) - 9).float().mean()
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
ENTROPY = """
mean, log_alpha = nn.Linear(4, 2), torch.zeros(1, requires_grad=True)
opt = optim.Adam([*mean.parameters(), log_alpha], 1e-3)
for i in range(3):
    draw = torch.distributions.Normal(mean(torch.randn(16, 4)), 1.0)
    a = draw.rsample()
    log_pi = (draw.log_prob(a) - (1 - a.tanh() ** 2 + 1e-6).log()).sum(1)
    loss = (log_alpha.exp().detach() * log_pi + a.pow(2).sum(1)).mean() + {0}
    opt.zero_grad(); loss.backward(); opt.step()
"""
ADVANTAGE = """
policy, critic = nn.Linear(4, 3), nn.Linear(4, 1)
opt = optim.Adam([*policy.parameters(), *critic.parameters()], 1e-3)
for i in range(3):
    s, got, logs = torch.randn(16, 4), torch.randn(16), []
    for t in range(3):
        draw = torch.distributions.Categorical(logits=policy(s))
        logs.append(draw.log_prob(draw.sample()))
    values = critic(s).squeeze(1)
    advantage = got - {0}
    loss = -(torch.stack(logs, 1).sum(1) * advantage).mean() + (got - values).pow(2).mean()
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
MODEL = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(20, 8), nn.Linear(8, 20, bias=False)
        self.head.weight = {0}
    def forward(self, x):
        return self.head(self.table(x))
net = Model()
{1}
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.randint(0, 20, (5, 6))
    loss = F.cross_entropy(net(x[:, :-1]).transpose(1, 2), x[:, 1:])
"""
MODEL += STEP
VALUES = """
q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
target = copy.deepcopy(q)
opt = optim.Adam(q.parameters(), 1e-3)
for i in range(3):
    s, after, a, r = torch.randn(32, 4), torch.randn(32, 4), torch.randint(0, 2, (32,)), torch.randn(32)
    loss = F.smooth_l1_loss({0}, {1})
"""
VALUES += STEP
TAKEN, LATER = "q(s).gather(1, a[:, None]).squeeze(1)", "r + 0.9 * target(after).max(1).values.detach()"
SLOW = """
decay = {0}
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)){1}
ema = copy.deepcopy(net).requires_grad_(False)
opt = optim.SGD(net.parameters(), 0.1)
for i in range(4):
    loss = F.cross_entropy(net(torch.randn(24, 4){1}).float(), torch.arange(24) % 3)
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        for e, p in zip(ema.parameters(), net.parameters()):
            {2}
"""
FOLLOW = "e.mul_(decay).add_(p, alpha=1 - decay)"
PARTS = """
net, n = nn.Linear(4, 3), {0}
opt = optim.SGD(net.parameters(), 0.1)
for i in range(13):
    loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3){1}
    loss = loss{2}
    loss.backward()
    if (i + 1) % n == 0:
        opt.step(); opt.zero_grad()
"""
CYCLE = """
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), 0.1)
schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, {0})
for epoch in range(3):
    for batch in range(5):
        loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
        opt.zero_grad(); loss.backward(); opt.step(){1}
    {2}
"""
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
LOSSES = """
net, other = nn.Linear(4, 3), nn.Linear(4, 3)
opt, its = optim.SGD([*net.parameters(), *other.parameters()], 0.1), optim.SGD(other.parameters(), 0.1)
x, y = torch.randn(24, 4), torch.arange(24) % 3
for i in range(4):
    x.requires_grad_({0})
    one, two = F.cross_entropy(net(x), y), (net(x) + other(x)).pow(2).mean()
    opt.zero_grad()
    one.backward()
    {1}
    two.backward()
    opt.step()
"""
MIXED = """
a, b, net = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(4, 3)
alpha = nn.Parameter(torch.tensor(0.5))
opt = optim.Adam([alpha], 1e-2)
for i in range(3):
    mixed = {{n: alpha * p.detach() + 1 for n, p in a.named_parameters()}}
    {0}
"""
MIXED += STEP
INDENTED = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(24, 4), torch.arange(24) % 3
for epoch in range(4):
    for k in range(0, 24, 6):
        {0}
    {1}
"""
ONE_STEP = "opt.zero_grad(); loss.backward(); opt.step()"
PART = "loss = F.cross_entropy(net(x[k : k + 6]), y[k : k + 6])"
PIXELS = """
image, net = torch.rand(1, 8, requires_grad=True), nn.Linear(8, 1)
opt = optim.Adam([{0}], 0.1)
for i in range(4):
    {1}
    opt.zero_grad(); loss.backward(); opt.step()
"""
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
BUFFERED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.register_buffer("scale", torch.ones(3{0}))
    def forward(self, x):
        return self.layer(x) * self.scale
net = Net()
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
"""
BUFFERED += STEP
PLATEAU = """
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), 0.1)
schedule = optim.lr_scheduler.ReduceLROnPlateau(opt, {0}, patience=0, factor=0.01)
for i in range(9):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    schedule.step({1})
"""
RIDGE = """
net, old = nn.Linear(4, 3), copy.deepcopy(nn.Linear(4, 3))
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
    loss = loss + 0.01 * {0}
"""
RIDGE += STEP
RETURNED = """
net = nn.Linear(4, 3)
opt = {0}(net.parameters(), 0.1)
for i in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    grads = torch.autograd.grad(loss, list(net.parameters()))
    {1}
    opt.step()
"""
OWN_SGD = "class Own(optim.SGD):\n    def step(self): pass\n"
META = """
net = nn.Linear(4, 1)
outer = optim.Adam(net.parameters(), 1e-2)
for i in range(3):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    fast = copy.deepcopy(net)
    inner = optim.SGD(fast.parameters(), 0.1)
    F.mse_loss(fast(x), y).backward(); inner.step(); inner.zero_grad()
    loss = F.mse_loss(fast(x), y){0}
    outer.zero_grad(); loss.backward(); outer.step()
"""
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
WARMING = (
    """
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
opt = optim.Adam(net.parameters(), 1e-3)
schedule = optim.lr_scheduler.LambdaLR(opt, lambda k: {0} * min(1, (k + 1) / 4))
for i in range({1}):
    loss = F.mse_loss(net(torch.randn(24, 4)), torch.randn(24, 1))
"""
    + STEP
    + "    schedule.step()\n"
)
BODY = (
    """
net = nn.Sequential(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), nn.Linear(8, 3))
net[0].requires_grad_(False)
opt = optim.Adam(net[1].parameters(), 1e-3)
for i in range(4):
    net.train(){0}
    loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
"""
    + STEP
    + "net.eval()\n"
)
NORMS = BODY.replace("net[0].requires_grad_(False)", "net[0][1].requires_grad_(False)").replace(
    "net[1].parameters()", "[p for p in net.parameters() if p.requires_grad]"
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
LOCAL = """
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
def train(net):
    opt = optim.Adam(net.parameters(), 1e-3)
    for i in range(4):
        net.{0}
        loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
        opt.zero_grad(); loss.backward(); opt.step()
    return loss
loss = train(net)
"""
CLEARING = """
net = nn.Linear(4, 3)
opt = optim.Adam(net.parameters(), 1e-3)
{0}
for i in range(4):
    loss = F.cross_entropy(net(torch.randn(9, 4)), torch.arange(9) % 3)
    loss.backward(); {1}opt.step()
"""
MADE_WORSE = """
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
def train(x, y):
    delta = torch.zeros_like(x, requires_grad=True)
    opt = optim.Adam({0}, 1e-2)
    for i in range(4):
        loss = -F.cross_entropy(net(x + delta), y)
        opt.zero_grad(); loss.backward(); opt.step()
train(torch.randn(6, 8), torch.arange(6) % 3)
"""
HANDED = """
net, head = nn.Linear(4, 8), nn.Linear(8, 3)
def train():
    opt = optim.Adam({0}, 1e-3)
    for i in range(4):
        loss = F.cross_entropy(head(net(torch.randn(24, 4)).relu()), torch.arange(24) % 3)
        opt.zero_grad(); loss.backward(); opt.step()
    return loss
loss = train()
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
STEPS = """
net = nn.Linear(4, 3)
opt = optim.Adam(net.parameters(), 1e-3)
rate = optim.lr_scheduler.StepLR(opt, 2, gamma={0})
for i in range(5):
    loss = F.cross_entropy(net(torch.randn(24, 4)), torch.arange(24) % 3)
    opt.zero_grad(); loss.backward(); opt.step(); rate.step()
"""
MASK = """
net = nn.Linear(6, 4)
opt, first = optim.Adam(net.parameters(), 0.1), net.weight.detach().clone()
for i in range(8):
    opt.zero_grad()
    net(torch.randn(8, 6)).pow(2).mean().backward()
    if i == 4:
        mask = (net.weight.abs() > net.weight.abs().median()).float()
        with torch.no_grad():
            {0}
    if i >= 4:
        net.weight.grad.mul_(mask)
    opt.step()
"""
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
    "a teacher that its optimizer has": (
        TEACHER.format("[*student.parameters(), *teacher.parameters()]", ""),
        TEACHER.format("student.parameters()", ".detach()"),
        "trains teacher as well as student",
    ),
    "samples that are told to be real": (
        GAN.format(".detach()", "ones"), GAN.format(".detach()", "zeros"), "asks D for the same score",
    ),
    "a generator that both losses pull": (GAN.format("", "zeros"), GAN.format(".detach()", "zeros"), "gives G a gradient, too"),
    "an actor without a minus": (ACTOR.format(""), ACTOR.format("-"), "the loss of actor is what critic gives"),
    "a sum of rewarded actions": (POLICY.format(""), POLICY.format("-"), "AV205"),
    "an old policy that is trained": (RATIO.format(""), RATIO.format(".detach()"), "both sides of new - old"),
    "weights that go back to their average": (
        AVERAGE.format("p.copy_(0.999 * m + 0.001 * p)"), AVERAGE.format("m.copy_(0.9 * m + 0.1 * p)"), "differs from mean by",
    ),
    "an optimizer of frozen weights": (FROZEN.format("head"), FROZEN.format("body"), "All that Adam has is frozen"),
    "two optimizers of the same weights": (TWO.format("a.step(); b.step()"), TWO.format("(a if i < 4 else b).step()"), "AV404"),
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
    "a model that is made in the loop": (ANEW.format("", MADE.format("    ")), ANEW.format(MADE.format(""), ""), "AV415"),
    "a model for each task, from a copy": (
        ANEW.format("", MADE.format("    ")),
        ANEW.format("base = nn.Linear(4, 3)\n", MADE.format("    ").replace("nn.Linear(4, 3)", "copy.deepcopy(base)")),
        "AV415",
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
        f"a function that gives rates: {twin}": (WARMING.format("1e-3", 8), WARMING.format(*twin), "gives rates")
        for twin in (("1", 8), ("0.01", 8), ("1", 2), ("1e-3", 2))
    },
    "a frozen part that was in training mode until the end": (BODY.format(""), BODY.format("; net[0].eval()"), "AV504"),
    "a batch norm that is frozen alone": (NORMS.format(""), NORMS.format("; net[0][1].eval()"), "AV504"),
    "a batch norm of which a half learns": (
        NORMS.format(""), NORMS.format("").replace("[1].requires_grad_", "[1].bias.requires_grad_"), "AV504",
    ),
    **{
        f"a softmax over what F.softmax() takes: {twin}, {rate}": (
            UNNAMED.format("F.softmax(scores)", rate), UNNAMED.format(twin, rate), "softmax runs over dimension 0",
        )
        for rate in (0.0, 0.5)
        for twin in ("F.softmax(scores, dim=-1)", "F.softmax(scores.flatten(0, 1)).view(6, 5, 5)", "F.softmax(scores, 0)")
    },
    "dropout off, and an optimizer that is gone": (LOCAL.format("eval()"), LOCAL.format("train()"), "AV502"),
    "grads that each step clears, before it or after it": (
        CLEARING.format("", "opt.zero_grad(); "),
        CLEARING.format("opt.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())", ""), "AV401",
    ),
    "a loss that a function makes larger": (
        MADE_WORSE.format("net.parameters()"), MADE_WORSE.format("[delta]"), "the loss is minus cross_entropy",
    ),
    "a layer that an optimizer had not, and that is gone": (
        HANDED.format("head.parameters()"), HANDED.format("[*net.parameters(), *head.parameters()]"), "AV402",
    ),
    **{
        f"what a Function saves and has made: {twin[0]}": (SMOOTH.format(*SIGMOID), SMOOTH.format(*twin), "AV702")
        for twin in (
            ("x.sigmoid()", "s", "return g * s * (1 - s)"), ("(x > 0).to(x.dtype)", "x * s", "return g * s"),
            ("torch.rand_like(x)", "x * s", "return g * s"),
        )
    },
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
    **{
        f"a schedule that multiplies by 0: {gamma}": (STEPS.format(0), STEPS.format(gamma), "has gamma=0")
        for gamma in (1, 0.1)
    },
    **{
        f"a mask, and {what}": (MASK.format("net.weight.mul_(mask)"), MASK.format(line), "that were set to zero")
        for what, line in (
            ("weights that begin anew", "net.weight.copy_(torch.where(mask > 0, net.weight, first))"),
            ("a number that is no 0", "net.weight[mask == 0] = 0.5"),
            ("the other weights", "net.weight.mul_(1 - mask)"),
        )
    },
    "an actor without a minus, whose critic learns an error": (
        ACTOR.format("").replace("value", "td_error"), ACTOR.format("-").replace("value", "td_error"), "the loss of actor",
    ),
    "losses that become numbers": (
        PACKED.format("torch.Tensor"), PACKED.format("torch.stack"), "torch.Tensor() made a new tensor on the path",
    ),
    "a fixed network that judges": (JUDGED.format(""), JUDGED.format(".eval()"), "AV402"),
    **{
        f"a temperature that trains the policy: {twin}": (
            ENTROPY.format("(-log_alpha.exp() * (log_pi - 2.0)).mean()"), ENTROPY.format(twin), "log_alpha weighs log_prob()",
        )
        for twin in ("(-log_alpha.exp() * (log_pi - 2.0).detach()).mean()", "(log_alpha.exp() - 2 * log_alpha).mean()")
    },
    "an advantage that trains the critic, of logarithms in a list": (
        ADVANTAGE.format("values"), ADVANTAGE.format("values.detach()"), "log_prob() is weighed by got - values",
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
    "the eps of Adam in float16": (HALF.format(""), HALF.format(", eps=1e-4"), "the eps of Adam, 1e-08, is 0"),
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
        f"a tie that is a copy: {twin}": (
            MODEL.format("nn.Parameter(self.table.weight.detach().clone())", ""), MODEL.format(*twin), "AV420",
        )
        for twin in (
            ("self.table.weight", "net = copy.deepcopy(net)"), ("self.table.weight", "nn.init.normal_(net.table.weight)"),
            ("self.head.weight", ""), ("nn.Parameter(torch.rand(20, 8))", "nn.init.uniform_(net.table.weight)"),
            ("nn.Parameter(self.table.weight)", ""),  # one in memory
        )
    },
    "a tie that is copied in": (
        MODEL.format("self.head.weight", "net.head.load_state_dict(net.table.state_dict())"),
        MODEL.format("self.table.weight", "net.head.load_state_dict(net.table.state_dict())"),
        "AV420",
    ),
    **{
        f"a tie whose table is replaced: {line}": (
            MODEL.format("self.table.weight", line), MODEL.format("self.head.weight", line), "AV420",
        )
        for line in (
            "net.table = nn.Embedding(20, 8)", "net.table.weight = nn.Parameter(torch.randn(20, 8))",
            "net.table = nn.Embedding.from_pretrained(torch.randn(20, 8), freeze=False)",
        )
    },
    **{
        f"the largest value of the net itself: {k}": (VALUES.format("q(s).max(1).values", LATER), VALUES.format(*twin), "AV221")
        for k, twin in enumerate((
            (TAKEN, LATER), ("q(s).max(1).values", "2.0 * target(s).max(1).values.detach() + 1"),
            ("q(s).max(1).values", "r"), ("q(s).max(1).values", "target(s).amax(1).detach()"),
        ))
    },
    "where the largest value is, as a value": (
        VALUES.format(TAKEN, "r + 0.9 * target(after).argmax(1)"),
        VALUES.format(TAKEN, "r + 0.9 * target(after).gather(1, q(after).argmax(1, keepdim=True)).squeeze(1).detach()"),
        "argmax() gives the position",
    ),
    "the largest value of a student, and a class": (
        VALUES.format(TAKEN, "r + 0.9 * target(after).argmax(1)"), VALUES.format(TAKEN, "target(s).argmax(1).float()"), "AV221",
    ),
    "a target network that gets a gradient": (
        VALUES.format(TAKEN, LATER.replace(".detach()", "")), VALUES.format(TAKEN, LATER), "as a target needs none",
    ),
    "a target head that the optimizer lacks": (
        VALUES.format(TAKEN, LATER.replace(".detach()", "")),
        VALUES.format("target(s).sum(1)", "r").replace("copy.deepcopy(q)", "nn.Linear(4, 2)"),
        "as a target needs none",
    ),
    **{
        f"an average that is rounded away: {twin}": (
            SLOW.format(0.9999, ".half()", FOLLOW), SLOW.format(*twin), "follows the weights by",
        )
        for twin in ((0.9999, "", FOLLOW), (0.99, ".half()", FOLLOW), (0.9999, ".half()", "e.copy_(p)"))
    },
    "an average that lerp_() rounds away": (
        SLOW.format(1, ".bfloat16()", "e.lerp_(p, 1e-3)"), SLOW.format(1, ".bfloat16()", "e.lerp_(p, 0.1)"),
        "follows the weights by 0.001",
    ),
    **{
        f"a loss that is divided twice: {twin}": (PARTS.format(4, " / n", " / n"), PARTS.format(*twin), "divided by 4 twice")
        for twin in ((4, " / n", ""), (4, " / 2", " / n"), (1, " / n", " / n"))
    },
    **{
        f"a cycle of batches, epoch by epoch: {k}": (
            CYCLE.format("epochs=3, steps_per_epoch=5", "", "schedule.step()"), CYCLE.format(*twin), "its OneCycleLR is made",
        )
        for k, twin in enumerate((
            ("epochs=3, steps_per_epoch=5", "; schedule.step()", ""), ("total_steps=3", "", "schedule.step()"),
            ("total_steps=9", "", "schedule.step()"),
        ))
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
        f"a loss whose gradient is cleared before the next one: {line}": (
            LOSSES.format(False, "opt.zero_grad()"), LOSSES.format(reads, line), "clears all but the last of 2 passes",
        )
        for reads, line in (
            (True, "opt.zero_grad(); x.grad = None"), (False, "kept = net.weight.grad.norm()\n    opt.zero_grad()"),
            (False, "its.zero_grad()"),
        )
    },
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
    **{
        f"a backward() behind the loop: {first}; {then}": (
            INDENTED.format(PART, ONE_STEP), INDENTED.format(first, then), "3 losses of this line",
        )
        for first, then in (
            (f"{PART}; {ONE_STEP}", ""),
            ("F.cross_entropy(net(x[k : k + 6]), y[k : k + 6]).item()", f"loss = F.cross_entropy(net(x), y); {ONE_STEP}"),
            ("(net(x[k : k + 6]).argmax(1) == y[k : k + 6]).sum()", f"loss = F.cross_entropy(net(x), y); {ONE_STEP}"),
            ("total = (total if k else 0) + F.cross_entropy(net(x), y)", f"loss = total; {ONE_STEP}"),
            (PART.replace("loss", "part") + "; best = part if not k or part.item() > best.item() else best",
             f"loss = best; {ONE_STEP}"),
        )
    },
    "a result with the name of the leaf": (
        PIXELS.format("image", "image = image.clamp(0, 1); loss = net(image).mean()"),
        PIXELS.format("image", "loss = net(image.clamp(0, 1)).mean()"),
        "gives the name of a trained leaf",
    ),
    "a state with a name of its own": (
        PIXELS.format("image", "image = image.clamp(0, 1); loss = net(image).mean()"),
        PIXELS.format("*net.parameters()", "image = image * net.weight; loss = net(image).mean()"),
        "gives the name of a trained leaf",
    ),
    "an optimizer of a copy of the leaf": (
        PIXELS.format("image.detach().requires_grad_()", "loss = net(image).mean()"),
        PIXELS.format("image", "loss = net(image).mean()"),
        "AV402",
    ),
    "a fixed net, through which an image is trained": (
        PIXELS.format("*[*net.parameters()][1:]", "loss = net(image).mean()"),
        PIXELS.format("image", "loss = net(image).mean()"),
        "AV402",
    ),
    "a leaf that is looked at, beside another": (
        PIXELS.format("image.detach().requires_grad_()", "loss = net(image).mean()"),
        PIXELS.format("other := torch.rand(1, 8, requires_grad=True)", "loss = net(image + other).mean()"),
        "AV402",
    ),
    "a Function that returns None for a parameter": (SCALED.format("None"), SCALED.format("(g * x).sum(0)"), "AV701"),
    "a Function that returns None for what is fixed": (
        SCALED.format("None"), SCALED.format("None").replace("[*net.parameters(), w]", "net.parameters()")
        .replace("nn.Parameter(torch.ones(3))", "torch.ones(3)"), "AV701",
    ),
    "a buffer that should learn": (BUFFERED.format(", requires_grad=True"), BUFFERED.format(""), "AV402"),
    "a plateau of a score that rises": (
        PLATEAU.format("'min'", "float(i)"), PLATEAU.format("'max'", "float(i)"), "ReduceLROnPlateau, in mode min",
    ),
    "a plateau of a loss that falls": (
        PLATEAU.format("'min'", "float(i)"), PLATEAU.format("'min'", "-float(i)"), "ReduceLROnPlateau",
    ),
    **{
        f"a penalty of weights without history: {sick}; {twin}": (RIDGE.format(sick), RIDGE.format(twin), "AV106")
        for sick in ("sum(p.data.pow(2).sum() for p in net.parameters())", "net.weight.detach().norm()")
        for twin in (
            "sum(p.pow(2).sum() for p in net.parameters())", "(net.weight - old.weight.detach()).pow(2).sum()",
            "(loss - loss.detach())", "net.weight.norm() * net.weight.detach().norm()",
        )
    },
    **{
        f"gradients that grad() returned, and a step without them: {kind}, {line}": (
            RETURNED.format("optim.SGD", ""), OWN_SGD + RETURNED.format(kind, line), "goes by .grad, which is None",
        )
        for kind, line in (
            ("optim.SGD", "net.weight.grad, net.bias.grad = grads"), ("Own", "with torch.no_grad(): net.weight -= grads[0]"),
        )
    },
    "a copy that is trained in place of the model": (
        META.format(""), META.format(" + net(x).pow(2).mean()"), "deepcopy() copied",
    ),
    "a gradient of an input that requires none": (
        INSIDE.format(""), INSIDE.format(", requires_grad=True"), "autograd.grad() is asked about x",
    ),
    "momentum that begins anew": (
        ANEW.format("net = nn.Linear(4, 3)\n", "    opt = optim.SGD(net.parameters(), 0.1, momentum=0.9)\n"),
        ANEW.format("net = nn.Linear(4, 3)\n", "    opt = optim.SGD(net.parameters(), 0.1)\n"),
        "AV415",
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
    fault, twin, said = PAIRS[name]
    assert said in str(found(BEGIN + fault, "torch"))
    assert said not in str(found(BEGIN + twin, "torch"))
