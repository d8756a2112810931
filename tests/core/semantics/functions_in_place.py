"""Programs about Functions that write into their inputs, or return them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, names, program, told


def function(torch: Any, forward: Callable[..., Any], backward: Callable[..., Any] = lambda ctx, *grads: grads[0]) -> Any:
    return type("F", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def scaled(ctx: Any, x: Any, w: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(w)


@program
def a_dirty_input_is_the_output_whoever_requires_grad(torch: Any) -> Iterator[Any]:
    scale = function(torch, scaled, lambda ctx, grad: (grad * 2, grad * 3))
    for x, w in (
        (torch.ones(3), leaf(torch, 2.0)),
        (torch.ones(3), torch.tensor(2.0)),
        (leaf(torch, 1.0, 2.0).clone(), torch.tensor(2.0)),
        (torch.ones(3)[1:], leaf(torch, 2.0)),
        (torch.ones(3)[1:], torch.tensor(2.0)),
        (leaf(torch, 1.0, 2.0).clone()[:1], leaf(torch, 2.0)),
    ):
        y = scale.apply(x, w)
        yield y is x, y, y._version, y.requires_grad, y.grad_fn and names(y.grad_fn), y.grad_fn and y.grad_fn.name()
        if x._base is not None:
            yield x._base, x._base._version, x._base.grad_fn and names(x._base.grad_fn)
        if y.requires_grad:
            y.sum().backward()
        yield w.grad


@program
def a_dirty_view_calls_backward_once(torch: Any) -> Iterator[Any]:
    said: list[Any] = []

    def add(ctx: Any, a: Any, b: Any) -> Any:
        ctx.mark_dirty(a)
        return a.add_(b)

    def back(ctx: Any, grad: Any) -> Any:
        said.append(grad)
        return grad, grad

    x, b = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    base = x.clone()
    view = base.view_as(base)
    y = function(torch, add, back).apply(view, b)
    y += 2
    (y.sum() + base.sum()).backward()
    yield said, x.grad, b.grad, y._version


@program
def retain_grad_follows_a_dirty_input(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0).clone()
    x.retain_grad()
    y = function(torch, scaled, lambda ctx, grad: (grad * 2, None)).apply(x, 2.0)
    (y * 5).sum().backward()
    yield x.retains_grad, x.grad


@program
def what_may_not_be_marked_as_dirty(torch: Any) -> Iterator[Any]:
    def both(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.add_(1), x * 2

    def kept(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.add_(1) * 1

    def one(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.add_(1)

    def other(ctx: Any, x: Any) -> Any:
        made = x.clone().view_as(x)
        ctx.mark_dirty(made)
        return made

    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        hidden = torch.ones(2)[:1]
    for forward in (both, kept, one, other):
        for given in (lambda: x, lambda: x[:1], lambda: x.clone()[:1], lambda: x.clone().unbind()[0], lambda: hidden):
            made = given()
            yield forward.__name__, told(lambda f=forward, t=made: f and function(torch, f).apply(t)), made._version
    yield told(lambda: function(torch, kept).apply(torch.ones(2)))
    with torch.no_grad():
        yield told(lambda: function(torch, one).apply(x)), told(lambda: function(torch, kept).apply(x)), x._version


@program
def what_is_no_input_need_not_be_marked_as_dirty(torch: Any) -> Iterator[Any]:
    def forward(ctx: Any, x: Any) -> Any:
        y = x * 3
        ctx.mark_dirty(y)
        return y.add_(1)

    x = leaf(torch, 1.0)
    y = function(torch, forward).apply(x)
    yield y, y._version


@program
def a_mark_that_comes_twice_counts_twice(torch: Any) -> Iterator[Any]:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x, x)
        return x.add_(1), x

    x = leaf(torch, 1.0, 2.0).clone()
    a, b = function(torch, forward, lambda ctx, one, two: one + two * 10).apply(x)
    yield a is b, a is x, a._version, a.output_nr
    yield torch.autograd.grad(a.sum(), a.grad_fn.next_functions[0][0].next_functions[0][0].variable)


@program
def a_dirty_input_without_gradient_is_let_go(torch: Any) -> Iterator[Any]:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        ctx.mark_non_differentiable(x)
        return x.mul_(2)

    for x in (leaf(torch, 1.0).clone(), torch.ones(())):
        y = function(torch, forward).apply(x)
        yield y is x, y.requires_grad, y, y._version, x.requires_grad, x.grad_fn and x.grad_fn.name()


@program
def an_input_returned_as_it_is(torch: Any) -> Iterator[Any]:
    def same(ctx: Any, x: Any) -> Any:
        return x

    def twice(ctx: Any, x: Any) -> Any:
        return x, x

    def fixed(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable(x)
        return x

    def changed(ctx: Any, x: Any) -> Any:
        return x.add_(1)

    for forward in (same, twice, fixed, changed):
        for recording in (True, False):
            for given in (torch.ones(2), leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0).clone(), torch.ones(3)[1:]):
                if forward is changed and given.is_leaf and given.requires_grad:
                    continue
                with torch.set_grad_enabled(recording):
                    out = function(torch, forward, lambda ctx, *grads: sum(grads) * 2).apply(given)
                for y in out if isinstance(out, tuple) else (out,):
                    yield forward.__name__, recording, y is given, y, y.output_nr, y._version, y._is_view(), y._base is given
                    yield y.is_leaf, told(lambda y=y: y.add_(1)), y._version, given._version


@program
def a_view_that_a_function_returns(torch: Any) -> Iterator[Any]:
    def part(ctx: Any, x: Any) -> Any:
        return x[:1]

    def parts(ctx: Any, x: Any) -> Any:
        return x[:1], x[1:]

    def with_sum(ctx: Any, x: Any) -> Any:
        return x[:1], x.sum().long()

    def temporary(ctx: Any, x: Any) -> Any:
        return x.clone()[:1]

    for forward in (part, parts, with_sum, temporary):
        for recording in (True, False):
            for given in (torch.ones(2), leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0).clone()):
                with torch.set_grad_enabled(recording):
                    out = function(torch, forward).apply(given)
                for y in out if isinstance(out, tuple) else (out,):
                    yield forward.__name__, recording, y, y.output_nr, y._is_view(), y._base is given, y.requires_grad
                    yield told(lambda y=y: y.add_(1)), told(lambda y=y: y.grad_fn and y.grad_fn.name())


@program
def outputs_without_gradient(torch: Any) -> Iterator[Any]:
    said: list[Any] = []

    def forward(ctx: Any, x: Any) -> Any:
        fixed = x * 5
        ctx.mark_non_differentiable(fixed)
        return x * 2, x.long(), fixed, x > 1, torch.ones(1).requires_grad_()

    def backward(ctx: Any, *grads: Any) -> Any:
        said.append(grads)
        return grads[0]

    for x in (leaf(torch, 1.0, 2.0), torch.ones(2)):
        out = function(torch, forward, backward).apply(x)
        yield [(y, y.requires_grad, y.is_leaf, y.output_nr) for y in out]
        if x.requires_grad:
            out[0].sum().backward()
    yield said
    with torch.no_grad():
        yield [y.requires_grad for y in function(torch, forward, backward).apply(leaf(torch, 1.0, 2.0))]
