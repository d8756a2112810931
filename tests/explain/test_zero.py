"""explain, where the gradient is all zero: the op that passes none, its line and its numbers, on the core and on PyTorch."""

from __future__ import annotations

import pytest

from .explained import LIBRARIES, X, blamed, kinds, lines, of_expression, run, stepped, told

ZERO = {  # expression of x = [1, 2, 3] on line 3: kind, op, words
    "(-x).relu()": ("zero_relu", "Relu", "only -3.0 … -1.0"),
    "F.relu6(-x)": ("zero_clamp", "Hardtanh", "outside its bounds"),
    "x.clamp(5, 6)": ("zero_clamp", "Clamp", "outside its bounds: 1.0 … 3.0"),
    "(x + float('inf')).clamp(5, 6)": ("zero_clamp", "Clamp", "outside its bounds: [inf, inf, inf]"),
    "x.clamp(min=5)": ("zero_clamp", "Clamp", "outside its bounds"),
    "F.hardtanh(x * 10)": ("zero_clamp", "Hardtanh", "10.0 … 30.0"),
    "F.hardsigmoid(x * 10)": ("zero_clamp", "Hardsigmoid", "10.0 … 30.0"),
    "F.threshold(-x, 0, 7)": ("zero_clamp", "Threshold", "-3.0 … -1.0"),
    "F.softshrink(x * 0.1)": ("zero_shrink", "Softshrink", "within its threshold"),
    "x.round()": ("zero_flat", "Round", "round has derivative zero"),
    "x.floor()": ("zero_flat", "Floor", "floor has derivative zero"),
    "x.ceil()": ("zero_flat", "Ceil", "ceil has derivative zero"),
    "x.sign()": ("zero_flat", "Sign", "sign has derivative zero"),
    "x.trunc()": ("zero_flat", "Trunc", "trunc has derivative zero"),
    "torch.where(x > 5, x, x.detach())": ("zero_mask", "Where", "the mask of torch.where"),
    "x.masked_fill(x > 0, 0.0)": ("zero_mask", "MaskedFill", "the mask of masked_fill"),
    "F.dropout(x, 1.0)": ("zero_tensor", "Mul", "a tensor of zeros"),
    "torch.sigmoid(x * 1000)": ("zero_saturated", "Sigmoid", "its inputs are 1000.0 … 3000.0"),
    "torch.tanh(x * 100)": ("zero_saturated", "Tanh", "tanh is saturated"),
    "F.gelu(x * -30)": ("zero_below", "Gelu", "its inputs are -90.0 … -30.0"),
    "F.hardswish(x * -30)": ("zero_sent", "Hardswish", "received a non-zero gradient and sent zero; its inputs are -90.0"),
    "x * 0": ("zero_number", "Mul", "x * 0 multiplies by 0"),
    "F.dropout(x, 0.0).mul(0)": ("zero_number", "Mul", "mul multiplies by 0"),
    "torch.zeros(2, 3) @ x": ("zero_tensor", "Mv", "torch.zeros(2, 3) @ x multiplies by a tensor of zeros"),
    "torch.softmax(x, 0)": ("zero_softmax", "Softmax", "always sum to 1"),
    "torch.softmax(x * 1000, 0)[2]": ("zero_one_hot", "Softmax", "one probability is exactly 1"),
    "(torch.softmax(x[:, None], 1) ** 2)": ("zero_single", "Softmax", "a dimension of size 1"),
    "F.cross_entropy(x[:, None], torch.tensor([0, 0, 0]))": ("zero_single", "LogSoftmax", "a dimension of size 1"),
    "(x - x.detach()) ** 2": ("zero_power", "Pow", "all its inputs are 0"),
    "(x - x.detach()).abs()": ("zero_abs", "Abs", "all its inputs are 0"),
    "(x - x.detach()).norm()": ("zero_abs", "LinalgVectorNorm", "norm has gradient 0 at 0"),
    "(x * 0 + 1).std()": ("zero_spread", "Std", "are equal (1.0)"),
    "torch.zeros(3) / x": ("zero_quotient", "Div", "torch.zeros(3) / x divides 0"),
    "F.mse_loss(x, x.detach())": ("zero_equal", "MseLoss", "at its minimum"),
    "torch.maximum(x, torch.full((3,), 9.0))": ("zero_picked", "Maximum", "maximum picked other elements"),
    "torch.cat([x, torch.full((1,), 9.0)]).max()": ("zero_picked", "Max", "max picked other elements"),
    "torch.cat([x, torch.full((1,), 9.0)]).topk(1)[0]": ("zero_picked", "Topk", "topk picked other elements"),
    "torch.cat([x, torch.full((1,), -9.0)]).sort()[0][:1]": ("zero_part", "Slice", "uses other elements"),
    "torch.cat([x, torch.ones(2, requires_grad=True)])[torch.tensor([4])]": ("zero_part", "Index", "uses other elements"),
    "torch.tensor([1.0, -1.0]).unsqueeze(1) * x": ("zero_broadcast", "Mul", "of a broadcast tensor"),
    "x ** 0": ("zero_exponent", "Pow", "has exponent 0"),
    "F.cross_entropy(x[None], torch.tensor([-100]), reduction='sum')": ("zero_ignored", "NllLoss", "none of the targets"),
    "F.multi_margin_loss(x[None] * 9, torch.tensor([2]))": ("zero_margin", "MultiMarginLoss", "the loss is 0"),
    "F.layer_norm(x, (3,))": ("zero_sent", "NativeLayerNorm", "layer_norm received a non-zero gradient and sent zero"),
    "x.relu()[:2] * torch.tensor([0.0, 0.0])": ("zero_tensor", "Mul", "a tensor of zeros"),
    "(x - 2).relu()[:1] * 3": ("zero_no_overlap", "Relu", "only at elements where relu passes none"),
    "(x * torch.tensor([0.0, 1.0, 1.0]))[:1]": ("zero_no_overlap", "Mul", "1.0, 1.0]) passes none"),
    "F.linear(x, torch.zeros(2, 3), torch.ones(2))": ("zero_tensor", "Addmm", "addmm multiplies by a tensor of zeros"),
    "torch.xlogy(torch.zeros(3), x)": ("zero_sent", "Xlogy", "xlogy received a non-zero gradient and sent zero"),
}  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("expression", ZERO)
def test_a_zero_has_a_cause_with_its_line(expression: str, library: str) -> None:
    kind, op, words = ZERO[expression]
    answer = of_expression(expression, library)
    assert (kinds(answer), blamed(answer), lines(answer)) == ([kind], [op], [3]), answer
    assert str(answer).startswith("x.grad is all zero") and words in str(answer)


@LIBRARIES
@pytest.mark.parametrize("expression", ["x - x", "x - x.mean()"])
def test_gradients_that_cancel(expression: str, library: str) -> None:
    answer = of_expression(expression, library)
    assert kinds(answer) == ["zero_cancel"] and "meet at x cancel: [1.0, 1.0, 1.0] from SubBackward0 + " in str(answer)


@LIBRARIES
def test_each_path_has_its_own_cause(library: str) -> None:
    assert sorted(kinds(of_expression("x * 0 + x.round()", library))) == ["zero_flat", "zero_number"]


PROVEN = {  # programs of PyTorch that nobody has seen run: what the op was given, or its rule, is proof enough
    "x.round()": "zero_flat",
    "x ** 0": "zero_exponent",
    "x.clamp(5, 6)": "zero_clamp",
    "torch.softmax(x[:, None], 1) ** 2": "zero_single",
}


@pytest.mark.torch
@pytest.mark.parametrize("expression", PROVEN)
def test_what_the_graph_alone_proves_is_told(expression: str) -> None:
    assert kinds(run(f"{X}loss = ({expression}).sum()\nloss.backward()", "torch")) == [PROVEN[expression]]


@pytest.mark.torch
@pytest.mark.parametrize("expression", ["(-x).relu() + 1", "x * torch.tensor([0.0] * 3) * 2", "x * 0 + x * 3"])
def test_without_numbers_nothing_is_guessed(expression: str) -> None:
    zeroed = "x.grad.zero_()" if "x * 3" in expression else ""
    answer = run(f"{X}loss = ({expression}).sum()\nloss.backward()\n{zeroed}", "torch")
    assert kinds(answer) == ["not_recorded"] and "Call av.watch() first" in str(answer)


FACTOR = {  # program, what is asked, the name of the factor, the line
    "behind a view": (X + "with record():\n    w = torch.zeros(3, 2)\n    loss = (w.t() @ x).sum()", "x", "w", 4),
    "called dropout": (X + "with record():\n    dropout = torch.zeros(3)\n    loss = (x * dropout).sum()", "x", "dropout", 4),
    "of a layer": (
        "model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))\n"
        "torch.nn.init.zeros_(model[2].weight)\nwith record():\n    loss = model(torch.randn(64, 20)).pow(2).mean()",
        "model[0].weight", "model.2.weight", 4,
    ),
}  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("case", FACTOR)
def test_a_factor_is_called_by_its_name(case: str, library: str) -> None:
    program, ask, name, line = FACTOR[case]
    answer = stepped(program, library, ask)
    assert (kinds(answer), lines(answer)) == (["zero_factor"], [line]) and f"multiplies by {name}, which" in str(answer)


@LIBRARIES
def test_a_dead_layer(library: str) -> None:
    program = """
model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
with torch.no_grad():
    model[0].bias -= 100
with record():
    loss = model(torch.randn(64, 20)).pow(2).mean()
"""
    answer = stepped(program, library, "model[0].weight")
    assert (kinds(answer), blamed(answer), lines(answer)) == (["zero_relu"], ["Relu"], [5])


def test_a_dead_layer_is_found_where_the_core_keeps_no_large_gradients() -> None:
    program = "x = -torch.ones(300)\nx.requires_grad_()\nloss = x.relu().sum()\nloss.backward()"
    assert kinds(told(program)) == ["zero_relu"]
    unsure = "x = torch.ones(200, requires_grad=True)\nm = (torch.arange(200) < 100).float()\nloss = (x * m * (1 - m)).sum()"
    assert kinds(told(f"{unsure}\nloss.backward()")) == ["not_shown"]


@LIBRARIES
def test_a_product_too_small_for_its_type_is_told_from_a_factor_of_zero(library: str) -> None:
    half = "x = torch.tensor([1.0, 2.0], dtype=torch.float16, requires_grad=True)\n"
    answer = stepped(half + "loss = (x * 1e-4 * 1e-4).sum() * 1e-2", library)
    assert kinds(answer) == ["zero_underflow"] and "times 0.0001 is too small for float16" in str(answer)
    assert kinds(stepped(half + "loss = (x / 3e4 / 3e4).sum()", library)) == ["zero_underflow"]
    assert kinds(stepped(half + "loss = (x * torch.zeros(2) * 1e-4).sum()", library)) == ["zero_tensor"]
    double = (
        "x = torch.tensor([1e-200], dtype=torch.float64, requires_grad=True)\nw = torch.tensor([1e-170], dtype=torch.float64)\n"
    )
    answer = stepped(double + "loss = (x * w * w).sum()", library)
    assert kinds(answer) == ["zero_vanished"] and "too small for float64" in str(answer)


@LIBRARIES
def test_padding_alone(library: str) -> None:
    program = "e = torch.nn.Embedding(4, 2, padding_idx=0)\nwith record():\n    loss = e(torch.tensor([0, 0])).sum()"
    answer = stepped(program, library, "e.weight")
    assert (kinds(answer), lines(answer)) == (["zero_padding" if library == "torch" else "zero_padding_only"], [3])


ROWS = "x = torch.ones(4, 2, requires_grad=True)\nwith record():\n    h = F.embedding(torch.tensor([0, 2]), x)\n    loss = {}\n"


@LIBRARIES
@pytest.mark.parametrize(("loss", "rows"), [("h.sum()", "1, 3"), ("h[0].sum()", "1, 2, 3")])
def test_rows_without_a_gradient_are_named(loss: str, rows: str, library: str) -> None:
    answer = stepped(ROWS.format(loss), library)
    assert (kinds(answer), lines(answer)) == (["rows_unused"], [3]) and f"rows {rows} are zero" in str(answer)


# -- hooks, Functions, and what stands in grad since -------------------------------------------------------------------


@LIBRARIES
def test_hooks_and_first_gradients_that_are_zero(library: str) -> None:
    hooked = stepped(X + "def none(g):\n    return g * 0\nx.register_hook(none)\nloss = (x * 2).sum()", library)
    assert kinds(hooked) == ["zero_hook"] and "the hook none turned [2.0, 2.0, 2.0] into zero" in str(hooked)
    twice = stepped(X + "x.register_hook(lambda g: g * 0)\nloss = (x * x).sum()", library)
    assert kinds(twice) == ["zero_hook"], "no sum of two equal gradients is zero"
    kept = stepped(X + "x.register_hook(lambda g: g * 3)\nloss = (x - x).sum()", library)
    assert kinds(kept) == ["zero_cancel"], "the sum was zero before the hook"
    large = "x = torch.ones(5000, requires_grad=True)\nx.register_hook(lambda g: None)\nloss = (x - x).sum()\nloss.backward()"
    assert "zero_hook" not in kinds(run(large, library, watched=True)), "a hook that looks is not blamed"
    function = (
        "class Nothing(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return g * 0\n"
    )
    own = stepped(f"{X}{function}loss = Nothing.apply(x).sum()", library)
    assert kinds(own) == ["zero_user"] and "the backward of Nothing returned zeros" in str(own)


@LIBRARIES
def test_a_path_along_which_nothing_is_sent_is_no_way_out(library: str) -> None:
    function = (
        "class Drop(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
        "    @staticmethod\n    def backward(ctx, g): return None\n"
    )
    assert kinds(stepped(f"{X}{function}loss = (Drop.apply(x) + x * 0).sum()", library)) == ["zero_number"]


@pytest.mark.torch
def test_a_hook_of_a_module() -> None:
    program = X + "lin = torch.nn.Linear(3, 3)\nlin.register_full_backward_hook(lambda m, i, o: (i[0] * 0,))\n"
    assert kinds(stepped(program + "loss = lin(x * 1).sum() * 2", "torch")) == ["zero_module_hook"]


def test_a_first_gradient_of_zero() -> None:
    assert kinds(told(X + "loss = (x * 2).sum()\nloss.backward(torch.tensor(0.0))")) == ["zero_start"]


SINCE = {  # the statement after the pass: kind, line
    "x.grad.zero_()": ("zeroed_at", 4),
    "opt.zero_grad(set_to_none=False)": ("zeroed_at", 4),
    "for p in [x]: p.grad *= 0": ("zeroed_at", 4),
    "x.grad[:] = 0": ("zeroed_at", 4),
    "x.grad = x.grad * 0": ("zero_since", None),
}


@pytest.mark.parametrize("statement", SINCE)
def test_a_grad_that_is_set_to_zero_after_the_pass(statement: str) -> None:
    opt = "opt = torch.optim.SGD([x], lr=0.1); "
    answer = told(f"{X}{opt}loss = (x * 2).sum()\nloss.backward()\n{statement}")
    kind, line = SINCE[statement]
    assert (kinds(answer), lines(answer)) == ([kind], [line]), answer
    assert "[2.0, 2.0, 2.0] arrived in the last pass" in str(answer)
    dead = told(f"{X}{opt}loss = (x * 2).sum()\nloss.backward()\n{statement}\nloss = (x - 100).relu().sum()\nloss.backward()")
    assert set(kinds(dead)) & {"zeroed_at", "zero_since"} == set()


@LIBRARIES
def test_a_gradient_that_cancels_what_was_there(library: str) -> None:
    answer = stepped(X + "(x * 3).sum().backward()\nloss = -(x * 3).sum()", library)
    assert kinds(answer) == ["cancelled"] and "[3.0, 3.0, 3.0] was in grad and [-3.0, -3.0, -3.0] arrived" in str(answer)


def test_zeros_of_another_graph() -> None:
    answer = told(X + "y = (x * 2).sum()\ny.backward()\nx.grad = None\n(x * 0).sum().backward()")
    assert kinds(answer) == ["graph_gone"] and "another graph, not from that of y" in str(answer)
    answer = told(X + "(x * 0).sum().backward()\nw = x.detach().requires_grad_()\nloss = w.sum()\nloss.backward()", "x, loss")
    assert kinds(answer) == ["zero_old"] and "no gradient of this graph" in str(answer)


# -- biases that nothing can learn -------------------------------------------------------------------------------------

NORMED = (
    "torch.manual_seed(0)\nnet = torch.nn.Sequential({layer}, torch.nn.{norm}, torch.nn.Flatten(), torch.nn.LazyLinear(1))\n"
    "loss = (net(torch.randn({shape})) ** 2).mean()"
)
LEVEL = (
    "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))\n"
    "loss = net(torch.randn(8, 3)).sum()"
)
ATTENDED = (
    "torch.manual_seed(0)\nq, k, v = (torch.nn.Linear(4, 4) for _ in range(3))\nx = torch.randn(2, 5, 4)\n"
    "h = F.scaled_dot_product_attention(*(m(x).unsqueeze(1) for m in (q, k, v)))\nloss = (h ** 2).mean()"
)
NORM_OF = "torch.manual_seed(0)\nlin = torch.nn.Linear(2, 3)\n"
BIASES = {  # program, what is asked, kind of the first cause; "" for one that is not zero
    "a bias before a batch norm": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4)", shape="8, 3"), "net[0].bias", "zero_normed",
    ),
    "the weight beside it": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4)", shape="8, 3"), "net[0].weight", "",
    ),
    "of a convolution": (
        NORMED.format(layer="torch.nn.Conv2d(3, 4, 3)", norm="BatchNorm2d(4)", shape="8, 3, 5, 5"), "net[0].bias",
        "zero_normed",
    ),
    "before statistics that are fixed": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="BatchNorm1d(4).eval()", shape="8, 3"), "net[0].bias", "",
    ),
    "before a layer norm": (
        NORMED.format(layer="torch.nn.Linear(3, 4)", norm="LayerNorm(4)", shape="8, 3"), "net[0].bias", "",
    ),
    "a loss that adds up a layer norm": (LEVEL, "net[0].weight", "zero_level"),
    "that norm's own bias": (LEVEL, "net[1].bias", ""),
    "the keys' bias": (ATTENDED, "k.bias", "zero_shifted"),
    "the values' bias": (ATTENDED, "v.bias", ""),
    "a sum of a batch norm in eval()": (
        NORM_OF + "n = torch.nn.BatchNorm1d(3).eval()\nwith torch.no_grad():\n    n.weight.mul_(1e-5)\n"
        "loss = n(lin(torch.randn(4, 2))).sum()", "lin.weight", "",
    ),
    "a sum of a layer norm with weights of its own": (
        NORM_OF + "n = torch.nn.LayerNorm(3)\nwith torch.no_grad():\n    n.weight.copy_(torch.tensor([1e-6, 2e-6, 0.0]))\n"
        "loss = n(lin(torch.randn(4, 2))).sum()", "lin.weight", "",
    ),
    "a slice of a layer norm": (
        NORM_OF + "n = torch.nn.LayerNorm(3)\nwith torch.no_grad():\n    lin.weight.mul_(1e6)\n"
        "loss = n(lin(torch.randn(4, 2)))[:, :2].sum()", "lin.weight", "",
    ),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("case", BIASES)
def test_what_has_no_effect_by_the_shape_of_the_model(case: str) -> None:
    program, ask, kind = BIASES[case]
    found = kinds(stepped(program, "torch", f"{ask}, loss"))
    assert found[0] == kind if kind else not {"zero_normed", "zero_level", "zero_shifted"} & {*found}, found


@LIBRARIES
def test_an_optimizer_of_another_model_is_not_told(library: str) -> None:
    other = "other = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)\n"
    program = f"{other}w = torch.nn.Parameter(torch.ones(3))\nwith record():\n    loss = (w * 0).sum()"
    assert kinds(stepped(program, library, "w")) == ["zero_number"]
