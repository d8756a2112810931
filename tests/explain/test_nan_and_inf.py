"""explain, where the gradient is nan or inf: where it was born, in the forward pass or in the backward pass."""

from __future__ import annotations

import pytest

from .explained import LIBRARIES, X, blamed, kinds, lines, of_expression, run, stepped, told

BAD = {  # expression of x = [1, 2, 3] on line 3: kinds, op of the first, words
    "(x - 1).sqrt()": (["born_sqrt"], "Sqrt", "an input of sqrt is 0"),
    "(x - 1) ** 0.5": (["born_power"], "Pow", "the base of (x - 1) ** 0.5 is 0"),
    "(x - 1).log()": (["forward_born"], "Log", "log returned -inf for [0.0, 1.0, 2.0]"),
    "1 / (x - 1)": (["forward_born"], "Reciprocal", "reciprocal returned inf"),
    "(x * 100).exp()": (["forward_overflow"], "Exp", "exp overflowed to inf: it was given [100.0, 200.0, 300.0]"),
    "(x * 1e30) * (x * 1e30)": (["forward_overflow"], "Mul", "mul overflowed"),
    "torch.cat([x] * 20).mul(1e30) ** 2": (["forward_overflow"], "Pow", "given shape (60,): 1e+30 … 3e+30, 2"),
    "torch.softmax(x.mul(1e30).square(), 0)": (["forward_overflow"], "Pow", "overflowed"),
    "-torch.softmax(torch.cat([x, x * 100]), 0).log()[0]": (["forward_born"], "Log", "log returned -inf"),
    "x / 0": (["forward_born"], "Div", "div returned inf for [1.0, 2.0, 3.0], 0"),
    "x * float('inf')": (["forward_written"], "Mul", "not finite: [1.0, 2.0, 3.0], inf"),
    "x[:1].std()": (["forward_few"], "Std", "std got too few elements, [1.0], and divides by 0"),
    "x[:1].var()": (["forward_few"], "Var", "correction=0"),
    "x[None].var(dim=0)": (["forward_few"], "Var", "too few elements"),
    "torch.where(x < 0, (x * 100).exp(), x)": (["born_exp", "zero_times_inf"], "Exp", "overflowed to inf"),
    "torch.where(x > 1, (x - 1).sqrt(), x)": (["born_sqrt", "zero_times_inf"], "Sqrt", "0 times inf or nan is nan"),
    "torch.where(x > 1, (x - 1).log(), x)": (["born_log", "zero_times_inf"], "Log", "an input of log is 0"),
    "torch.where(x > 1, (x - 2).log1p(), x)": (["born_log", "zero_times_inf"], "Log1P", "an input of log1p is -1"),
    "torch.where(x > 1, x / (x - 1), x)": (["born_division", "zero_times_inf"], "Div", "divides by 0"),
    "torch.where(x > 1.5, (x - 1.5).sqrt(), x)": (["born_negative_root", "zero_times_inf"], "Sqrt", "inputs are -0.5 … 1.5"),
    "torch.where(x > 2, (x - 2.5).log(), x) + (x * 0).sum().sqrt()": (["born_sqrt"], "Sqrt", "sqrt is 0"),
    "(x - 1).pow(2).sum() + (x * 0).sum().sqrt()": (["born_sqrt"], "Sqrt", "sqrt is 0"),
    "(x * 0).var().sqrt()": (["born_sqrt"], "Sqrt", "sqrt is 0"),
    "(x / 3).asin()": (["born_edge"], "Asin", "edge of its domain"),
    "torch.hypot(x - x, x * 0)": (["born_norm"], "Hypot", "hypot is 0, where it has no derivative"),
}  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("expression", BAD)
def test_nan_and_inf_have_a_birthplace(expression: str, library: str) -> None:
    expected, op, words = BAD[expression]
    answer = of_expression(expression, library)
    assert (kinds(answer), blamed(answer)[0]) == (expected, op), answer
    assert words in str(answer) and set(lines(answer)) == {3}


@LIBRARIES
def test_the_best_advice_is_given_alone(library: str) -> None:
    said = str(of_expression("torch.where(x > 1, (x - 1).sqrt(), x)", library)).split("\n")
    assert [s for s in said if s.startswith("→")] == [said[1]] and "Make the input safe before sqrt" in said[1]


@pytest.mark.torch
@pytest.mark.parametrize("expression", [
    "torch.cat([x, x[None].std(0).mean().expand(1)])", "torch.stack([x, x[None].std(0) * 2])",
    "x[None].std(0) @ (x + 1) - 0.01 * (x * 2).mean()", "x.tanh().mean() - 0.01 * (x[None].std(0) + 2).mean()",
])  # fmt: skip
def test_nan_is_followed_through_ops_of_which_some_inputs_are_not_known(expression: str) -> None:
    answer = run(f"{X}y = {expression}\ny.sum().backward()", "torch", watched=True)
    assert (kinds(answer), lines(answer)) == (["forward_few"], [2]), answer


@pytest.mark.torch
def test_equal_singular_values() -> None:
    program = "x = torch.eye(3, requires_grad=True)\nu = torch.linalg.svd(x)[0]\nloss = u[0, 1] + u[1, 0]"
    assert kinds(stepped(program, "torch")) == ["born_equal"]


@pytest.mark.torch
def test_targets_without_weight() -> None:
    answer = of_expression("F.cross_entropy(x[None], torch.tensor([1]), weight=torch.zeros(3))", "torch")
    assert kinds(answer) == ["forward_weightless"] and "total weight 0" in str(answer)


@LIBRARIES
def test_the_mean_of_nothing(library: str) -> None:
    answer = of_expression("x[x > 9].mean()", library)  # of nothing, a gradient of nothing arrives
    assert kinds(answer) == ["zero_part", "forward_empty"] and "mean of no elements is nan" in str(answer)


@LIBRARIES
def test_the_exponent_of_a_negative_base(library: str) -> None:
    program = "z = torch.tensor([-2.0, 2.0])\nx = torch.tensor([2.0, 3.0], requires_grad=True)\nz.requires_grad_()\n"
    answer = stepped(program + "loss = (z ** x).sum()", library)
    assert kinds(answer) == ["born_exponent"] and "logarithm of a negative base" in str(answer), answer
    assert kinds(stepped(X + "y = (-2.0) ** (x * 1)\nloss = y.sum() * 0", library)) == ["born_exponent"]


@LIBRARIES
def test_many_elements(library: str) -> None:
    answer = stepped(
        "x = torch.ones(200, requires_grad=True)\nwith record():\n    y = (x - x.detach()).sqrt()\n    loss = y.sum()", library
    )
    assert kinds(answer) == ["born_sqrt"] and lines(answer) == [3]


# -- numbers that were put into the forward pass -----------------------------------------------------------------------

MASK = "m = torch.tensor([False, True, False])\n"
PUT = {  # program, kinds of the causes in the forward pass, line and words of the last
    "a mask that is filled in and meets the loss": (
        MASK + "with record():\n    s = x.masked_fill(m, float('-inf'))\n    loss = -F.log_softmax(s, -1).mean()",
        ["forward_put"], 4, "masked_fill wrote inf",
    ),
    "a row that is masked throughout": (
        "m = torch.tensor([True, True, True])\nwith record():\n    s = x.masked_fill(m, float('-inf'))\n"
        "    loss = torch.softmax(s, -1).sum()",
        ["nan_of_inf", "forward_put"], 4, "softmax made nan from an inf",
    ),
    "a full row that is added": (
        "with record():\n    b = torch.full((3,), float('-inf'))\n    loss = torch.softmax(x + b, -1).sum()",
        ["nan_of_inf", "given"], 3, "b holds inf, and no recorded op made it",
    ),
    "a nan in the data": (
        "with record():\n    d = torch.tensor([1.0, float('nan'), 1.0])\n    loss = (x * d).sum()", ["given"], 3, "d holds nan",
    ),
    "a number": ("with record():\n    loss = (x + float('-inf')).sum()", ["forward_written"], 3, "not finite"),
    "0 times a masked log": (
        MASK + "with record():\n    s = x.masked_fill(m, float('-inf'))\n    lp = F.log_softmax(s, -1)\n"
        "    loss = (lp.exp() * lp).sum()", ["nan_of_inf", "forward_put"], 4, "mul made nan from an inf",
    ),
    "a log of what was masked, which is not the mask's fault": (
        MASK + "with record():\n    p = torch.softmax(x.masked_fill(m, float('-inf')), -1)\n    loss = (p * p.log()).sum()",
        ["forward_born"], 5, "log returned -inf",
    ),
}  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("case", PUT)
def test_the_origin_is_where_the_number_was_put(case: str, library: str) -> None:
    program, expected, line, words = PUT[case]
    answer = stepped(X + program, library)
    forward = [c for c in answer.causes if c.kind.startswith(("forward", "nan_of", "given"))]
    assert [c.kind for c in forward] == expected and words in str(answer), answer
    is_known = library == "core" or expected[-1] != "given"  # nobody has seen PyTorch make a constant
    assert not is_known or (forward[-1].source is not None and forward[-1].source.line == line), answer


ATTENTION = """
q = torch.tensor([[1.0, 2.0], [2.0, 1.0]], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
m = torch.tensor([[True, True], [False, True]])
with record():
    a = torch.softmax((q + 1).masked_fill(m, float("-inf")), -1)
    loss = (a @ x)[1].sum()
"""


@LIBRARIES
def test_a_factor_with_a_masked_row_is_told_with_its_mask(library: str) -> None:
    answer = stepped(ATTENTION, library)
    assert kinds(answer) == ["nan_of_inf", "forward_put", "born_factor"] and lines(answer) == [5, 5, 6], answer
    assert "a @ x multiplies the gradient by a, which holds nan" in answer.details and "0 times" not in str(answer)


@LIBRARIES
def test_a_loss_that_is_nan_is_said_although_the_gradient_is_fine(library: str) -> None:
    answer = of_expression("(-x).log()", library)
    assert kinds(answer) == ["forward_born", "loss_bad_finite"], answer
    assert "log returned nan for [-1.0, -2.0, -3.0]" in str(answer)


# -- what nobody has seen ----------------------------------------------------------------------------------------------


@pytest.mark.torch
def test_without_values_a_bad_loss_is_told_and_nothing_is_guessed() -> None:
    answer = run(X + "loss = (x - 1).log().sum()\nloss.backward()", "torch")
    assert kinds(answer) == ["loss_bad"] and "the loss itself is inf" in str(answer) and "`with av.record():`" in str(answer)
    answer = run(X + "loss = torch.where(x > 1, (x - 1).sqrt(), x).sum()\nloss.backward()", "torch")
    assert kinds(answer) == ["not_recorded"], answer


@pytest.mark.torch
def test_a_constant_that_pytorch_does_not_keep() -> None:
    answer = run(X + "loss = (x * torch.tensor([1.0, float('nan'), 1.0])).sum()\nloss.backward()", "torch")
    assert kinds(answer) == ["forward_constant"] and "a constant that is not known" in str(answer), answer


@LIBRARIES
def test_a_parameter_that_is_nan_itself(library: str) -> None:
    answer = stepped("x = torch.tensor([1.0, float('nan')], requires_grad=True)\nloss = (x * x).sum()", library)
    assert kinds(answer) == ["given_leaf"] and "x itself holds nan now" in str(answer), answer


# -- what came after the pass, or before it ----------------------------------------------------------------------------

TRAINED = (
    "w = torch.tensor([1.0, 4.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=1e38)\nfor i in range(3):\n"
    "    opt.zero_grad()\n    with record(): loss = {}.sum()\n    av.step(loss, retain_graph=True).finish()\n    opt.step()"
)


@LIBRARIES
def test_a_training_that_diverged_is_told_from_an_op_that_made_nan(library: str) -> None:
    answer = run(TRAINED.format("(w * w * w)"), library, "w")
    assert kinds(answer) == ["bad_leaf_diverged" if library == "core" else "diverged"], answer
    answer = run(TRAINED.format("(w - 1).log()").replace("range(3)", "range(1)"), library, "w")
    assert kinds(answer)[0] == "forward_born" and blamed(answer)[0] == "Log", answer


@LIBRARIES
def test_an_overflow_behind_a_log_of_0_is_the_cause(library: str) -> None:
    program = (
        "x = torch.tensor([1.0, 200.0], requires_grad=True)\nwith record():\n    e = x.exp()\n    p = e / e.sum()\n"
        "    loss = -p[0].log()"
    )
    answer = stepped(program, library)
    assert (kinds(answer), blamed(answer), lines(answer)) == (["forward_overflow"], ["Exp"], [3]), answer


def test_a_nan_that_was_written_into_a_grad() -> None:
    answer = told(X + "(x * 3).sum().backward()\nx.grad[0] = float('nan')")
    assert (kinds(answer), lines(answer)) == (["bad_written"], [3]), answer


SUM = "loss = (x * 3).sum()\nloss.backward()\n"
CHANGES = {  # the statement after the pass: kind, line
    "x.grad /= 0": ("bad_since", 4),
    "x.grad.div_(0)": ("bad_since", 4),
    "x.grad.data.mul_(float('inf'))": ("bad_elsewhere", None),
    "for p in [x]:\n    p.grad /= 0": ("bad_since", 5),
    "x.grad = x.grad / 0": ("bad_elsewhere", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_grad_that_was_changed_after_the_pass(change: str) -> None:
    answer = told(X + SUM + change)
    assert (kinds(answer), lines(answer)) == ([CHANGES[change][0]], [CHANGES[change][1]]), answer


def test_clipping_by_an_infinite_norm_is_told_with_what_made_the_inf() -> None:
    program = "e = torch.tensor([0.0], requires_grad=True)\nloss = (x * 3).sum() + e.sqrt().sum()\nloss.backward()\n"
    answer = told(X + program + "torch.nn.utils.clip_grad_norm_([x, e], 1.0)", "e")
    assert kinds(answer) == ["inf_to_nan", "born_sqrt"] and lines(answer) == [None, 3], answer


@LIBRARIES
def test_a_nan_of_earlier_is_not_blamed_on_this_pass(library: str) -> None:
    answer = stepped(X + "x.grad = torch.full((3,), float('nan'))\nloss = (x * 2).sum()", library)
    assert kinds(answer) == ["bad_old"] and "grad held nan before the last pass" in str(answer), answer


@LIBRARIES
def test_a_nan_from_a_hook(library: str) -> None:
    answer = stepped(X + "def spoil(g):\n    return g / 0 * 0\nx.register_hook(spoil)\nloss = (x * 2).sum()", library)
    assert kinds(answer) == ["bad_hook"] and "the hook spoil" in str(answer)
