"""Programs about what arrives at a leaf: the gradient that is kept, and what may be put in its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, names, program, told


@program
def a_gradient_lies_in_memory_as_its_leaf(torch: Any) -> Iterator[Any]:
    for create_graph in (False, True):
        for x in (
            torch.ones(2, 3),
            torch.ones(3, 2).t(),
            torch.ones(4, 3, 2).permute(2, 0, 1),
            torch.ones(4, 3)[::2],
            torch.ones(1).expand(3),
            torch.ones(()),
        ):
            x.requires_grad_()
            for factor in (1.0, torch.ones(x.shape), torch.ones(x.shape[::-1]).t() if x.dim() == 2 else 1.0):
                x.grad = None
                seed = torch.ones((), requires_grad=create_graph)
                (x * factor).sum().backward(seed, create_graph=create_graph)
                yield x.stride(), x.grad.stride(), x.grad


@program
def a_gradient_is_the_leafs_alone(torch: Any) -> Iterator[Any]:
    a, b, mine = leaf(torch, 1.0, 2.0), leaf(torch, 3.0, 4.0), torch.ones(2)
    (a + b).backward(mine)
    a.grad.add_(1)
    yield a.grad, b.grad, mine
    a.grad = None
    a.backward(mine)
    yield a.grad is mine, a.grad.data_ptr() == mine.data_ptr(), a.grad
    said: list[Any] = []
    a.grad = None
    a.register_hook(said.append)
    middle = a.clone()
    middle.retain_grad()
    (middle * 2).sum().backward()
    a.grad.zero_()
    yield middle.grad, a.grad


@program
def a_gradient_that_is_there_is_added_to_in_place_unless_the_pass_is_recorded(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    for create_graph in (False, True):
        x.grad = there = torch.ones(2)
        x.backward(torch.ones(2), create_graph=create_graph)
        yield x.grad is there, there, x.grad, there._version
    x.grad = torch.ones(1).expand(2)
    yield told(lambda: (x * 2).sum().backward()), x.grad
    for there in (torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True) * 2):
        x.grad = there
        yield told(lambda: (x * 2).sum().backward()), x.grad, x.grad is there, there
    x.grad = None
    seed = torch.ones(2, requires_grad=True)
    x.backward(seed, create_graph=True)
    yield names(x.grad.grad_fn), x.grad.grad_fn.name()
    x.grad = None
    x.backward(seed)
    yield x.grad.requires_grad


@program
def what_may_be_put_where_the_gradient_is(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    kinds = (torch.float64, torch.int64, torch.int16, torch.int8, torch.bool, torch.complex64)
    for value in (3, "a", [1.0, 2.0], torch.ones(3), torch.ones(2, 1), x, *(torch.ones(2, dtype=kind) for kind in kinds)):
        yield told(lambda value=value: setattr(x, "grad", value)), x.grad
    x.grad = torch.ones(2)
    del x.grad
    yield x.grad
    y = x * 2
    y.grad = torch.ones(2)
    yield y.grad, y.retains_grad


@program
def retain_grad_said_again(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = x * 3
    yield y.retains_grad, x.retain_grad(), x.retains_grad
    for _ in range(2):
        y.retain_grad()
        (y * y).sum().backward()
        yield y.retains_grad, y.grad
    y.detach_()
    yield y.retains_grad, y.grad, told(y.retain_grad), told(torch.ones(2).retain_grad)


@program
def whether_a_tensor_requires_grad_is_said_by_true_and_false(torch: Any) -> Iterator[Any]:
    x, whole = torch.ones(2), torch.ones(2, dtype=torch.int64)
    for value in (1, None, "yes", 1.0, True, False):
        yield told(lambda value=value: setattr(x, "requires_grad", value)), x.requires_grad
        yield told(lambda value=value: x.requires_grad_(value)), x.requires_grad
        yield told(lambda value=value: setattr(whole, "requires_grad", value)), told(lambda v=value: whole.requires_grad_(v))
    y = leaf(torch, 1.0) * 2
    for value in (1, True, False):
        yield told(lambda value=value: setattr(y, "requires_grad", value)), told(lambda value=value: y.requires_grad_(value))


@program
def what_of_a_tensor_cannot_be_deleted_or_set(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    for name in ("data", "requires_grad", "_grad_fn", "_backward_hooks"):
        yield told(lambda name=name: delattr(x, name))
    for name in ("grad_fn", "is_leaf", "shape", "dtype", "_version", "_base", "retains_grad", "output_nr", "T", "ndim"):
        yield told(lambda name=name: delattr(x, name)).split(":")[0], told(lambda n=name: setattr(x, n, 1)).split(":")[0]
    for value in (None, 3, [1.0], torch.ones(2, dtype=torch.int64), torch.ones(3), torch.ones(2, dtype=torch.float64)):
        yield told(lambda value=value: setattr(x, "data", value)), x, x.dtype, x.is_leaf, x._version
    yield x.volatile, told(lambda: setattr(x, "is_leaf", True)).split(":")[0]
