"""Programs about views, and what is asked of them after a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, names, program, told


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


@program
def whether_a_view_may_be_written_and_what_it_is_then(torch: Any) -> Iterator[Any]:
    for recording in (True, False):
        for requires_grad in (True, False):
            for cut in (
                lambda x: [x.view_as(x)],
                lambda x: x.unbind(),
                lambda x: x.chunk(2),
                lambda x: x.split([1, 1]),
                lambda x: x.tensor_split(2),
                lambda x: [x.detach()],
                lambda x: [x.view(1, 2).t()[0]],
            ):
                base = torch.ones(2, requires_grad=requires_grad).clone()
                with torch.set_grad_enabled(recording):
                    views = cut(base)
                yield [(v._is_view(), v._base is base, v.requires_grad) for v in views]
                yield [told(lambda v=v: v.add_(1)) for v in views], base, base._version, [v._version for v in views]
                yield [told(lambda v=v: v.grad_fn and v.grad_fn.name()) for v in views], base.grad_fn and base.grad_fn.name()


@program
def a_view_keeps_what_forbids_to_write_it_when_it_gets_another_shape(torch: Any) -> Iterator[Any]:
    class View(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    for turn in (
        lambda v: v.as_strided_((1, 2), (2, 1)),
        lambda v: v.transpose_(0, 0),
        lambda v: v.t_(),
        lambda v: v.squeeze_(0),
        lambda v: v.unsqueeze_(0),
    ):
        for cut in (lambda x: x.unbind()[0], View.apply, lambda x: x.view_as(x)):
            for modes in range(8):
                base = torch.ones(2, 3, requires_grad=bool(modes & 1)).clone()
                with torch.set_grad_enabled(bool(modes & 2)):
                    view = cut(base)
                with torch.set_grad_enabled(bool(modes & 4)):
                    yield told(lambda v=view, turn=turn: turn(v) is v)
                yield view.shape, view.stride(), told(lambda v=view: v.grad_fn and v.grad_fn.name()), view._version
                yield told(lambda v=view: v.add_(1)), told(lambda v=view: v.grad_fn and v.grad_fn.name())


@program
def as_strided_in_place(torch: Any) -> Iterator[Any]:
    x = torch.arange(6.0).reshape(2, 3)
    yield x.as_strided_((3,), (2,)) is x, x, x._version, x.storage_offset()
    yield x.as_strided_((2,), (1,), 1), told(lambda: x.as_strided_((9,), (1,)))
    yield x.as_strided((6,), (1,), 0), x.as_strided((2,), (1,)).as_strided((2,), (2,), 2)
    y = torch.ones(2, 3, requires_grad=True)
    z = y.clone()
    yield z.as_strided_((3,), (1,), 1).grad_fn.name(), names(z.grad_fn), z._version
    (z * torch.arange(3.0)).sum().backward()
    yield y.grad, told(lambda: y.as_strided_((1,), (1,)))


@program
def what_a_view_was_when_it_was_written_stays_what_it_was(torch: Any) -> Iterator[Any]:
    x, w = torch.arange(6.0, requires_grad=True), torch.arange(6.0).reshape(2, 3)
    base = x * 1
    view = base.view(2, 3)
    view.mul_(w)
    view.t_()  # the change before was not of the transpose
    (base * base).sum().backward()
    yield view.shape, x.grad


@program
def a_view_that_lost_its_history_prints(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        view = x[:1]
        view *= 2
    yield view, x


@program
def a_view_of_another_type_is_made_anew_by_steps_in_memory(torch: Any) -> Iterator[Any]:
    x = torch.tensor([[1 + 2j, 3 - 1j], [0.5j, 2 + 0j]], requires_grad=True)
    y = x.clone()
    turned, real = torch.view_as_real(y).transpose(0, 1), y.real
    turned += 1
    yield turned.grad_fn.name(), names(turned.grad_fn), real.grad_fn.name()
    turned.backward(torch.arange(8.0).view(2, 2, 2))
    yield x.grad


@program
def a_view_of_a_view_from_another_mode(torch: Any) -> Iterator[Any]:
    for mode in (torch.no_grad, torch.inference_mode):
        x = torch.zeros(2)
        with mode():
            y = x.view(2)
        z = y.requires_grad_().view(2)
        yield z._base is x, told(lambda z=z: z.div_(2))
