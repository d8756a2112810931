"""Programs about a backward pass inside a backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program, told


def countdown(torch: Any, at_the_end: Any) -> Any:
    """A Function whose backward runs a backward pass through itself of one less, until below zero."""

    class Countdown(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            if ctx.x < 0:
                return at_the_end(grad)
            with torch.enable_grad():
                Countdown.apply(ctx.x).sum().backward()
            return grad

    return Countdown


@program
def passes_may_be_nested_two_thousand_deep(torch: Any) -> Iterator[Any]:
    modes: list[Any] = []
    x = leaf(torch, 2000.0)
    countdown(torch, lambda g: modes.append(torch.is_grad_enabled()) or g).apply(x).backward()
    yield x.grad, modes, torch.is_grad_enabled()


@program
def an_error_at_the_bottom_of_nested_passes_reaches_the_top(torch: Any) -> Iterator[Any]:
    def fail(grad: Any) -> Any:
        raise ValueError("at the bottom")

    x = leaf(torch, 300.0)
    yield told(countdown(torch, fail).apply(x).backward), torch.is_grad_enabled(), x.grad
    (x * 2).backward()
    yield x.grad


@program
def a_nested_pass_ends_before_the_outer_one_goes_on(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 5.0)
    slow = x.clone()
    slow.register_hook(lambda g: said.append("outer"))
    fast = countdown(torch, lambda g: said.append("bottom") or g).apply(leaf(torch, 5.0))
    (slow * fast).backward()
    yield said


@program
def callbacks_wait_for_the_end_of_their_own_pass(torch: Any) -> Iterator[Any]:
    engine = torch.autograd.Variable._execution_engine
    said: list[Any] = []

    def later(name: str) -> None:
        engine.queue_callback(lambda: said.append((name, torch.is_grad_enabled())))

    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    inner = w * 2
    inner.register_hook(lambda g: later("inner"))
    y = x * 3
    y.register_hook(lambda g: later("outer") or inner.backward() or said.append("between"))
    x.register_hook(lambda g: said.append("leaf"))
    y.backward()
    yield said
    y = x * 3
    y.register_hook(lambda g: later("recorded"))
    torch.autograd.grad(y, x, create_graph=True)
    yield said


@program
def a_callback_may_ask_for_another_and_its_error_reaches_the_caller(torch: Any) -> Iterator[Any]:
    engine = torch.autograd.Variable._execution_engine
    said: list[Any] = []
    x = leaf(torch, 2.0)
    y = x * 3
    y.register_hook(lambda g: engine.queue_callback(lambda: engine.queue_callback(lambda: said.append("second"))))
    y.backward()
    yield said
    y = x * 3
    y.register_hook(lambda g: engine.queue_callback(lambda: 1 / 0))
    yield told(y.backward), x.grad


@program
def a_pass_through_the_graph_that_is_being_passed_through(torch: Any) -> Iterator[Any]:
    for keep in (True, False):
        x = leaf(torch, 2.0)
        y = x * x
        z = y * 3
        calls: list[int] = []

        def again(grad: Any, z: Any = z, calls: Any = calls, keep: bool = keep) -> None:
            calls.append(1)
            if len(calls) < 3:
                z.backward(retain_graph=keep)

        y.register_hook(again)
        yield told(z.backward), x.grad, len(calls)


@program
def grad_mode_is_given_back_after_a_nested_pass(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 2.0)
    y = x * x

    def hook(grad: Any) -> None:
        said.append(torch.is_grad_enabled())
        with torch.enable_grad():
            w = leaf(torch, 3.0)
            said.append(torch.autograd.grad(w**3, w, grad))
            said.append(torch.is_grad_enabled())
        said.append(torch.is_grad_enabled())

    y.register_hook(hook)
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    yield said


@program
def threads_may_be_forbidden_to_the_engine(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0)
    yield torch.autograd.is_multithreading_enabled()
    with torch.autograd.set_multithreading_enabled(False):
        (x * 2).backward()
        yield x.grad, torch.autograd.is_multithreading_enabled()

    @torch.autograd.set_multithreading_enabled(False)
    def inside() -> bool:
        return bool(torch.autograd.is_multithreading_enabled())

    yield torch.autograd.is_multithreading_enabled(), inside(), torch.autograd.is_multithreading_enabled()
    yield told(lambda: torch.autograd.set_multithreading_enabled("no"))
