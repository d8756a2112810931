"""Kinds of faults in training that people post about: optimizers, rates, modes, copies, networks that play or teach."""

from __future__ import annotations

import pytest

from .checked import STEP, assert_told_apart

pytestmark = pytest.mark.torch
TEACHER = """
student, teacher = nn.Linear(4, 3), nn.Linear(4, 3)
opt = optim.Adam({0}, 1e-3)
for i in range(4):
    x = torch.randn(8, 4)
    loss = F.mse_loss(student(x), teacher(x){1})
    opt.zero_grad(); loss.backward(); opt.step()
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
ANEW = "{0}for i in range(8):\n{1}    loss = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 3)\n" + STEP
MADE = "{0}net = nn.Linear(4, 3)\n{0}opt = optim.SGD(net.parameters(), 0.1)\n"
JUDGED = """
judge, net = nn.Sequential(nn.Linear(8, 6), nn.Tanh()){0}, nn.Linear(8, 8)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x = torch.randn(16, 8)
    loss = F.mse_loss(judge(net(x)), judge(x).detach())
"""
JUDGED += STEP
HALF = """
net = nn.Linear(4, 3).half()
opt = optim.Adam(net.parameters(), 1e-3{0})
for i in range(3):
    loss = F.relu(net(torch.randn(8, 4).half()) - 9).float().mean()
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
PAIRS = {  # the fault, its twin, what is said of the fault alone
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
    "a model that is made in the loop": (ANEW.format("", MADE.format("    ")), ANEW.format(MADE.format(""), ""), "AV415"),
    "a model for each task, from a copy": (
        ANEW.format("", MADE.format("    ")),
        ANEW.format("base = nn.Linear(4, 3)\n", MADE.format("    ").replace("nn.Linear(4, 3)", "copy.deepcopy(base)")),
        "AV415",
    ),
    **{
        f"a function that gives rates: {twin}": (WARMING.format("1e-3", 8), WARMING.format(*twin), "gives rates")
        for twin in (("1", 8), ("0.01", 8), ("1", 2), ("1e-3", 2))
    },
    "a frozen part that was in training mode until the end": (BODY.format(""), BODY.format("; net[0].eval()"), "AV504"),
    "a batch norm that is frozen alone": (NORMS.format(""), NORMS.format("; net[0][1].eval()"), "AV504"),
    "a batch norm of which a half learns": (
        NORMS.format(""), NORMS.format("").replace("[1].requires_grad_", "[1].bias.requires_grad_"), "AV504",
    ),
    "dropout off, and an optimizer that is gone": (LOCAL.format("eval()"), LOCAL.format("train()"), "AV502"),
    "grads that each step clears, before it or after it": (
        CLEARING.format("", "opt.zero_grad(); "),
        CLEARING.format("opt.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())", ""), "AV401",
    ),
    **{
        f"a loss that a function makes larger: {frozen}": (
            MADE_WORSE.format("net.parameters()"), MADE_WORSE.format("[delta]").replace("3))\n", f"3)){frozen}\n", 1),
            "the loss is minus cross_entropy",
        )
        for frozen in ("", ".requires_grad_(False)")
    },
    "a layer that an optimizer had not, and that is gone": (
        HANDED.format("head.parameters()"), HANDED.format("[*net.parameters(), *head.parameters()]"), "AV402",
    ),
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
    "the eps of Adam in float16": (HALF.format(""), HALF.format(", eps=1e-4"), "the eps of Adam, 1e-08, is 0"),
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
        f"a loss whose gradient is cleared before the next one: {line}": (
            LOSSES.format(False, "opt.zero_grad()"), LOSSES.format(reads, line), "clears all but the last of 2 passes",
        )
        for reads, line in (
            (True, "opt.zero_grad(); x.grad = None"), (False, "kept = net.weight.grad.norm()\n    opt.zero_grad()"),
            (False, "its.zero_grad()"),
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
    "a buffer that should learn": (BUFFERED.format(", requires_grad=True"), BUFFERED.format(""), "AV402"),
    "a plateau of a score that rises": (
        PLATEAU.format("'min'", "float(i)"), PLATEAU.format("'max'", "float(i)"), "ReduceLROnPlateau, in mode min",
    ),
    "a plateau of a loss that falls": (
        PLATEAU.format("'min'", "float(i)"), PLATEAU.format("'min'", "-float(i)"), "ReduceLROnPlateau",
    ),
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
    "momentum that begins anew": (
        ANEW.format("net = nn.Linear(4, 3)\n", "    opt = optim.SGD(net.parameters(), 0.1, momentum=0.9)\n"),
        ANEW.format("net = nn.Linear(4, 3)\n", "    opt = optim.SGD(net.parameters(), 0.1)\n"),
        "AV415",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_told_and_its_twin_is_not(name: str) -> None:
    assert_told_apart(*PAIRS[name])
