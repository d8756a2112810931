"""Programs about views, and what is asked of them after a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, program


@program
def new_dimensions_of_length_one_step_over_what_follows(torch: Any) -> Iterator[Any]:
    row, matrix, number = torch.ones(3), torch.ones(2, 1), torch.ones(())
    yield row.expand(1, 3).stride(), row.expand(1, 2, 3).stride(), row.expand(1, 1, 3).stride()
    yield matrix.expand(1, 2, 1).stride(), matrix.expand(1, 2, 5).stride(), number.expand(1, 1).stride()


@program
def the_first_operand_decides_how_a_result_lies_in_memory(torch: Any) -> Iterator[Any]:
    rows = torch.arange(4.0).reshape(2, 2)
    columns, stretched, thin = rows.t(), torch.ones(1, 2).expand(2, 2), torch.ones(1, 2).t()
    for a, b in ((columns, rows), (rows, columns), (columns, stretched), (stretched, columns), (thin, rows)):
        product = a * b
        yield product, product.stride(), torch.atan2(a, b).stride(), product.reshape(-1)


@program
def a_tensor_is_written_into_itself_if_it_is_the_same_elements(torch: Any) -> Iterator[Any]:
    x = torch.ones(1, 1, 3)
    x[0] = x
    yield x, x._version


@program
def split_and_unbind_look_at_the_history_before_they_refuse(torch: Any) -> Iterator[Any]:
    base = leaf(torch, 2.0)
    for refused in (lambda v: v.split(1), lambda v: v.unbind(0)):
        view = base.t()
        with torch.no_grad():
            base.add_(1)
        try:
            refused(view)
        except (RuntimeError, IndexError) as error:
            yield error
        later = base * 1
        yield view.grad_fn.name(), view.grad_fn._sequence_nr() < later.grad_fn._sequence_nr()


@program
def split_says_what_it_cannot_do(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0)
    for refused in (
        lambda: x.split(-1),
        lambda: x.split(0),
        lambda: x.split([1, 1]),
        lambda: x.split(1, 1),
        lambda: x.unbind(1),
        lambda: torch.unsafe_split(x, -1),
        lambda: torch.split_copy(x, 0),
        lambda: torch.split_with_sizes_copy(x, [4]),
    ):
        try:
            yield refused()
        except (RuntimeError, IndexError) as error:
            yield error


@program
def a_change_of_part_of_a_base_that_repeats_itself_has_no_backward(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    base = torch.ones(()).expand(2).data
    base[0] = x
    base.sum().backward()
    yield x.grad


@program
def a_leaf_that_an_op_has_changed_gets_no_gradient(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 2.0, 3.0), leaf(torch, 5.0)
    y = x * 2
    x.requires_grad_(False).mul_(w)
    y.sum().backward()
    yield x.grad


@program
def a_leaf_that_is_a_view_of_what_an_op_has_changed_gets_no_gradient(torch: Any) -> Iterator[Any]:
    base = torch.ones(3)
    view = base[1:].requires_grad_()
    y = view * 2
    base[1:] = view
    yield view.is_leaf
    y.sum().backward()


@program
def a_leaf_whose_history_is_forbidden_gets_no_gradient(torch: Any) -> Iterator[Any]:
    base, w = torch.ones(3), leaf(torch, 2.0)
    with torch.no_grad():
        view = base[1:]
    y = view.requires_grad_() * 2
    base.mul_(w)
    y.sum().backward()
    yield view.grad
