"""Programs about hooks on saved tensors, and about changing in place what was saved."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program, told


def same(tensor: Any) -> Any:
    return tensor


@program
def what_hooks_keep_may_be_changed_in_place(torch: Any) -> Iterator[Any]:
    for pack in (same, torch.clone, torch.detach):
        x = leaf(torch, 1.0, 2.0)
        with torch.autograd.graph.saved_tensors_hooks(pack, same):
            a = x * 1
            square, power = a * a, x.exp()
        a.add_(1)
        power.add_(1)
        square.sum().backward()
        power.sum().backward()
        yield x.grad


@program
def hooks_on_one_saved_tensor_leave_the_other_watched(torch: Any) -> Iterator[Any]:
    a = leaf(torch, 1.0, 2.0) * 1
    y = a * a
    y.grad_fn._raw_saved_self.register_hooks(same, same)
    a.add_(1)
    yield told(lambda: y.sum().backward())


@program
def unpacked_tensors_stand_where_the_saved_ones_stood(torch: Any) -> Iterator[Any]:
    for pack in (same, torch.detach, torch.clone, lambda t: t.detach().clone().requires_grad_(), lambda t: t.detach() * 2):
        x, w = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
        with torch.autograd.graph.saved_tensors_hooks(pack, same):
            a = x * 2
            y = a * w
        kept = y.grad_fn._saved_self, y.grad_fn._saved_other
        yield [(t is a, t is w, t.requires_grad, t.grad_fn is a.grad_fn, t.is_leaf) for t in kept]
        (g,) = torch.autograd.grad(y.sum(), w, create_graph=True)
        yield g, torch.autograd.grad(g.sum(), x)


@program
def what_is_handed_to_pack(torch: Any) -> Iterator[Any]:
    said: list[Any] = []

    def pack(t: Any) -> Any:
        said.append((torch.is_grad_enabled(), t.requires_grad, t.is_leaf))
        return t

    x = leaf(torch, 1.0, 2.0)
    with torch.autograd.graph.saved_tensors_hooks(pack, same):
        y = (x * 2).exp() * x
    yield said
    said.clear()
    z = (x * 2) * x
    z.grad_fn._raw_saved_self.register_hooks(pack, same)
    z.grad_fn._raw_saved_other.register_hooks(pack, same)
    yield said, y.grad_fn.name()


@program
def pack_must_not_change_what_it_is_given(torch: Any) -> Iterator[Any]:
    def add_one(t: Any) -> Any:
        t += 1
        return t

    x = leaf(torch, 1.0, 2.0)
    for op in (torch.exp, torch.sin, lambda t: (t * 1).sin()):
        with torch.autograd.graph.saved_tensors_hooks(add_one, same):
            yield told(lambda f=op: f(x))
    y = x.exp()
    yield told(lambda: y.grad_fn._raw_saved_result.register_hooks(add_one, same)), x


@program
def registering_hooks_where_there_can_be_none(torch: Any) -> Iterator[Any]:
    a = torch.ones(2, 2, requires_grad=True)
    picked = a[:, torch.tensor([0, 1])]
    nothing, indices = picked.grad_fn._raw_saved_indices
    indices.register_hooks(same, same)
    yield told(lambda: nothing.register_hooks(same, same))
    yield told(lambda: indices.register_hooks(same, same))
    square = a * a
    yield isinstance(square.grad_fn._raw_saved_self, torch.autograd.SavedTensor), told(torch.autograd.SavedTensor)
    for wrong in ((1, 1), (same, 1), (1, same)):
        found = told(lambda w=wrong: square.grad_fn._raw_saved_self.register_hooks(*w))
        yield found.split(". ")[0]
    square.sum().backward()
    yield told(lambda: square.grad_fn._raw_saved_self.register_hooks(same, same))
    yield told(lambda: square.grad_fn._saved_self)


@program
def a_function_may_save_none(torch: Any) -> Iterator[Any]:
    class Saves(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, None)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * len(ctx.saved_tensors)

    x = leaf(torch, 1.0, 2.0)
    y = Saves.apply(x)
    first, second = y.grad_fn._raw_saved_tensors
    yield y.grad_fn.saved_tensors, told(lambda: second.register_hooks(same, same))
    first.register_hooks(lambda t: t * 5, same)
    yield y.grad_fn.saved_tensors
    y.sum().backward()
    yield x.grad, told(lambda: y.grad_fn.saved_tensors)


@program
def hooks_entered_during_a_pass_are_left_after_the_node(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: said.append("packed") or t, same)
    x = leaf(torch, 1.0)
    y = x.sin()
    y.register_hook(lambda g: hooks.__enter__())
    y.backward(retain_graph=True)
    x.sin()
    yield said
    torch.autograd.grad(y, x, create_graph=True)
    x.sin()
    yield said


@program
def hooks_left_during_a_pass_hold_afterwards(torch: Any) -> Iterator[Any]:
    said: list[Any] = []
    outer = torch.autograd.graph.saved_tensors_hooks(lambda t: said.append("outer") or t, same)

    def unpack(t: Any) -> Any:
        inner.__exit__(None, None, None)
        return t

    inner = torch.autograd.graph.saved_tensors_hooks(lambda t: said.append("inner") or t, unpack)
    x = leaf(torch, 1.0)
    with outer, inner:
        x.sin().backward()
        x.sin()
    x.sin()
    yield said


@program
def hooks_that_cannot_be_called_are_refused_when_entered(torch: Any) -> Iterator[Any]:
    for pair in ((3, same), (same, 4)):
        hooks = torch.autograd.graph.saved_tensors_hooks(*pair)
        yield told(hooks.__enter__).split(":")[0]
    yield leaf(torch, 1.0).exp()


@program
def second_derivatives_go_through_hooks(torch: Any) -> Iterator[Any]:
    ops: list[Callable[[Any], Any]] = [torch.exp, torch.sin, torch.tanh, torch.sigmoid, lambda t: t * t, lambda t: t**3]
    for op in ops:
        said: list[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t, s=said: s.append("pack") or 2 * t, lambda t, s=said: s.append("unpack") or t
        ):
            x = leaf(torch, 1.0, 2.0)
            (g,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
            g.sum().backward()
        yield said, x.grad


@program
def saved_tensors_may_be_changed_where_it_is_allowed(torch: Any) -> Iterator[Any]:
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    x = leaf(torch, 1.0, 2.0)
    with allow():
        a = x.clone()
        y = (a**2).sum()
        a.sin_()
        y.backward()
        yield x.grad
        x.grad = None
        b = x.clone()
        part, square = b[:1], b * b
        part.mul_(5)
        product = b * square
        b.zero_()
        product.sum().backward()
        yield x.grad
        power = x.exp()
        power.mul_(2)
        power.sum().backward()
        yield x.grad
        loss = (x**2).sum()
        with torch.no_grad():
            x.sin_()
        loss.backward()
        yield x.grad
        c = x.clone()
        left = c * c
        c.mul_(2)
        yield told(allow().__enter__)
    yield told(lambda: left.sum().backward()).split(" context")[0]


@program
def hooks_do_not_outlive_their_graph(torch: Any) -> Iterator[Any]:
    class Witness:
        pass

    def made() -> Any:
        witness = Witness()
        with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.detach(), witness), lambda kept: kept[0]):
            (leaf(torch, 1.0, 2.0) * 2).sin().sum().backward()
        return weakref.ref(witness)

    gc.collect()
    gc.disable()
    try:
        yield made()() is None
    finally:
        gc.enable()
