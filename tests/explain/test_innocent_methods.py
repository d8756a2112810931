"""Methods of papers and of the documentation, each near a fault: check has nothing to say about them."""

from __future__ import annotations

import pytest

from .checked import BEGIN, found

pytestmark = pytest.mark.torch
STEP = "opt.zero_grad(); loss.backward(); opt.step()"
PROGRAMS = {
    "a class with a setting of that name": f"""
class Positions(nn.Module):
    def __init__(self, requires_grad=False):
        super().__init__()
        self.requires_grad = requires_grad
        self.table = nn.Parameter(torch.randn(5, 4), requires_grad=requires_grad)
        self.proj = nn.Linear(4, 4)
    def forward(self, x): return self.proj(x + self.table)
net = Positions()
opt = optim.SGD(net.proj.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(3, 5, 4)).pow(2).mean()
    {STEP}
""",
    "a part that is frozen, and later is not": f"""
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
net[0].requires_grad = False; net[0].requires_grad_(False)
opt = optim.SGD(net.parameters(), lr=0.1)
for k in range(4):
    if k == 2: net[0].requires_grad_(True)
    loss = net(torch.randn(6, 4)).pow(2).mean()
    {STEP}
""",
    "a policy whose actions are drawn by normal()": f"""
policy = nn.Linear(4, 2); log_std = nn.Parameter(torch.zeros(2))
opt = optim.Adam([*policy.parameters(), log_std], lr=0.01)
for _ in range(4):
    s = torch.randn(32, 4); mu, std = policy(s), log_std.exp().expand(32, 2)
    a = torch.normal(mu, std)
    r = -(a - s[:, :2]).pow(2).sum(1).detach()
    lp = torch.distributions.Normal(mu, std).log_prob(a).sum(1)
    loss = -(lp * (r - r.mean())).mean()
    {STEP}
""",
    "an adversarial move of embeddings": f"""
table, net = nn.Embedding(9, 4), nn.Sequential(nn.Flatten(), nn.Linear(20, 8), nn.Tanh(), nn.Linear(8, 2))
opt = optim.SGD([*table.parameters(), *net.parameters()], lr=0.1)
for _ in range(3):
    t, y = torch.randint(9, (6, 5)), torch.randint(2, (6,))
    e = table(t)
    with torch.no_grad(): p = net(e).softmax(1)
    d = (1e-2 * torch.randn(6, 5, 4)).requires_grad_()
    kl = F.kl_div(net(e + d).log_softmax(1), p, reduction="batchmean")
    (g,) = torch.autograd.grad(kl, d, retain_graph=True)
    r = 0.1 * g / g.norm()
    adv = net(e + r).log_softmax(1)
    loss = F.cross_entropy(net(e), y) + F.kl_div(adv, p, reduction="batchmean")
    {STEP}
""",
    "probabilities of numbers that are drawn": """
probs = torch.softmax(torch.randn(4, 3, requires_grad=True), dim=1)
loss = F.nll_loss(probs.log(), torch.tensor([0, 1, 2, 0]))
loss.backward()
""",
    "the example of KLDivLoss": """
kl_loss = nn.KLDivLoss(reduction="batchmean")
input = F.log_softmax(torch.randn(3, 5, requires_grad=True), dim=1)
target = F.softmax(torch.rand(3, 5), dim=1)
output = kl_loss(input, target)
output.backward()
""",
    "a principal component, whose weights are divided by their norm": f"""
layer = nn.Linear(6, 1, bias=False); opt = optim.SGD(layer.parameters(), lr=0.05)
data = torch.randn(64, 6) * torch.tensor([3.0, 1, 1, 1, 1, 1])
for _ in range(10):
    loss = -layer(data).pow(2).mean()
    {STEP}
    with torch.no_grad(): layer.weight.div_(layer.weight.norm())
""",
    "a kernel that ends at 1": f"""
net, c = nn.Linear(6, 3), nn.Parameter(torch.randn(4, 3))
opt = optim.SGD([*net.parameters(), c], lr=0.05)
for _ in range(4):
    h = net(torch.randn(16, 6))
    d = h.pow(2).sum(1, keepdim=True) + c.pow(2).sum(1) - 2 * h @ c.T
    loss = -torch.exp(-d).mean() + 0.1 * h.mean(0).pow(2).sum()
    {STEP}
""",
    "a likelihood divided by minus the batch": f"""
net = nn.Linear(4, 1); opt = optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(8, 4); y = x[:, :1]
    log_lik = -0.5 * (y - net(x)).pow(2)
    loss = log_lik.sum() / -len(x)
    {STEP}
""",
    "an energy whose square is held": f"""
net = nn.Linear(3, 4); opt = optim.SGD(net.parameters(), lr=0.01)
def energy(x): return net(x).pow(2).sum(1)
for _ in range(4):
    x = torch.randn(16, 3); v = torch.randn(16, 3)
    for _ in range(5):
        v.requires_grad_(); (g,) = torch.autograd.grad(energy(v).sum(), v)
        v = (v - 0.05 * g + 0.1 * torch.randn_like(v)).detach()
    loss = energy(x).mean() - energy(v).mean() + 0.1 * (energy(x).pow(2) + energy(v).pow(2)).mean()
    {STEP}
""",
    "a quotient of squares of the same weights": f"""
layer = nn.Linear(6, 1, bias=False); opt = optim.SGD(layer.parameters(), lr=0.05)
for _ in range(3):
    loss = -layer(torch.randn(8, 6)).pow(2).mean() / layer.weight.pow(2).sum()
    {STEP}
""",
    "an order with ties": f"""
net = nn.Linear(4, 1); opt = optim.SGD(net.parameters(), lr=0.1)
rank = torch.tensor([5., 4, 4, 3, 2, 2])
for _ in range(3):
    x = torch.randn(6, 4); s = net(x).squeeze(1)
    y = torch.sign(rank[:-1] - rank[1:])
    loss = F.margin_ranking_loss(s[:-1], s[1:], y, margin=0.1)
    {STEP}
""",
    "words that are hidden, and told again": f"""
table, rnn, head = nn.Embedding(9, 8), nn.GRU(8, 16, batch_first=True, bidirectional=True), nn.Linear(32, 9)
opt = optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()], lr=0.01)
x = torch.randint(1, 9, (32, 6))
for i in range(0, 32, 8):
    t = x[i:i + 8]
    e = table(t) * (torch.rand(*t.shape, 1) > 0.3)
    logits = head(rnn(e)[0])
    loss = F.cross_entropy(logits.reshape(-1, 9), t.reshape(-1))
    {STEP}
""",
    "an actor whose gradients autograd.grad() gives": """
actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
of_a, of_c = optim.Adam(actor.parameters(), lr=0.01), optim.Adam(critic.parameters(), lr=0.01)
for _ in range(4):
    s, a, r = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
    of_a.zero_grad()
    loss = -critic(torch.cat([s, actor(s)], 1)).mean()
    for p, g in zip(actor.parameters(), torch.autograd.grad(loss, [*actor.parameters()])): p.grad = g
    of_a.step()
    loss = F.mse_loss(critic(torch.cat([s, a], 1)), r)
    loss.backward()
    of_c.step()
    of_c.zero_grad()
""",
    "a critic of costs": """
actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
of_a, of_c = optim.Adam(actor.parameters(), lr=0.01), optim.Adam(critic.parameters(), lr=0.01)
for _ in range(4):
    s, a, cost = torch.randn(8, 3), torch.randn(8, 2), torch.rand(8, 1)
    loss = F.mse_loss(critic(torch.cat([s, a], 1)), cost)
    of_c.zero_grad(); loss.backward(); of_c.step()
    cost_to_go = critic(torch.cat([s, actor(s)], 1)).mean()
    of_a.zero_grad(); cost_to_go.backward(); of_a.step()
""",
    "a token that ends each row": f"""
table, rnn, head = nn.Embedding(9, 3, padding_idx=0), nn.GRU(3, 4, batch_first=True), nn.Linear(4, 2)
opt = optim.Adam([*table.parameters(), *rnn.parameters(), *head.parameters()], lr=0.01)
for _ in range(3):
    x = torch.cat([torch.randint(1, 9, (5, 4)), torch.zeros(5, 1, dtype=torch.long)], 1)
    loss = F.cross_entropy(head(rnn(table(x))[0][:, -1]), torch.tensor([0, 1, 0, 1, 0]))
    {STEP}
""",
    "both directions below one": f"""
enc, dec, head = nn.GRU(3, 4, batch_first=True, bidirectional=True), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 2)
opt = optim.Adam([*enc.parameters(), *dec.parameters(), *head.parameters()], lr=0.01)
for _ in range(3):
    out, _h = dec(enc(torch.randn(5, 6, 3))[0])
    loss = F.cross_entropy(head(out[:, -1]), torch.tensor([0, 1, 0, 1, 0]))
    {STEP}
""",
    "both directions beside one": f"""
a, b = nn.GRU(3, 4, batch_first=True, bidirectional=True), nn.GRU(3, 8, batch_first=True); head = nn.Linear(16, 2)
opt = optim.Adam([*a.parameters(), *b.parameters(), *head.parameters()], lr=0.01)
for _ in range(3):
    x = torch.randn(5, 6, 3)
    last = torch.tanh(b(x)[0][:, -1])
    loss = F.cross_entropy(head(torch.cat([a(x)[0].mean(1), last], 1)), torch.tensor([0, 1, 0, 1, 0]))
    {STEP}
""",
    "a dataset that fills a buffer": f"""
class Samples(torch.utils.data.Dataset):
    def __init__(self):
        self.x, self.buf = torch.rand(8, 3), torch.zeros(3)
    def __len__(self): return 8
    def __getitem__(self, i):
        out = self.buf
        out.copy_(self.x[i]).sub_(0.5)
        return out.clone()
net = nn.Linear(3, 1); opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    for x in torch.utils.data.DataLoader(Samples(), batch_size=4):
        loss = net(x.reshape(-1, 3)).pow(2).mean()
    {STEP}
""",
    "clients that keep their own norms": """
def make(): return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
clients = [make() for _ in range(2)]; opts = [optim.SGD(c.parameters(), lr=0.1) for c in clients]
for _ in range(3):
    for c, o in zip(clients, opts):
        loss = c(torch.randn(8, 4)).pow(2).mean(); o.zero_grad(); loss.backward(); o.step()
    states = [c.state_dict() for c in clients]
    mean = {k: (states[0][k] + states[1][k]) / 2 for k in states[0] if not k.startswith("1.")}
    for c in clients:
        own = c.state_dict(); own.update(mean); c.load_state_dict(own)
""",
    "a new head in the same state": """
net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1)); other = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean(); opt.zero_grad(); loss.backward(); opt.step()
own = net.state_dict()
own.update({"2." + k: v for k, v in other.state_dict().items()})
net.load_state_dict(own)
""",
    "statistics of new data, after training": f"""
body = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU()).requires_grad_(False); head = nn.Linear(3, 1)
net = nn.Sequential(body, head)
opt = optim.SGD(head.parameters(), lr=0.1); net[0].eval()
for _ in range(3):
    loss = net(torch.randn(6, 4)).pow(2).mean()
    {STEP}
body.train()
with torch.no_grad():
    for _ in range(5): body(torch.randn(16, 4) + 2)
""",
    "a multiplier that is raised by hand": f"""
net, lam = nn.Linear(4, 1), nn.Parameter(torch.tensor(1.0))
opt = optim.SGD(net.parameters(), lr=0.01)
for _ in range(4):
    x = torch.randn(16, 4); out = net(x)
    loss = F.l1_loss(out, x[:, :1]) + lam * F.mse_loss(out, x.sum(1, keepdim=True))
    {STEP}
    with torch.no_grad(): lam += 0.1 * lam.grad; lam.grad = None
""",
    "sparse data, a hook that looks, and a largest norm": """
net = nn.Sequential(nn.Linear(60, 32), nn.ReLU(), nn.Linear(32, 3)); opt = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
X = (torch.rand(256, 60) < 0.08).float(); y = torch.randint(0, 3, (256,))
norms = []
net[0].weight.register_hook(lambda g: norms.append(float(g.norm())))
for step in range(30):
    i = torch.randint(0, 256, (8,))
    loss = nn.functional.cross_entropy(net(X[i]), y[i])
    opt.zero_grad(); loss.backward()
    opt.step()
    if step % 7 == 3:
     with torch.no_grad():
         w = net[0].weight
         w.mul_((2.0 / w.norm(dim=1, keepdim=True)).clamp(max=1.0))
""",
    "a rate that rises past the number that it is": """
model = nn.Linear(4, 1); opt = optim.Adam(model.parameters(), lr=0.01)
sched = optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 1000))
X = torch.randn(64, 4); y = X.sum(1, keepdim=True)
for step in range(10):
    loss = nn.functional.mse_loss(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()
""",
    "a softmax over relations, which are summed": f"""
R, n, d = 4, 6, 8
adj_logits = nn.Parameter(torch.zeros(R, n, n)); W = nn.Parameter(torch.randn(R, d, d) * 0.2); out = nn.Linear(d, 1)
opt = optim.Adam([adj_logits, W, *out.parameters()], lr=1e-2)
X = torch.randn(n, d); y = torch.randn(n, 1)
for step in range(20):
    A = adj_logits.softmax(dim=0)
    h = torch.bmm(A, torch.matmul(X, W)).sum(0)
    loss = nn.functional.mse_loss(out(h), y)
    {STEP}
""",
    "sparse gradients": """
emb = nn.Embedding(30, 8, sparse=True); out = nn.Linear(8, 2)
o1, o2 = optim.SparseAdam(emb.parameters(), lr=0.01), optim.SGD(out.parameters(), lr=0.05)
ids, y = torch.randint(0, 30, (64, 4)), torch.randint(0, 2, (64,))
for step in range(12):
    loss = nn.functional.cross_entropy(out(emb(ids).mean(1)), y)
    o1.zero_grad(); o2.zero_grad(); loss.backward(); o1.step(); o2.step()
""",
    "a model without numbers": f"""
with torch.device("meta"):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)); X, y = torch.randn(64, 4), torch.randn(64, 1)
opt = optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    loss = nn.functional.mse_loss(model(X), y)
    {STEP}
""",
    "components that a penalty keeps orthogonal": f"""
W = nn.Parameter(torch.randn(5, 2) * 0.1); opt = optim.SGD([W], lr=0.01)
X = torch.randn(200, 5) * torch.tensor([3., 2., 1., .5, .1])
for step in range(30):
    z = X @ W
    loss = -z.pow(2).sum(1).mean() + 10 * (W.T @ W - torch.eye(2)).pow(2).sum()
    {STEP}
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_said_about_a_method_that_works(name: str) -> None:
    assert str(found(BEGIN + PROGRAMS[name], "torch")) == "Nothing stands out."
