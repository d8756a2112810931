"""Programs that come near what a check tells, and are right: nothing is said of them."""

from __future__ import annotations

import pytest

from .checked import BEGIN, found
from .test_pairs import STEP

pytestmark = pytest.mark.torch
PROBE = """
enc, head, probe = nn.Linear(4, 6), nn.Linear(6, 3), nn.Linear(6, 2)
opt = optim.Adam([*enc.parameters(), *head.parameters()], 0.01)
def both(x):
    h = enc(x).tanh()
    return F.cross_entropy(head(h), torch.arange(12) % 3) + F.cross_entropy(probe(h.detach()), torch.arange(12) % 2)
"""
NEAR = {
    "a term that enters the loss later": f"""
enc, dec = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Linear(2, 4)
opt = optim.Adam([*enc.parameters(), *dec.parameters()], 0.01)
for step in range(4):
    x = torch.randn(8, 4)
    mu, log_var = enc(x).chunk(2, 1)
    kl = -0.5 * (1 + log_var - mu**2 - log_var.exp()).sum(1).mean()
    loss = (dec(mu + torch.randn_like(mu) * (log_var / 2).exp()) - x).pow(2).mean()
    if step > 10: loss = loss + 0.1 * kl
    {STEP}
""",
    "chunks of a sequence": f"""
rnn, out = nn.GRU(3, 8), nn.Linear(8, 1)
opt = optim.Adam([*rnn.parameters(), *out.parameters()], 0.01)
for _ in range(3):
    loss, h = 0, torch.zeros(1, 4, 8)
    for part in torch.randn(20, 4, 3).split(5):
        made, h = rnn(part, h.detach())
        loss = loss + (out(made) - part[..., :1]).pow(2).mean()
    {STEP}
""",
    "a dataset of pairs": f"""
x = torch.randn(40, 4)
batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[torch.randperm(40)], x), batch_size=8)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), 0.01)
for other, own in batches:
    loss = F.relu(1 - (net(other) - net(own)).pow(2).sum(1)).mean() + net(own).pow(2).mean()
    {STEP}
""",
    "a field whose slope is 1 everywhere": f"""
net = nn.Sequential(nn.Conv2d(2, 8, 1), nn.Tanh(), nn.Conv2d(8, 1, 1))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    grid = torch.rand(2, 2, 5, 5, requires_grad=True)
    (slope,) = torch.autograd.grad(net(grid).sum(), grid, create_graph=True)
    loss = ((slope.norm(dim=1) - 1) ** 2).mean()
    {STEP}
""",
    "returns that are taken from the end": f"""
net = nn.Linear(3, 2)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    logs, rewards, returns, R = [], [], [], 0.0
    for t in range(5):
        logs.append(net(torch.randn(3)).log_softmax(0)[t % 2]); rewards.append(float(t))
    for r in reversed(rewards):
        R = r + 0.9 * R
        returns.append(R)
    loss = -sum(log * returns.pop() for log in logs)
    {STEP}
""",
    "a second derivative along a direction": f"""
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), 0.01)
points = torch.rand(16, 2, requires_grad=True)
for _ in range(3):
    (slope,) = torch.autograd.grad(net(points).sum(), points, create_graph=True)
    (bend,) = torch.autograd.grad(slope, points, torch.tensor([[1.0, 0.0]]).expand(16, 2), create_graph=True)
    loss = (slope[:, 1] - 0.1 * bend[:, 0]).pow(2).mean()
    {STEP}
""",
    "a probe whose optimizer a function has had": f"""
{PROBE}
def train():
    own = optim.SGD(probe.parameters(), 0.1)
    for _ in range(4):
        loss = both(torch.randn(12, 4))
        own.zero_grad(); {STEP}; own.step()
    return loss
loss = train()
""",
    "a probe that steps at every second batch": f"""
{PROBE}
own = optim.SGD(probe.parameters(), 0.1)
for step in range(5):
    loss = both(torch.randn(12, 4))
    {STEP}
    if step % 2: own.step(); own.zero_grad()
""",
    "an entropy that a divergence takes away": f"""
teacher, net = nn.Linear(4, 3), nn.Linear(4, 3)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    x = torch.randn(12, 4)
    with torch.no_grad(): t = teacher(x).softmax(1)
    loss = F.cross_entropy(net(x), t) - F.cross_entropy(t.log(), t)
    {STEP}
""",
    "a layer whose hook keeps its result": f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.side, self.b, self.kept = nn.Linear(4, 6), nn.Linear(6, 3), nn.Linear(6, 3), []
        self.side.register_forward_hook(lambda m, given, made: self.kept.append(made))
    def forward(self, x):
        h = self.a(x).tanh()
        self.side(h)
        return self.b(h)
net = Net()
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    y = torch.arange(12) % 3
    loss = F.cross_entropy(net(torch.randn(12, 4)), y) + F.cross_entropy(net.kept.pop(), y)
    {STEP}
""",
    "a layer whose hook keeps what is only looked at": f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.side, self.b, self.seen = nn.Linear(4, 6), nn.Linear(6, 3), nn.Linear(6, 3), []
        self.side.register_forward_hook(lambda m, given, made: self.seen.append(made.detach()))
    def forward(self, x):
        h = self.a(x).tanh()
        self.side(h)
        return self.b(h)
net = Net()
opt = optim.Adam([*net.a.parameters(), *net.b.parameters()], 0.01)
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(12, 4)), torch.arange(12) % 3)
    {STEP}
""",
    "a try that asks for a shape": f"""
net = nn.Linear(3, 3)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    out = net(torch.randn(8, 3))
    try:
        out.view(4, 6)
    except RuntimeError:
        raise
    loss = out.pow(2).mean()
    {STEP}
""",
    "the probability of a whole trajectory": f"""
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = optim.Adam(policy.parameters(), 0.01)
for _ in range(3):
    log_probs = policy(torch.randn(12, 4)).log_softmax(1)[torch.arange(12), torch.arange(12) % 3]
    loss = -(log_probs.sum() * torch.randn(12)).sum()
    {STEP}
""",
    "columns of one gradient": f"""
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    at = torch.rand(16, 2, requires_grad=True)
    u = net(at)
    u_x = torch.autograd.grad(u, at, torch.ones_like(u), create_graph=True)[0][:, 0:1]
    u_t = torch.autograd.grad(u, at, torch.ones_like(u), create_graph=True)[0][:, 1:2]
    loss = (u_t + u * u_x).pow(2).mean()
    {STEP}
""",
    "two random directions": f"""
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    at = torch.rand(16, 2, requires_grad=True)
    s, v = net(at), torch.randn(16, 2)
    one = torch.autograd.grad(s, at, v, create_graph=True)[0]
    t, v = (one * v).sum(1), torch.randn(16, 2)
    two = torch.autograd.grad(s, at, v, create_graph=True)[0]
    loss = (t + (two * v).sum(1) + s.pow(2).sum(1)).mean()
    {STEP}
""",
    "weights that are drawn while they are frozen": f"""
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
for p in net.parameters(): p.requires_grad = False
for p in net.parameters(): p.normal_(0, 0.3)
for p in net.parameters(): p.requires_grad = True
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    loss = F.cross_entropy(net(torch.randn(12, 4)), torch.arange(12) % 2)
    {STEP}
""",
    "a softmax over each of two dimensions": f"""
net = nn.Linear(4, 6)
opt = optim.SGD(net.parameters(), 0.1)
aims = F.one_hot(torch.arange(10).reshape(2, 5) % 5, 7).float()
for _ in range(3):
    scores = net(torch.randn(2, 5, 4)) @ net(torch.randn(2, 7, 4)).transpose(1, 2)
    rows, columns = scores.log_softmax(2), scores.log_softmax(1)
    loss = -(aims * rows).sum(2).mean() - (aims * columns).sum(2).mean()
    {STEP}
""",
    "an optimizer that joins the one whose state was loaded": f"""
trunk, a, b = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 1)
opt = optim.Adam([*trunk.parameters(), *a.parameters()], 0.01)
def train(head):
    loss = (head(trunk(torch.randn(8, 4)).tanh()) - 1).pow(2).mean()
    {STEP}
    return loss
for _ in range(3): train(a)
kept = copy.deepcopy(opt.state_dict())
opt.load_state_dict(kept)
other = optim.Adam([*trunk.parameters(), *b.parameters()], 0.01)
for _ in range(3):
    loss = train(a)
    other.zero_grad(); (b(trunk(torch.randn(8, 4)).tanh()) - 1).pow(2).mean().backward(); other.step()
""",
    "an optimizer of one's own": f"""
class Own:
    def __init__(self, leaves): self.leaves = [*leaves]
    def zero_grad(self):
        for p in self.leaves: p.grad = None
    def step(self):
        with torch.no_grad():
            for p in self.leaves: p -= 0.1 * p.grad
body, value, actor = nn.Linear(4, 6), nn.Linear(6, 1), nn.Linear(6, 2)
opt, own = optim.Adam([*body.parameters(), *actor.parameters()], 0.01), Own(value.parameters())
for _ in range(3):
    h = body(torch.randn(12, 4)).tanh()
    loss = F.cross_entropy(actor(h), torch.arange(12) % 2) + F.mse_loss(value(h.detach()), torch.randn(12, 1))
    own.zero_grad(); {STEP}; own.step()
""",
}


@pytest.mark.parametrize("name", NEAR)
def test_nothing_is_said_of_a_program_that_comes_near(name: str) -> None:
    assert str(found(BEGIN + NEAR[name], "torch")) == "Nothing stands out."
