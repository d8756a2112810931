"""Elementwise ops where PyTorch's behaviour is a choice: ties, bounds, element types, overloads, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av

F = av.nn.functional
NAN = math.nan


def gradients(function: Callable[..., Any], *values: list[float]) -> list[list[float]]:
    inputs = [av.tensor(v, dtype=av.float64, requires_grad=True) for v in values]
    function(*inputs).sum().backward()
    return [x.grad.tolist() for x in inputs]


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (av.maximum, ([1.0, 2.0], [1.0, 1.0]), [[0.5, 1.0], [0.5, 0.0]]),
        (av.fmax, ([1.0, NAN], [1.0, 2.0]), [[1.0, 0.0], [0.0, 1.0]]),
        (lambda x: av.clamp(x, 0, 1), ([0.0, 1.0, 0.5, 2.0, NAN],), [[1.0, 1.0, 1.0, 0.0, 0.0]]),
        (av.clamp, ([0.5, 2.0], [2.0, 0.0], [1.0, 1.0]), [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]),
        (av.atan2, ([0.0], [0.0]), [[0.0], [0.0]]),
        (av.copysign, ([0.0, -1.0], [-1.0, 2.0]), [[0.0, -1.0], [0.0, 0.0]]),
        (av.xlogy, ([0.0, 1.0], [0.0, 2.0]), [[0.0, math.log(2)], [NAN, 0.5]]),
        (F.leaky_relu, ([0.0, 1.0],), [[0.01, 1.0]]),
        (F.hardtanh, ([-1.0, 0.0, NAN],), [[0.0, 1.0, 1.0]]),
        (F.hardswish, ([-3.0, 0.0, 3.0],), [[0.0, 0.5, 1.0]]),
        (F.prelu, ([0.0, -2.0], [0.25]), [[0.25, 0.25], [-2.0]]),
        (F.logsigmoid, ([-800.0, 0.0, 800.0],), [[1.0, 0.5, 0.0]]),
        (av.sinc, ([0.0],), [[0.0]]),
    ],
)
def test_the_gradient_at_a_tie_a_kink_or_a_pole_is_pytorchs(function: Any, values: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.concatenate(gradients(function, *values)), np.concatenate(expected), rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda x: x % 2, "RemainderBackward0"),
        (lambda x: x % x, "RemainderBackward1"),
        (lambda x: 2 - x, "RsubBackward1"),
        (lambda x: 2 / x, "MulBackward0"),
        (lambda x: av.clamp(x, 0), "ClampBackward1"),
        (lambda x: av.clamp(x, x), "ClampBackward0"),
        (lambda x: x.clamp_min(0), "ClampMinBackward0"),
        (lambda x: av.lerp(x, x, 0.5), "LerpBackward0"),
        (lambda x: av.round(x, decimals=1), "RoundBackward1"),
        (lambda x: av.div(x, 2, rounding_mode="floor"), "DivBackward2"),
        (lambda x: av.xlogy(2, x), "XlogyBackward1"),
        (lambda x: av.float_power(x, 2).to(av.float32), "ToCopyBackward0"),
        (F.relu6, "HardtanhBackward0"),
        (F.selu, "EluBackward0"),
    ],
)
def test_the_node_says_which_overload_ran(make: Any, name: str) -> None:
    assert type(make(av.tensor([1.0, 2.0], requires_grad=True)).grad_fn).__name__ == name


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: av.tensor([1, 2]) ** -1, RuntimeError, "Integers to negative integer powers are not allowed."),
        (lambda: -av.tensor([True]), RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),
        (lambda: 1 - av.tensor([True]), RuntimeError, "Subtraction, the `-` operator, with a bool tensor is not supported"),
        (lambda: av.sub(av.tensor(True), av.tensor(True)), RuntimeError, "Subtraction, the `-` operator, with two bool"),
        (lambda: av.clamp(av.ones(2)), RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None"),
        (lambda: av.div(av.ones(2), 2, rounding_mode="up"), RuntimeError, "div expected rounding_mode to be one of None, "),
        (lambda: av.tensor([1]) % 0, RuntimeError, "ZeroDivisionError"),
        (lambda: ~av.ones(2), TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
        (lambda: av.add(av.tensor([1]), 1, alpha=1.5), RuntimeError, "For integral input tensors, argument alpha must not"),
        (lambda: F.gelu(av.ones(2), approximate="no"), RuntimeError, "approximate argument must be either none or tanh."),
        (lambda: F.glu(av.ones(3)), RuntimeError, "Halving dimension must be even, but dimension 0 is size 3"),
        (lambda: F.silu(av.tensor([1])), NotImplementedError, "\"silu_cpu\" not implemented for 'Long'"),
        (lambda: av.isclose(av.ones(1), av.tensor([1])), RuntimeError, "Float did not match Long"),
    ],
)
def test_bad_input_is_refused_in_pytorchs_words(make: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: x // 2, "derivative for aten::floor_divide is not implemented"),
        (lambda x: 2 % x, "derivative for aten::remainder is not implemented"),
        (lambda x: av.heaviside(x, x), "derivative for aten::heaviside is not implemented"),
    ],
)
def test_what_has_no_formula_says_so_in_the_backward_pass(make: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        make(av.tensor([1.0, 2.0], requires_grad=True)).sum().backward()


@pytest.mark.parametrize(
    ("make", "dtype", "values"),
    [
        (lambda: av.tensor([1, 200], dtype=av.uint8) / -1, av.float32, [-1.0, -200.0]),
        (lambda: av.tensor([1, 200], dtype=av.uint8) * -1, av.uint8, [255, 56]),
        (lambda: av.tensor([1, 2]) + 1.5, av.float32, [2.5, 3.5]),
        (lambda: av.tensor([True, False]) ** 2, av.int64, [1, 0]),
        (lambda: av.tensor([2, 1, -1]) ** av.tensor([-1, -2, -3]), av.int64, [0, 1, -1]),
        (lambda: av.tensor([-7]) // 2, av.int64, [-4]),
        (lambda: av.fmod(av.tensor([-7]), 2), av.int64, [-1]),
        (lambda: av.sigmoid(av.tensor([0.0], dtype=av.float16)), av.float16, [0.5]),
        (lambda: av.erf(av.tensor([0])), av.float32, [0.0]),
        (lambda: av.clamp(av.tensor([1]), 1.5), av.float32, [1.5]),
        (lambda: av.where(av.tensor([True]), 1.0, 2), av.float32, [1.0]),
        (lambda: av.tensor([6]) & 3, av.int64, [2]),
        (lambda: av.round(av.tensor([0.5, 1.5, 2.5])), av.float32, [0.0, 2.0, 2.0]),
        (lambda: av.float_power(av.tensor([2]), 3), av.float64, [8.0]),
    ],
)
def test_element_types_are_pytorchs(make: Any, dtype: Any, values: Any) -> None:
    result = make()
    assert (result.dtype, result.tolist()) == (dtype, values)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: x.exp_(), math.exp(0.5)),
        (lambda x: x.clamp_(0.6, 2), 0.6),
        (lambda x: x.sigmoid_(), 1 / (1 + math.exp(-0.5))),
        (lambda x: F.relu(x, inplace=True), 0.5),
        (lambda x: F.elu_(x), 0.5),
        (lambda x: x.pow_(2), 0.25),
    ],
)
def test_an_underscore_writes_into_the_tensor(change: Any, expected: float) -> None:
    leaf = av.tensor([0.5], dtype=av.float64, requires_grad=True)
    x = leaf * 1
    assert change(x) is x
    assert x.tolist() == pytest.approx([expected])
    x.sum().backward()
    assert leaf.grad is not None


def test_rrelu_draws_slopes_only_while_training() -> None:
    x = av.tensor([-1.0, -1.0, 2.0], requires_grad=True)
    assert F.rrelu(x).tolist() == pytest.approx([-(1 / 8 + 1 / 3) / 2] * 2 + [2.0])
    drawn = F.rrelu(x, training=True)
    drawn.sum().backward()
    assert x.grad.tolist() == pytest.approx([-drawn[0].item(), -drawn[1].item(), 1.0])
    assert 1 / 8 <= x.grad[0].item() <= 1 / 3


def test_an_augmented_assignment_keeps_the_tensor() -> None:
    x = same = av.tensor([2.0, 3.0])
    x **= 2
    x //= 2
    assert x is same
    assert x.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda z: z * (3 - 1j), 3 + 1j),
        (lambda z: z**2, 2 - 4j),
        (lambda z: 1 / z, 0.12 - 0.16j),
        (lambda z: abs(z), (1 + 2j) / math.sqrt(5)),
        (lambda z: av.angle(z), -0.4 + 0.2j),
    ],
)
def test_a_complex_gradient_has_the_conjugate_of_the_derivative(function: Any, expected: complex) -> None:
    z = av.from_numpy(np.array(1 + 2j)).requires_grad_()
    result = function(z)
    result.backward(av.from_numpy(np.ones((), result.dtype.numpy)))
    assert z.grad.item() == pytest.approx(expected)
