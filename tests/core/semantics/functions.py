"""Programs about user-defined Functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program, told


def doubling(torch: Any) -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    return Double


@program
def a_dirty_input_becomes_the_output(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    z = doubling(torch).apply(y)
    yield z is y, y, y.grad_fn.name(), y._version
    z.sum().backward()
    yield x.grad


@program
def a_dirty_leaf_is_refused(torch: Any) -> Iterator[Any]:
    doubling(torch).apply(leaf(torch, 1.0))
    yield


@program
def a_dirty_view_changes_its_base(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0)
    base = x * 1
    doubling(torch).apply(base[1:])
    yield base, base.grad_fn.name()
    base.sum().backward()
    yield x.grad


@program
def setup_context_keeps_what_backward_needs(torch: Any) -> Iterator[Any]:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x**3

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    x = leaf(torch, 2.0)
    y = Cube.apply(x)
    yield y
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    yield g.detach(), torch.autograd.grad(g, x)


@program
def values_that_are_no_tensors_pass_through(torch: Any) -> Iterator[Any]:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 3, x * 2

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            return b * (10 if a is None else 1)

    x = leaf(torch, 1.0)
    three, y = Both.apply(x)
    yield three, y, y.output_nr
    y.backward()
    yield x.grad


@program
def an_input_returned_as_it_is_becomes_a_view(torch: Any) -> Iterator[Any]:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = leaf(torch, 1.0)
    y = Same.apply(x * 1)
    yield y, y._is_view()
    y.backward()
    yield x.grad


@program
def only_tensors_can_be_saved(torch: Any) -> Iterator[Any]:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(3)
            return x * 1

    Bad.apply(leaf(torch, 1.0))
    yield


@program
def what_backward_returns_must_be_tensors(torch: Any) -> Iterator[Any]:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 3.0

    Bad.apply(leaf(torch, 1.0)).backward()
    yield


@program
def unused_outputs_get_zeros_or_none(torch: Any) -> Iterator[Any]:
    def make(zeros: bool) -> Any:
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(zeros)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx: Any, a: Any, b: Any) -> Any:
                said.append(b)
                return a * 2

        return Two

    said: list[Any] = []
    for zeros in (True, False):
        x = leaf(torch, 1.0)
        make(zeros).apply(x)[0].backward()
        yield said, x.grad


@program
def a_functions_node_is_its_ctx(torch: Any) -> Iterator[Any]:
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: Any) -> Any:
            ctx.k = k
            return x * k

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.k, None

    y = Keep.apply(leaf(torch, 1.0), 7)
    yield y.grad_fn.k, y.grad_fn.needs_input_grad, y.grad_fn.name(), len(y.grad_fn.next_functions)
    y.grad_fn.metadata["note"] = 1
    yield y.grad_fn.metadata


@program
def ctx_says_nothing_of_what_it_will_save(torch: Any) -> Iterator[Any]:
    said: list[Any] = []

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: int) -> Any:
            ctx.save_for_backward(x, None)
            said.append((ctx.saved_tensors, ctx.needs_input_grad))
            return x * k

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            ctx.save_for_backward(grad)
            said.append((ctx.saved_tensors, ctx.needs_input_grad))
            return grad, None

    x = leaf(torch, 2.0)
    Saves.apply(x, 3).backward()
    yield said
    with torch.no_grad():
        Saves.apply(x, 3)
    yield said


@program
def only_tensors_are_saved_if_backward_can_come(torch: Any) -> Iterator[Any]:
    def saving(*kept: Any, forward_mode: bool = False) -> Any:
        class Saves(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                (ctx.save_for_forward if forward_mode else ctx.save_for_backward)(*kept)
                return x * 2

        return Saves

    for x in (leaf(torch, 1.0), torch.ones(())):
        yield told(lambda x=x: saving(x, 3).apply(x)), told(lambda x=x: saving([x]).apply(x))
        yield told(lambda x=x: saving(x, 3, forward_mode=True).apply(x)), told(lambda x=x: saving(None).apply(x))


@program
def what_forward_may_return(torch: Any) -> Iterator[Any]:
    for value in (None, 3, (), (None,), [1, 2], "text", (torch.ones(2), None, 3)):

        class Returns(torch.autograd.Function):  # type: ignore[misc]
            said = (value,)

            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return Returns.said[0]

        yield told(lambda f=Returns: f.apply(leaf(torch, 1.0))), told(lambda f=Returns: f.apply(torch.ones(2)))


@program
def a_real_input_gets_no_complex_gradient_from_a_function(torch: Any) -> Iterator[Any]:
    class Turns(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 1j

    x = leaf(torch, 1.0, 2.0)
    yield told(lambda: Turns.apply(x).sum().backward())[:12], x.grad
    z = torch.tensor([1j, 2.0], requires_grad=True)
    Turns.apply(z).sum().abs().backward()
    yield z.grad


@program
def what_pytorchs_vmap_would_read(torch: Any) -> Iterator[Any]:
    yield torch.autograd.Function.generate_vmap_rule, told(lambda: torch.autograd.Function.vmap(None, None))
