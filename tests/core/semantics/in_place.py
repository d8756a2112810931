"""Programs about changes in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .programs import leaf, names, program


@program
def writing_into_a_slice_of_a_result(torch: Any) -> Iterator[Any]:
    x, w = leaf(torch, 1.0, 2.0, 3.0, 4.0), leaf(torch, 5.0)
    y = x * 2
    y[1:3] = w
    yield y, y.grad_fn.name(), names(y.grad_fn)
    (y * y).sum().backward()
    yield x.grad, w.grad


@program
def a_view_made_before_the_change_follows_it(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0, 4.0)
    y = x * 2
    v = y.view(2, 2)
    row = v[1]
    y.mul_(3)
    yield v.grad_fn.name(), row.grad_fn.name(), row
    row.add_(1)
    yield y, v, y.grad_fn.name(), y._version
    (v.sum() + row.sum()).backward()
    yield x.grad


@program
def views_of_views_share_base_and_version(torch: Any) -> Iterator[Any]:
    base = leaf(torch, 1.0, 2.0, 3.0, 4.0) * 1
    v = base.view(2, 2).t()[0]
    yield v._base is base, v._is_view(), base._is_view()
    v.zero_()
    yield base, base._version, v._version


@program
def a_base_without_grad_gets_history_from_what_is_written(torch: Any) -> Iterator[Any]:
    base, w = torch.zeros(3), leaf(torch, 2.0)
    v = base[1]
    yield base.requires_grad, v.requires_grad
    v.copy_(w * 2)
    yield base.requires_grad, base.grad_fn.name(), names(base.grad_fn)
    (base * base).sum().backward()
    yield w.grad


@program
def unbind_views_must_not_be_written(torch: Any) -> Iterator[Any]:
    a, _ = (leaf(torch, 1.0, 2.0) * 1).unbind(0)
    a.mul_(2)
    yield


@program
def a_view_of_a_leaf_must_not_be_written(torch: Any) -> Iterator[Any]:
    leaf(torch, 1.0, 2.0)[0].zero_()
    yield


@program
def a_leaf_is_changed_under_no_grad(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    with torch.no_grad():
        x[0] = 5.0
        x += 1
    yield x, x._version


@program
def a_saved_input_changed_through_a_view_is_noticed(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = x * 1
    z = y * y
    y[0].zero_()
    z.sum().backward()
    yield


@program
def a_saved_result_changed_is_noticed(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 1.0, 2.0).tanh()
    y.mul_(2)
    y.sum().backward()
    yield


@program
def in_place_functions_save_the_new_value(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0)
    y = (x * 1).exp_()
    yield y.grad_fn._saved_result, y._version
    y.sum().backward()
    yield x.grad


@program
def hooks_stay_with_the_value_they_were_registered_on(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * 3
    said: list[Any] = []
    y.register_hook(lambda g: said.append(("before", g)))
    y.retain_grad()
    y.mul_(4)
    y.register_hook(lambda g: said.append(("after", g)))
    y.backward()
    yield said, y.grad, x.grad


@program
def detach_shares_memory_and_version_but_is_no_view(torch: Any) -> Iterator[Any]:
    y = leaf(torch, 1.0, 2.0) * 1
    d = y.detach()
    d.zero_()
    yield y, y._version, d._version, d._is_view(), d.requires_grad


@program
def data_is_not_noticed(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 2.0)
    y = x * x
    x.data.fill_(10.0)
    y.backward()
    yield x.grad, x._version


@program
def the_second_gradient_goes_through_a_written_slice(torch: Any) -> Iterator[Any]:
    x = leaf(torch, 1.0, 2.0, 3.0)
    y = x * x
    y[0:2].mul_(x[1:3])
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    yield g.detach()
    yield torch.autograd.grad(g.sum(), x)


@program
def a_view_that_is_stale_retains_its_grad_only_once_its_grad_fn_was_made_anew(torch: Any) -> Iterator[Any]:
    w, base = leaf(torch, 2.0, 3.0), torch.ones(2)
    view = base.view(-1)
    with torch.no_grad():
        forbidden = base.view(-1)
    base.mul_(w)
    forbidden.retain_grad()  # its grad_fn may not be made anew, and is not asked for
    yield forbidden.requires_grad, forbidden.retains_grad
    view.retain_grad()
    yield view.requires_grad, view.retains_grad
    yield view.grad_fn.name()
    view.retain_grad()
    view.sum().backward()
    yield view.retains_grad, view.grad, w.grad


@program
def a_tensors_number_is_not_copied_to_elements_that_share_memory(torch: Any) -> Iterator[Any]:
    repeated = torch.ones(()).expand(2)
    repeated.fill_(2.0)
    yield repeated.zero_()
    repeated.copy_(repeated.view(2))
    yield repeated, repeated._version
    repeated.fill_(torch.ones(()))


@program
def overlap_is_told_as_pytorch_sees_it(torch: Any) -> Iterator[Any]:
    column, cube = torch.ones(2, 1), torch.arange(24.0).reshape(2, 3, 4).permute(1, 0, 2)
    x = torch.ones(2, 2)
    x[0] = x[0][0]
    yield x
    for change in (lambda: column.mul_(column.t()), lambda: cube.mul_(cube.transpose(0, 1)), lambda: x.add_(x.t())):
        try:
            yield change()
        except RuntimeError as error:
            yield error
