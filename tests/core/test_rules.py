"""Every rule against central differences, to second order, and in its three readings."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_viz as av
from autograd_viz.twin.core.base.public import public
from autograd_viz.twin.core.base.readings import ARRAY_NAMES, SYMBOL_NAMES, TENSOR_NAMES
from autograd_viz.twin.core.base.symbol import Symbol
from autograd_viz.twin.core.methods import load_more
from autograd_viz.twin.core.op.formula import formulas
from autograd_viz.twin.core.op.primitive import Primitive, primitive
from autograd_viz.twin.core.op.row import row

from .cases import all_cases, not_twice, without

load_more()
PRIMITIVES = {name: p for name, p in TENSOR_NAMES.items() if isinstance(p, Primitive) and p.rules}


CASES = all_cases()
NOT_TWICE = not_twice()
ALL = [pytest.param(n, *case, id=f"{n}-{i}") for n, cases in CASES.items() for i, case in enumerate(cases)]


def scalar(function: Callable[..., Any], inputs: list[av.Tensor]) -> av.Tensor:
    """The results of an op, weighted and added up to one number; complex ones as pairs of real numbers."""
    out = function(*inputs)
    out = out if isinstance(out, tuple) else (out,)
    total = av.tensor(0.0, dtype=av.float64)
    for k, o in enumerate(out):
        real = av.view_as_real(o) if o.is_complex() else o
        weights = av.tensor(0.5 + 0.3 * np.arange(real.numel()).reshape(real.shape) + k)
        total = total + (real * weights).sum()
    return total


def differentiable(name: str, options: dict[str, Any]) -> Callable[..., Any]:
    """The op with these options, without the results that have no gradient."""
    op = PRIMITIVES[name]

    def run(*inputs: av.Tensor) -> Any:
        out = op(*inputs, **options)
        names = op.result_names or ()
        return tuple(o for n, o in zip(names, out, strict=True) if n not in op.nondifferentiable) if names else out

    return run


def numeric(f: Callable[[list[Any]], float], arrays: list[Any], eps: float = 1e-6) -> list[Any]:
    """Central differences of f with respect to every element."""
    grads = []
    for k, a in enumerate(arrays):
        g = np.zeros_like(a)
        for index in np.ndindex(a.shape):
            step = np.zeros_like(a)
            step[index] = eps
            up, down = ([*arrays[:k], a + s, *arrays[k + 1 :]] for s in (step, -step))
            g[index] = (f(up) - f(down)) / (2 * eps)
        grads.append(g)
    return grads


def analytic(f: Callable[[list[av.Tensor]], av.Tensor], arrays: list[Any], create_graph: bool = False) -> Any:
    inputs = [av.tensor(a, requires_grad=True) for a in arrays]
    grads = av.autograd.grad(f(inputs), inputs, create_graph=create_graph, allow_unused=True)
    return inputs, [g if g is not None else av.zeros_like(i) for g, i in zip(grads, inputs, strict=True)]


def test_every_op_with_rules_has_a_case() -> None:
    assert set(CASES) | set(without()) == set(PRIMITIVES)
    assert not set(CASES) & set(without())
    assert all(CASES.values()) and all(without().values())


@pytest.mark.parametrize(("name", "arrays", "options"), ALL)
def test_first_derivative(name: str, arrays: list[Any], options: dict[str, Any]) -> None:
    def f(inputs: list[av.Tensor]) -> av.Tensor:
        return scalar(differentiable(name, options), inputs)

    _, grads = analytic(f, arrays)
    for got, want in zip(grads, numeric(lambda xs: f([av.tensor(x) for x in xs]).item(), arrays), strict=True):
        np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("name", "arrays", "options"), [p for p in ALL if p.values[0] not in NOT_TWICE])
def test_second_derivative(name: str, arrays: list[Any], options: dict[str, Any]) -> None:
    """The gradient of a weighted sum of gradients, recorded by create_graph, against differences of it."""

    def gradient_sum(inputs: list[av.Tensor]) -> av.Tensor:
        out = scalar(differentiable(name, options), inputs)
        grads = av.autograd.grad(out * out, inputs, create_graph=True, allow_unused=True)
        total = av.tensor(0.0, dtype=av.float64)
        for i, g in enumerate(grads):
            if g is not None:
                total = total + (g * av.tensor(0.7 + 0.2 * np.arange(g.numel()).reshape(g.shape) + i)).sum()
        return total

    def value(xs: list[Any]) -> float:
        return float(gradient_sum([av.tensor(x, requires_grad=True) for x in xs]).item())

    inputs = [av.tensor(a, requires_grad=True) for a in arrays]
    total = gradient_sum(inputs)
    wanted = numeric(value, arrays)
    if not total.requires_grad:
        assert all(np.allclose(w, 0, atol=1e-5) for w in wanted)
        return
    grads = av.autograd.grad(total, inputs, allow_unused=True)
    for got, want in zip(grads, wanted, strict=True):
        np.testing.assert_allclose(0 if got is None else got.numpy(), want, rtol=1e-4, atol=1e-5)


def test_where_sends_the_gradient_to_the_side_that_was_taken() -> None:
    x, y = (av.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    av.where(av.tensor([True, False]), x, y).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([1.0, 0.0], [0.0, 1.0])


@pytest.mark.parametrize("names", [ARRAY_NAMES, TENSOR_NAMES, SYMBOL_NAMES], ids=["arrays", "tensors", "symbols"])
def test_every_name_in_a_rule_is_known_in_each_reading(names: dict[str, Any]) -> None:
    for p in PRIMITIVES.values():
        for rule in p.rules:
            if rule:
                code = rule.on_arrays.__code__  # type: ignore[attr-defined]
                unknown = {
                    n for n in code.co_names if n not in names and not hasattr(builtins, n) and n not in ("dtype", "shape")
                }
                assert not unknown, (p.name, unknown)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda a, b: a * b, {"self": "grad * other", "other": "grad * self"}),
        (lambda a, b: a / b, {"self": "grad / other", "other": "-grad * (self / other / other)"}),
        (lambda a, b: a + b, {"self": "grad", "other": "grad"}),
        (lambda a, b: av.add(a, b, alpha=2), {"self": "grad", "other": "grad * 2"}),
        (lambda a, b: a**3, {"self": "grad * (3 * self ** 2)"}),
        (lambda a, b: av.relu(a), {"self": "grad * (result > 0)"}),
        (lambda a, b: av.tanh(a), {"self": "grad * (1 - result ** 2)"}),
        (lambda a, b: a.mean(), {"self": "expand(grad, (2,)) / 2"}),
    ],
)
def test_a_rule_writes_its_own_formula(make: Callable[..., Any], expected: dict[str, str]) -> None:
    a, b = (av.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    node = make(a, b).grad_fn
    symbols = {name: Symbol(name) for name, v in node._saved().items() if hasattr(v, "unpack")}
    assert formulas(node, (Symbol("grad"),), symbols) == expected


def forget(name: str) -> None:
    """Undo the declaration of an op."""
    for names in (ARRAY_NAMES, TENSOR_NAMES, SYMBOL_NAMES):
        names.pop(name)


def test_a_rule_for_what_the_op_does_not_have_is_refused_when_declared() -> None:
    @primitive("TwiceBackward0")
    def twice(self: Any) -> Any:
        return 2 * self

    forget("twice")
    with pytest.raises(TypeError, match=r"twice: rule for 'self' asks for \['other'\]; choose from \['result', 'self'"):
        twice.defvjp(self=lambda grad, other: grad * other)


def test_a_row_declares_the_op_that_a_definition_does() -> None:
    @primitive("CubeBackward0", promotes=True)
    def cube(self: Any, *, scale: float = 2.0) -> Any:
        """scale * self ** 3."""
        return scale * self**3

    cube.defvjp(self=lambda grad, self, scale: grad * 3 * scale * self**2)
    forget("cube")
    forward, rule = lambda self, *, scale=2.0: scale * self**3, lambda grad, self, scale: grad * 3 * scale * self**2
    of_row = row("cube", "CubeBackward0", "scale * self ** 3.", forward, promotes=True, self=rule)
    forget("cube")
    x = av.tensor([1.0, -2.0], requires_grad=True)
    seen = [
        (
            op.name,
            op.__doc__,
            op.inputs,
            op.options,
            op.saved_names,
            op.promotes,
            op(x).grad_fn.name(),
            *av.autograd.grad(op(x, scale=0.5).sum(), x)[0].tolist(),
        )
        for op in (cube, of_row)
    ]
    assert seen[0] == seen[1]
    assert seen[0][-3:] == ("CubeBackward0", 1.5, 6.0)


def test_a_name_belongs_to_one_op() -> None:
    def exp(self: Any) -> Any:
        return self

    with pytest.raises(NameError, match=r"op 'exp' is declared twice: at .*powers.py:\d+ and at .*test_rules.py:\d+"):
        primitive("OtherBackward0")(exp)
    with pytest.raises(
        NameError, match=r"torch.exp is given twice: in autograd_viz.twin.core.ops.elementwise.powers and in tests"
    ):
        public("torch.exp")(exp)
