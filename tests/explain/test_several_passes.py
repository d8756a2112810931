"""Programs with passes of several losses: each model is asked about its own; and what is asked of one parameter."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .checked import BEGIN, found
from .explained import told

pytestmark = pytest.mark.torch
ACTOR = """
actor, critic = nn.Linear(6, 3), nn.Linear(6, 1)
oa, oc = optim.Adam(actor.parameters(), 1e-3), optim.Adam(critic.parameters(), 1e-3)
for i in range(3):
    states, actions, returns = torch.randn(32, 6), torch.arange(32) % 3, torch.randn(32, 1)
    advantages = {0}
    ratio = (actor(states).log_softmax(1).gather(1, actions[:, None]).squeeze(1) + 1).exp()
    policy_loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    {1}policy_loss.backward(); oa.step()
    value_loss = F.mse_loss(critic(states), returns)
    oc.zero_grad(); value_loss.backward(); oc.step()
"""
CRITIC = """
G, D = nn.Linear(4, 2), nn.Linear(2, 1)
og, od = optim.Adam(G.parameters(), 1e-3), optim.Adam(D.parameters(), 1e-3)
for i in range(4):
    {0}
    (D(G(torch.randn(8, 4)).detach()).mean() - D(torch.randn(8, 2)).mean()).backward(); od.step()
    og.zero_grad(); (-D(G(torch.randn(8, 4))).mean()).backward(); og.step()
"""


def asked(program: str, ask: str) -> str:
    import torch

    return str(told(BEGIN + program, ask, torch=torch))


def test_an_actor_is_asked_about_its_own_pass_though_the_critics_was_the_last() -> None:
    said = "broadcasts shape (32, 1) and shape (32,) to shape (32, 32)"
    fault, twin = (ACTOR.format(f"returns - critic(states).detach(){s}", "oa.zero_grad(); ") for s in ("", ").squeeze(1)"))
    twin = twin.replace("returns - critic", "(returns - critic")
    assert said in asked(fault, "actor.weight") and said in asked(fault, "actor")
    for answer in (asked(twin, "actor.weight"), asked(twin, "actor")):
        assert said not in answer and "left over" not in answer and "Nothing stands out" in answer


def test_a_gradient_that_a_later_phase_does_not_reach_is_left_over() -> None:
    phases = """
body, head = nn.Linear(4, 4), nn.Linear(4, 2)
opt = optim.SGD([*body.parameters(), *head.parameters()], 0.1)
head(body(torch.randn(8, 4))).pow(2).mean().backward(); opt.step()
opt.zero_grad(set_to_none=False)
head(body(torch.randn(8, 4))).pow(2).mean().backward(); opt.step()
for i in range(3):
    head(torch.randn(8, 4)).pow(2).mean().backward(); opt.step()
"""
    assert "left over from an earlier pass" in asked(phases, "body.weight")


@pytest.mark.parametrize(("clearing", "said"), [("od.zero_grad()", False), ("pass", True)])
def test_a_sum_with_the_generators_pass_is_told_where_no_round_clears_it(clearing: str, said: bool) -> None:
    answer = asked(CRITIC.format(clearing), "D.weight")
    assert ("zero_grad()" in answer) == said, answer


def test_a_closure_of_lbfgs_is_no_number_of_the_program() -> None:
    program = """
net = nn.Linear(3, 1)
opt = optim.LBFGS(net.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
x = torch.randn(8, 3)
def closure():
    opt.zero_grad()
    loss = {0}
    loss.backward()
    return loss
for i in range(3):
    loss = opt.step(closure)
"""
    part = "net(x).pow(2).mean()"
    assert "lacks a part" not in asked(program.format(part), "net.weight")
    assert "lacks a part" in asked(program.format(f"{part} + float(net.weight.sum()) * net.bias.sum()"), "net.weight")


@pytest.mark.parametrize(("steps", "said"), [(3, False), (6, True)])
def test_a_rate_of_zero_is_told_where_steps_follow_the_end_of_the_schedule(steps: int, said: bool) -> None:
    program = f"""
net = nn.Linear(3, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
schedule = optim.lr_scheduler.LinearLR(opt, 1.0, 0.0, total_iters=3)
for i in range({steps}):
    loss = net(torch.randn(8, 3)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step(); schedule.step()
"""
    assert ("learning rate in SGD is 0" in asked(program, "net.weight")) == said


TAGS = """
net = nn.Sequential(nn.Linear(4, 6), {0})
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x, y = torch.randn(12, 4), {1}
    loss = F.binary_cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
"""
TERM = """
net = nn.Linear(4, 1)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x, y = torch.randn(12, 4), (torch.arange(12) % 2).float()[:, None]
    p = net(x).sigmoid()
    loss = F.binary_cross_entropy(p, y) + {0}
    opt.zero_grad(); loss.backward(); opt.step()
"""
BOXES = """
net = nn.Linear(4, 4)
x, boxes = torch.randn(8, 4), {0} + torch.rand(8, 4).sort(1).values
opt = optim.SGD(net.parameters(), 0.1)
for i in range(3):
    p = net(x).sort(1).values
    wh = (torch.min(p[:, 2:], boxes[:, 2:]) - torch.max(p[:, :2], boxes[:, :2])).clamp(min=0)
    inter = wh[:, 0] * wh[:, 1]
    loss = (1 - inter / ((p[:, 2] - p[:, 0]) * (p[:, 3] - p[:, 1]) + 1 - inter + 1e-7)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
NOISED = """
emb, net = nn.Embedding(10, 4), nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 2))
opt = optim.Adam([*emb.parameters(), *net.parameters()], 1e-3)
def mixed(x, noise):
    return 0.8 * x + 0.6 * {0}
for i in range(3):
    x, t = torch.rand(200, 2), torch.arange(200) % 10
    noise = torch.randn_like(x)
    loss = F.mse_loss(net(torch.cat([mixed(x, noise), emb(t)], 1)), noise)
    opt.zero_grad(); loss.backward(); opt.step()
"""
NORMED = """
net = nn.Linear(5, 4)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    a, p, n = (F.normalize(net(torch.randn(16, 5)), dim={0}) for _ in range(3))
    loss = {1}
    opt.zero_grad(); loss.backward(); opt.step()
"""
TRIPLET = "F.triplet_margin_loss(a, p, n)"
RATIO = """
net, critic = nn.Linear(3, 2), nn.Linear(3, 1)
opt, oc = optim.Adam(net.parameters(), 1e-3), optim.Adam(critic.parameters(), 1e-3)
for i in range(3):
    dist = torch.distributions.Normal(net(torch.randn(16, 3)), 0.5)
    act = dist.sample()
    ratio = torch.exp(dist.log_prob(act) - {0})
    loss = -(ratio * torch.randn(16, 2)).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    value_loss = critic(torch.randn(16, 3)).pow(2).mean()
    oc.zero_grad(); value_loss.backward(); oc.step()
"""
OF_RATIO = "torch.exp(dist.log_prob(act) - {0})"
PREFERRED = "def both(mean, action): return -((mean - action) ** 2).sum(1, keepdim=True)" + RATIO.replace(
    OF_RATIO, "torch.exp(both(dist.mean, act) - both(dist.mean, act + 1))"
)
SIAMESE = RATIO.replace(OF_RATIO, "torch.exp(net(torch.randn(16, 3)) - net(torch.randn(16, 3)))")
COUNTED = """
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, {0}))
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    x, y = torch.randn(16, 5), torch.arange(16) % 2
    out = net(x)
    loss = {1}
    opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        right = ({2}).float().mean()
"""
ONE, TWO = "F.binary_cross_entropy_with_logits(out, y.float()[:, None])", "F.cross_entropy(out, y)"
ANEW = """
for {0} in range(4):
    {1}
    for k in range(3):
        loss = net(torch.randn(16, 5)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
"""
MADE = "net = nn.Linear(5, 1); opt = optim.Adam(net.parameters(), 1e-3)"
LOADED = """
net, other = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(3):
    loss = net(torch.randn(16, 4)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    {0}
"""
KINDS = {  # the fault, its twins, what is said of the fault alone
    "tags of a softmax": (
        TAGS.format("nn.Softmax(1)", "(torch.rand(12, 6) > 0.4).float()"),
        [
            TAGS.format("nn.Sigmoid()", "(torch.rand(12, 6) > 0.4).float()"),
            TAGS.format("nn.Softmax(1)", "F.one_hot(torch.arange(12) % 6, 6).float()"),
        ],
        "For several labels in a row use sigmoid",
    ),
    "a term behind a threshold": (
        TERM.format("(1 - ((p > 0.5).float() * y).sum() / y.sum())"),
        [TERM.format("(1 - (p * y).sum() / y.sum())"), TERM.format("((p > 0.5).float() * (p - y) ** 2).mean()"),
         TERM.format("(x > 0).float().mean()")],
        "a term of the loss trains nothing: p > 0.5 has no gradient",
    ),
    "boxes that do not overlap": (
        BOXES.format("100"), [BOXES.format("0.1 * torch.randn(8, 1)")], "all inputs of clamp lie outside its bounds",
    ),
    "distances of rows divided by norms of columns": (
        NORMED.format(0, TRIPLET), [NORMED.format(1, TRIPLET), NORMED.format(0, "(a - p).pow(2).mean() + n.pow(2).mean()")],
        "Normalize each row",
    ),
    "a ratio of itself": (
        RATIO.format("dist.log_prob(act)"),
        [RATIO.format("dist.log_prob(act).detach()"), RATIO.format("dist.log_prob(act).exp()"), PREFERRED, SIAMESE],
        "it is 1, and its gradients cancel",
    ),
    "an accuracy of pairs": (
        COUNTED.format(1, ONE, "(out > 0).long() == y"),
        [COUNTED.format(1, ONE, "(out > 0).long() == y[:, None]"), COUNTED.format(2, TWO, "out.argmax(1) == y"),
         COUNTED.format(2, TWO, "y[:, None] == y"), COUNTED.format(2, TWO, "out.argmax(1)[:, None] == y")],
        "every prediction with every label",
    ),
    "the largest of one column": (
        COUNTED.format(1, ONE, "out.argmax(1) == y"),
        [COUNTED.format(2, TWO, "out.argmax(1) == y"), COUNTED.format(1, ONE, "(out > 0)[:, 0].long() == y")],
        "the largest of one column",
    ),
    "a model of each epoch": (
        ANEW.format("epoch", MADE), [MADE + ANEW.format("epoch", "pass"), ANEW.format("fold", MADE)], "made anew in each epoch",
    ),
    "weights that are loaded into themselves": (
        LOADED.format("net.load_state_dict(net.state_dict())"),
        [LOADED.format("net.load_state_dict({'model': other.state_dict()}, strict=False)")], "nothing is copied",
    ),
    "noise beside an embedding": (
        NOISED.format("torch.randn_like(x)"),
        [NOISED.format("noise"), NOISED.format("(noise + 0.1 * torch.randn_like(x))")],
        "that is not the noise of the input",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_fault_is_told_of_the_run_and_of_a_parameter_and_its_twins_are_not(name: str) -> None:
    fault, twins, said = KINDS[name]
    assert said in str(found(BEGIN + fault, "torch")) and said in asked(fault, "next(iter(net.parameters()))")
    for twin in twins:
        answers: tuple[Any, ...] = (found(BEGIN + twin, "torch"), asked(twin, "next(iter(net.parameters()))"))
        assert not any(said in str(answer) for answer in answers), (twin, *map(str, answers))


def test_a_parameter_is_told_what_check_finds_elsewhere_in_its_pass() -> None:
    words = "net = nn.Sequential(nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 9))\n" + (
        "X = torch.randint(1, 9, (6, 5)); X[:, 3:] = 0\nloss = F.cross_entropy(net(X).transpose(1, 2), X{0})\nloss.backward()\n"
    )
    assert "Pass ignore_index=0" in asked(words.format(""), "net[1].weight")
    assert "Nothing stands out" in asked(words.format(", ignore_index=0"), "net[1].weight")


def test_a_value_of_an_evaluation_is_no_fault_and_tells_what_is_odd_in_its_run() -> None:
    part = "val = None\nwith torch.no_grad():\n    val = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 6)\n"
    for layer, said in (("nn.Identity()", "as in an evaluation"), ("nn.Softmax(1)", "Leave softmax out")):
        program = TAGS.format(layer, "torch.arange(12) % 6").replace("binary_cross_entropy", "cross_entropy") + part
        assert said in asked(program, "val") and "outside torch.no_grad()" not in asked(program, "val")


@pytest.mark.parametrize("factor", ["1", "1000"])
def test_a_loss_that_is_scaled_or_added_before_the_pass_is_a_loss(factor: str) -> None:
    program = """
net = nn.Linear(3, 1)
loss = net(torch.randn(8, 3)).pow(2).mean()
({0} * loss + net.weight.pow(2).sum()).backward()
"""
    assert "Nothing stands out on the way to this loss" in asked(program.format(factor), "loss")


def test_an_accuracy_in_a_transform_costs_the_recorder_nothing() -> None:
    import torch

    net, labels = torch.nn.Linear(3, 1), torch.arange(8.0) % 2
    with av.watch() as watch:
        torch.func.vmap(lambda x: ((net(x) > 0).float() == labels).float().mean())(torch.randn(5, 8, 3))
        assert not watch.faults


def test_a_parameter_that_was_made_of_a_leaf_was_not_used_where_the_leaf_was() -> None:
    program = "w = torch.ones(4, requires_grad=True)\nm = nn.ParameterList([w])\n({0} * 2).sum().backward()\n"
    assert "no op used it" in asked(program.format("w"), "m[0]")
    assert "Nothing stands out" in asked(program.format("m[0]"), "m[0]")
