"""Notebooks 4 to 6: sums, shapes, what is saved, and second passes."""

from __future__ import annotations

import warnings

import torch

from .said import accumulator, leaf, numbers, order_of, refused, true


@true(
    "04",
    "`Mul` got `x` twice, so `MulBackward0` has two entries in `next_functions`.",
    "Both lead to *one* `AccumulateGrad`.",
    "Then `AccumulateGrad` runs once, with 6.0.",
)
def a_square() -> None:
    x = leaf(3.0)
    y = x * x
    assert [node for node, _ in y.grad_fn.next_functions] == [accumulator(x)] * 2
    assert order_of(y, x=accumulator(x)) == ["x"] and x.grad.item() == 6.0


@true("04", "But there are only sixty nodes, and each runs once.")
def sixty_squares() -> None:
    x = y = leaf(1.0)
    nodes = {}
    for k in range(60):
        y = y * y
        nodes[str(k)] = y.grad_fn
    assert len(order_of(y, **nodes)) == 60 and x.grad.item() == 2.0**60


@true("04", "`backward()` does not set `grad`. It adds to it.", "`optimizer.zero_grad()` resets it.")
def grads_accumulate() -> None:
    w = leaf(1.0)
    for _ in range(2):
        (2 * w).backward()
    assert w.grad.item() == 4.0
    torch.optim.SGD([w], lr=0.1).zero_grad()
    assert w.grad is None


@true(
    "04",
    "`None` means: no gradient was computed. `0` means: a gradient was computed, and it was zero.",
    "An optimizer treats them differently.",
)
def none_is_not_zero() -> None:
    p, unused = leaf(1.0), leaf(1.0)
    optimizer = torch.optim.SGD([p, unused], lr=0.1, weight_decay=0.5)
    (p * 0.0).backward()
    optimizer.step()
    assert (numbers(p.grad), unused.grad) == (0.0, None) and p.item() < 1.0 == unused.item()


@true("04", "Put `optimizer.zero_grad()` first in the loop, and `w` goes to 1.")
def a_loop_that_resets() -> None:
    w = leaf(3.0)
    optimizer = torch.optim.SGD([w], lr=0.4)
    for _ in range(6):
        optimizer.zero_grad()
        ((w - 1.0) ** 2).backward()
        optimizer.step()
    assert abs(w.item() - 1.0) < 0.001


@true(
    "05",
    "All three have the *same* `grad_fn`.",
    "The second number of an entry is an **index**: *which output of that node's op was this?*",
    "`(None, 0)` means: this input does not require grad.",
)
def the_index_of_an_entry() -> None:
    b, c, d = leaf([1.0, 2.0, 3.0]).unbind()
    assert b.grad_fn is c.grad_fn is d.grad_fn
    assert [(b * d).grad_fn.next_functions[i][1] for i in (0, 1)] == [0, 2] == [b.output_nr, d.output_nr]
    assert (b * 2).grad_fn.next_functions[1] == (None, 0)


@true(
    "05",
    r"It computes $v^\top J$.",
    "A one-hot $v$ gives one row of $J$.",
    "`y.sum().backward()` is the case $v = (1, 1, 1)$:",
)
def a_vector_times_the_jacobian() -> None:
    x = leaf([1.0, 2.0, 3.0])
    assert "only for scalar outputs" in refused((x * x).backward)
    jacobian = torch.autograd.functional.jacobian(lambda x: x * x, x.detach())
    for v in torch.eye(3):
        (found,) = torch.autograd.grad(x * x, x, v)
        assert torch.equal(found, v @ jacobian) and torch.equal(found, jacobian[int(v.argmax())])
    assert torch.equal(torch.autograd.grad((x * x).sum(), x)[0], torch.ones(3) @ jacobian)


@true("05", "A gradient always has the shape of its tensor.", "If a value is used several times, its gradients meet")
def broadcasting_is_undone() -> None:
    b, s = torch.zeros(3, requires_grad=True), leaf(2.0)
    (torch.ones(2, 3) * s + b).sum().backward()
    assert (numbers(b.grad), numbers(s.grad)) == ([2.0, 2.0, 2.0], 6.0)


@true("05", "a column of 3 and a row of 3 go in, 3×3 numbers come out.", "broadcasting is legal.")
def shapes_that_broadcast() -> None:
    difference = torch.tensor([[1.0], [2.0], [3.0]]) - torch.tensor([1.0, 2.0, 3.0])
    assert difference.shape == (3, 3) and f"{(difference**2).mean().item():.4f}" == "1.3333"


@true(
    "06",
    "The derivative of `exp` is its own result. So the node saves the result, and not the input.",
    "The derivative of a sum is 1, so `Add` saves nothing.",
)
def what_is_saved() -> None:
    x, w = leaf(2.0), leaf(3.0)
    saved = {t: [n for n in dir(t.grad_fn) if n.startswith("_saved")] for t in (x.exp(), x + w, x * w)}
    assert [*saved.values()] == [["_saved_result"], ["_saved_alpha"], ["_saved_other", "_saved_self"]]
    assert (x + w).grad_fn._saved_alpha == 1  # a number, no tensor


@true(
    "06",
    "Only the saved tensors are *freed*.",
    "If a graph saved nothing, you can run its backward pass as often as you like.",
    "`backward(retain_graph=True)` keeps the saved tensors, so you can run the pass again.",
)
def freed_after_use() -> None:
    x = leaf(2.0)
    y, z, kept = x * x, x + 1.0, x * x
    y.backward()
    assert "second time" in refused(y.backward) and y.grad_fn.next_functions[0][0] is not None
    for _ in range(3):
        z.backward()
    kept.backward(retain_graph=True)
    kept.backward()


@true(
    "06",
    "`backward(create_graph=True)` records the backward pass as a new graph, so you can differentiate it.",
    "Its backward pass gives $6x$, the second derivative.",
    "`t.retain_grad()` keeps the gradient of one non-leaf tensor.",
)
def a_recorded_pass() -> None:
    x = leaf(2.0)
    y = x**3
    (first,) = torch.autograd.grad(y, x, retain_graph=True)
    (second,) = torch.autograd.grad(y, x, create_graph=True)
    assert first.grad_fn is None and second.grad_fn is not None and first.item() == second.item() == 12.0
    assert torch.autograd.grad(second, x)[0].item() == 12.0
    y = x**3
    y.retain_grad()
    (y * 1.0).backward()
    assert y.grad.item() == 1.0


@true(
    "06",
    "Its result is *added* to the 12 in `x.grad`, which gives 18.",
    "(`z.backward(create_graph=True)` and then `x.grad.backward()` give the same.)",
    "To get 6, reset `x.grad` before the second pass:",
)
def two_passes() -> None:
    def prepared() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x, y = leaf(2.0), leaf(3.0)
        z = x * x * y
        return x, z, torch.autograd.grad(z, x, create_graph=True)[0]

    x, z, gradient = prepared()
    z.backward(retain_graph=True)
    gradient.backward()
    assert x.grad.item() == 18.0
    x, z, _ = prepared()
    with warnings.catch_warnings(action="ignore"):  # of a cycle
        z.backward(create_graph=True)
    x.grad.backward()
    assert x.grad.item() == 18.0
    x.grad = None
    x, z, gradient = prepared()
    z.backward(retain_graph=True)
    x.grad = None
    gradient.backward()
    assert x.grad.item() == 6.0


@true("06", "Both are computed, and both are in the graph.", r"And $0 \cdot \infty$ is nan.")
def the_branch_not_taken() -> None:
    a = leaf(100.0)
    torch.where(a <= 0, torch.exp(a), 1 + a).backward()
    assert a.grad.isnan()
    a = leaf(100.0)
    torch.where(a <= 0, torch.exp(torch.where(a <= 0, a, 0.0)), 1 + a).backward()
    assert a.grad.item() == 1.0
