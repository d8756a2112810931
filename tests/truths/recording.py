"""Notebooks 1 to 3: what is recorded, which colour a tensor has, where gradients go."""

from __future__ import annotations

import torch

from .said import accumulator, grad_of, leaf, numbers, order_of, refused, true


@true(
    "01",
    "The gradient of `a` needs the *other* factor.",
    "It did not save `a`, because `b` needs no gradient.",
    "The second entry is `None`, because `b` does not require grad.",
    "`c` now has a `grad_fn`: `MulBackward0`, the first **blue** box.",
)
def a_product_with_one_leaf() -> None:
    a = leaf(2.0)
    c = a * torch.tensor(3.0)
    node = c.grad_fn
    assert node.name() == "MulBackward0" and (node._saved_other.item(), node._saved_self) == (3.0, None)
    assert node.next_functions[0][0] is accumulator(a) and node.next_functions[1] == (None, 0)


@true("01", "`c` is a leaf too, although a multiplication made it.")
def what_is_not_recorded_is_a_leaf() -> None:
    assert (torch.tensor(2.0) * torch.tensor(3.0)).is_leaf


@true(
    "01",
    "`b.grad` is `None`, not zero, because it was never computed.",
    "`c.grad` also stays `None`, although `c`'s node received a gradient of 1.0.",
    "Only leaves keep their gradient.",
    "The first gradient is `1.0`, because the derivative of `c` with respect to itself is 1.",
)
def only_leaves_keep_their_gradient() -> None:
    a, b = leaf(2.0), torch.tensor(3.0)
    c = a * b
    came = []
    c.grad_fn.register_prehook(lambda gradients: came.append(gradients[0].item()))
    c.backward()
    assert (a.grad.item(), b.grad, grad_of(c), came) == (3.0, None, None, [1.0])


@true(
    "01",
    "The graph records what ran.",
    "`c` is still yellow, because `Mul` was not recorded when it ran.",
    "If you multiply again, it is recorded.",
)
def grad_that_is_required_late() -> None:
    a, b = torch.tensor(2.0), torch.tensor(3.0)
    c = a * b
    a.requires_grad_()
    assert not c.requires_grad and c.grad_fn is None and (a * b).requires_grad
    assert "does not require grad" in refused(c.backward)


@true(
    "02",
    "The engine only calls ready nodes.",
    "If several are ready, `AccumulateGrad` comes first, then the node that was created last.",
    "`d.grad` is written *before* `a.grad` and `b.grad`.",
)
def the_order_of_nodes() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = a * b
    e = c * d
    nodes = {"a": accumulator(a), "b": accumulator(b), "d": accumulator(d), "c": c.grad_fn, "e": e.grad_fn}
    assert order_of(e, **nodes) == ["e", "d", "c", "a", "b"]
    x = leaf(1.0)
    early, late = x.exp(), x.sin()
    assert order_of(late * early, early=early.grad_fn, late=late.grad_fn) == ["late", "early"]


@true(
    "02",
    "`MulBackward0` of `e` sends 4.0 to `MulBackward0` of `c`.",
    "No, only leaves do.",
    "To keep it, call `c.retain_grad()` before the backward pass.",
    "A hook at `c`'s node copies the gradient that arrives there into `c.grad`.",
)
def a_gradient_that_is_kept() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)
    c = a * b
    (c * d).backward()
    assert grad_of(c) is None
    c = a * b
    c.retain_grad()
    (c * d).backward()
    assert c.grad.item() == 4.0 and not c.is_leaf


@true(
    "02",
    "It takes the gradients of an op's outputs.",
    "`dx` is `None`, because `x` does not require grad.",
    "The `AccumulateGrad` nodes have not run yet.",
)
def a_node_is_a_function() -> None:
    w, x = leaf(2.0), torch.tensor(3.0)
    u = w * x
    assert numbers(u.grad_fn(torch.tensor(1.0))[0]) == 3.0 and u.grad_fn(torch.tensor(1.0))[1] is None and w.grad is None
    u.grad_fn.next_functions[0][0](torch.tensor(3.0))
    assert w.grad.item() == 3.0


@true("02", "It calls each `grad_fn` once, after all nodes that send gradients to it.")
def each_node_runs_once() -> None:
    x = leaf(2.0)
    a = x * 3.0
    b, c = a * a, a + 1.0
    d = b * c
    nodes = {name: t.grad_fn for name, t in (("a", a), ("b", b), ("c", c), ("d", d))}
    assert order_of(d, **nodes) == ["d", "c", "b", "a"]


@true("02", "The graph knows tensors, not names.", "Your new `a` was never in the graph.")
def a_name_that_moved() -> None:
    first = a = leaf(2.0)
    c = a * 3.0
    a = leaf(5.0)
    (c * 4.0).backward()
    assert (first.grad.item(), a.grad) == (12.0, None)


@true("03", "`c` was computed, but it is a leaf.", "`requires_grad_()` turned it from yellow to green.")
def a_computed_leaf() -> None:
    c = torch.tensor(2.0) * torch.tensor(2.0)
    c.requires_grad_()
    (c * 3.0).backward()
    assert c.is_leaf and c.grad.item() == 3.0


@true("03", "A brown tensor requires grad because its inputs do.")
def a_result_keeps_requiring_grad() -> None:
    assert "only change requires_grad flags of leaf" in refused(lambda: (leaf() * 2).requires_grad_(False))


@true("03", "An op makes a new tensor.", "An optimizer refuses it:")
def a_scaled_parameter_is_none() -> None:
    w = torch.ones(2, requires_grad=True) * 0.1
    assert not w.is_leaf and "non-leaf" in refused(lambda: torch.optim.SGD([w], lr=0.1), ValueError)


@true(
    "03",
    "`detach()` returns a tensor without history.",
    "It copies no data.",
    "It ends only the paths that go through *it*.",
    "If you write into it, the original changes too:",
)
def detach_ends_one_path() -> None:
    x = leaf(2.0)
    a = (x + 1).detach()
    (a * (x + 2)).backward()
    assert a.grad_fn is None and x.grad.item() == 3.0
    c = leaf([1.0, 2.0]) * 1.0
    d = c.detach()
    d[0] = 50.0
    assert d.data_ptr() == c.data_ptr() and c[0].item() == 50.0


@true(
    "03",
    "`eval()` changes how layers like dropout behave.",
    "It turns no gradients off.",
    "`no_grad()` stops recording inside the block.",
    "`requires_grad_(False)` freezes one leaf.",
    "The weight is yellow, and its entry in `next_functions` is `(None, 0)`.",
    "Gradients still go through the op to `x`.",
)
def four_ways() -> None:
    layer, x = torch.nn.Linear(1, 1, bias=False), leaf([[2.0]])
    dropout = torch.nn.Dropout(0.5).eval()
    assert torch.equal(dropout(torch.ones(100)), torch.ones(100)) and layer.eval()(x).requires_grad
    with torch.no_grad():
        assert not layer(x).requires_grad and x.requires_grad
    layer.weight.requires_grad_(False)
    y = layer(x)
    assert y.requires_grad and (None, 0) in [*y.grad_fn.next_functions, *y.grad_fn.next_functions[0][0].next_functions]
    y.sum().backward()
    assert layer.weight.grad is None and x.grad is not None
