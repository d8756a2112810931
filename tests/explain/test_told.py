"""What is told of layers, of losses that are nan, of errors and of several passes, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_viz as av

from .checked import BEGIN, CLASSES, HAND, STEP, found
from .explained import told

pytestmark = pytest.mark.torch
ATTENDED = """
x, pad = torch.randn(2, 3, 4), torch.tensor([[False, False, True], [True, True, {0}]])
attention = nn.MultiheadAttention(4, 1, batch_first=True)
opt = optim.SGD(attention.parameters(), 0.1)
for i in range(1):
    loss = attention(x{1}, x, x, key_padding_mask=pad)[0].pow(2).mean()
"""


@pytest.mark.parametrize(("row", "bad", "said"), [("True", "", "softmax returned nan"), ("False", " / 0", "nan from an inf")])
def test_a_constant_behind_softmax_is_not_accused(row: str, bad: str, said: str) -> None:
    """Its result is not known: a mask of -inf is right where it leaves an element of each row."""
    answer = str(found(BEGIN + ATTENDED.format(row, bad) + "    loss.backward()\n", "torch"))
    assert "baddbmm" not in answer and said in answer, answer


def test_a_broadcast_comes_before_a_rate() -> None:
    program = HAND.format("x @ w + b", "out - y") + "    w.data *= 1e-3\n"
    for ask in ("w", ""):
        assert "broadcasts" in asked(program, ask).partition("\n")[0]
    assert {"AV203", "AV408"} <= {f.code for f in found(BEGIN + program, "torch")}


STRAY = """
w = nn.Parameter(torch.randn(8, 8))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.more = nn.Linear(4, 8), {0}
    def forward(self, x):
        return {1}
net, other = Net(), nn.Linear(2, 1)
opt = optim.Adam([*net.parameters(){2}], 1e-3)
for i in range(4):
    loss = {3}net(torch.randn(8, 4))).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""
LISTED = "self.more[0](self.a(x).relu())"


@pytest.mark.parametrize(
    ("program", "called"),
    [
        (STRAY.format("[nn.Linear(8, 2)]", LISTED, "", "("), "net.more[0].bias"),
        (STRAY.format("0", "nn.Linear(8, 2)(self.a(x).relu())", "", "("), "a parameter of shape (2,)"),
    ],
)
def test_a_model_is_told_of_layers_that_its_forward_uses_and_its_parameters_lack(program: str, called: str) -> None:
    assert "AV402" in str(found(BEGIN + program, "torch")) and "AV402" in _of_net(program) and called in _of_net(program)
    assert called in asked(program, "net")


@pytest.mark.parametrize(
    "program",
    [
        STRAY.format("[nn.Linear(8, 2)]", LISTED, ", *net.more[0].parameters()", "("),
        STRAY.format("0", "self.a(x) @ w", ", w", "("),
        STRAY.format("0", "self.a(x) @ w", "", "("),  # `check()` tells it, by its name
        STRAY.format("0", "self.a(x)[:, :2]", "", "other("),
        STRAY.format("0", "self.a(x)[:, :2]", "", "[nn.Linear(2, 1)][0]("),
        "held = nn.Linear(8, 1)" + STRAY.format("[held]", LISTED, "", "("),
    ],
)
def test_a_model_is_not_told_of_the_parameters_of_others(program: str) -> None:
    assert "AV402" not in _of_net(program)


def _of_net(program: str) -> str:
    return asked(program, "net", explain=av.check)


SQUARE = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        return {0}g * ctx.saved_tensors[0]
net = nn.Linear(4, 3)
Square.apply(net(torch.randn(6, 4))).mean().backward()
"""


@pytest.mark.parametrize("ask", ["net.weight", "net", ""])
def test_a_wrong_backward_is_told_of_a_parameter_and_of_a_model(ask: str) -> None:
    assert "the backward of Square differs" in asked(SQUARE.format(""), ask)
    assert "differs" not in asked(SQUARE.format("2 * "), ask)


def test_a_gradient_that_a_line_multiplies_by_zero_is_told_of_that_line() -> None:
    for loss, line, is_told in (("", "*= 0", True), ("0 * ", "+= 0", False)):
        program = CLASSES.format("", f"{loss}F.cross_entropy(net(x), y)")
        answer = asked(program.replace("opt.step()", f"net[0].weight.grad {line}; opt.step()"), "net[0].weight")
        assert ("changed its gradient" in answer) is is_told, answer


@pytest.mark.parametrize("library", ["core", "torch"])
@pytest.mark.parametrize(
    ("keeps", "said"), [("", "autograd.grad() freed"), (", retain_graph=True", "the first backward() freed")]
)
def test_a_graph_that_grad_keeps_is_freed_by_another_pass(library: str, keeps: str, said: str) -> None:
    program = f"""
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(6, 2, requires_grad=True)
u = net(x)
total = u.sum()
g = torch.autograd.grad(total, x{keeps})[0]
loss, other = u.mean(), u.pow(2).mean()
loss.backward()
other.backward()
"""
    assert said in str(found(BEGIN + program, library))


def test_an_error_is_told_of_the_loss_by_its_name() -> None:
    program = "net = nn.Linear(4, 1)\nwith torch.no_grad():\n    error = net(torch.randn(6, 4)).mean()\nerror.backward()"
    assert "AV901 error has no graph: it was computed under no_grad()" in str(found(BEGIN + program, "torch"))
    program = "net = nn.Linear(4, 1)\nnet(torch.randn(6, 4)).detach().mean().backward()"
    assert "AV901 the loss has no graph: detach()" in str(found(BEGIN + program, "torch"))


def test_rows_are_compared_with_what_has_no_history() -> None:
    program = CLASSES.format("", "F.cross_entropy(net(x) @ net(x).T.detach() * 0.25, y)")
    assert "AV214" not in str(found(BEGIN + program, "torch"))


BAD = """
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), 0.1)
for i in range(2):
    loss = net(torch.ones(8, 4)).{0}.mean()
"""


def asked(program: str, ask: str, **names: Any) -> str:
    import torch

    return str(told(BEGIN + program, ask, torch=torch, **names))


def test_a_loss_that_is_nan_says_where_that_began() -> None:
    assert "log returned nan" in asked(BAD.format("sub(9).log()") + STEP, "loss")
    assert "sqrt may have made it" in asked(BAD.format("sub(9).sqrt()") + STEP, "loss")


def test_a_loss_that_is_nan_says_so_before_its_pass_too() -> None:
    program = BAD.format("sub(9).log()") + "    break\n"
    assert "log" in asked(program, "loss") and "not a leaf" not in asked(program, "loss")
    assert "log" in asked(program, "")
    assert "AV301" in str(found(BEGIN + program, "torch"))


def test_a_loss_tells_that_the_path_to_it_is_cut() -> None:
    program = """
G, D = nn.Linear(4, 2), nn.Linear(2, 1)
og, od = optim.Adam(G.parameters(), 1e-3), optim.Adam(D.parameters(), 1e-3)
for i in range(4):
    fake = G(torch.randn(32, 4))
    d_loss = F.softplus(D(fake.detach())).mean() + F.softplus(-D(torch.randn(32, 2))).mean()
    od.zero_grad(); d_loss.backward(); od.step()
    g_loss = F.softplus(-D(fake{0})).mean()
    og.zero_grad(); g_loss.backward(); og.step()
"""
    assert "detach() cut the path from G.weight to the loss" in asked(program.format(".detach()"), "g_loss")
    assert "cut" not in asked(program.format(".detach()"), "d_loss")
    assert "cut" not in asked(program.format(""), "g_loss")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("data = torch.diag(torch.zeros(4).pow(-0.5)) @ torch.zeros(4, 4)", "Check its inputs: inf * 0 is nan"),
        ("data = torch.zeros(4, 4) / torch.zeros(4)", "0 / 0, as in constant columns"),
    ],
)
def test_nan_of_a_product_is_told_apart_from_that_of_a_quotient(made: str, said: str) -> None:
    program = f"{made}\nnet = nn.Linear(4, 2)\nloss = net(data).mean()\nloss.backward()"
    answer = asked(program, "loss")
    assert said in answer and "data holds nan" in answer and "line 3" in answer, answer


def test_no_gradient_is_wanted_of_a_buffer() -> None:
    program = CLASSES.format(", nn.BatchNorm1d(3)", "F.cross_entropy(net(x), y)")
    assert "it is a buffer" in asked(program, "net[3].running_mean")
    assert "created without requires_grad" in asked(program, "x")


def test_a_loss_tells_what_is_odd_in_its_pass() -> None:
    odd = CLASSES.format(", nn.Softmax(1)", "F.cross_entropy(net(x), y)")
    assert "Leave softmax out" in asked(odd, "loss")
    assert "not a leaf" in asked(CLASSES.format("", "F.cross_entropy(net(x), y)"), "loss")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "F.binary_cross_entropy(torch.full((3, 1), 2.0), nn.Linear(4, 1)(torch.ones(3, 4)).sigmoid())",
            "pass the predictions first",
        ),
        ("F.binary_cross_entropy(nn.Linear(4, 1)(torch.ones(3, 4)) - 9, torch.ones(3, 1))", "takes probabilities"),
    ],
)
def test_an_error_of_exchanged_arguments_is_told(line: str, said: str) -> None:
    import torch

    names: dict[str, Any] = {"torch": torch}
    exec(f"{BEGIN}net = nn.Linear(4, 1)", names)
    with pytest.raises(RuntimeError) as raised:
        exec(line, names)
    assert said in str(av.explain(raised.value))


def test_a_state_that_is_carried_on_is_told_of_an_error_of_step() -> None:
    program = """
rnn = nn.LSTM(4, 8)
opt = optim.Adam(rnn.parameters(), 1e-3)
h = None
for i in range(3):
    out, h = rnn(torch.randn(5, 2, 4), h)
    loss = out.mean()
    opt.zero_grad(); loss.backward(retain_graph=True); opt.step()
"""
    assert "depends on an earlier lstm()" in str(found(BEGIN + program, "torch"))


@pytest.mark.parametrize("seed", range(30))
def test_a_sum_of_passes_is_no_large_rate_as_well(seed: int) -> None:
    program = f"""
torch.manual_seed({seed})
net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 4), torch.randn(6, 1)
for step in range(3):
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward(); opt.step()
"""
    assert [f.code for f in found(program, "core")] == ["AV405"]


@pytest.mark.parametrize("target", ["torch.randn(8)", "torch.randn(8, 1)"])
@pytest.mark.parametrize("watched", ["", "run = av.watch(net)"])
def test_what_comes_after_a_watched_model_is_seen_in_its_graph(target: str, watched: str) -> None:
    import torch

    program = f"""
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), 0.1)
{watched}
for i in range(3):
    loss = (net(torch.randn(8, 4)) - {target}).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
asked = str(av.explain(loss)), str(av.explain(net)), str(av.explain()), str(av.check(net)), str(av.check(loss))
"""
    names: dict[str, Any] = {"torch": torch, "av": av}
    exec(BEGIN + program, names)
    assert {"broadcasts" in said for said in names["asked"]} == {target == "torch.randn(8)"}


@pytest.mark.parametrize("begin", ["", "watch = av.watch()"])
def test_nothing_stands_out_says_what_was_not_recorded(begin: str) -> None:
    import torch

    program = f"""
{begin}
net = nn.Linear(4, 1)
loss = net(torch.randn(8, 4)).pow(2).mean()
loss.backward()
asked = str(av.explain(net)), str(av.explain()), str(av.check(net)), str(av.check(loss)), str(av.check())
"""
    names: dict[str, Any] = {"torch": torch, "av": av}
    exec(BEGIN + program, names)
    assert all("Nothing stands out" in said for said in names["asked"])
    assert {"av.watch()" in said for said in names["asked"]} == {not begin}
