"""Programs about anomaly mode."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program, told


def warned(call: Callable[[], Any]) -> Any:
    """What a call comes to, with the warnings on the way: their first line, and the last line of the user's that they name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = told(call)
    lines = [str(w.message).split(" (Triggered")[0].strip().split("\n") for w in caught]
    return result, [(some[0], [s.strip() for s in some if "# line" in s][-1:]) for some in lines]


@program
def errors_around_a_node_are_told_with_its_line(torch: Any) -> Iterator[Any]:
    def fail(*grads: Any) -> None:
        raise ZeroDivisionError("mine")

    for register in ("register_hook", "register_prehook", "register_hook of the node"):

        def run(register: str = register) -> None:
            with torch.autograd.set_detect_anomaly(True):
                y = leaf(torch, 1.0, 2.0) * 2  # line of the node
                getattr(y if register == "register_hook" else y.grad_fn, register.split(maxsplit=1)[0])(fail)
                y.sum().backward()

        yield register, warned(run)


@program
def nan_that_a_hook_makes_is_found(torch: Any) -> Iterator[Any]:
    def run(kind: str) -> Any:
        with torch.autograd.set_detect_anomaly(True):
            x = leaf(torch, 1.0, 2.0)
            y = x * 2  # line of the node
            if kind == "tensor":
                y.register_hook(lambda g: g * float("nan"))
            elif kind == "node":
                y.grad_fn.register_hook(lambda gi, go: (gi[0] * float("nan"), None))
            else:
                x.register_hook(lambda g: g * float("nan"))
            y.sum().backward()
            return x.grad

    for kind in ("tensor", "node", "leaf"):
        yield kind, warned(lambda k=kind: run(k))


@program
def a_changed_saved_tensor_has_another_hint_in_anomaly_mode(torch: Any) -> Iterator[Any]:
    def run() -> None:
        with torch.autograd.detect_anomaly():
            a = leaf(torch, 1.0, 2.0) + 1
            y = a**2  # line of the node
            a += 1
            y.sum().backward()

    yield warned(run)


@program
def what_induced_a_failing_node_is_told_too(torch: Any) -> Iterator[Any]:
    class Outer(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return Inner.apply(x) * grad  # line of the inner

    class Inner(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * float("nan")

    def run(forward_is_watched: bool) -> None:
        x = leaf(torch, 1.0, 2.0)
        with torch.autograd.set_detect_anomaly(forward_is_watched):
            y = Outer.apply(x)  # line of the outer
            (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        with torch.autograd.detect_anomaly():
            g.sum().backward()

    yield warned(lambda: run(True))
    yield warned(lambda: run(False))


@program
def a_nested_pass_that_fails_is_told_from_the_inside_out(torch: Any) -> Iterator[Any]:
    class Nested(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.y = (x.detach().requires_grad_() - 2).sqrt().sum()  # line of the inner
            return ctx.y.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            ctx.y.backward()
            return grad

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            Nested.apply(leaf(torch, 1.0, 1.0)).backward()  # line of the outer

    yield warned(run)


@program
def warnings_as_errors_do_not_hide_the_error(torch: Any) -> Iterator[Any]:
    before, sys.stderr = sys.stderr, io.StringIO()
    try:
        with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True):
            warnings.simplefilter("error")
            a = leaf(torch, 1.0, 2.0) + 1
            y = a**2
            a += 1
            yield told(lambda: y.sum().backward()).split(":")[0]
        yield "Error detected in PowBackward0. Traceback of forward call that caused the error:" in sys.stderr.getvalue()
    finally:
        sys.stderr = before


@program
def when_anomaly_mode_begins_and_ends(torch: Any) -> Iterator[Any]:
    def now() -> Any:
        return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode = torch.autograd.detect_anomaly(check_nan=False)
        yield now()
        for _ in range(2):
            with mode:
                yield now()
                with torch.autograd.detect_anomaly():
                    yield now()
                with torch.autograd.set_detect_anomaly(False):
                    yield now()
                yield now()
            yield now()
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    yield now()
    torch.autograd.set_detect_anomaly(False)
    yield now()
    yield told(lambda: torch.autograd.set_detect_anomaly("on")), told(lambda: torch.autograd.set_detect_anomaly(True, 1))


@program
def infinite_gradients_meet_without_a_warning(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    x.register_hook(lambda g: g * 1)
    infinite = torch.full((2,), float("inf"))
    y = x * 1
    y.register_hook(lambda g: g * 1)
    (y * infinite - y * infinite).sum().backward()
    (x * infinite).sum().backward()
    yield x.grad
    torch.autograd.backward([y.clone(), y.clone()], [infinite, -infinite])
    z = y.clone()
    torch.autograd.backward([z, z], [infinite, -infinite])
    yield x.grad
