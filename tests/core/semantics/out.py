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
def functions_of_several_ops_and_factories_take_out(torch: Any) -> Iterator[Any]:
    x = torch.tensor([3.0, 1.0, 2.0])
    for call in (
        lambda out, order: torch.clamp(x, 1.5, 2.5, out=out),
        lambda out, order: torch.sort(x, out=(out, order)),
        lambda out, order: torch.topk(x, 2, out=(out, order)),
        lambda out, order: torch.max(x, 0, out=(out, order)),
        lambda out, order: torch.median(x, 0, out=(out, order)).values,
        lambda out, order: torch.diag(x, out=out),
        lambda out, order: torch.nonzero(x - 1, out=order),
        lambda out, order: torch.rand(3, out=out),
        lambda out, order: torch.randn(3, out=out.double()),
        lambda out, order: torch.zeros(3, out=out),
        lambda out, order: torch.arange(3, out=order),
        lambda out, order: torch.sum(x, 0, out=out),
        lambda out, order: torch.cumsum(x, 0, out=out),
        lambda out, order: torch.cat([x, x], out=out),
        lambda out, order: torch.stack([x, x], out=out),
        lambda out, order: torch.linalg.norm(x, out=out),
        lambda out, order: torch.argmax(x, out=order),
    ):
        torch.manual_seed(0)
        out, order = torch.empty(0), torch.empty(0, dtype=torch.int64)
        result = call(out, order)
        yield [(r, r.dtype) for r in (result if isinstance(result, tuple) else (result,))], out, order


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
