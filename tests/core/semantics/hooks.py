"""Programs about hooks of tensors, nodes and leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program


@program
def handles_remove_hooks(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    first = x.register_hook(lambda g: said.append("first"))
    x.register_hook(lambda g: said.append("second"))
    first.remove()
    with x.register_hook(lambda g: said.append("third")):
        (x * 2).backward()
    (x * 2).backward()
    yield said


@program
def a_hook_that_removes_itself_does_not_disturb_the_others(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    handles: list[Any] = []
    handles.append(x.register_hook(lambda g: handles[0].remove()))
    x.register_hook(lambda g: said.append(g))
    (x * 2).backward()
    (x * 3).backward()
    yield said


@program
def posthooks_may_change_what_leaves(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0), leaf(torch, 5.0)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 100, gi[1]))
    y.backward()
    yield x.grad, w.grad


@program
def a_posthook_must_return_a_tuple(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    y.grad_fn.register_hook(lambda gi, go: torch.ones(()))
    y.backward()
    yield


@program
def a_posthook_must_return_as_many_as_leave(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0) * 2
    y.grad_fn.register_hook(lambda gi, go: (None,))
    y.backward()
    yield


@program
def a_hook_must_keep_the_type(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0) * 2
    y.register_hook(lambda g: g.double())
    y.backward()
    yield


@program
def hooks_on_outputs_of_one_node_see_their_own_gradient(torch: Any) -> Iterator[Any]:
    a, b = leaf(torch, 1.0, 2.0).unbind(0)
    said: list[Any] = []
    a.register_hook(lambda g: said.append(("a", g)))
    b.register_hook(lambda g: said.append(("b", g)))
    (a * 2 + b * 3).backward()
    yield said


@program
def retained_gradients_accumulate_and_see_hooks(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g + 1)
    y.backward(retain_graph=True)
    yield y.grad
    y.backward()
    yield y.grad, x.grad


@program
def hooks_under_create_graph_see_tensors_with_history(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 3.0)
    y = x * x
    said: list[Any] = []
    x.register_hook(lambda g: said.append(g.requires_grad))
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    yield said, g.requires_grad


@program
def post_accumulate_hooks_must_return_none(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    x.register_post_accumulate_grad_hook(lambda t: t)
    (x * 2).backward()
    yield


@program
def hooks_see_none_where_no_gradient_came(torch: Any) -> Iterator[Any]:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return None

    x = leaf(torch, 1.0)
    said: list[Any] = []
    x.register_hook(lambda g: said.append(("leaf", g)))
    x.register_post_accumulate_grad_hook(lambda t: said.append(("post", t.grad)))
    Nothing.apply(x).backward()
    a, b = leaf(torch, 1.0, 2.0).unbind(0)
    b.register_hook(lambda g: said.append(("b", g)))
    a.backward()
    yield said, x.grad


@program
def multi_grad_hooks_fire_once_with_all(torch: Any) -> Iterator[Any]:
    x, w, unused = leaf(torch, 2.0), leaf(torch, 3.0), leaf(torch, 4.0)
    said: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook((x, w), lambda grads: said.append(tuple(grads)))
    (x * w).backward()
    yield said
    torch.autograd.graph.register_multi_grad_hook((x, w), said.append, mode="any")
    (x * w).backward()
    yield len(said), unused.grad
