"""Programs about saved tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .programs import leaf, program


@program
def pack_and_unpack_see_every_saved_tensor(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []

    def pack(t: Any) -> Any:
        said.append(("pack", t))
        return t.detach() * 10

    def unpack(t: Any) -> Any:
        said.append(("unpack", t))
        return t / 10

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    y.backward()
    yield said, x.grad


@program
def the_innermost_pair_of_hooks_counts(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    said: list[Any] = []
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: said.append("outer") or t, lambda t: t), hooks(lambda t: said.append("inner") or t, lambda t: t):
        y = x * x
    y.backward()
    yield said, x.grad


@program
def hooks_on_one_saved_tensor(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    raw = y.grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t * 2, lambda t: t)
    yield torch.autograd.grad(y, y.grad_fn.next_functions[0][0].variable, retain_graph=True)
    raw.register_hooks(lambda t: t, lambda t: t)


@program
def what_unpack_returns_must_be_a_tensor(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 2.0).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: 3, lambda t: 4)
    y.backward()
    yield


@program
def hooks_can_be_forbidden(torch: Any) -> Iterator[Any]:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        yield "inside"
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            yield "never"


@program
def saving_on_the_cpu_gives_the_same_gradients(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    with torch.autograd.graph.save_on_cpu():
        y = x * x * x
    y.backward()
    yield x.grad


@program
def what_was_detached_in_place_is_told_before_what_was_modified_unless_it_was_a_leaf(torch: Any) -> Iterator[Any]:
    w = leaf(torch, 3.0)
    for change in ("detach", "modify and detach", "detach and modify", "leaf"):
        x = torch.ones(()) if change == "leaf" else w * 1
        y = x * w
        if change != "detach":
            if change == "detach and modify":
                x.detach_()
            x.mul_(w)
        if change != "detach and modify":
            x.detach_()
        try:
            y.backward()
        except RuntimeError as error:
            yield change, error


@program
def saved_tensors_are_looked_at_by_name_whatever_their_rules(torch: Any) -> Iterator[Any]:
    vector, other = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0)
    matrix = torch.stack([vector, other])
    operands = dict.fromkeys((torch.dot, torch.mul, torch.div, torch.pow, torch.atan2), (vector, other))
    operands |= {torch.mm: (matrix, matrix), torch.mv: (matrix, other)}
    for op, (first, second) in operands.items():
        a, b = first * 1, second.exp()
        y = op(a, b)
        a.add_(1)
        b.sin_()
        try:
            y.sum().backward()
        except RuntimeError as error:
            yield op.__name__, error


@program
def data_written_between_forward_and_backward(torch: Any) -> Iterator[Any]:
    """`.data` has no version counter that autograd sees: the gradient uses what it finds in the saved tensors."""
    ops: list[Callable[[Any], Any]] = [
        lambda x: x.prod(), lambda x: x.prod(0), lambda x: x.prod(-1, keepdim=True), lambda x: x.max(), lambda x: x.median(),
        lambda x: x.amax(1), lambda x: x.exp(), lambda x: x.sqrt(), lambda x: x.tanh(), lambda x: x.softmax(0),
        lambda x: x.norm(), lambda x: x.cumprod(0), lambda x: x.std(), lambda x: x.sigmoid(),
        lambda x: x.reciprocal(),
        lambda x: x.logsumexp(1), lambda x: x * x, lambda x: x / x.detach(), lambda x: x**2, lambda x: 2**x,
    ]  # fmt: skip
    for op in ops:
        for result in (True, False):
            x = torch.tensor([[2.0, 3.0], [0.5, 1.5]], requires_grad=True)
            y = op(x)
            (y if result else x).data.mul_(2)
            y.sum().backward()
            yield [round(v, 4) for v in x.grad.flatten().tolist()]
