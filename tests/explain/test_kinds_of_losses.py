"""Kinds of faults in losses and data that people post about: each is told, and its nearest twins are not accused."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

import autograd_viz as av

from .checked import BEGIN, LIBRARIES, found

STEP = "    opt.zero_grad(); loss.backward(); opt.step()\n"
NET = "net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, {0}))\nopt = optim.Adam(net.parameters(), 1e-3)\n"
SCORES = (
    NET.format(6) + "for i in range(3):\n    out, y = net(torch.randn(12, 4)), torch.arange(12) % 6\n    loss = {0}\n" + STEP
)
CTC = (
    "net = nn.Linear(4, 6)\nopt = optim.Adam(net.parameters(), 1e-3)\nfor i in range(3):\n"
    "    out = net(torch.randn(12, 2, 4))\n"
    "    loss = F.ctc_loss({0}, torch.randint(1, 6, (2, 4)), torch.full((2,), 12), torch.full((2,), 4))\n" + STEP
)
TRIPLET = NET.format(8) + (
    "margin = 1.0\nfor i in range(3):\n    anchor, positive, negative = (net(torch.randn(16, 4)) for _ in range(3))\n"
    "    dp, dn = F.pairwise_distance(anchor, positive), F.pairwise_distance(anchor, negative)\n"
    "    pos_sim, neg_sim = (anchor * positive).sum(1), (anchor * negative).sum(1)\n    loss = ({0}).mean()\n"
) + STEP  # fmt: skip
HINGE = NET.format(1) + (
    "x = torch.randn(32, 4)\ny = torch.sign(x[:, :1])\nfor i in range(3):\n    out = net(x)\n    loss = {0}.mean()\n"
) + STEP  # fmt: skip
NORMAL = "net = nn.Linear(6, 4)\nopt = optim.Adam(net.parameters(), 1e-3)\n" + (
    "for i in range(3):\n    x, y = torch.rand(8, 6), torch.randn(8, 2)\n    mean, log = net(x).chunk(2, 1)\n"
    "    loss = (0.5 * log + 0.5 * (y - mean).pow(2) {0}).mean()\n"
) + STEP  # fmt: skip
WEIGHED = "net, s = nn.Linear(6, 4), nn.Parameter(torch.zeros(2))\nopt = optim.Adam([*net.parameters(), s], 1e-3)\n" + (
    "for i in range(3):\n    x, y = torch.rand(8, 6), torch.randn(8, 4)\n"
    "    a, b = F.mse_loss(net(x), y), F.l1_loss(net(x), y)\n"
    "    loss = torch.exp({0}s[0]) * a + s[0] + torch.exp(-s[1]) * b + s[1]\n"
) + STEP  # fmt: skip
FLOW = "s, t = nn.Linear(2, 2), nn.Linear(2, 2)\nopt = optim.Adam([*s.parameters(), *t.parameters()], 1e-3)\n" + (
    "for i in range(3):\n    a, b = torch.randn(32, 4).chunk(2, 1)\n    log = s(a).tanh()\n    z = torch.cat([a, {0}], 1)\n"
    "    logp = -0.5 * (z ** 2).sum(1)\n    loss = -(logp {1} log.sum(1)).mean()\n"
) + STEP  # fmt: skip
VAE = "enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)\nopt = optim.Adam([*enc.parameters(), *dec.parameters()], 1e-3)\n" + (
    "for i in range(3):\n    x = torch.rand(8, 6)\n    mean, log = enc(x).chunk(2, 1)\n    std = {0}\n"
    "    z = mean + std * torch.randn_like(std)\n    kl = -0.5 * torch.sum({1})\n"
    "    loss = F.mse_loss(dec(z), x, reduction='sum') + kl\n"
) + STEP  # fmt: skip
OF_VARIANCE = "1 + log - mean.pow(2) - log.exp()"
CENTERED = NET.format("{0}") + (
    "for i in range(3):\n    h = net(torch.randn(16, 4))\n"
    "    loss = F.mse_loss(h - h.mean({1}, keepdim=True), torch.rand(16, {0}))\n"
) + STEP  # fmt: skip
STACKED = "(torch.exp({0}s) * torch.stack([a, b]) + s).sum()"
PICKED = SCORES.replace("loss =", "logp = out.log_softmax(1).gather(1, y[:, None]).squeeze(1)\n    loss =")
DECAYED = SCORES.replace("loss =", "l2 = sum(p.pow(2).sum() for p in net.parameters())\n    loss =")
RANKED = "u, v = nn.Embedding(20, 8), nn.Embedding(30, 8)\nopt = optim.Adam([*u.parameters(), *v.parameters()], 1e-3)\n" + (
    "for i in range(3):\n    a, b, c = (torch.randint(0, 20, (32,)) for _ in range(3))\n"
    "    pos_score, neg_score = (u(a) * v(b)).sum(1), (u(a) * v(c)).sum(1)\n    loss = {0}.mean()\n"
) + STEP  # fmt: skip
STEPPED = (
    "emb, cell, head = nn.Embedding(20, 8), nn.GRUCell(8, 8), nn.Linear(8, 20)\n"
    "t = torch.randint(1, 20, (6, 7))\nt[:, 5:] = 0\nh, loss = torch.zeros(6, 8), 0\n"
    "for k in range({0}):\n    h = cell(emb(t[:, k]), h)\n"
    "    loss = loss + F.cross_entropy(head(h), t[:, k + 1], ignore_index=0)\nloss.backward()"
)
PAIRS = {  # the fault, its twins, what is said of the fault alone
    "ctc_loss of logits": (
        CTC.format("out"), [CTC.format("out.log_softmax(2)")], "AV201 may be a fault: ctc_loss takes logarithms",
    ),
    "ctc_loss of probabilities": (
        CTC.format("out.softmax(2)"), [CTC.format("out.softmax(2).log()")], "AV201 may be a fault: ctc_loss takes logarithms",
    ),
    "ctc_loss of a softmax over the batch": (
        CTC.format("out.log_softmax(1)"), [CTC.format("out.log_softmax(-1)")], "ctc_loss takes the classes of the last one",
    ),
    "nll_loss of a relu": (
        SCORES.format("F.nll_loss(out.relu(), y)"),
        [SCORES.format("F.nll_loss(-out.relu(), y)"), SCORES.format("F.nll_loss(F.logsigmoid(out), y)")],
        "nll_loss takes logarithms of probabilities, and got the result of relu",
    ),
    "a triplet that is exchanged": (
        TRIPLET.format("F.relu(dn - dp + margin)"),
        [TRIPLET.format("F.relu(dp - dn + margin)"), TRIPLET.format("F.relu(neg_sim - pos_sim + margin)")],
        "makes the distance to what is called negative smaller",
    ),
    "the arguments of a triplet loss, exchanged": (
        TRIPLET.format("F.triplet_margin_loss(anchor, negative, positive)"),
        [TRIPLET.format("F.triplet_margin_loss(anchor, positive, negative)")],
        "makes the distance to what is called negative smaller",
    ),
    "a margin that is taken away": (
        TRIPLET.format("F.relu(dp - dn - margin)"),
        [TRIPLET.format("F.relu(dp - dn + margin)"), TRIPLET.format("F.relu(dp - 0.1) + F.relu(margin - dn)")],
        "takes the margin away",
    ),
    "a hinge the wrong way": (
        HINGE.format("torch.clamp(y * out - 1, min=0)"),
        [
            HINGE.format("torch.clamp(1 - y * out, min=0)"),
            HINGE.format("F.relu((out - y).abs() - 0.1)"),
            HINGE.format("F.relu(x[:, :1] * out - 1)"),
        ],
        "grows where labels and scores agree",
    ),
    "a variance with a plus": (
        NORMAL.format("* log.exp()"), [NORMAL.format("/ log.exp()"), NORMAL.format("* (-log).exp()")], "AV227",
    ),
    "the weight of a task with a plus": (WEIGHED.format(""), [WEIGHED.format("-")], "AV227"),
    "a log-determinant that is added": (
        FLOW.format("b * log.exp() + t(a)", "-"),
        [FLOW.format("b * log.exp() + t(a)", "+"), FLOW.format("(b - t(a)) * (-log).exp()", "-")],
        "AV227",
    ),
    "a variance in place of a spread": (
        VAE.format("log.exp()", OF_VARIANCE),
        [
            VAE.format("(0.5 * log).exp()", OF_VARIANCE),
            VAE.format("log.exp().sqrt()", OF_VARIANCE),
            VAE.format("log.exp()", "1 + 2 * log - mean.pow(2) - std.pow(2)"),
        ],
        "noise is multiplied by exp()",
    ),
    "half a logarithm in place of a spread": (
        VAE.format("log.mul(0.5)", OF_VARIANCE),
        [
            VAE.format("log.mul(0.5).exp()", OF_VARIANCE),
            VAE.format("F.softplus(log)", "1 + 2 * std.log() - mean.pow(2) - std.pow(2)"),
        ],
        "without exp()",
    ),
    "a log-probability of labels with a plus": (
        PICKED.format("((1 - logp.exp()) ** 2 * logp).mean()"),
        [
            PICKED.format("-((1 - logp.exp()) ** 2 * logp).mean()"),
            PICKED.format("-(logp * torch.randn(12)).mean()"),
            PICKED.format("(logp * torch.rand(12)).mean()"),  # AV205 asks whether that is a cost
            SCORES.format("F.cross_entropy(out, y) + 0.1 * (out.softmax(1) * out.log_softmax(1)).sum(1).mean()"),
        ],
        "the log-probability of the labels enters the loss with a plus",
    ),
    "a policy that makes what was rewarded less likely": (
        PICKED.format("(logp * torch.randn(12)).mean()"),
        [PICKED.format("-(logp * torch.randn(12)).mean()"), PICKED.format("(logp * -torch.rand(12)).mean()")],
        "log_prob() times a weight enters the loss with a plus",
    ),
    "tasks that are weighed the wrong way, in a stack": (
        WEIGHED.replace("torch.exp({0}s[0]) * a + s[0] + torch.exp(-s[1]) * b + s[1]", STACKED).format(""),
        [WEIGHED.replace("torch.exp({0}s[0]) * a + s[0] + torch.exp(-s[1]) * b + s[1]", STACKED).format("-")],
        "AV227",
    ),
    "groups of one element": (
        NET.format(8) + "loss = F.mse_loss(nn.GroupNorm(8, 8)(net(torch.randn(16, 4))), torch.rand(16, 8))\nloss.backward()",
        [
            NET.format(8) + "loss = nn.GroupNorm(2, 8)(net(torch.randn(16, 4))).pow(3).sum()\nloss.backward()",
            "net = nn.Conv1d(4, 8, 1)\nloss = nn.GroupNorm(8, 8)(net(torch.randn(2, 4, 5))).pow(3).sum()\nloss.backward()",
        ],
        "AV303",
    ),
    "a penalty of weights with a minus": (
        DECAYED.format("F.cross_entropy(out, y) - 1e-3 * l2"),
        [
            DECAYED.format("F.cross_entropy(out, y) + 1e-3 * l2"),
            SCORES.format("F.cross_entropy(out, y) + (net[0].bias ** 4).sum() - (net[0].bias ** 2).sum()"),
        ],
        "of weights enters the loss with a minus",
    ),
    "a step of which all targets are padding": (
        STEPPED.format(6), [STEPPED.format(4)], "the targets of nll_loss have total weight 0",
    ),
    "a ranking the wrong way": (
        RANKED.format("-F.logsigmoid(neg_score - pos_score)"),
        [RANKED.format("-F.logsigmoid(pos_score - neg_score)"), RANKED.format("F.softplus(neg_score - pos_score)")],
        "makes the score of what is called negative larger",
    ),
    "a mean of one column": (
        CENTERED.format(1, 1), [CENTERED.format(1, 0), CENTERED.format(3, 1)], "subtracts a mean over a dimension of size 1",
    ),
    "a norm of one column, and a loss that is not zero": (
        NET.format(1) + "loss = F.mse_loss(nn.LayerNorm(1)(net(torch.randn(16, 4))), torch.rand(16, 1))\nloss.backward()",
        [NET.format(1) + "loss = F.mse_loss(nn.BatchNorm1d(1)(net(torch.randn(16, 4))), torch.rand(16, 1))\nloss.backward()"],
        "AV303",
    ),
}  # fmt: skip
CLASSES = (
    NET.format(3)
    + "for i in range(3):\n    x = torch.randn(32, 4)\n    y = {0}\n    loss = F.cross_entropy(net(x), y)\n"
    + STEP
)
PIXELS = "net = nn.Conv2d(1, 2, 3, padding=1)\nloss = F.cross_entropy(net(torch.randn(4, 1, 8, 8)), {0})\nloss.backward()"
COLUMN = "net = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))\nX = torch.randn(16, 1)\nx = {0}\n" + (
    "loss = F.mse_loss(net(x), X.sin())\nloss.backward()"
)
TOKENS = (
    "emb, rnn, head = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 20)\n"
    "t = torch.randint(1, 20, (6, 12))\nt[:, 5:] = 0\nout, _ = rnn(emb(t[:, :-1]))\n"
    "loss = {0}\nloss.backward()"
)
DECODER = "emb, cell, head = nn.Embedding(20, 8), nn.GRUCell(8, 8), nn.Linear(8, 20)\nt = torch.randint(1, 20, (6, 6))\n" + (
    "h, loss = torch.zeros(6, 8), 0\nfor k in range(5):\n    h = cell(emb(t[:, k]), h)\n"
    "    loss = loss + F.cross_entropy(head(h), t[:, {0}])\nloss.backward()"
)
ROWS = NET.format(1) + (
    "X = torch.randn(60, 4)\nY = X[:, :1].sin()\ny, ones = torch.empty(60, 1), torch.ones(60, 1)\nfor i in range(3):\n"
    "    perm = torch.randperm(60)\n    {0}\n"
) + STEP  # fmt: skip
LINES = NET.format(9) + "X = torch.randn(9, 4)\nfor i in range(3):\n    perm = torch.randperm(9)\n    loss = {0}\n" + STEP
SCALED = "net, images = nn.Sequential(nn.Flatten(), nn.Linear(64, 2)), {0} * torch.rand(32, 1, 8, 8)\n" + (
    "loss = F.cross_entropy(net(images / {1}), torch.arange(32) % 2)\nloss.backward()"
)
BALANCED = (
    NET.format(1)
    + "Y = (torch.arange(100) % {1} == 0).float()[:, None]\n"
    + ("loss = F.binary_cross_entropy_with_logits(net(torch.randn(100, 4)), Y, pos_weight={0})\nloss.backward()")
)
TEACHER = "s, t = nn.Linear(4, 5), nn.Linear(4, 5).requires_grad_(False)\nx = torch.randn(16, 4)\n" + (
    "loss = F.kl_div(s(x).log_softmax(1), {0}, reduction='batchmean')\nloss.backward()"
)
ONE_SCORE = (
    NET.format(1) + "out, y = net(torch.randn(32, 4)).squeeze(), (torch.arange(32) % 2).float()\nloss = {0}\nloss.backward()"
)
BY_HAND = SCORES.replace("loss =", "p, y = out.softmax(1), F.one_hot(y, 6).float()\n    loss =")
OF_TWO = HINGE.format("{0}").replace(
    "out = net(x)\n    loss = {0}.mean()", "p, y = net(x).sigmoid(), (x[:, :1] > 0).float()\n    loss = {0}"
)
STACKS = (
    "net, masks = nn.Conv2d(1, 2, 1), [((torch.rand(8, 8) > 0.5).float() * {0} / 255).long() for _ in range(4)]\n"
    "loss = F.cross_entropy(net(torch.randn(4, 1, 8, 8)), torch.stack(masks))\nloss.backward()"
)
SHIFTED = (
    "emb, rnn, head = nn.Embedding(20, 8), nn.GRU(8, 8, batch_first=True), nn.Linear(8, 20)\nt = torch.randint(0, 20, (6, 9))\n"
    "loss = F.cross_entropy(head(rnn(emb(t[:, {0}]))[0]).flatten(0, 1), t[:, {1}].flatten())\nloss.backward()"
)
OF_ROWS = {  # what tells who made data, as PyTorch's recorder does
    "probabilities that become whole numbers": (
        CLASSES.format("torch.rand(32).long()"),
        [CLASSES.format("(3 * torch.rand(32)).long()"), CLASSES.format("(torch.arange(32) % 3).float().long()")],
        "AV219",
    ),
    "a mask of fractions": (
        PIXELS.format("((torch.rand(4, 8, 8) > 0.5).float() * 0.9).to(torch.long)"),
        [PIXELS.format("(torch.rand(4, 8, 8) > 0.5).float().to(torch.long)"), PIXELS.format("torch.zeros(4, 8, 8).long()")],
        "AV219",
    ),
    "argmax of a column": (
        CLASSES.format("(torch.arange(32) % 3)[:, None].argmax(1)"),
        [
            CLASSES.format("F.one_hot(torch.arange(32) % 3).argmax(1)"),
            CLASSES.format("(torch.arange(32) % 3)[:, None].squeeze(1)"),
        ],
        "argmax runs over a dimension of size 1",
    ),
    "a column without its own mean": (
        COLUMN.format("X - X.mean(1, keepdim=True)"),
        [COLUMN.format("X - X.mean(0, keepdim=True)"), COLUMN.format("torch.zeros(16, 1)")],
        "makes all elements of the input equal",
    ),
    "pixels that are divided twice": (
        SCALED.format(1, 255), [SCALED.format(255, 255), SCALED.format(1, 2)], "divides by 255 what was at most 1",
    ),
    "a pos_weight that is upside down": (
        BALANCED.format("Y.sum() / (1 - Y).sum()", 10),
        [
            BALANCED.format("(1 - Y).sum() / Y.sum()", 10),
            BALANCED.format("Y.sum() / (1 - Y).sum()", 2),
            BALANCED.format("torch.tensor(0.5)", 10),
        ],
        "AV224",
    ),
    "logits as the target of kl_div": (
        TEACHER.format("t(x)"),
        [TEACHER.format("t(x).softmax(1)"), TEACHER.format("t(x).log_softmax(1), log_target=True")],
        "kl_div takes probabilities as targets",
    ),
    "one score a row, and cross_entropy": (
        ONE_SCORE.format("F.cross_entropy(out, y)"),
        [
            ONE_SCORE.format("F.binary_cross_entropy_with_logits(out, y)"),
            ONE_SCORE.format("F.cross_entropy(out, torch.tensor(3))"),
            ONE_SCORE.format("F.cross_entropy(out, torch.rand(32).softmax(0))"),
        ],
        "scores without a dimension of classes",
    ),
    "a cross entropy by hand without its minus": (
        BY_HAND.format("(y * p.log()).sum(1).mean()"),
        [
            BY_HAND.format("-(y * p.log()).sum(1).mean()"),
            BY_HAND.format("((y * p.log()).sum(1) * torch.rand(12)).mean()"),
            BY_HAND.format("(p * p.log()).sum(1).mean()"),
        ],
        "the log-probability of the labels enters the loss with a plus",
    ),
    "a binary cross entropy by hand without its minus": (
        OF_TWO.format("(y * p.log() + (1 - y) * (1 - p).log()).mean()"),
        [OF_TWO.format("-(y * p.log() + (1 - y) * (1 - p).log()).mean()"), OF_TWO.format("(1 - p).log().mean()")],
        "the log-probability of the labels enters the loss with a plus",
    ),
    "masks of fractions that a loader stacks": (
        STACKS.format(200), [STACKS.format(255)], "makes whole numbers of numbers below 1",
    ),
    "tokens that are shifted the wrong way": (
        SHIFTED.format("1:", ":-1"), [SHIFTED.format(":-1", "1:"), SHIFTED.format(":-2", "2:")], "got one step before",
    ),
    "padding of scores (batch, classes, time)": (
        TOKENS.format("F.cross_entropy(head(out).transpose(1, 2), t[:, 1:])"),
        [
            TOKENS.format("F.cross_entropy(head(out).transpose(1, 2), t[:, 1:], ignore_index=0)"),
            TOKENS.format("(F.cross_entropy(head(out).transpose(1, 2), t[:, 1:], reduction='none') * (t[:, 1:] > 0)).mean()"),
        ],
        "AV212",
    ),
    "a decoder that gets what it is to say, step by step": (DECODER.format("k"), [DECODER.format("k + 1")], "AV215"),
    "rows that are shuffled alone": (
        ROWS.format("loss = F.mse_loss(net(X[perm]), Y)"),
        [
            ROWS.format("loss = F.mse_loss(net(X[perm]), Y[perm])"),
            ROWS.format("loss = F.mse_loss(net(X[perm]), Y.index_select(0, perm))"),
            ROWS.format("loss = F.mse_loss(net(X[perm]), Y.gather(0, perm[:, None]))"),
            ROWS.format("loss = F.mse_loss(net(X[perm]), Y[perm.tolist()])"),
            ROWS.format("loss = F.mse_loss(net(X[perm]), torch.from_numpy(Y.numpy()[perm.numpy()]))"),
            ROWS.format("y.copy_(Y[perm]); loss = F.mse_loss(net(X[perm]), y)"),
            ROWS.format("x = X[perm]; loss = F.mse_loss(net(x), x[:, :1].sin())"),
            ROWS.format("loss = F.mse_loss(net(X[perm]), ones)"),
            ROWS.format("out = net(0.7 * X + 0.3 * X[perm]); loss = 0.7 * F.mse_loss(out, Y) + 0.3 * F.mse_loss(out, Y[perm])"),
        ],
        "AV228",
    ),
    "rows that are shuffled in place of themselves": (
        ROWS.format("X = X[perm]; loss = F.mse_loss(net(X[:20]), Y[:20])"),
        [ROWS.format("X, Y = X[perm], Y[perm]; loss = F.mse_loss(net(X[:20]), Y[:20])")],
        "AV228",
    ),
    "rows that are shuffled alone, with a loss by hand": (
        ROWS.format("loss = (net(X[perm]) - Y).pow(2).mean()"),
        [ROWS.format("loss = (net(X[perm]) - Y[perm]).pow(2).mean()")],
        "AV228",
    ),
    "rows and targets in two orders": (
        ROWS.format("loss = F.mse_loss(net(X[perm]), Y[torch.randperm(60)])"),
        [LINES.format("F.cross_entropy(net(X[perm]), perm)"), LINES.format("F.cross_entropy(net(X[perm]), torch.arange(9))")],
        "AV228",
    ),
}  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_told_and_its_twins_are_not(name: str, library: str) -> None:
    _compare(*PAIRS[name], library)


@pytest.mark.torch
@pytest.mark.parametrize("name", OF_ROWS)
def test_a_fault_of_data_is_told_and_its_twins_are_not(name: str) -> None:
    _compare(*OF_ROWS[name], "torch")


def _compare(fault: str, twins: list[str], said: str, library: str) -> None:
    assert said in str(found(BEGIN + fault, library))
    for twin in twins:
        answer = found(BEGIN + twin, library)
        assert said not in str(answer) and not answer.is_so, (twin, str(answer))


@pytest.mark.torch
@pytest.mark.parametrize("name", PAIRS)
def test_a_fault_is_told_after_its_function_has_returned(name: str) -> None:
    """The optimizer is gone then, and so are all names."""
    fault, twins, said = PAIRS[name]
    assert said in str(found(_in_function(fault), "torch"))
    for twin in twins:
        assert said not in str(found(_in_function(twin), "torch"))


def _in_function(program: str) -> str:
    return f"{BEGIN}def main():\n    " + program.strip().replace("\n", "\n    ") + "\nmain()\n"


LINES_OF = """
net = {net}
opt = optim.Adam(net.parameters(), 1e-3)
{data}
for i in range(4):
    loss = {loss}
    opt.zero_grad(); loss.backward(); opt.step()
"""
TABLE = "table, Y = torch.randn(4, 6), torch.arange(60) % 4\nX = table[Y] + 0.1 * torch.randn(60, 6)\n{}"
IMAGES = "X, Y = torch.rand(12, 8, 8, 3){}, torch.arange(12) % 4"
PIXELS = "X, Y = (torch.rand(12, 3, 8, 8) * 255 / 255.0){}, torch.arange(12) % 4"
CONV = "nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(144, 4))"
WORDS = "X = torch.randint(1, 9, (6, 5)); X[:, 3:] = 0\nY = X % 3 {}"
TAGS = "nn.Sequential(nn.Embedding(9, 4, padding_idx=0), nn.Linear(4, 4))"
PAIR = "a, p, n = (torch.randn(8, 6) for _ in range(3))"
SCORES = "F.cross_entropy(net(X), Y)"
POSTED = {  # the fault, its twins, what is said of the fault alone
    "rows and targets of a table in two random orders": (
        ("nn.Linear(6, 4)", TABLE.format("X, Y = X[torch.randperm(60)], Y[torch.randperm(60)]"), SCORES),
        [
            ("nn.Linear(6, 4)", TABLE.format("perm = torch.randperm(60); X, Y = X[perm], Y[perm]"), SCORES),
            ("nn.Linear(6, 4)", TABLE.format("keep = torch.rand(60) > 0.2; X, Y = X[keep], Y[keep]"), SCORES),
        ],
        "AV228",
    ),
    "channels that a view moved": (
        (CONV, IMAGES.format(".view(-1, 3, 8, 8)"), SCORES),
        [(CONV, IMAGES.format(".permute(0, 3, 1, 2)"), SCORES), (CONV, IMAGES.format(".permute(0, 3, 1, 2) / 2"), SCORES)],
        "scrambled",
    ),
    "pixels divided twice": (
        (CONV, PIXELS.format(" / 255.0"), SCORES),
        [(CONV, PIXELS.format(""), SCORES), (CONV, PIXELS.format(" / 2"), SCORES)],
        "at most 1 already",
    ),
    "pixels divided twice, and sums that are not": (
        (CONV, PIXELS.format(" / 255.0"), SCORES),
        [
            (CONV, PIXELS.format(""), "F.cross_entropy(net(torch.rand(12, 3, 8, 8) / 255 + X), Y)"),  # dequantization
            (CONV, PIXELS.format(""), "F.cross_entropy(net(X + torch.rand_like(X) / 255), Y)"),
        ],
        "at most 1 already",
    ),
    "tags of padding": (
        (TAGS, WORDS.format("+ (X > 0).long()"), "F.cross_entropy(net(X).transpose(1, 2), Y)"),
        [
            (TAGS, WORDS.format("+ (X > 0).long()"), "F.cross_entropy(net(X).transpose(1, 2), Y, ignore_index=0)"),
            (TAGS, WORDS.format(""), "F.cross_entropy(net(X).transpose(1, 2), Y)"),  # words have that tag, too
        ],
        "AV212",
    ),
    "a triplet of two": (
        ("nn.Linear(6, 4)", PAIR, "F.triplet_margin_loss(net(a), net(p), net(p))"),
        [("nn.Linear(6, 4)", PAIR, "F.triplet_margin_loss(net(a), net(p), net(n))")],
        "positive and negative are the same",
    ),
    "a logarithm beside a softmax of masked rows": (
        ("nn.Linear(6, 4)", PAIR, "(lambda s: s * s.log())(net(a).masked_fill(p[:, 2:] > 0, -torch.inf).softmax(1)).sum()"),
        [("nn.Linear(6, 4)", PAIR, "net(a).masked_fill(p[:, :1] > n[:, :1], -torch.inf).softmax(1).sum()")],
        "log",
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("name", POSTED)
def test_a_posted_fault_is_told_and_its_twins_are_not(name: str) -> None:
    fault, twins, said = POSTED[name]
    programs = [LINES_OF.format(net=net, data=data, loss=loss) for net, data, loss in (fault, *twins)]
    answers = [str(found(BEGIN + program, "torch")) for program in programs]
    assert [said in answer for answer in answers] == [True, *(False for _ in twins)], answers


@pytest.mark.torch
@pytest.mark.parametrize(("used", "said"), [("i < 3", False), ("False", True)])
def test_what_earlier_passes_trained_is_not_called_unused(used: str, said: bool) -> None:
    program = f"""
net = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])
opt = optim.Adam(net.parameters(), 1e-3)
for i in range(4):
    x = torch.randn(6, 4)
    loss = (net[0](x) + (net[1](x) if {used} else 0)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    del loss
"""
    assert ("AV102" in str(found(BEGIN + program, "torch"))) == said


@pytest.mark.torch
@pytest.mark.parametrize(("first", "said"), [("", True), ("batch_first=True", False)])
def test_a_module_that_is_no_variable_is_seen_whole(first: str, said: bool) -> None:
    import torch

    program = f"""
class Trainer:
    def run(self):
        self.parts = {{"rnn": nn.LSTM(3, 4, {first}), "head": nn.Linear(4, 2)}}
        for _ in range(3):
            loss = F.cross_entropy(self.parts["head"](self.parts["rnn"](torch.randn(6, 5, 3))[0][:, -1]), torch.arange(6) % 2)
            loss.backward()
        return str(av.check(self.parts["rnn"]))
with av.watch():
    answer = Trainer().run()
"""
    names: dict[str, Any] = {"torch": torch, "av": av}
    exec(BEGIN + program, names)
    assert ("AV210" in names["answer"]) == said


@pytest.mark.torch
def test_what_an_optimizer_of_the_users_keeps_may_be_anything() -> None:
    program = """
class Own(optim.Optimizer):
    def __init__(self, ps):
        super().__init__(ps, {"lr": 0.1})
    def step(self):
        for p in self.param_groups[0]["params"]:
            if p.grad is not None:
                self.state[p] = p.grad.clone()
                p.data -= 0.1 * p.grad
net = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
opt = Own(net.parameters())
for i in range(4):
    x = torch.randn(6, 4)
    loss = (net[0](x) + (net[1](x) if i < 3 else 0)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    del loss
"""
    assert "AV102" not in str(found(BEGIN + program, "torch"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_loss_that_is_fine_says_so_and_one_that_is_odd_tells(library: str) -> None:
    torch: Any = av if library == "core" else pytest.importorskip("torch")
    program = """
net = nn.Sequential(nn.Linear(4, 3){0})
loss = F.cross_entropy(net(torch.randn(8, 4)), torch.arange(8) % 3)
loss.backward()
answer = str(av.explain(loss))
"""
    said = []
    with av.watch() if library == "torch" else nullcontext():
        for layer in ("", ", nn.Softmax(1)"):
            names: dict[str, Any] = {"torch": torch, "av": av}
            exec(BEGIN + program.format(layer), names)
            said.append(names["answer"])
    assert "Nothing stands out on the way to this loss" in said[0] and "Leave softmax out" in said[1]
