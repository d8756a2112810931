"""What `backward()` refuses, a stepper refuses, in the same words; in anomaly mode with the same warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import autograd_viz as av  # noqa: E402

from ..torch_functions import with_backward  # noqa: E402

pytestmark = pytest.mark.torch
Make = Callable[[], Any]


class Scaled(torch.autograd.Function):  # type: ignore[misc]
    """A gradient for the factor, which is a number."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad, torch.ones(1)


Turned = with_backward(lambda ctx, g: g * 1j)  # a complex gradient for a real input


Failing = with_backward(lambda ctx, g: fail())


def fail(*_: Any) -> Any:
    raise ValueError("no")


def leaf() -> Any:
    return torch.ones(2, requires_grad=True)


def said(run: Callable[[], Any]) -> tuple[str, list[str]]:
    """The error, and the warnings without what only PyTorch can know: where in its C++ code they were raised."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            run()
            error = ""
        except Exception as e:
            error = f"{type(e).__name__}: {e}".split("\nException raised from")[0]
    texts = [str(w.message).split("(Triggered")[0].strip() for w in told]
    return error, [t for t in texts if "Anomaly Detection has been enabled" not in t]


def of_a_function(function: Any, *more: Any) -> Make:
    return lambda: function.apply(leaf(), *more).sum()


def of_a_hook(register: str, at_leaf: bool, make: Callable[[Any], Any]) -> Make:
    def loss() -> Any:
        y = leaf() * 2
        node = y.grad_fn.next_functions[0][0] if at_leaf else y.grad_fn
        getattr(node, register)(lambda grads, *_: make(grads or _[0]))
        return y.sum()

    return loss


RETURNED: dict[str, Callable[[Any], Any]] = {
    "a tensor": lambda grads: grads[0],
    "a list": list,
    "an int": lambda grads: 3,
    "another dtype": lambda grads: (grads[0].double(), *grads[1:]),
    "complex": lambda grads: (grads[0] * 1j, *grads[1:]),
    "sparse": lambda grads: (grads[0].to_sparse(), *grads[1:]),
    "another size": lambda grads: (torch.ones(3), *grads[1:]),
    "one element": lambda grads: (torch.ones(1), *grads[1:]),
    "one more": lambda grads: (*grads, None),
    "none at all": lambda grads: (),
    "a float": lambda grads: (2.0, *grads[1:]),
    "None": lambda grads: (None, *grads[1:]),
    "a gradient for what has none": lambda grads: (grads[0], torch.ones(2)),
}
HOOKED = {
    f"{register} {'of a leaf' if at_leaf else ''} gives {name}": of_a_hook(register, at_leaf, make)
    for register in ("register_hook", "register_prehook")
    for at_leaf in (False, True)
    for name, make in RETURNED.items()
}
FUNCTIONS = {"a number": of_a_function(Scaled, 3.0), "complex": of_a_function(Turned)}


@pytest.mark.parametrize("make", [*HOOKED.values(), *FUNCTIONS.values()], ids=[*HOOKED, *FUNCTIONS])
def test_a_gradient_that_cannot_be(make: Make) -> None:
    assert said(lambda: av.step(make()).finish()) == said(lambda: make().backward())


def test_a_number_among_tensors_may_come_anywhere() -> None:
    class Mixed(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, a: float, y: Any, b: float, z: Any) -> Any:
            return x * a + y * b + z

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2, None, grad, None, grad  # z needs none

    x, y, z = leaf(), leaf(), torch.ones(2)
    av.step(Mixed.apply(x, 2.0, y, 1.0, z).sum()).finish()
    assert x.grad.tolist() == [2.0, 2.0] and y.grad.tolist() == [1.0, 1.0]


def tensor_hook() -> Any:
    y = leaf() * 2
    y.register_hook(fail)
    return y.sum()


def leaf_hook() -> Any:
    x = leaf()
    x.register_hook(fail)
    return (x * 2).sum()


def post_accumulate_hook() -> Any:
    x = leaf()
    x.register_post_accumulate_grad_hook(fail)
    return (x * 2).sum()


def no_number() -> Any:
    x = torch.zeros(1, requires_grad=True)
    return (x / x).sum()


def changed_since() -> Any:
    y = leaf().exp()
    loss = y.sum()
    y.detach().add_(1)
    return loss


FAILING: list[Make] = [
    *(tensor_hook, leaf_hook, post_accumulate_hook, no_number, changed_since),
    of_a_hook("register_hook", False, fail),
    of_a_hook("register_prehook", False, fail),
    of_a_function(Failing),
]


@pytest.mark.parametrize("in_forward", [True, False])
@pytest.mark.parametrize("make", FAILING)
def test_anomaly_mode_tells_where_the_node_was_made(make: Make, in_forward: bool) -> None:
    def run(go: Callable[[Any], Any]) -> None:
        with torch.autograd.set_detect_anomaly(in_forward):
            loss = make()
        with torch.autograd.set_detect_anomaly(True):
            go(loss)

    ways = (lambda loss: loss.backward(), lambda loss: av.step(loss).finish())
    expected, found = [said(partial(run, way)) for way in ways]
    assert expected[0] and len(expected[1]) == 1 and "Error detected in" in expected[1][0]
    assert found == expected
