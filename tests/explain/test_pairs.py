"""Programs as papers have them, each beside one that differs by a slip: the check tells the slip, and nothing of the other."""

from __future__ import annotations

import pytest

from .checked import BEGIN, found
from .explained import run

pytestmark = pytest.mark.torch
STEP = "opt.zero_grad(); loss.backward(); opt.step()"
TARGETS = (
    """
q, later = nn.Linear(4, 3), nn.Linear(4, 3)
opt = optim.Adam(q.parameters(), 0.01)
S, A, R, rows = torch.randn(64, 4), torch.randint(0, 3, (64,)), torch.randn(64), torch.arange(64)
for _ in range(4):
    with torch.no_grad():
        best = q(S).argmax(1)
        target = R + 0.9 * {0}
    loss = F.smooth_l1_loss(q(S)[rows, A], target)
    """
    + STEP
)
DIVERGENCE = (
    """
net, ref = nn.Linear(4, 5), nn.Linear(4, 5).requires_grad_(False)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(4):
    x, y = torch.randn(12, 4), torch.randint(0, 5, (12, 1))
    lp, base = net(x).log_softmax(1).gather(1, y), ref(x).log_softmax(1).gather(1, y)
    r = base - lp
    loss = ({0}).mean()
    """
    + STEP
)
TABLE = (
    """
table, head = nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 2)
opt = optim.Adam([*table.parameters(), *head.parameters()], 0.01)
for _ in range(3):
    rows, y = torch.tensor({0}), torch.tensor([0, 1])
    loss = F.cross_entropy(head({1}), y)
    """
    + STEP
)
CODES = (
    """
enc, dec = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6)), nn.Linear(6, 4)
opt = optim.Adam([*enc.parameters(), *dec.parameters()], 0.01)
prior = torch.full((6,), 1 / 6).log()
for _ in range(3):
    x = torch.randn(12, 4)
    q = enc(x).softmax(-1)
    loss = (dec(q) - x).pow(2).mean() + F.kl_div({0}, reduction="batchmean")
    """
    + STEP
)
TWICE = (
    """
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = {0}
        return {1}
    @staticmethod
    def backward(ctx, g):
        return g * {2}
w = torch.randn(9, 9, requires_grad=True)
opt = optim.Adam([w], 0.01)
for _ in range(3):
    inner = Step.apply(torch.randn(5, 9) @ w).sin().sum()
    (g,) = torch.autograd.grad(inner, w, create_graph=True)
    loss = g.pow(2).sum()
    """
    + STEP
)
SHARES = (
    """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    x, t = torch.randn(16, 4), torch.rand(16, 2)
    p = net(x)
    loss = {0}
    """
    + STEP
)
TWO_NAMES = (
    """
net, guess = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), nn.Linear(3, 3)
target_net = net
opt = optim.Adam([*net.parameters(), *guess.parameters()], 0.01)
for _ in range(4):
    s, later, r = torch.randn(24, 4), torch.randn(24, 4), torch.randn(24)
    with torch.no_grad(): aim = target_net(later)
    loss = {0}
    """
    + STEP
)
BOUNDED = """
net = nn.Linear(12, 3)
delta = torch.zeros(12, requires_grad=True)
opt = optim.Adam([*net.parameters(), delta], lr=0.02)
X, Y, W = torch.randn(60, 12), torch.randint(0, 3, (60,)), 9 * torch.randn(12, 3).sign()
for _ in range(12):
    loss = {0}
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad(): {1}.clamp_(-0.01, 0.01)
"""
FLOW = (
    """
net, log_scale = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Parameter(torch.zeros(2))
opt = optim.Adam([*net.parameters(), log_scale], 0.01)
for _ in range(4):
    x = torch.randn(32, 2)
    s, t = net(x[:, :1]).chunk(2, 1)
    z = torch.cat([x[:, :1], x[:, 1:] * s.exp() + t], 1) * log_scale.exp()
    log_det = s.sum(1) + log_scale.sum()
    loss = {0}
    """
    + STEP
)
INNER = (
    """
model = nn.Linear(1, 4)
opt = optim.Adam(model.parameters(), 0.01)
for _ in range(4):
    loss = 0
    for task in range(2):
        x, params = torch.randn(8, 1), dict(model.named_parameters())
        inner = torch.func.functional_call(model, params, (x,)).pow(2).mean()
        grads = torch.autograd.grad(inner, list(params.values()), create_graph=True)
        params = {{n: p - 0.1 * g for (n, p), g in zip(params.items(), grads)}}
        loss = loss + {0}.pow(2).mean()
    """
    + STEP
)
SHUFFLED = """
from torch.utils.data import DataLoader, TensorDataset
X = torch.randn(80, 4)
y = (X[:, 0] > 0).long()
order = torch.randperm(80)
X, y = X[order], y[{0}]
net = nn.Linear(4, 2)
opt = optim.Adam(net.parameters(), 0.01)
batches = DataLoader(TensorDataset(X[:64], y[:64]), batch_size=16, shuffle=True)
for xb, yb in batches:
    loss = F.cross_entropy(net(xb), yb)
    opt.zero_grad(); loss.backward(); opt.step()
"""
PLAYERS = """
G, D = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2)), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
oD, oG = optim.Adam(D.parameters(), 0.01), optim.Adam({0}.parameters(), 0.01)
one, none = torch.ones(16, 1), torch.zeros(16, 1)
for _ in range(4):
    z = torch.randn(16, 2)
    fake = F.binary_cross_entropy_with_logits(D(G(z).detach()), none)
    lossD = F.binary_cross_entropy_with_logits(D(torch.randn(16, 2) + 3), one) + fake
    oD.zero_grad(); lossD.backward(); oD.step()
    lossG = F.binary_cross_entropy_with_logits(D(G(z)), one)
    G.zero_grad(); D.zero_grad(); lossG.backward(); oG.step()
"""
CRITIC = """
critic, G = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.LeakyReLU(), nn.Flatten(), nn.Linear(64, 1)), nn.Linear(3, 16)
oc, og = optim.Adam(critic.parameters(), 1e-3), optim.Adam(G.parameters(), 1e-3)
for _ in range(4):
    real, fake = torch.randn(8, 1, 4, 4), G(torch.randn(8, 3)).view(8, 1, 4, 4)
    mid = (0.5 * real + 0.5 * fake.detach()).requires_grad_()
    grads = torch.autograd.grad(critic(mid).sum(), mid, create_graph=True)[0]
    loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * (({0} - 1) ** 2).mean()
    oc.zero_grad(); loss.backward(); oc.step()
    g_loss = -critic(fake).mean()
    og.zero_grad(); g_loss.backward(); og.step()
"""
PIXELS = """
net = nn.Linear(16, 1)
opt = optim.SGD(net.parameters(), 0.1)
x, y = torch.randint(0, 256, (64, 16)), torch.randn(64, 1)
for _ in range(40):
    loss = F.mse_loss(net(x{0}), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""
FRAMES = """
net = nn.Linear(4, 6)
opt = optim.AdamW(net.parameters(), 0.01)
for _ in range(3):
    scores = net(torch.randn({0}, 2, 4)).log_softmax(2)
    loss = F.ctc_loss(scores, torch.randint(1, 6, (2, 7)), ({0},) * 2, (7, 7))
    opt.zero_grad(); loss.backward(); opt.step()
"""
NOISY = """
net = nn.Conv2d(1, 1, 3, padding=1)
opt = optim.Adam(net.parameters(), 0.01)
weights = torch.linspace(1, 0, 50)
for _ in range(4):
    x, t, noise = torch.rand(8, 1, 8, 8), torch.randint(0, 50, (8,)), torch.randn(8, 1, 8, 8)
    w = weights[t]{0}
    loss = F.mse_loss(net(w.sqrt() * x + (1 - w).sqrt() * noise), noise)
    opt.zero_grad(); loss.backward(); opt.step()
"""
ADVERSARIES = """
gen, dis = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
og, od = optim.Adam(gen.parameters(), 0.01), optim.Adam(dis.parameters(), 0.01)
ones, zeros, bce = torch.ones(6, 1), torch.zeros(6, 1), F.binary_cross_entropy_with_logits
for _ in range(5):
    real = torch.randn(6, 4) + 1
    fake = gen(torch.randn(6, 3))
    told, seen = dis(fake.detach()), dis(real)
    loss_d = bce(seen, ones) + bce(told, zeros)
    og.zero_grad()
    loss = bce({0}, ones) + 4 * (fake - real).abs().mean()
    loss.backward(retain_graph=True)
    od.zero_grad()
    loss_d.backward()
    og.step(); od.step()
"""
DISTILLED = (
    """
teacher, net = nn.Linear(4, 3), nn.Linear(4, 3)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    x, y = torch.randn(8, 4), torch.arange(8) % 3
    with torch.no_grad(): aim = teacher(x)
    out = net(x)
    soft = F.kl_div({0}.log_softmax(1), aim.softmax(1), reduction="batchmean") * 4
    loss = 0.5 * soft + 0.5 * F.cross_entropy(out, y)
    """
    + STEP
)
LAYERED = (
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.act, self.b = nn.Linear(4, 8), nn.ReLU({0}), nn.Linear(8, 2)
    def forward(self, x):
        h = self.a(x)
        {1}
        return self.b(h)
net = Net()
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    """
    + STEP
)
VIEWS = (
    """
net = nn.Linear(4, 5)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    aims = F.one_hot(torch.arange(16).reshape(2, 8) % 5, 5).float()
    loss = -(aims * net(torch.randn(2, 8, 4)).log_softmax(dim={0})).sum(dim=-1).mean()
    """
    + STEP
)
SPREAD = (
    """
enc, dec = nn.Linear(4, 4), nn.Linear(2, 4)
opt = optim.Adam([*enc.parameters(), *dec.parameters()], 0.01)
for _ in range(3):
    x = torch.randn(8, 4)
    mean, spread = enc(x).chunk(2, 1)
    z = mean + torch.randn_like(mean) * {0}
    var = spread.pow(2)
    loss = (dec(z) - x).pow(2).mean() + 0.5 * (mean**2 + var - torch.log(1e-8 + var) - 1).sum(1).mean()
    """
    + STEP
)
FROZEN = (
    """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
for name, p in net.named_parameters():
    if name.startswith("0."): p.requires_grad = False
for name, p in net.named_parameters():
    if {0}: p.requires_grad = True
opt = optim.Adam([p for p in net.parameters() if p.requires_grad], 0.01)
for _ in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    """
    + STEP
)
FOCAL = (
    """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    entropy = F.cross_entropy(net(torch.randn(12, 4)), torch.arange(12) % 3{0})
    loss = ((1 - torch.exp(-entropy)) ** 2 * entropy).mean()
    """
    + STEP
)
RESUMED = """
net = nn.Linear(4, 1)
opt = optim.Adam(net.parameters(), 0.01)
def train():
    for _ in range(3):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    return loss
loss = train()
state = copy.deepcopy(opt.state_dict())
net = nn.Linear(4, 1)
opt = optim.Adam(net.parameters(), 0.01)
{0}
{1}
loss = train()
"""
CLASSIFIED = (
    """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    w = torch.rand(12)
    loss = (F.cross_entropy(net(torch.randn(12, 4)), torch.arange(12) % 3{0}) * w).mean()
    """
    + STEP
)
ATTENDED = (
    """
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    x = net(torch.randn(8, 3))
    score = x @ x.T
    {0    "a term that a detached path keeps from the generator": (ADVERSARIES, ["dis(fake)"], ["told"], "AV106"),
    "a distillation of the teacher into itself": (DISTILLED, ["out"], ["aim"], "AV106"),
    "classes of several views": (VIEWS, ["2"], ["1"], "AV202"),
    "a spread that is squared": (SPREAD, ["spread"], ["(0.5 * spread).exp()"], "AV227"),
    "a freeze that a later loop undoes": (FROZEN, ["name.startswith('2.')"], ["True"], "AV105"),
    "a state that is loaded into the optimizer before": (
        RESUMED,
        ["opt = optim.Adam(net.parameters(), 0.02)", "opt.load_state_dict(state)"],
        ["opt.load_state_dict(state)", "opt = optim.Adam(net.parameters(), 0.02)"],
        "AV415",
    ),
    "an activation that works in place": (LAYERED, ["inplace=True", "self.act(h)"], ["", "self.act(h)"], "AV421"),
    "a function of a hidden layer": (LAYERED, ["", "h = torch.tanh(h)"], ["", "torch.tanh(h)"], "AV421"),
    "weights of samples beside the mean of their losses": (
        CLASSIFIED,
        [', reduction="none"'],
        [""],
        "AV241",
    ),
    "a focal loss": (FOCAL, [', reduction="none"'], [""], "AV241"),
    "a mask that is filled in": (
        ATTENDED,
        ["score = score.masked_fill(score < 0, -9.0)"],
        ["score.masked_fill(score < 0, -9.0)"],
        "AV421",
    ),
}
    loss = (score.softmax(-1) @ x).pow(2).mean()
    """
    + STEP
)
PAIRS = {  # the program, what is put into it: as it should be, with the slip; the number of the check
    "a target of what another network gives": (TARGETS, ["later(S)[rows, best]"], ["best"], "AV221"),
    "an estimate of a divergence": (DIVERGENCE, ["r.exp() - 1 - r"], ["lp"], "AV205"),
    "padding between the sentences of a document": (
        TABLE,
        ["[[1, 0, 2, 3, 0], [4, 0, 5, 0, 0]]", "(table(rows) * (rows != 0).float()[..., None]).sum(1)"],
        ["[[1, 0, 2, 3, 0], [4, 0, 5, 0, 7]]", "table(rows).sum(1)"],
        "AV218",
    ),
    "padding at the ends of columns": (
        TABLE,
        ["[[1, 2, 3], [4, 0, 5], [6, 0, 7]]", "table(rows).sum(0)[:2]"],
        ["[[1, 0, 3], [4, 2, 5], [6, 0, 7]]", "table(rows).sum(0)[:2]"],
        "AV218",
    ),
    "the divergence of a code from its prior": (CODES, ["prior.expand_as(q), q"], ["q, prior.exp().expand_as(q)"], "AV201"),
    "a mask that is kept on ctx": (
        TWICE,
        ["(x > 0).to(x.dtype)", "x * ctx.kept", "ctx.kept"],
        ["2 * x", "x * x", "ctx.kept"],
        "AV702",
    ),
    "a share of squares": (
        SHARES,
        ["1 - 2 * (p * t).sum() / (p.pow(2).sum() + t.pow(2).sum())"],
        ["(p * t).sum() - p.pow(2).sum() + t.pow(2).sum()"],
        "AV207",
    ),
    "a network that is its own teacher": (
        TWO_NAMES,
        ["-F.cosine_similarity(guess(net(s)), aim).mean()"],
        ["F.mse_loss(net(s).max(1).values, r + 0.9 * aim.max(1).values)"],
        "AV414",
    ),
    "the bounds of what has its best value there": (
        BOUNDED,
        ["net(X).pow(2).mean() + (delta - W[:, 0]).pow(2).mean()", "delta"],
        ["(net(X + delta) - X @ W).pow(2).mean()", "net.weight"],
        "AV413",
    ),
    "the log-determinant of a flow": (
        FLOW,
        ["(z.pow(2).sum(1) / 2 - log_det).mean()"],
        ["(z.pow(2).sum(1) / 2).mean()"],
        "AV106",
    ),
    "weights that an inner loop adapts": (INNER, ["torch.func.functional_call(model, params, (x,))"], ["model(x)"], "AV106"),
    "a dataset that is shuffled once": (SHUFFLED, ["order"], ["torch.randperm(80)"], "AV228"),
    "pixels": (PIXELS, [" / 255"], [".float()"], "AV301"),
    "frames of a sound": (FRAMES, ["20"], ["5"], "AV301"),
    "the times of a diffusion of square images": (NOISY, [".view(-1, 1, 1, 1)"], [""], "AV235"),
    "a generator beside its critic": (PLAYERS, ["G"], ["D"], "AV402"),
    "a penalty in a loss that is not the last": (
        CRITIC, ["grads.flatten(1).norm(2, dim=1)"], ["grads.norm(2, dim=1)"], "AV232",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_the_slip_is_told_and_nothing_of_the_program_without_it(name: str) -> None:
    program, right, wrong, code = PAIRS[name]
    assert code in [f.code for f in found(BEGIN + program.format(*wrong), "torch")]
    assert str(found(BEGIN + program.format(*right), "torch")) == "Nothing stands out."


@pytest.mark.parametrize(
    ("program", "said"),
    [(PIXELS.format(".float()"), "inputs go up to 255"), (FRAMES.format("5"), "an input is too short for its targets")],
)
def test_nan_that_is_in_the_weights_by_now_is_told_with_its_cause(program: str, said: str) -> None:
    assert said in str(run(BEGIN + program, "torch", "net", watched=True))


def test_ctc_that_leaves_out_what_is_too_short_made_no_nan() -> None:
    spoilt = FRAMES.format("5").replace("(7, 7))", "(7, 7), zero_infinity=True)\n    net.weight.data.fill_(float('nan'))")
    assert "too short" not in str(run(BEGIN + spoilt, "torch", "net", watched=True))


def test_the_constant_of_a_potential_has_no_gradient_by_nature() -> None:
    program = f"""
H = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = optim.Adam(H.parameters(), 0.01)
for _ in range(3):
    z = torch.randn(12, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(H(z).sum(), z, create_graph=True)
    loss = (slope - z.detach()).pow(2).mean()
    {STEP}
"""
    assert str(found(BEGIN + program, "torch")) == "Nothing stands out."
    assert "that does not depend on it" in str(run(BEGIN + program, "torch", "H[2].bias", watched=True))


def test_a_discriminator_that_is_frozen_for_the_other_loss_is_looked_at() -> None:
    program = PLAYERS.format("G").replace("G.zero_grad(); D.zero_grad();", "G.zero_grad(); D.requires_grad_(False);")
    again = program.replace("    z = torch", "    D.requires_grad_(True); z = torch")
    assert str(found(BEGIN + again, "torch")) == "Nothing stands out."


BOXES = """
def {0}(a, b):
    width = (torch.min(a[:, 1], b[:, 1]) - torch.max(a[:, 0], b[:, 0])).clamp(min=0)
    return width / (a[:, 1] - a[:, 0] + b[:, 1] - b[:, 0] - width)
net, x = nn.Linear(3, 1), torch.randn(6, 3)
left = net(x)
loss = (1 - {0}(torch.cat([left, left + 1], 1), torch.tensor([[50.0, 60.0]]).expand(6, 2))).mean()
loss.backward()
"""


@pytest.mark.parametrize(("name", "said"), [("iou", "no box overlaps its target"), ("share", "lie outside its bounds")])
def test_boxes_that_lie_apart_are_named(name: str, said: str) -> None:
    assert said in str(run(BEGIN + BOXES.format(name), "torch", "net.weight", watched=True))


def test_a_schedule_that_has_just_ended_has_stopped_nothing() -> None:
    program = f"""
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
plan = optim.lr_scheduler.LambdaLR(opt, lambda k: max(0, 1 - k / 6))
for _ in range(6):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    {STEP}; plan.step()
"""
    assert "learning rate" not in str(run(BEGIN + program, "torch", "net.weight", watched=True))
    later = program + "for _ in range(3):\n    loss = net(torch.randn(8, 3)).pow(2).mean()\n    " + STEP + "; plan.step()\n"
    assert "its learning rate in SGD is 0 now" in str(run(BEGIN + later, "torch", "net.weight", watched=True))


TURNS = """
a, b = nn.Linear(4, 2), nn.Linear(4, 2)
oa, ob = optim.SGD(a.parameters(), 0.1), optim.SGD(b.parameters(), 0.1)
for _ in range(3):
    x = torch.randn(8, 4)
    for net, opt in ((a, oa), (b, ob)):
        loss = net(x).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""


def test_a_gradient_of_an_own_pass_is_not_left_over() -> None:
    said = str(run(BEGIN + TURNS, "torch", "a.weight", watched=True))
    assert "of an earlier pass" in said and "Clear" not in said
    by_hand = TURNS + "a.weight.grad = torch.ones(2, 4)\n"
    assert "a line has set its gradient" in str(run(BEGIN + by_hand, "torch", "a.weight", watched=True))


def test_the_first_cut_is_told_and_not_one_behind_it() -> None:
    program = f"""
net, target = nn.Linear(3, 2), nn.Linear(3, 2)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    x = torch.randn(8, 3)
    with torch.no_grad(): y = target(x)
    u = y - net(x)
    loss = ((u.detach() < 0).float() * u.pow(2)).mean()
    {STEP}
"""
    said = str(run(BEGIN + program, "torch", "target.weight", watched=True))
    assert "no_grad()" in said and "detach" not in said


def test_a_number_that_only_ranks_takes_no_part_away() -> None:
    program = f"""
net = nn.Linear(3, 1)
opt = optim.Adam(net.parameters(), 0.01)
for _ in range(3):
    losses = [net(torch.randn(8, 3)).pow(2).mean() for _ in range(3)]
    worst = max(losses, key=lambda v: v.item())
    loss = worst * 2
    {STEP}
"""
    assert "Nothing stands out" in str(run(BEGIN + program, "torch", "net.weight", watched=True))


@pytest.mark.parametrize(("at", "kept"), [("h.detach()", False), ("h.sum()", True)])
def test_a_state_whose_detach_nothing_keeps_is_told_by_the_error(at: str, kept: bool) -> None:
    program = f"""
rnn = nn.GRU(3, 4)
opt = optim.SGD(rnn.parameters(), 0.1)
state = (torch.zeros(1, 2, 4),)
for _ in range(3):
    for h in state:
        {at}
    made, *state = rnn(torch.randn(5, 2, 3), state[0])
    loss = made.pow(2).mean()
    {STEP}
"""
    said = str(found(BEGIN + program, "torch"))
    assert ("state = [h.detach() for h in state]" in said) != kept and "AV" in said


def test_a_detach_that_nothing_keeps_elsewhere_is_not_the_errors_cause() -> None:
    program = """
net = nn.Linear(3, 4)
opt = optim.SGD(net.parameters(), 0.1)
def look(out):
    out.detach()
for _ in range(2):
    out = net(torch.randn(5, 3))
    loss = out.pow(2).mean()
    loss.backward()
    again = net(torch.randn(5, 3))
    look(again)
    (loss + again.mean()).backward()
"""
    said = str(found(BEGIN + program, "torch"))
    assert "AV901" in said and "detach() returns" not in said


def test_what_an_optimizer_that_never_steps_leaves_is_no_other_fault() -> None:
    program = """
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.0)
for _ in range(20):
    net(torch.randn(4, 3)).mean().backward()
"""
    assert [f.code for f in found(BEGIN + program, "torch")] == ["AV403"]


IGNORED = """
class Soft(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha=1):
        ctx.scale = torch.rsqrt(1 + alpha * x.clamp(max=0) ** 2)
        return x * ctx.scale
    @staticmethod
    def backward(ctx, g):
        return {0}ctx.scale ** 3, None
net = nn.Linear(3, 4)
loss = Soft.apply(net(torch.randn(8, 3))).pow(2).mean()
loss.backward()
"""


def test_a_backward_that_ignores_what_arrives_is_told_where_its_forward_changes_nothing() -> None:
    assert "AV701" in [f.code for f in found(BEGIN + IGNORED.format(""), "torch")]
    assert "AV701" not in [f.code for f in found(BEGIN + IGNORED.format("g * "), "torch")]


@pytest.mark.parametrize(("end", "said"), [("", "a line has set"), ("; opt.zero_grad()", "cleared the gradient")])
def test_a_gradient_that_a_line_has_set_is_not_that_of_a_pass(end: str, said: str) -> None:
    program = f"""
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, [*net.parameters()])): p.grad = g
    opt.step(){end}
"""
    assert said in str(run(BEGIN + program, "torch", "net.weight", watched=True))
