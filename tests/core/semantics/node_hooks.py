"""Programs about hooks of nodes, tensors and leaves together: their order, what they may return, when they come and go."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program, told


def accumulator(torch: Any, tensor: Any) -> Any:
    """The leaf's AccumulateGrad."""
    return torch.autograd.graph.get_gradient_edge(tensor).node


def registers(torch: Any, x: Any, y: Any) -> dict[str, Callable[..., Any]]:
    """All ways of registering a hook, for a leaf and a tensor computed of it."""
    return {
        "tensor": y.register_hook,
        "before the node": y.grad_fn.register_prehook,
        "after the node": y.grad_fn.register_hook,
        "leaf": x.register_hook,
        "before AccumulateGrad": accumulator(torch, x).register_prehook,
        "accumulated": x.register_post_accumulate_grad_hook,
        "after AccumulateGrad": accumulator(torch, x).register_hook,
    }


@program
def hooks_of_all_kinds_run_in_this_order(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 3.0)
    y = x * 2
    y.retain_grad()
    said: list[Any] = []
    ways = registers(torch, x, y)
    for turn in ("first", "second"):
        for way in reversed(ways):
            ways[way](lambda *grads, t=turn, w=way: said.append((t, w, [g for g in grads if isinstance(g, tuple)])))
    (y * 1).backward()
    yield said, y.grad, x.grad


@program
def a_hook_that_removes_others_or_adds_some_in_the_middle_of_a_pass(torch: Any) -> Iterator[Any]:
    for way in registers(torch, leaf(torch, 1.0), leaf(torch, 1.0) * 2):
        x = leaf(torch, 1.0)
        y = x * 2
        register = registers(torch, x, y)[way]
        said: list[Any] = []
        handles: list[Any] = []

        def meddle(*grads: Any, handles: Any = handles, register: Any = register, said: Any = said) -> None:
            handles[0].remove()
            handles[0].remove()
            register(lambda *grads: said.append("added"))

        register(meddle)
        handles.append(register(lambda *grads, s=said: s.append("removed")))
        y.backward(retain_graph=True)
        yield way, said
        y.backward()
        yield way, said


@program
def hooks_registered_during_a_pass_run_if_their_node_has_yet_to(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0)
    y = x * 2
    z = y * 3
    said: list[Any] = []

    def hook(grad: Any) -> None:
        for way, register in registers(torch, x, y).items():
            register(lambda *grads, w=way: said.append(w))
        y.retain_grad()

    z.register_hook(hook)
    z.backward()
    yield said, y.grad


@program
def what_hooks_may_return(torch: Any) -> Iterator[Any]:
    values: list[Callable[[Any], Any]] = [
        lambda g: 3,
        lambda g: [g],
        lambda g: (g,),
        lambda g: (None,),
        lambda g: (),
        lambda g: (g, g),
        lambda g: (g, None),
        lambda g: torch.ones(3),
        lambda g: (torch.ones(3),),
        lambda g: torch.ones(2, dtype=torch.float64),
        lambda g: (torch.ones(2, dtype=torch.int64), None),
        lambda g: torch.ones(2) * 5,
        lambda g: (torch.ones(2) * 5, None),
    ]
    for way in registers(torch, leaf(torch, 1.0), leaf(torch, 1.0) * 2):
        for value in values:
            x = leaf(torch, 1.0, 2.0)
            y = x * 2

            def hook(first: Any, *rest: Any, value: Any = value) -> Any:
                return value(first[0] if isinstance(first, tuple) and first else first)

            registers(torch, x, y)[way](hook)
            yield way, told(y.sum().backward), x.grad


@program
def only_functions_have_a_name_in_the_errors_of_hooks(torch: Any) -> Iterator[Any]:
    class Hook:
        def __call__(self, grad: Any) -> Any:
            return torch.ones(3)

    def named(grad: Any) -> Any:
        return torch.ones(3)

    for hook in (Hook(), named, functools.partial(named), lambda grad: torch.ones(3)):
        y = leaf(torch, 1.0) * 2
        y.register_hook(hook)
        yield told(y.backward)


@program
def errors_of_hooks_reach_the_caller(torch: Any) -> Iterator[Any]:
    for way in registers(torch, leaf(torch, 1.0), leaf(torch, 1.0) * 2):
        x = leaf(torch, 1.0)
        y = x * 2

        def hook(*grads: Any) -> None:
            raise KeyError("mine")

        registers(torch, x, y)[way](hook)
        yield way, told(y.backward), torch.is_grad_enabled(), x.grad


@program
def hooks_of_a_tensor_are_in_a_dictionary(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0)
    yield x._backward_hooks
    handle = x.register_hook(lambda g: g * 2)
    yield list(x._backward_hooks) == [handle.id]
    y = x * 2
    yield y._backward_hooks
    y.register_hook(lambda g: g * 10)
    yield len(y._backward_hooks)
    y.mul_(3)
    yield y._backward_hooks
    y.backward()
    yield x.grad
    x._backward_hooks = None
    yield x._backward_hooks


@program
def hooks_stay_where_the_tensor_was_when_it_is_changed_in_place(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    x = leaf(torch, 1.0)
    y = x.clone()
    before = y.register_hook(lambda g: said.append(("before", g)) or g * 2)
    y.mul_(2)
    y.register_hook(lambda g: said.append(("after", g)) or g * 2)
    y.backward(retain_graph=True)
    yield said, x.grad
    before.remove()
    y.backward()
    yield said


@program
def a_multi_grad_hook_wants_tensors_that_require_grad(torch: Any) -> Iterator[Any]:
    register = torch.autograd.graph.register_multi_grad_hook
    x, constant = leaf(torch, 1.0), torch.ones(())
    said: list[Any] = []
    yield told(lambda: register((x, constant), said.append))
    handle = register((x, constant), said.append, mode="any")
    (x * constant).backward()
    yield said, type(handle).__name__, len(handle.handles)
    handle.remove()
    (x * constant).backward()
    yield said, told(lambda: register((x,), said.append, mode="some"))


@program
def a_multi_grad_hook_cannot_wait_for_leaves_in_grad(torch: Any) -> Iterator[Any]:
    x, y = leaf(torch, 2.0), leaf(torch, 3.0)
    said: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, y), said.append)
    for wanted in ([x, y], [x]):
        yield told(lambda w=wanted: torch.autograd.grad(x * y, w))
    (x * y).backward()
    yield said
    a, b = x * 1, y * 1
    torch.autograd.graph.register_multi_grad_hook((a, b), said.append)
    yield told(lambda: torch.autograd.grad(a * b, [a, b])), said
