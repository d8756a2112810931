"""Programs about backward and grad: inputs, edges, several roots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program


@program
def inputs_may_be_non_leaves_and_keep_their_gradient(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    (y * y).backward(inputs=[y])
    yield y.grad, x.grad, y.retains_grad


@program
def inputs_run_the_hooks_of_the_leaves_named(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    said: list[Any] = []
    x.register_hook(lambda g: said.append(("x", g)))
    w.register_hook(lambda g: said.append(("w", g)))
    x.register_post_accumulate_grad_hook(lambda t: said.append(("post", t.grad)))
    (x * w).backward(inputs=[x])
    yield said, x.grad, w.grad


@program
def only_the_rules_that_lead_to_an_input_run(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0), leaf(torch, 3.0)
    for op in (torch.mul, torch.div, torch.sub, torch.maximum):
        for wanted in (x, w):
            seen: list[Any] = []
            y = op(x * x, w)
            y.grad_fn.register_hook(lambda sent, arrived, seen=seen: seen.append((sent, arrived)))
            before = y.grad_fn._sequence_nr()
            (g,) = torch.autograd.grad(y, wanted, create_graph=True)
            yield op.__name__, g, seen, g.requires_grad and g.grad_fn._sequence_nr() - before
            op(x * x, w).backward(inputs=[wanted])
            yield x.grad, w.grad


@program
def grad_sees_hooks_only_where_the_pass_ends(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    z = y * y
    y.register_hook(lambda g: g * 10)
    yield torch.autograd.grad(z, [y, x], retain_graph=True)
    yield torch.autograd.grad(z, [y], retain_graph=True)


@program
def prehooks_do_not_change_what_grad_returns_for_their_own_node(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    z = y * y
    y.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    yield torch.autograd.grad(z, [y, x], retain_graph=True)
    yield torch.autograd.grad(z, [y])


@program
def a_gradient_edge_stands_for_a_tensor(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    edge = torch.autograd.graph.get_gradient_edge(y)
    z = y * 3
    yield torch.autograd.grad(z, [edge], retain_graph=True)
    yield torch.autograd.grad([edge], [x], [torch.tensor(5.0)])


@program
def the_same_tensor_may_be_wanted_twice(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    yield torch.autograd.grad(x * x, [x, x])


@program
def several_roots_one_inside_the_graph_of_the_other(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    torch.autograd.backward([y, y * y])
    yield x.grad


@program
def empty_inputs_of_grad(torch: Any) -> Iterator[Any]:
    torch.autograd.grad(leaf(torch, 1.0) * 2, [])
    yield


@program
def materialized_gradients_are_zeros(torch: Any) -> Iterator[Any]:
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 3.0)
    yield torch.autograd.grad(y * 2, [x, y], materialize_grads=True)


@program
def a_pass_that_fails_leaves_grad_mode_alone(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    y.register_hook(lambda g: 1 / 0)
    try:
        y.backward(create_graph=True)
    except ZeroDivisionError:
        yield "raised", torch.is_grad_enabled()
    with torch.no_grad():
        try:
            torch.autograd.grad(x * x, x)
        except RuntimeError as error:
            yield str(error), torch.is_grad_enabled()


@program
def a_backward_inside_a_hook_and_inside_a_function(torch: Any) -> Iterator[Any]:
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * ctx.x
            return ctx.y.detach()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            with torch.enable_grad():
                ctx.y.sum().backward()
            return ctx.x.grad * grad

    x = leaf(torch, 2.0)
    (Inner.apply(x) * 3).backward()
    yield x.grad
