"""Programs about out=."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program


@program
def out_is_written_and_resized(torch: Any) -> Iterator[Any]:
    x, result = torch.arange(4.0), torch.zeros(4)
    yield torch.add(x, 1, out=result) is result, result, result._version
    yield torch.matmul(x.view(2, 2), x.view(2, 2), out=torch.empty(0)), torch.mul(x, 2, out=None)
    yield torch.exp(x, out=torch.zeros(2))


@program
def out_is_refused_where_something_requires_grad(torch: Any) -> Iterator[Any]:
    with torch.no_grad():
        yield torch.mul(leaf(torch, 1.0, 2.0), 2, out=torch.zeros(2))
    torch.mul(leaf(torch, 1.0, 2.0), 2, out=torch.zeros(2))


@program
def out_must_be_able_to_hold_the_result(torch: Any) -> Iterator[Any]:
    yield torch.add(torch.arange(2), 1, out=torch.zeros(2))
    torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.int64))


@program
def a_variable_is_a_tensor(torch: Any) -> Iterator[Any]:
    x = torch.ones(2)
    v = torch.autograd.Variable(x, requires_grad=True)
    (v * 3).sum().backward()
    x[0] = 5
    yield v, v.grad, type(v) is torch.Tensor, isinstance(x, torch.autograd.Variable), x.requires_grad
    torch.autograd.Variable(3)


@program
def a_hard_choice_has_the_gradient_of_a_soft_one(torch: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    logits = leaf(torch, 0.1, 0.5, -0.3)
    choice = torch.nn.functional.gumbel_softmax(logits, tau=0.5, hard=True)
    (choice * torch.arange(3)).sum().backward()
    yield choice.detach().round(), logits.grad, torch.nn.functional.gumbel_softmax(logits.detach())
