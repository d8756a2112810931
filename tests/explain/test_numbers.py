"""explain, where a gradient arrived: zero, nan, infinite, huge, tiny, or as it should be."""

from __future__ import annotations

import pytest

from .explained import X, after_backward, kinds, lines, told

ZERO = {  # expression of x = [1, 2, 3] -> kind, words
    "(-x).relu()": ("zero_relu", "here it is -3.0 … -1.0"),
    "F.relu6(-x)": ("zero_clamp", "outside its bounds"),
    "x.clamp(5, 6)": ("zero_clamp", "its input is 1.0 … 3.0"),
    "x.clamp(min=5)": ("zero_clamp", "ClampBackward1"),
    "F.hardtanh(x * 10)": ("zero_clamp", "HardtanhBackward0"),
    "F.hardsigmoid(x * 10)": ("zero_clamp", "HardsigmoidBackward0"),
    "F.threshold(-x, 0, 7)": ("zero_clamp", "ThresholdBackward0"),
    "F.softshrink(x * 0.1)": ("zero_shrink", "inside its threshold"),
    "x.round()": ("zero_flat", "RoundBackward0 is flat"),
    "x.floor()": ("zero_flat", "FloorBackward0 is flat"),
    "x.ceil()": ("zero_flat", "CeilBackward0 is flat"),
    "x.sign()": ("zero_flat", "SignBackward0 is flat"),
    "x.trunc()": ("zero_flat", "TruncBackward0 is flat"),
    "torch.where(x > 5, x, x.detach())": ("zero_mask", "WhereBackward0 chose the other"),
    "x.masked_fill(x > 0, 0.0)": ("zero_mask", "MaskedFillBackward0"),
    "F.dropout(x, 1.0)": ("zero_dropout", "dropped every element"),
    "torch.sigmoid(x * 1000)": ("zero_saturated", "SigmoidBackward0 is saturated: its input is 1000.0 … 3000.0"),
    "torch.tanh(x * 100)": ("zero_saturated", "TanhBackward0 is saturated"),
    "x * 0": ("zero_number", "MulBackward0 multiplies by 0"),
    "torch.zeros(2, 3) @ x": ("zero_tensor", "MvBackward0"),
    "torch.softmax(x, 0)": ("zero_softmax", "sum to 1"),
    "(x - x.detach()) ** 2": ("zero_power", "its input is 0.0"),
    "(x - x.detach()).abs()": ("zero_abs", "AbsBackward0"),
    "F.mse_loss(x, x.detach())": ("zero_equal", "at its minimum"),
    "torch.maximum(x, torch.full((3,), 9.0))": ("zero_picked", "MaximumBackward0 picks another"),
    "torch.cat([x, torch.full((1,), 9.0)]).max()": ("zero_picked", "MaxBackward1 picks another"),
    "torch.cat([x, torch.full((1,), 9.0)]).topk(1)[0]": ("zero_picked", "TopkBackward0 picks another"),
    "torch.cat([x, torch.full((1,), -9.0)]).sort()[0][:1]": ("zero_part", "SliceBackward0 uses another part"),
    "torch.cat([x, torch.ones(2, requires_grad=True)])[torch.tensor([4])]": ("zero_part", "IndexBackward0 uses another part"),
    "x - x": ("zero_cancel", "[1.0, 1.0, 1.0] from SubBackward0 (line 2) + [-1.0, -1.0, -1.0] from SubBackward0 (line 2)"),
    "x - x.mean()": ("zero_cancel", "meet at x cancel"),
    "torch.tensor([1.0, -1.0]).unsqueeze(1) * x": ("zero_broadcast", "x was broadcast"),
    "x ** 0": ("zero_exponent", "its exponent is 0"),
    "F.cross_entropy(x[None], torch.tensor([-100]), reduction='sum')": ("zero_ignored", "every target is its ignore_index"),
    "F.layer_norm(x, (3,))": ("zero_sent", "NativeLayerNormBackward0 received a gradient and sent zero"),
}


@pytest.mark.parametrize("expression", ZERO)
def test_a_zero_has_a_cause_with_its_line(expression: str) -> None:
    kind, words = ZERO[expression]
    answer = after_backward(expression)
    assert kinds(answer) == [kind], answer
    said = str(answer).split("\n")
    assert said[0] == "x.grad is all zero." and words in said[1] and "line 2" in said[1]


def test_a_factor_is_called_by_its_name_also_behind_a_view() -> None:
    answer = told(X + "w = torch.zeros(3, 2)\nloss = (w.t() @ x).sum()\nloss.backward()")
    assert kinds(answer) == ["zero_factor"] and "multiplies by w, which is all zero (line 3" in str(answer)


def test_a_mask_that_is_called_dropout_is_no_dropout() -> None:
    answer = told(X + "dropout = torch.zeros(3)\nloss = (x * dropout).sum()\nloss.backward()")
    assert kinds(answer) == ["zero_factor"] and "multiplies by dropout" in str(answer)
    answer = told(X + "dropout_rate = 0\nloss = (x * dropout_rate).sum()\nloss.backward()")
    assert kinds(answer) == ["zero_number"]


def test_each_path_has_its_own_cause() -> None:
    answer = after_backward("x * 0 + x.round()")
    assert sorted(kinds(answer)) == ["zero_flat", "zero_number"]


def test_a_dead_layer_is_found_where_no_gradient_was_small_enough_to_be_kept() -> None:
    program = """
model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
with torch.no_grad():
    model[0].bias -= 100
loss = model(torch.randn(64, 20)).pow(2).mean()
loss.backward()
"""
    answer = told(program, "model[0].weight")
    assert kinds(answer) == ["zero_relu"] and lines(answer) == [4]
    assert str(answer).startswith("model.0.weight.grad is all zero.\nReluBackward0 passes nothing")


def test_a_zero_layer_after_it_is_found_too() -> None:
    program = """
model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.ReLU(), torch.nn.Linear(30, 1))
torch.nn.init.zeros_(model[2].weight)
loss = model(torch.randn(64, 20)).pow(2).mean()
loss.backward()
"""
    assert "multiplies by model.2.weight, which is all zero" in str(told(program, "model[0].weight"))


def test_large_gradients_without_a_sure_cause_say_so() -> None:
    program = "x = torch.ones(200, requires_grad=True)\nm = (torch.arange(200) < 100).float()\nloss = (x * m * (1 - m)).sum()"
    answer = told(f"{program}\nloss.backward()")
    assert kinds(answer) == ["zero_unknown"] and "that can: MulBackward0" in str(answer) and "av.step(loss)" in str(answer)


def test_rows_that_no_lookup_used_are_named() -> None:
    answer = told(
        "x = torch.ones(4, 2, requires_grad=True)\nloss = F.embedding(torch.tensor([0, 2]), x).sum()\nloss.backward()"
    )
    assert kinds(answer) == ["rows_unused"] and "Its rows 1, 3 are zero" in str(answer) and lines(answer) == [2]


def test_rows_that_were_looked_up_may_have_got_zeros() -> None:
    program = (
        "x = torch.ones(2, 2, requires_grad=True)\nh = F.embedding(torch.tensor([0, 1]), x)\nloss = h[0].sum()\nloss.backward()"
    )
    answer = told(program)
    assert kinds(answer) == ["rows_unused"] and "Its rows 1 are zero" in str(answer) and "or sent them zeros" in str(answer)


def test_a_grad_of_before_is_not_told_as_this_graph_s() -> None:
    answer = told(X + "(x * x).sum().backward()\nloss = (x * x * x).sum()")
    assert kinds(answer) == ["grad_before"]


def test_of_many_paths_the_first_are_told_and_that_there_are_more() -> None:
    answer = told(X + "loss = (x + x + x + x + x + x).sum()\nloss.backward()")
    assert "sum of 6 paths" in str(answer) and str(answer).count(" + …") == 1


def test_a_zero_that_was_put_there() -> None:
    zeroed = told(X + "loss = (x * 2).sum()\nloss.backward()\nx.grad.zero_()")
    assert (kinds(zeroed), lines(zeroed)) == (["zeroed_at"], [4])
    assert kinds(told(X + "loss = (x * 2).sum()\nloss.backward()\nx.grad = x.grad * 0")) == ["zeroed_at"]
    assert kinds(told(X + "loss = (x * 2).sum()\nloss.backward()\ng = x.grad\ng.data[:] = 0")) == ["zeroed_or_cancelled"]
    assert kinds(told(X + "loss = (x * 2).sum()\nloss.backward(torch.tensor(0.0))")) == ["zero_start"]
    answer = told(X + "def none(g):\n    return g * 0\nx.register_hook(none)\nloss = (x * 2).sum()\nloss.backward()")
    assert kinds(answer) == ["zero_hook"] and "hooks there: none" in str(answer)
    gone = told(X + "(x * 2).sum().backward()\nx.grad.zero_()")
    assert (kinds(gone), lines(gone)) == (["zeroed_by"], [3])
    assert kinds(told(X + "def f():\n    (x * 0).sum().backward()\nf()")) == ["no_graph"]


BAD = {  # expression -> kinds, words
    "(x - 1).sqrt()": (["born_sqrt"], "The inf was born at SqrtBackward0"),
    "(x - 1) ** 0.5": (["born_power"], "infinite at 0"),
    "(x - 1).log()": (["forward_born"], "The inf was there in the forward pass already: Log made it of [0.0, 1.0, 2.0]"),
    "1 / (x - 1)": (["forward_born"], "Reciprocal"),
    "(x * 100).exp()": (["forward_overflow"], "Exp overflowed in the forward pass: it was given [100.0, 200.0, 300.0]"),
    "(x * 1e30) * (x * 1e30)": (["forward_overflow"], "Mul overflowed"),
    "torch.cat([x] * 20).mul(1e30) ** 2": (["forward_overflow"], "given shape (60,): 1e+30 … 3e+30; 2, and made inf of it"),
    "torch.softmax(x.mul(1e30).square(), 0)": (["forward_overflow"], "overflowed"),
    "x / 0": (["forward_born"], "Div made it of [1.0, 2.0, 3.0]; 0"),
    "x * float('inf')": (["forward_written"], "Mul was given [1.0, 2.0, 3.0]; inf"),
    "x[:1].std()": (["forward_few"], "Std was given [1.0], no more elements than its correction"),
    "torch.where(x < 0, (x * 100).exp(), x)": (["born_exp", "zero_times_inf"], "overflowed to inf"),
    "torch.where(x > 1, (x - 1).sqrt(), x)": (["born_sqrt", "zero_times_inf"], "0 times infinity is nan"),
    "torch.where(x > 1, (x - 1).log(), x)": (["born_log", "zero_times_inf"], "the derivative of log is 1/x"),
    "torch.where(x > 1, x / (x - 1), x)": (["born_division", "zero_times_inf"], "divides by 0"),
    "torch.where(x > 1.5, (x - 1.5).sqrt(), x)": (["born_negative_root", "zero_times_inf"], "its input is negative"),
    "torch.where(x > 2, (x - 2.5).log(), x) + (x * 0).sum().sqrt()": (["born_sqrt"], "SqrtBackward0"),
    "(x - 1).pow(2).sum() + (x * 0).sum().sqrt()": (["born_sqrt"], "SqrtBackward0"),
    "(x * 0).var().sqrt()": (["born_sqrt"], "SqrtBackward0"),
    "(x / 3).asin()": (["born_edge"], "edge of its domain"),
}


@pytest.mark.parametrize("expression", BAD)
def test_nan_and_inf_have_a_birthplace(expression: str) -> None:
    expected, words = BAD[expression]
    answer = after_backward(expression)
    assert kinds(answer) == expected, answer
    assert words in str(answer) and set(lines(answer)) == {2}
    assert str(answer).split("\n")[0] in ("x.grad holds nan.", "x.grad holds inf.")


def test_the_best_advice_is_given_alone() -> None:
    said = str(after_backward("torch.where(x > 1, (x - 1).sqrt(), x)")).split("\n")
    assert [s for s in said if s.startswith("→")] == [said[-1]] and "Make the input safe before SqrtBackward0" in said[-1]


def test_nan_is_found_where_gradients_are_too_large_to_be_kept() -> None:
    answer = told("x = torch.ones(200, requires_grad=True)\ny = (x - x.detach()).sqrt()\nloss = y.sum()\nloss.backward()")
    assert kinds(answer) == ["born_sqrt"] and lines(answer) == [2]


def test_a_nan_in_the_data_is_told_from_one_that_was_computed() -> None:
    answer = told(X + "d = torch.tensor([1.0, float('nan'), 1.0])\nloss = (x * d).sum()\nloss.backward()")
    assert kinds(answer) == ["given"] and lines(answer) == [2] and "d holds it" in str(answer)


def test_a_nan_of_earlier_is_not_blamed_on_this_pass() -> None:
    program = X + "x.grad = torch.full((3,), float('nan'))\nloss = (x * 2).sum()\nloss.backward()"
    assert kinds(told(program)) == ["bad_old"]


def test_a_nan_from_a_hook() -> None:
    program = X + "def spoil(g):\n    return g / 0 * 0\nx.register_hook(spoil)\nloss = (x * 2).sum()\nloss.backward()"
    answer = told(program)
    assert kinds(answer) == ["bad_hook"] and "spoil" in str(answer)


def test_a_loss_that_is_nan_is_said_although_the_gradient_is_fine() -> None:
    answer = after_backward("(-x).log()")
    assert kinds(answer) == ["came_from", "forward_born", "loss_bad_finite"] and "Log made it of [-1.0, -2.0, -3.0]" in str(
        answer
    )


SIZES = {
    "h = x * 1e-9": ("shrank", "to a fraction of 1e-09 (line 2"),
    "h = 1 / (x * 1e-4)": ("grew", "It grew most at ReciprocalBackward0"),
    "h = x\nfor _ in range(20):\n    h = h * 3.0": ("grew_steadily", "20 of them MulBackward0"),
    "h = x\nfor _ in range(15):\n    h = torch.sigmoid(h)": ("shrank_steadily", "15 of them SigmoidBackward0"),
}


@pytest.mark.parametrize("statement", SIZES)
def test_where_a_gradient_grew_or_shrank_most(statement: str) -> None:
    kind, words = SIZES[statement]
    answer = told(f"{X}{statement}\nloss = h.sum()\nloss.backward()")
    assert kinds(answer)[0] == kind and words in str(answer)


def test_a_huge_gradient_whose_way_is_not_known() -> None:
    answer = told("x = torch.ones(200, requires_grad=True)\nloss = (x * 1e6).sum()\nloss.backward()")
    assert kinds(answer)[0] == "huge" and "Its norm is 1.41421e+07" in str(answer)


LAYERS = """
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(12, 12), torch.nn.Sigmoid())])
with torch.no_grad():
    model[6].weight.mul_(1e-4)
loss = model(torch.randn(16, 12)).sum()
loss.backward()
"""


def test_in_a_deep_net_the_layers_say_where_it_shrank() -> None:
    answer = told(LAYERS, "model[0].weight")
    assert kinds(answer)[0] == "shrank_between"
    assert "Between model.6.weight and model.4.weight it shrank most: model.6.weight.grad has norm" in str(answer)


def test_what_is_fine_says_where_it_came_from() -> None:
    one = after_backward("x * 2")
    assert str(one) == "x.grad is [2.0, 2.0, 2.0].\nWhat arrives here comes from MulBackward0 (line 2: y = x * 2)."
    two = after_backward("x * x")
    assert "the sum of 2 paths: [1.0, 2.0, 3.0] from MulBackward0 (line 2) + [1.0, 2.0, 3.0] from MulBackward0 (line 2)" in str(
        two
    )


def test_what_was_there_before_is_told_from_what_came() -> None:
    answer = told(X + "loss = (x * 2).sum()\nfor _ in range(3):\n    loss.backward(retain_graph=True)")
    assert kinds(answer) == ["came_from", "accumulated"]
    assert "[2.0, 2.0, 2.0] arrived in the last pass; [4.0, 4.0, 4.0] was there before" in str(answer)


def test_a_pass_through_a_graph_that_is_gone() -> None:
    answer = told(X + "y = (x * 2).sum()\ny.backward()\nx.grad = None\nx.sum().backward()")
    assert kinds(answer) == ["graph_gone"] and "[1.0, 1.0, 1.0] arrived in the last pass" in str(answer)


def test_hooks_here_and_on_the_way() -> None:
    program = "c.register_hook(lambda g: g + 2)\ne = c * 4\ne.backward()"
    start = "a = torch.tensor(2.0, requires_grad=True)\nc = a * 3\nc.retain_grad()\n"
    at = told(start + program, "c")
    assert "from 4.0 to 6.0: <lambda>" in str(at) and "hook_changed" in kinds(at)
    way = told(start + program, "a")
    assert kinds(way) == ["came_from", "hook_on_way"] and "at MulBackward0 from 4.0 to 6.0" in str(way)


def test_a_hook_that_writes_into_shared_memory() -> None:
    program = """
a = torch.tensor(2.0, requires_grad=True)
d = torch.tensor(4.0, requires_grad=True)
def in_place(g):
    g *= 100
d.register_hook(in_place)
e = a * 3 + d
e.backward()
"""
    answer = told(program, "a")
    assert "start_not_one" in kinds(answer) and "in_place" in str(answer)


def test_a_write_through_data_is_noticed_in_the_code() -> None:
    answer = told(X + "y = x * x\nx.data.mul_(100)\nloss = y.sum()\nloss.backward()")
    assert kinds(answer) == ["sum_of", "data_written"] and lines(answer)[1] == 3
    after = told(X + "loss = (x * x).sum()\nloss.backward()\nx.data -= 0.1 * x.grad")
    assert kinds(after) == ["sum_of"]
