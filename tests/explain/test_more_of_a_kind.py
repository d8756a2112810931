"""More programs of a kind than the one in the docs: the check sees their fault, too."""

from __future__ import annotations

import pytest

from .checked import found

PLACES = "net, x = torch.nn.Linear(4, 3), torch.randn(2, 4)\n"
LAYER = "net = torch.nn.Linear(4, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
STEP = "opt.zero_grad()\nloss.backward()\nopt.step()"
LOOP = """
def train():
    {begin}
    for _ in range(5):
        opt.zero_grad()
        loss = net(torch.ones(2, 4)).pow(2).mean()
        loss.backward()
        opt.step()
        {add}
    return {end}
seen = train()
"""
ROWS_OF_3 = "torch.tensor([0, 1, 2])"
FOUND = {
    "a product of every row with every other": (
        "AV203",
        LAYER + "log_prob = net(torch.ones(5, 4)).log_softmax(1)[:, 0]\ngain = torch.randn(5, 1)\n"
        "loss = -torch.min(log_prob * gain, 0.9 * log_prob * gain).mean()\n" + STEP,
        "log_prob * gain broadcasts shape (5, 1) and shape (5,) to shape (5, 5)",
    ),
    "a penalty without a graph, and then a pass of another loss": (
        "AV106",
        LAYER + "x = torch.ones(5, 4, requires_grad=True)\nscore = net(x).pow(2).sum()\n"
        "(g,) = torch.autograd.grad(score, x, retain_graph=True)\n(score + g.pow(2).mean()).backward()\n"
        "loss = net(torch.ones(2, 4)).mean()\n" + STEP,
        "a term of the loss",
    ),
    "kl_div of probabilities": (
        "AV201",
        LAYER + "loss = torch.nn.functional.kl_div(net(torch.ones(2, 4)).softmax(1), torch.full((2, 3), 1 / 3))\n" + STEP,
        "kl_div takes logarithms",
    ),
    "losses in an object": (
        "AV601",
        LAYER + "class Log: pass\nlog = Log()" + LOOP.format(begin="log.all = []", add="log.all.append(loss)", end="0"),
        "12: AV601 log.all keeps",
    ),
    "a sum inside a function": (
        "AV601",
        LAYER + LOOP.format(begin="total = 0.0", add="total += loss", end="total.item()"),
        "11: AV601 may be a fault: total kept",
    ),
    "a plateau that is counted the wrong way": (
        "AV403",
        LAYER + "scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode='max', patience=0)\nfor _ in range(15):\n"
        "    loss = net(torch.ones(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    scheduler.step(loss.item())",
        "has fallen from 0.1 to 1e-0",
    ),
    "a learning rate that is gone": (
        "AV403",
        LAYER + "scheduler = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.1)\nfor _ in range(15):\n"
        "    loss = net(torch.ones(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    scheduler.step()",
        "has fallen from 0.1 to 1e-16",
    ),
    "a number in place of a tensor": (
        "AV102",
        LAYER + "def logs():\n    return [net(torch.ones(2, 4)).sum().item() for _ in range(2)]\n"
        "loss = torch.tensor(logs()).sum().requires_grad_()\n" + STEP,
        "4: AV102 may be a fault: linear() used it, but item() made a number of what came of it",
    ),
    "an array in place of a tensor": (
        "AV901",
        LAYER + "def score(p):\n    return (p.detach().numpy() > 0).sum()\n"
        "loss = torch.tensor(1.0 * score(net(torch.ones(2, 4))))\n" + STEP,
        "4: AV901 none of the loss's inputs requires grad; numpy() had made numbers",
    ),
    "a hinge of every pair": (
        "AV203",
        "net, y = torch.nn.Linear(4, 1), torch.ones(6)\n"
        "loss = (1 - y * net(torch.randn(6, 4))).clamp(min=0).mean()\nloss.backward()",
        "broadcasts a result of shape (6, 1) to shape (6, 6)",
    ),
    "a softmax before an index": (
        "AV201",
        "net, y = torch.nn.Linear(4, 5), torch.zeros(3, dtype=torch.long)\n"
        "loss = torch.nn.functional.cross_entropy(net(torch.randn(3, 2, 4)).softmax(-1)[:, -1], y)\nloss.backward()",
        "Leave softmax out",
    ),
    "a softmax of one column": (
        "AV201",
        "net, y = torch.nn.Conv1d(3, 5, 1), torch.zeros(32, dtype=torch.long)\n"
        "p = net(torch.randn(4, 3, 8)).softmax(1).permute(0, 2, 1).reshape(-1, 5)\n"
        "loss = torch.nn.functional.cross_entropy(p, y)\nloss.backward()",
        "Leave softmax out",
    ),
    "a list inside a function": (
        "AV601",
        LAYER + LOOP.format(begin="seen = []", add="seen.append(loss)", end="torch.stack(seen).mean().item()"),
        "12: AV601 may be a fault: stack() kept",
    ),
    "an optimizer with a copy": (
        "AV402",
        "import copy\n" + LAYER.replace("net.p", "copy.deepcopy(net).p") + "loss = net(torch.ones(2, 4)).sum()\n" + STEP,
        "not a copy of it",
    ),
    "inf whose inputs were not recorded": (
        "AV301",
        LAYER + "loss = ((net(torch.ones(1, 4)) + 200).exp() * torch.zeros(1, 3)).sum()\nloss.backward()",
        "exp is the first op known to have returned inf",
    ),
    "a sigmoid before a squeeze": (
        "AV201",
        "net, y = torch.nn.Linear(4, 1), torch.ones(6)\nlogits = torch.sigmoid(net(torch.randn(6, 4))).squeeze(1)\n"
        "loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, y)\nloss.backward()",
        "Leave sigmoid out",
    ),
    "kl_div of probabilities, with a teacher": (
        "AV201",
        LAYER + "with torch.no_grad():\n    t = torch.ones(2, 3).softmax(1)\n"
        "loss = torch.nn.functional.kl_div(net(torch.ones(2, 4)).softmax(1), t)\n" + STEP,
        "kl_div takes logarithms",
    ),
    "a hand-made cross entropy of every pair": (
        "AV203",
        "net, y = torch.nn.Linear(4, 1), torch.ones(6)\np = torch.sigmoid(net(torch.randn(6, 4)))\n"
        "loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()\nloss.backward()",
        "broadcasts a result of shape (6, 1) to shape (6, 6)",
    ),
    "losses in a list of a dictionary": (
        "AV601",
        LAYER + 'kept = {"train": []}\nfor _ in range(3):\n    loss = net(torch.randn(2, 4)).pow(2).mean()\n'
        '    opt.zero_grad()\n    loss.backward()\n    opt.step()\n    kept["train"].append(loss)',
        "kept['train'] keeps the graphs of 3 passes",
    ),
    "a layer that the last pass does not reach, and momentum": (
        "AV406",
        LAYER.replace("lr=0.1", "lr=0.1, momentum=0.9") + "other = torch.nn.Linear(4, 3)\n"
        'opt.add_param_group({"params": [*other.parameters()]})\n'
        "for i in range(3):\n    loss = (net if i else other)(torch.ones(2, 4)).sum()\n    opt.zero_grad(set_to_none=False)\n"
        "    loss.backward()\n    opt.step()",
        "still moves it",
    ),
    "a switch that a module does not have": (
        "AV105",
        LAYER + "net.requires_grad = False\nloss = net(torch.ones(2, 4)).sum()\n" + STEP,
        "still require grad",
    ),
    "a sample of an encoder": (
        "AV106",
        "enc, dec, x = torch.nn.Linear(3, 2), torch.nn.Linear(1, 3), torch.ones(4, 3)\nm, s = enc(x).chunk(2, 1)\n"
        "z = torch.distributions.Normal(m, s.exp()).sample()\n"
        "loss = (dec(z) - x).pow(2).mean() + (m * m + s.exp() - s).mean()\nloss.backward()",
        "Use rsample()",
    ),
    "an advantage that learns": (
        "AV204",
        "actor, critic, s = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1), torch.randn(6, 4)\n"
        "draw = torch.distributions.Categorical(logits=actor(s))\nlog = draw.log_prob(draw.sample())\n"
        "better = torch.ones(6) - critic(s).squeeze(1)\nloss = -(log * better).mean() + better.pow(2).mean()\nloss.backward()",
        "weighed by torch.ones(6) - critic(s).squeeze(1)",
    ),
    "a difference to the following value": (
        "AV204",
        "net, a, b, r = torch.nn.Linear(4, 1), torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 1)\n"
        "loss = (r + 0.9 * net(b) - net(a)).pow(2).mean()\nloss.backward()",
        "the model itself computed the target",
    ),
    "a reward that makes its action less likely": (
        "AV205",
        LAYER + "draw = torch.distributions.Categorical(logits=net(torch.randn(6, 4)))\n"
        "loss = (draw.log_prob(draw.sample()) * torch.rand(6)).mean()\n" + STEP,
        "enters the loss with a plus",
    ),
    "an optimizer that maximizes": (
        "AV205",
        LAYER.replace("lr=0.1", "lr=0.1, maximize=True")
        + "loss = torch.nn.functional.mse_loss(net(torch.randn(6, 4)), torch.zeros(6, 3))\n"
        + STEP,
        "maximize=True",
    ),
    "logits without a softmax": (
        "AV201",
        LAYER + f"loss = torch.nn.functional.nll_loss(net(torch.randn(3, 4)), {ROWS_OF_3})\n" + STEP,
        "log_softmax before it",
    ),
    "a relu before cross_entropy": (
        "AV201",
        LAYER + f"loss = torch.nn.functional.cross_entropy(net(torch.randn(3, 4)).relu(), {ROWS_OF_3})\n" + STEP,
        "Leave relu out",
    ),
    "a softmax of columns before a logarithm": (
        "AV202",
        LAYER + "loss = -(net(torch.randn(6, 4)).softmax(0) + 1e-6).log()[:, 0].mean()\n" + STEP,
        "seems to be the batch",
    ),
    "a tensor of a module": (
        "AV402",
        LAYER + "net.gain = torch.ones(3, requires_grad=True)\nfor _ in range(3):\n"
        "    opt.zero_grad()\n    loss = (net(torch.randn(2, 4)) * net.gain).sum()\n    loss.backward()\n    opt.step()",
        "Make it an nn.Parameter",
    ),
    "steps without a pass": (
        "AV403",
        LAYER + "for _ in range(3):\n    loss = net(torch.randn(2, 4)).sum()\n    opt.step()",
        "no backward()",
    ),
    "a loop that ends with zero_grad": (
        "AV302",
        LAYER
        + "torch.nn.init.constant_(net.bias, -100.0)\nfor _ in range(3):\n    loss = (net(torch.rand(2, 4)).relu() - 1).sum()\n"
        "    loss.backward()\n    opt.step()\n    opt.zero_grad()",
        "relu got no positive input",
    ),
    "parts of a batch, cleared at the end": (
        "AV405",
        LAYER + "for _ in range(3):\n    loss = net(torch.rand(2, 4)).pow(2).mean()\n    loss.backward()\n"
        "opt.step()\nopt.zero_grad()",
        "each of a whole mean",
    ),
    "clipping after the step": (
        "AV410",
        LAYER + "for _ in range(3):\n    loss = net(torch.rand(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-3)",
        "after step()",
    ),
    "clipping to nothing": (
        "AV411",
        LAYER + "for _ in range(3):\n    loss = net(torch.rand(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
        "    torch.nn.utils.clip_grad_norm_(net.parameters(), 1e-8)\n    opt.step()",
        "Raise the limit",
    ),
    "results of an evaluation": (
        "AV601",
        LAYER + "for _ in range(3):\n    loss = net(torch.rand(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\nseen = []\nfor _ in range(5):\n    seen.append(net(torch.rand(2, 4)))",
        "seen keeps the graphs of 5 results",
    ),
    "a state that is carried over": (
        "AV602",
        "cell = torch.nn.RNNCell(3, 4)\nopt, h = torch.optim.SGD(cell.parameters(), lr=0.1), torch.zeros(2, 4)\n"
        "for _ in range(4):\n    h = cell(torch.randn(2, 3), h)\n    h.pow(2).mean().backward(retain_graph=True)\nopt.step()",
        "the graph grows",
    ),
    "a state that is carried over a step": (
        "AV901",
        "cell = torch.nn.GRU(3, 4)\nopt, h = torch.optim.SGD(cell.parameters(), lr=0.1), torch.zeros(1, 2, 4)\n"
        "for _ in range(4):\n    out, h = cell(torch.randn(5, 2, 3), h)\n    loss = out.pow(2).mean()\n    opt.zero_grad()\n"
        "    loss.backward(retain_graph=True)\n    opt.step()",
        "such as a hidden state",
    ),
    "two models, and no detach": (
        "AV901",
        "a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)\n"
        "first, second = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)\n"
        "fake = a(torch.randn(4, 2)).tanh()\nb(fake).pow(2).mean().backward()\nsecond.step()\n"
        "(1 - b(fake)).pow(2).mean().backward()",
        "trains another model",
    ),
    "an encoder and a decoder in training mode": (
        "AV503",
        "a, b = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)), torch.nn.Linear(4, 1)\n"
        "first, second = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)\n"
        "loss = b(a(torch.randn(6, 4))).pow(2).mean()\nloss.backward()\nfirst.step()\nsecond.step()\n"
        "with torch.no_grad():\n    seen = b(a(torch.randn(6, 4)))",
        "call model.eval() first",
    ),
    "a softmax over the queries": (
        "AV202",
        "q, k, v = (torch.nn.Linear(4, 4) for _ in range(3))\nx = torch.randn(2, 5, 4)\n"
        "loss = ((q(x) @ k(x).transpose(1, 2)).softmax(1) @ v(x)).pow(2).sum()\nloss.backward()",
        "the product after it sums over the last one",
    ),
    "a view of data": (
        "AV208",
        "net = torch.nn.Conv2d(3, 2, 3)\nimages = torch.rand(2, 5, 7, 3)\nx = images.view(2, 3, 5, 7)\n"
        "loss = net(x).pow(2).mean()\nloss.backward()",
        "3: AV208 may be a fault: view turns shape (2, 5, 7, 3) into shape (2, 3, 5, 7)",
    ),
    "hidden states of two directions": (
        "AV208",
        "rnn, head = torch.nn.LSTM(4, 6, bidirectional=True), torch.nn.Linear(12, 1)\n_, (h, _) = rnn(torch.randn(7, 5, 4))\n"
        "loss = head(h.view(5, -1)).pow(2).mean()\nloss.backward()",
        "view turns shape (2, 5, 6) into shape (5, 12)",
    ),
    "the mean over the batch of a transformer": (
        "AV210",
        "layer, head = torch.nn.TransformerEncoderLayer(4, 2, 8), torch.nn.Linear(4, 3)\n"
        "scores = head(layer(torch.randn(3, 5, 4)).mean(1))\n"
        f"loss = torch.nn.functional.cross_entropy(scores, {ROWS_OF_3})\nloss.backward()",
        "for TransformerEncoderLayer without batch_first",
    ),
    "a likelihood without a minus": (
        "AV207",
        LAYER + "mean, spread = net(torch.randn(5, 4))[:, :2].unbind(1)\n"
        "loss = (-0.5 * ((torch.ones(5) - mean) / spread.exp()) ** 2 - spread).mean()\n" + STEP,
        "the loss can fall without end",
    ),
    "targets of a model in place of predictions": (
        "AV211",
        LAYER + "y = torch.full((5, 3), 0.5)\n"
        "loss = torch.nn.functional.binary_cross_entropy_with_logits(y, net(torch.randn(5, 4)).sigmoid())\n" + STEP,
        "got data as its input",
    ),
    "a column without spread": (
        "AV301",
        LAYER + "x = torch.tensor([[1.0, 2, 3, 4], [1, 3, 5, 7]])\nx = (x - x.mean(0)) / x.std(0)\n"
        "loss = net(x).pow(2).mean()\nloss.backward()",
        "4: AV301 x holds nan, and (x - x.mean(0)) / x.std(0) returned it so",
    ),
    "a sum that adds back what a difference took away": (
        "AV302",
        "enc, dec = torch.nn.Linear(4, 20), torch.nn.Linear(20, 4)\nsoft = enc(torch.randn(6, 4)).softmax(1)\n"
        "hard = (soft > 0.1).float()\nloss = dec(hard - soft + soft).pow(2).mean()\nloss.backward()",
        "adds soft back to a difference",
    ),
    "a cosine that began again": (
        "AV403",
        LAYER + "schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=3)\nfor _ in range(10):\n"
        "    loss = net(torch.ones(2, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    schedule.step()",
        "its cosine schedule has run 10 times, and T_max is 3",
    ),
    "a name in place of a parameter": (
        "AV403",
        "net = torch.nn.Linear(4, 3)\nfor _ in range(3):\n    loss = net(torch.randn(2, 4)).pow(2).mean()\n"
        "    net.zero_grad()\n    loss.backward()\n    with torch.no_grad():\n        for p in net.parameters():\n"
        "            p = p - 0.1 * p.grad",
        "8: AV403 may be a fault: the line gives the name p to a new tensor",
    ),
    "gradients of another loss that nobody clears": (
        "AV405",
        "a, b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)\n"
        "first, second = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)\n"
        "for _ in range(3):\n    first.zero_grad()\n    fake = a(torch.randn(4, 2))\n"
        "    (b(fake.detach()) - 1).pow(2).mean().backward()\n    second.step()\n"
        "    loss = b(fake).pow(2).mean()\n    loss.backward()\n    first.step()",
        "SGD has stepped in between",
    ),
    "weights at the bounds of a clamp": (
        "AV413",
        LAYER + "x = torch.randn(30, 4)\nw = torch.tensor([[9.0, -9, 9], [-9, 9, 9], [9, 9, -9], [9, -9, -9]])\n"
        "for _ in range(5):\n    loss = (net(x) - x @ w).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n    net.weight.data.clamp_(-0.1, 0.1)",
        "so the last step changed nothing",
    ),
    "an average that is the weights themselves": (
        "AV414",
        LAYER + "mean = dict(net.state_dict())\nfor _ in range(3):\n    loss = net(torch.randn(2, 4)).pow(2).mean()\n"
        "    opt.zero_grad()\n    loss.backward()\n    opt.step()\n    with torch.no_grad():\n"
        "        for k, v in net.state_dict().items():\n            mean[k].mul_(0.9).add_(v, alpha=0.1)",
        "both tensors of add_() are the same one",
    ),
    "a dropout that does not follow its module": (
        "AV503",
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(4, 3)\n    def forward(self, x):\n"
        "        return torch.nn.functional.dropout(self.layer(x), 0.5)\nnet = Net()\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloss = net(torch.randn(2, 4)).pow(2).mean()\n" + STEP + "\n"
        "net.eval()\nwith torch.no_grad():\n    seen = net(torch.randn(2, 4))",
        "6: AV503 may be a fault: dropout ran in training mode, though the module that called it was in evaluation mode",
    ),
    "the logarithm of a negative number": (
        "AV301",
        LAYER + "torch.nn.init.constant_(net.bias, -9.0)\nloss = net(torch.randn(5, 4)).log().mean()\nloss.backward()",
        "log returned nan",
    ),
    "labels of a hinge in a cross entropy": (
        "AV206",
        LAYER + "y = torch.tensor([[1.0, -1, 1]])\n"
        "loss = torch.nn.functional.binary_cross_entropy_with_logits(net(torch.randn(1, 4)), y)\n" + STEP,
        "takes targets from 0 to 1, and got -1 to 1",
    ),
    "several labels in a row": (
        "AV206",
        LAYER + "y = torch.tensor([[1.0, 1, 0], [0, 1, 1]])\n"
        "loss = torch.nn.functional.cross_entropy(net(torch.randn(2, 4)), y)\n" + STEP,
        "its targets sum to 2 a row",
    ),
    "a minus and a scale": (
        "AV205",
        LAYER + f"loss = -torch.nn.functional.cross_entropy(net(torch.randn(3, 4)), {ROWS_OF_3}) / 4\n" + STEP,
        "the loss is minus cross_entropy",
    ),
    "an entropy that is punished": (
        "AV205",
        LAYER + "draw = torch.distributions.Categorical(logits=net(torch.randn(6, 4)))\n"
        "loss = -(draw.log_prob(draw.sample()) * torch.rand(6)).mean() + 0.01 * draw.entropy().mean()\n" + STEP,
        "entropy() enters the loss with a plus",
    ),
    "the larger of two gains": (
        "AV205",
        LAYER + "log, old, gain = net(torch.randn(6, 4)).log_softmax(1)[:, 0], torch.full((6,), -1.0), torch.randn(6)\n"
        "ratio = (log - old).exp()\nloss = -torch.max(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()\n" + STEP,
        "so the clip holds nothing back",
    ),
    "a layer that each forward pass makes": (
        "AV402",
        LAYER + "def head(x):\n    return torch.nn.Linear(3, 1)(x)\nfor _ in range(4):\n"
        "    loss = head(net(torch.randn(5, 4))).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()",
        "4: AV402 may be a fault: it is made anew in each forward pass",
    ),
    "the schedule of another optimizer": (
        "AV403",
        LAYER + "other = torch.optim.SGD(net.parameters(), lr=0.1)\nschedule = torch.optim.lr_scheduler.StepLR(opt, 2)\n"
        "for _ in range(4):\n    loss = net(torch.randn(2, 4)).pow(2).mean()\n    other.zero_grad()\n    loss.backward()\n"
        "    other.step()\n    schedule.step()",
        "StepLR changes the rate of another SGD",
    ),
    "kl_div of scores": (
        "AV201",
        LAYER + "loss = torch.nn.functional.kl_div(net(torch.ones(2, 4)), torch.full((2, 3), 1 / 3))\n" + STEP,
        "got the result of a layer: linear",
    ),
    "an in-place relu at the beginning of a block": (
        "AV104",
        "class Block(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = torch.nn.Linear(4, 4)\n    def forward(self, x):\n        y = torch.relu_(x)\n"
        "        y = self.layer(y)\n        return x + y\nnet = torch.nn.Sequential(torch.nn.Linear(4, 4), Block(), Block())\n"
        "loss = net(torch.randn(5, 4)).pow(2).mean()\nloss.backward()",
        "6: AV104 may be a fault: relu in place changed its input",
    ),
    "the angle between equal directions": (
        "AV301",
        LAYER + "q = torch.nn.functional.normalize(net(torch.randn(5, 4)), dim=1)\n"
        "loss = torch.acos((q * q.detach()).sum(1).clamp(-1, 1)).mean()\nloss.backward()",
        "an input of acos is at the edge of its domain",
    ),
    "a hook for each iteration": (
        "AV304",
        LAYER + "for _ in range(5):\n    net.weight.register_hook(lambda g: g * 2)\n"
        "    loss = net(torch.randn(5, 4)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()",
        "5 hooks on it made that",
    ),
    "two steps with one gradient": (
        "AV404",
        LAYER + "for _ in range(4):\n    loss = net(torch.randn(5, 4)).pow(2).mean()\n    opt.zero_grad()\n"
        "    loss.backward()\n    opt.step()\n    opt.step()",
        "SGD steps 2 times after each backward()",
    ),
    "rows that are their own targets": (
        "AV214",
        "net = torch.nn.Linear(4, 3)\nz = torch.nn.functional.normalize(net(torch.randn(6, 4)), dim=1)\n"
        "loss = torch.nn.functional.cross_entropy(torch.einsum('id,jd->ij', z, z) / 0.1, torch.arange(6))\nloss.backward()",
        "3: AV214 may be a fault: einsum compares each row with itself, and that is the target",
    ),
    "a sum over all rows, moved by the largest": (
        "AV214",
        "net = torch.nn.Linear(4, 3)\nz = torch.nn.functional.normalize(net(torch.randn(6, 4)), dim=1)\n"
        "sim = z @ z.T / 0.1\nmost, _ = sim.max(1, keepdim=True)\nsim = sim - most.detach()\n"
        "loss = -(sim.diag(3) - sim.exp().sum(1, keepdim=True).log()[:3, 0]).mean()\nloss.backward()",
        "3: AV214 may be a fault: z @ z.T compares each row with itself, too",
    ),
    "the similarity of all pairs": (
        "AV214",
        "net = torch.nn.Linear(4, 3)\nz = net(torch.randn(6, 4))\n"
        "sim = torch.nn.functional.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2)\n"
        "loss = (torch.logsumexp(sim, 1) - sim.diag(3).sum()).mean()\nloss.backward()",
        "cosine_similarity compares each row with itself, too",
    ),
    "a backward of many numbers that leaves a factor out": (
        "AV701",
        "class Leaky(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, slope):\n        ctx.slope = slope\n"
        "        ctx.save_for_backward(x)\n        return torch.where(x > 0, x, slope * x)\n    @staticmethod\n"
        "    def backward(ctx, grad):\n        (x,) = ctx.saved_tensors\n        return grad * (x > 0), None\n"
        "net = torch.nn.Linear(9, 9)\nloss = Leaky.apply(net(torch.randn(20, 9)), 0.2).pow(2).sum()\nloss.backward()",
        "the backward of Leaky differs from finite differences",
    ),
    "a backward that takes a mean in place of a sum": (
        "AV701",
        "class Layer(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, w, b):\n"
        "        ctx.save_for_backward(x, w)\n        return x @ w.T + b\n    @staticmethod\n    def backward(ctx, grad):\n"
        "        x, w = ctx.saved_tensors\n        return None, grad.T @ x, grad.mean(0)\n"
        "w, b = torch.randn(9, 9, requires_grad=True), torch.zeros(9, requires_grad=True)\n"
        "loss = Layer.apply(torch.randn(20, 9), w, b).pow(2).sum()\nloss.backward()",
        "the backward of Layer differs from finite differences",
    ),
    "a decay that is larger than the gradient": (
        "AV417",
        "net, x = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)), torch.randn(30, 4)\n"
        "opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1.0)\nfor _ in range(60):\n"
        "    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()",
        "weight_decay=1.0 of Adam adds",
    ),
    "attention without a mask": (
        "AV215",
        "table, layer = torch.nn.Embedding(7, 4), torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)\n"
        "head, tokens = torch.nn.Linear(4, 7), torch.randint(0, 7, (3, 6))\nlogits = head(layer(table(tokens[:, :-1])))\n"
        "loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])\nloss.backward()",
        "3: AV215 may be a fault: each target is the next token, and attention reaches it",
    ),
    "a fused attention with a mask, and targets that are not shifted": (
        "AV215",
        "table, head, tokens = torch.nn.Embedding(7, 4), torch.nn.Linear(4, 7), torch.randint(0, 7, (3, 6))\n"
        "x = table(tokens).unsqueeze(1)\n"
        "x = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True).squeeze(1)\n"
        "loss = torch.nn.functional.cross_entropy(head(x).flatten(0, 1), tokens.flatten())\nloss.backward()",
        "the targets of cross_entropy are the tokens that the model gets",
    ),
    "a recurrent model whose targets are not shifted": (
        "AV215",
        "table, rnn, head = torch.nn.Embedding(7, 4), torch.nn.LSTM(4, 5, batch_first=True), torch.nn.Linear(5, 7)\n"
        "tokens = torch.randint(0, 7, (3, 6))\nout, _ = rnn(table(tokens))\n"
        "loss = torch.nn.functional.cross_entropy(head(out).reshape(-1, 7), tokens.reshape(-1))\nloss.backward()",
        "the targets of cross_entropy are the tokens that the model gets",
    ),
    "a target network that is the network": (
        "AV414",
        "class Agent: pass\nagent, x, y = Agent(), torch.randn(6, 4), torch.randn(6, 4)\n"
        "agent.q = agent.target_q = torch.nn.Linear(4, 2)\nopt = torch.optim.SGD(agent.q.parameters(), lr=0.01)\n"
        "for _ in range(3):\n    aim = 1 + 0.9 * agent.target_q(y).max(1).values.detach()\n"
        "    loss = (agent.q(x)[:, 0] - aim).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()",
        "agent.target_q and agent.q are the same network",
    ),
    "nan of an earlier step, in a loss of bare tensors": (
        "AV301",
        "w, t = torch.zeros(3, requires_grad=True), torch.tensor([0.0, 0.5, 0.5])\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(3):\n    loss = (t * (t / w.softmax(0)).log()).sum()\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()",
        "4: AV301 w itself holds nan since an earlier step, and ",
    ),
    "nan of a learning rate that is too large": (
        "AV301",
        "w, x = torch.zeros(3, 1, requires_grad=True), 10 * torch.randn(50, 3)\nfor _ in range(60):\n"
        "    loss = (x @ w - x.sum(1, keepdim=True)).pow(2).mean()\n    loss.backward()\n    with torch.no_grad():\n"
        "        w -= w.grad\n    w.grad = None",
        "of ordinary numbers",
    ),
    "noise that a function draws once more": (
        "AV216",
        "net = torch.nn.Conv2d(1, 1, 3, padding=1)\nopt = torch.optim.Adam(net.parameters())\n"
        "def add_noise(x):\n    return 0.5 * x + 0.5 * torch.randn_like(x)\nfor _ in range(3):\n"
        "    x = torch.rand(8, 1, 6, 6)\n    noise = torch.randn_like(x)\n"
        "    loss = torch.nn.functional.mse_loss(net(add_noise(x)), noise)\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()",
        "compares with noise (line 7) that is not the noise of the input (line 4)",
    ),
    "a label that is not filled for the generator": (
        "AV217",
        "g, d = torch.nn.Linear(3, 2), torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Sigmoid())\n"
        "error = torch.nn.BCELoss()\n"
        "of_g, of_d = torch.optim.SGD(g.parameters(), lr=0.01), torch.optim.SGD(d.parameters(), lr=0.01)\nfor _ in range(3):\n"
        "    of_d.zero_grad()\n    label = torch.full((6, 1), 1.0)\n    error(d(torch.randn(6, 2)), label).backward()\n"
        "    made = g(torch.randn(6, 3))\n    label.fill_(0)\n    error(d(made.detach()), label).backward()\n    of_d.step()\n"
        "    of_g.zero_grad()\n    loss = error(d(made), label)\n    loss.backward()\n    of_g.step()",
        "the losses of g and d (line 10) move the score",
    ),
    "a critic and a generator that both lower its score": (
        "AV217",
        "g, d = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)\n"
        "of_g, of_d = torch.optim.SGD(g.parameters(), lr=0.01), torch.optim.SGD(d.parameters(), lr=0.01)\nfor _ in range(3):\n"
        "    made = g(torch.randn(6, 3))\n    loss = (d(made.detach()).mean() - d(torch.randn(6, 2)).mean()) / 2\n"
        "    of_d.zero_grad()\n    loss.backward()\n    of_d.step()\n    loss = d(made).mean()\n    of_g.zero_grad()\n"
        "    loss.backward()\n    of_g.step()",
        "the losses of g and d (line 5) move the score",
    ),
    "users that are counted from 0": (
        "AV218",
        "users, items = torch.nn.Embedding(8, 4, padding_idx=0), torch.nn.Embedding(9, 4)\n"
        "u, i = torch.arange(64) % 8, torch.arange(64) % 9\n"
        "loss = ((users(u) * items(i)).sum(1) - 1).pow(2).mean()\nloss.backward()",
        "stands among its items 8 times",
    ),
    "pixels that a whole division makes 0": (
        "AV219",
        "net = torch.nn.Linear(9, 2)\npixels = torch.arange(0, 252, 7, dtype=torch.uint8).reshape(4, 9)\n"
        "x = (pixels // 255).float()\nloss = net(x).pow(2).mean()\nloss.backward()",
        "3: AV219 may be a fault: pixels // 255 divides whole numbers",
    ),
    "labels of a hinge that are 0 and 1": (
        "AV213",
        "net, labels = torch.nn.Linear(4, 3), torch.randint(0, 2, (90,))\n"
        "distance = torch.nn.functional.pairwise_distance(net(torch.randn(90, 4)), net(torch.randn(90, 4)))\n"
        "loss = torch.nn.HingeEmbeddingLoss()(distance, labels)\nloss.backward()",
        "hinge_embedding_loss takes the labels 1 and -1",
    ),
    "labels of a ranking that are 0 and 1": (
        "AV213",
        "net, labels = torch.nn.Linear(4, 1), torch.tensor([[0], [1], [1]])\n"
        "loss = torch.nn.MarginRankingLoss(0.2)(net(torch.randn(3, 4)), net(torch.randn(3, 4)), labels)\nloss.backward()",
        "margin_ranking_loss takes the labels 1 and -1",
    ),
    "targets in a column": (
        "AV203",
        "net, y = torch.nn.Linear(4, 1), torch.randn(6, 1)\n"
        "loss = torch.nn.functional.huber_loss(net(torch.randn(6, 4)).squeeze(), y)\nloss.backward()",
        "huber_loss broadcasts shape (6, 1) and shape (6,) to shape (6, 6)",
    ),
    "float16": (
        "AV301",
        "w = torch.full((3,), 1000.0, dtype=torch.float16, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()",
        "inf in float16",
    ),
    "normal() of a mean, beside a log_prob of data": (
        "AV106",
        """nn, F = torch.nn, torch.nn.functional
from torch.distributions import Normal
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6); opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=1e-3)
X = torch.randn(64, 6)
for step in range(12):
    mu, logv = enc(X).chunk(2, 1)
    z = torch.normal(mu, (0.5 * logv).exp())
    rec = -Normal(dec(z), 1.0).log_prob(X).sum(1).mean()
    kl = -0.5 * (1 + logv - mu ** 2 - logv.exp()).sum(1).mean()
    loss = rec + kl
    opt.zero_grad(); loss.backward(); opt.step()""",
        "passes no gradient to its mean",
    ),
    "an exp() of a layer with two minuses": (
        "AV207",
        """nn, F = torch.nn, torch.nn.functional
net = nn.Linear(5, 2); opt = torch.optim.SGD(net.parameters(), lr=0.01)
X = torch.randn(64, 5)
for step in range(20):
    loss = -torch.exp(-net(X)).mean()
    opt.zero_grad(); loss.backward(); opt.step()""",
        "exp of what a layer gives",
    ),
    "a dataset that is written beside a buffer": (
        "AV236",
        """nn, F = torch.nn, torch.nn.functional
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self): self.x = torch.rand(64, 4) * 255; self.y = torch.randn(64, 1)
    def __len__(self): return 64
    def __getitem__(self, i):
        x = self.x[i]; x /= 255.0
        m = torch.empty(4); m.fill_(1.0)
        return x * m, self.y[i]
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05); loader = DataLoader(D(), batch_size=16, shuffle=True)
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()""",
        "writes into the dataset",
    ),
    "labels 0 and 1 beside a sign() of scores": (
        "AV213",
        """nn, F = torch.nn, torch.nn.functional
model = nn.Linear(4, 1); opt = torch.optim.SGD(model.parameters(), lr=0.05); X = torch.randn(64, 4); y = (X[:, 0] > 0).float()
for step in range(12):
    out = model(X)[:, 0]
    loss = nn.functional.soft_margin_loss(out, y)
    opt.zero_grad(); loss.backward(); opt.step()
    acc = (torch.sign(out) == y).float().mean()""",
        "takes the labels 1 and -1",
    ),
    "no causal mask, and padding set to zero": (
        "AV215",
        """nn, F = torch.nn, torch.nn.functional
emb, out = nn.Embedding(30, 16), nn.Linear(16, 30); enc = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
opt = torch.optim.Adam([*emb.parameters(), *out.parameters(), *enc.parameters()], lr=1e-3)
T = torch.randint(1, 30, (64, 9)); lens = torch.randint(4, 10, (64,)); T[torch.arange(9)[None] >= lens[:, None]] = 0
for step in range(10):
    x, y = T[:, :-1], T[:, 1:]
    h = emb(x) * (x != 0).float()[..., None]
    loss = nn.functional.cross_entropy(out(enc(h)).flatten(0, 1), y.flatten(), ignore_index=0)
    opt.zero_grad(); loss.backward(); opt.step()""",
        "no causal mask",
    ),
    "a scale that is clamped, and steps nowhere": (
        "AV402",
        """nn, F = torch.nn, torch.nn.functional
a, b = nn.Linear(6, 4), nn.Linear(5, 4)
logit_scale = nn.Parameter(torch.tensor(2.6))
opt = torch.optim.Adam([*a.parameters(), *b.parameters()], lr=1e-3)
X, Y = torch.randn(64, 6), torch.randn(64, 5)
for step in range(12):
    i = torch.randperm(64)[:16]; L = logit_scale.exp() * F.normalize(a(X[i]), dim=1) @ F.normalize(b(Y[i]), dim=1).T
    loss = (F.cross_entropy(L, torch.arange(16)) + F.cross_entropy(L.T, torch.arange(16))) / 2
    opt.zero_grad(); loss.backward(); opt.step()
    logit_scale.data.clamp_(0, 4.6052)
print(a.weight.grad.norm())""",
        "no optimizer has it",
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", FOUND)
def test_other_programs_with_the_same_fault(name: str) -> None:
    code, program, part = FOUND[name]
    assert [f for f in found(program, "torch") if f.code == code and part in str(f)]
