"""Training programs that work, of many kinds: check has nothing to say about them."""

from __future__ import annotations

import copy

import pytest

import autograd_viz as av

from .checked import BEGIN, found

pytestmark = pytest.mark.torch
STEP = "opt.zero_grad(); loss.backward(); opt.step()"
PROGRAMS = {
    "two optimizers that take turns with one loss": """
first, second, x = nn.Linear(6, 3), nn.Linear(3, 6), torch.randn(8, 6)
one, two = optim.SGD(first.parameters(), 0.1), optim.SGD(second.parameters(), 0.1)
for i in range(9):
    loss = F.mse_loss(second(first(x)), x)
    one.zero_grad(); two.zero_grad(); loss.backward(); (one if i % 2 else two).step()
""",
    "losses that learn how much each of them counts": f"""
body, first, second, weigh = nn.Linear(8, 16), nn.Linear(16, 1), nn.Linear(16, 3), nn.Parameter(torch.zeros(2))
opt = optim.Adam([*body.parameters(), *first.parameters(), *second.parameters(), weigh], 1e-3)
for _ in range(4):
    x, y, labels = torch.randn(32, 8), torch.randn(32, 1), torch.randint(0, 3, (32,))
    z = F.relu(body(x))
    both = torch.stack([F.mse_loss(first(z), y), F.cross_entropy(second(z), labels)])
    loss = (torch.exp(-weigh) * both + weigh).sum()
    {STEP}
""",
    "distances between rows of one layer, whose bias cancels": f"""
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(4):
    middles = net(torch.randn(5, 3, 8)).mean(1)
    scores = -torch.cdist(net(torch.randn(5, 4, 8)).flatten(0, 1), middles) ** 2
    loss = F.cross_entropy(scores, torch.arange(5).repeat_interleave(4))
    {STEP}
""",
    "a WGAN whose weights are clamped": """
G, D = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
of_g, of_d = optim.RMSprop(G.parameters(), 5e-5), optim.RMSprop(D.parameters(), 5e-5)
for _ in range(4):
    for _ in range(3):
        critic = D(G(torch.randn(16, 4)).detach()).mean() - D(torch.randn(16, 2) + 3).mean()
        of_d.zero_grad(); critic.backward(); of_d.step()
        for p in D.parameters():
            p.data.clamp_(-0.01, 0.01)
    loss = -D(G(torch.randn(16, 4))).mean()
    of_g.zero_grad(); loss.backward(); of_g.step()
""",
    "soft actor-critic with a slow target": """
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(4, 2), nn.Linear(4, 2)
    def forward(self, s):
        d = torch.distributions.Normal(self.mean(s), self.spread(s).clamp(-5, 2).exp())
        u = d.rsample()
        a = u.tanh()
        return a, (d.log_prob(u) - (1 - a.pow(2) + 1e-6).log()).sum(1)
actor, critic = Actor(), nn.Linear(6, 1)
target = copy.deepcopy(critic).requires_grad_(False)
of_a, of_c = optim.Adam(actor.parameters(), 3e-4), optim.Adam(critic.parameters(), 3e-4)
for _ in range(5):
    s, a, r = torch.randn(8, 4), torch.rand(8, 2), torch.randn(8, 1)
    with torch.no_grad():
        b, log = actor(s)
        y = r + 0.99 * (target(torch.cat([s, b], 1)) - 0.2 * log[:, None])
    loss = F.mse_loss(critic(torch.cat([s, a], 1)), y)
    of_c.zero_grad(); loss.backward(); of_c.step()
    b, log = actor(s)
    loss = (0.2 * log[:, None] - critic(torch.cat([s, b], 1))).mean()
    of_a.zero_grad(); loss.backward(); of_a.step()
    with torch.no_grad():
        for t, p in zip(target.parameters(), critic.parameters()):
            t.mul_(0.995).add_(0.005 * p)
""",
    "noise that a model removes, an average of its weights, and a cosine schedule": f"""
net = nn.Linear(2, 2)
mean, opt = copy.deepcopy(net).requires_grad_(False), optim.AdamW(net.parameters(), 1e-3)
schedule = optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
for _ in range(8):
    noise = torch.randn(16, 2)
    loss = F.mse_loss(net(torch.randn(16, 2) + noise), noise)
    {STEP}; schedule.step()
    with torch.no_grad():
        for a, b in zip(mean.parameters(), net.parameters()):
            a.lerp_(b, 0.001)
""",
    "a language model, time first, whose state is carried on": f"""
table, rnn, head = nn.Embedding(9, 4), nn.LSTM(4, 6), nn.Linear(6, 9)
opt = optim.SGD([*table.parameters(), *rnn.parameters(), *head.parameters()], 0.5)
tokens, state = torch.randint(0, 9, (21, 5)), None
for i in range(0, 20, 5):
    state = None if state is None else tuple(s.detach() for s in state)
    out, state = rnn(table(tokens[i : i + 5]), state)
    loss = F.cross_entropy(head(out).view(-1, 9), tokens[i + 1 : i + 6].reshape(-1))
    {STEP}
""",
    "a classifier of sequences, time first, with both directions": f"""
rnn, head = nn.GRU(4, 6, bidirectional=True), nn.Linear(24, 3)
opt = optim.Adam([*rnn.parameters(), *head.parameters()], 1e-3)
for _ in range(3):
    out, h = rnn(torch.randn(8, 7, 4).transpose(0, 1))
    loss = F.cross_entropy(head(torch.cat([h[0], h[1], out[-1]], 1)), torch.randint(0, 3, (8,)))
    {STEP}
""",
    "causal attention with heads": f"""
table, qkv, out = nn.Embedding(9, 8), nn.Linear(8, 24), nn.Linear(8, 9)
opt = optim.AdamW([*table.parameters(), *qkv.parameters(), *out.parameters()], 1e-3)
for _ in range(3):
    tokens = torch.randint(0, 9, (4, 6))
    q, k, v = (t.view(4, 5, 2, 4).transpose(1, 2) for t in qkv(table(tokens[:, :-1])).chunk(3, -1))
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    h = (q @ k.transpose(-2, -1) / 2).masked_fill(mask, float("-inf")).softmax(-1) @ v
    loss = F.cross_entropy(out(h.transpose(1, 2).reshape(4, 5, 8)).reshape(-1, 9), tokens[:, 1:].reshape(-1))
    {STEP}
""",
    "attention whose positions are skewed, and slots that compete": f"""
q, k = nn.Linear(4, 4), nn.Linear(4, 4)
opt = optim.Adam([*q.parameters(), *k.parameters()], 1e-3)
for _ in range(3):
    x = torch.randn(2, 5, 4)
    s = q(x) @ k(x).transpose(1, 2)
    s = s + torch.cat([torch.zeros(2, 5, 1), s], 2).view(2, 6, 5)[:, 1:]
    weights = s.softmax(1) + 1e-8
    loss = (weights / weights.sum(2, keepdim=True) @ x).pow(2).mean()
    {STEP}
""",
    "an inner attack, then the step": f"""
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), 0.05)
for _ in range(4):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    for _ in range(3):
        x.requires_grad_(True); net.zero_grad()
        F.cross_entropy(net(x), y).backward()
        x = (x + 0.01 * x.grad.sign()).detach()
    loss = F.cross_entropy(net(x), y)
    {STEP}
""",
    "two passes of a step that looks for flat minima": """
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), 0.05)
def run(x):
    opt.zero_grad()
    loss = F.mse_loss(net(x), x[:, :1])
    loss.backward()
for _ in range(4):
    x = torch.randn(8, 4)
    run(x)
    with torch.no_grad():
        away = [0.05 * p.grad / p.grad.norm() for p in net.parameters()]
        for p, d in zip(net.parameters(), away):
            p.add_(d)
    run(x)
    with torch.no_grad():
        for p, d in zip(net.parameters(), away):
            p.sub_(d)
    opt.step()
""",
    "LBFGS, whose closure clears": """
net, x = nn.Linear(2, 1), torch.randn(16, 2)
opt = optim.LBFGS(net.parameters(), max_iter=4)
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(x), x[:, :1])
    loss.backward()
    return loss
for _ in range(3):
    opt.step(closure)
""",
    "a factorization machine, whose squares cancel": f"""
table = nn.Embedding(20, 4)
opt = optim.Adam(table.parameters(), 1e-2)
for _ in range(3):
    v = table(torch.randint(0, 20, (8, 5)))
    score = 0.5 * (v.sum(1).pow(2) - v.pow(2).sum(1)).sum(1)
    loss = F.binary_cross_entropy_with_logits(score, torch.randint(0, 2, (8,)).float())
    {STEP}
""",
    "a Gaussian likelihood, and its distribution": f"""
net = nn.Linear(4, 2)
opt = optim.Adam(net.parameters(), 1e-2)
for _ in range(3):
    mean, spread = net(torch.randn(8, 4)).unbind(1)
    likelihood = torch.distributions.Normal(mean, spread.exp()).log_prob(torch.randn(8)).mean()
    loss = -likelihood + (spread + 0.5 * ((torch.randn(8) - mean) / spread.exp()) ** 2).mean()
    {STEP}
""",
    "a policy with an entropy bonus, and its clipped ratio": f"""
net = nn.Linear(4, 3)
opt = optim.Adam(net.parameters(), 1e-3)
for _ in range(3):
    s, a, old, gain = torch.randn(8, 4), torch.randint(0, 3, (8,)), torch.full((8,), -1.1), torch.randn(8)
    draw = torch.distributions.Categorical(logits=net(s))
    ratio = (draw.log_prob(a) - old).exp()
    loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() - 0.01 * draw.entropy().mean()
    loss = loss + torch.max(-ratio * gain, -ratio.clamp(0.8, 1.2) * gain).mean()
    {STEP}
""",
    "folds of one model, each with an optimizer": f"""
net = nn.Linear(4, 1)
for _ in range(3):
    net.reset_parameters()
    opt = optim.Adam(net.parameters(), 1e-2)
    for _ in range(4):
        x = torch.randn(8, 4)
        loss = F.mse_loss(net(x), x[:, :1])
        {STEP}
""",
    "a leaf of its own for each step": """
w, x = torch.zeros(4, requires_grad=True), torch.randn(16, 4)
for _ in range(4):
    loss = (x @ w - x[:, 0]).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        w = w - 0.1 * w.grad
    w.requires_grad_()
""",
    "weights that stay positive": f"""
net = nn.Sequential(nn.Linear(4, 8), nn.Softplus(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), 1e-2)
for _ in range(6):
    x = torch.randn(16, 4)
    loss = F.mse_loss(net(x), x.pow(2).sum(1, keepdim=True))
    {STEP}
    with torch.no_grad():
        net[2].weight.clamp_(min=0)
""",
    "dropout that stays on to measure doubt": f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.drop = nn.Linear(4, 1), nn.Dropout(0.2)
    def forward(self, x):
        return self.layer(self.drop(x))
net = Net()
opt = optim.Adam(net.parameters(), 1e-2)
for _ in range(3):
    x = torch.randn(16, 4)
    loss = F.mse_loss(net(x), x[:, :1])
    {STEP}
net.eval()
with torch.no_grad():
    seen = F.dropout(net(torch.randn(2, 4)), 0.1, training=net.training)
""",
    "blocks that end with an in-place relu, after a stem that does": f"""
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(16, 16), nn.Linear(16, 16)
    def forward(self, x):
        y = F.relu(self.one(x), inplace=True)
        y = self.two(y) + x
        return F.relu(y, inplace=True)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(inplace=True), Block(), Block(), nn.Linear(16, 1))
opt = optim.SGD(net.parameters(), 0.05)
for _ in range(3):
    loss = F.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1))
    {STEP}
""",
    "two optimizers for the parts of a model": """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
a, b = optim.SGD(net[0].parameters(), 0.05), optim.Adam(net[2].parameters(), 1e-3)
for _ in range(4):
    x = torch.randn(8, 4)
    loss = F.mse_loss(net(x), x[:, :1])
    a.zero_grad(); b.zero_grad(); loss.backward(); a.step(); b.step()
""",
    "images whose channels come first, and flat labels": f"""
x = torch.rand(8, 6, 5, 3)
x = ((x - x.mean((0, 1, 2))) / (x.std((0, 1, 2)) + 1e-8)).permute(0, 3, 1, 2).contiguous()
y = torch.randint(0, 2, (2, 4)).view(-1)
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(48, 2))
opt = optim.SGD(net.parameters(), 0.01)
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    {STEP}
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_about_a_program_that_works(name: str) -> None:
    assert str(found(BEGIN + PROGRAMS[name], "torch")) == "Nothing stands out."


@pytest.mark.parametrize("move", ["e.lerp_(p, 0.1)", "e.mul_(0.9).add_(p)", "e.copy_(p * 0.1)", "e += p", "e[:] = p * 0.1"])
def test_a_copy_that_is_moved_in_place_is_frozen_by_who_froze_it(move: str) -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(2, 1)
    ema = copy.deepcopy(net).requires_grad_(False)
    buffer = torch.zeros(1, 2)
    with av.watch(), torch.no_grad():
        net(torch.ones(1, 2))
        exec(move, {"e": ema.weight, "p": net.weight})
        exec(move, {"e": buffer, "p": net.weight})
        after = net.weight * 2
        assert "requires_grad" in str(av.explain(ema.weight)) and "no_grad" not in str(av.explain(ema.weight))
        for computed in (after, buffer):
            assert "computed under no_grad()" in str(av.explain(computed))
