"""Notebooks 7 to 17: in-place ops, hooks, Functions, training, rules by hand."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch.nn import functional as F  # noqa: N812

from .said import grad_of, leaf, numbers, refused, true


@true(
    "07",
    "`y += 1` makes no new tensor.",
    "Every tensor counts its in-place changes in `_version`.",
    "`Exp` saved its result at version 0.",
    "In-place ops are neither forbidden nor always safe.",
)
def versions() -> None:
    x = leaf(1.0)
    added, grown = x + 1.0, x.exp()
    before = added
    added += 1.0
    assert before is added and added._version == 1
    added.backward()
    grown += 1.0
    assert "is at version 1; expected version 0" in refused(grown.backward)


@true(
    "07",
    "So you cannot change a leaf that requires grad in place while autograd records.",
    "Under `no_grad()` you can.",
)
def a_leaf_in_place() -> None:
    w = leaf(5.0)
    assert "leaf Variable" in refused(lambda: w.sub_(1.0))
    with torch.no_grad():
        w -= 1.0
    plain = torch.tensor(5.0)
    plain -= 1.0
    assert w.is_leaf and plain.item() == 4.0


@true(
    "07",
    "A slice is a view: it uses the memory of the whole tensor.",
    "`CopySlices` means: this tensor is the old one, with a slice replaced.",
    "You overwrote one element with 10, so its old value gets a gradient of 0.",
    "`y[0] = 10.0` changes only `y`, and yet `v` gets a new `grad_fn` too.",
)
def a_slice_in_place() -> None:
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2.0
    v = y[1:]
    before = v.grad_fn
    y[0] = 10.0
    assert v.grad_fn is not before and v.data_ptr() == y[1:].data_ptr() and "CopySlices" in type(y.grad_fn).__name__
    y.sum().backward()
    assert numbers(x.grad) == [0.0, 2.0, 2.0]


@true("07", "But `detach()` shares the version counter, and `.data` has its own.", "Autograd multiplied by the new value, 100.")
def data_hides_a_change() -> None:
    x = leaf([1.0])
    y = x * x
    x.data.mul_(100)
    y.backward()
    assert (x._version, numbers(x.grad)) == (0, [200.0])
    x = leaf([1.0])
    y = x * x
    x.detach().mul_(100)
    assert x._version == 1 and "modified by an inplace operation" in refused(y.backward)


@true(
    "08",
    "If a tensor hook returns a value, that value replaces the gradient.",
    "All later nodes receive it.",
    "`retain_grad` was called before the hook, but it keeps 6.0.",
    "It always keeps the gradient after all hooks.",
)
def a_hook_that_changes() -> None:
    a, b = leaf(2.0), leaf(3.0)
    c = a * b
    c.retain_grad()
    c.register_hook(lambda gradient: gradient + 2)
    (c * 4.0).backward()
    assert (a.grad.item(), c.grad.item()) == (18.0, 6.0)


@true(
    "08",
    "`Add` sends *one* gradient tensor to both of its inputs.",
    "It also changed the gradients of `a` and `b`: 300 and 200",
)
def a_hook_in_place() -> None:
    a, b, d = leaf(2.0), leaf(3.0), leaf(4.0)

    def in_place(gradient: torch.Tensor) -> None:
        gradient *= 100

    d.register_hook(in_place)
    (a * b + d).backward()
    assert (a.grad.item(), b.grad.item(), d.grad.item()) == (300.0, 200.0, 100.0)


class Cube(torch.autograd.Function):
    """A rule that is wrong."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return gradient * 2 * x**2


class StraightThrough(torch.autograd.Function):
    """A rule that is wrong on purpose."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.round()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return gradient


@true(
    "08",
    "*Numerical* is what was measured: $3x^2$ is 3 and 12. *Analytical* is what the rule returns: 2 and 8.",
    "`round` is flat between its jumps.",
    "`gradcheck` refuses it, because the rule is not the derivative.",
)
def rules_that_are_wrong() -> None:
    x = leaf([1.0, -2.0]).detach().double().requires_grad_()
    told = refused(lambda: torch.autograd.gradcheck(Cube.apply, (x,)))
    assert all(n in told for n in (" 3.0000", "12.0000", "[2., 0.]", "[0., 8.]"))
    refused(lambda: torch.autograd.gradcheck(StraightThrough.apply, (x + 0.4,)))
    y = leaf([1.4, 2.6])
    y.round().sum().backward()
    assert numbers(y.grad) == [0.0, 0.0]


@true("08", "It needs double precision.")
def gradcheck_of_floats() -> None:
    x = leaf([1.3, -2.1])
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of the precision
        assert torch.autograd.gradcheck(lambda x: x**3, (x.detach().double().requires_grad_(),))
        refused(lambda: torch.autograd.gradcheck(lambda x: x**3, (x,)))


@true(
    "09",
    "Its `grad` stays `None`, so a second step fails.",
    "The second way is `w -= ...`. It raises an error (notebook 7).",
)
def updates_that_fail() -> None:
    w = leaf(1.0)
    (w * 2).backward()
    moved = w - 0.1 * w.grad
    (moved * 2).backward()
    assert grad_of(moved) is None
    refused(lambda: w.sub_(0.1))


@true(
    "09",
    "The derivative of a sigmoid is at most $1/4$.",
    "On the right, `relu` sends it on unchanged where its input is positive.",
    "So the layers before it get a gradient of zero, and only the last bias learns.",
)
def vanishing() -> None:
    x = torch.linspace(-5, 5, 101).requires_grad_()
    x.sigmoid().sum().backward()
    assert x.grad.max().item() == 0.25
    x.grad = None
    x.relu().sum().backward()
    assert torch.equal(x.grad, (x > 0).float())
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    for p in model.parameters():
        torch.nn.init.zeros_(p)
    F.mse_loss(model(torch.tensor([[0.0, 1.0]])), torch.tensor([[1.0]])).backward()
    assert [bool(p.grad.any()) for p in model.parameters()] == [False, False, False, True]


@true("10", "At each residual `Add`, the gradient goes two ways, unchanged:")
def a_residual() -> None:
    h = leaf([1.0, 2.0])
    part = h * 1.0
    part.retain_grad()
    (h + part).backward(torch.tensor([3.0, 4.0]))
    assert numbers(part.grad) == [3.0, 4.0] and numbers(h.grad) == [6.0, 8.0]


@true(
    "11",
    "`item()` returned a Python number, and a number has no history.",
    "`h` is yellow, because `tensor(...)` copies the values without their history. "
    "`argmax`, comparisons and casts to integers do the same:",
    r"The slope of $\sqrt{z}$ is infinite at 0.",
    "So it keeps the graph of every step, and the memory of every batch.",
)
def lost_histories() -> None:
    x = leaf([1.4, 2.6])
    (x[0].item() * x[1]).backward()
    assert x.grad[0].item() == 0.0
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of the copy
        cut = [torch.tensor(x * 2), torch.argmax(x), x > 1, x.long()]
    assert not any(t.requires_grad for t in cut)
    z = leaf(0.0)
    z.sqrt().backward()
    assert z.grad.isinf()
    total = torch.tensor(0.0)
    for _ in range(2):
        total = total + x.sum()
    assert total.requires_grad and total.grad_fn.next_functions[0][0].next_functions[1][0] is not None


@true("12", "(The derivative of softmax with cross entropy is *probability minus target*.")
def probability_minus_target() -> None:
    logits = leaf([[1.0, 2.0]])
    F.cross_entropy(logits, torch.tensor([1])).backward()
    torch.testing.assert_close(logits.grad, logits.detach().softmax(1) - torch.tensor([[0.0, 1.0]]))


@true("13", "The `1e-6` stands outside of the root, and there it does not help.")
def a_root_of_zero() -> None:
    h = torch.zeros(3, requires_grad=True)
    (h / (h.pow(2).sum().sqrt() + 1e-6)).sum().backward()
    assert h.grad.isnan().all()


@true(
    "16",
    "That is $G W^T$.",
    "A mean over $n$ rows divides each gradient by $n$.",
    "So each column of `x.grad` adds up to 0:",
    "Token 1 was used twice, so its row gets two gradients, and they are added.",
    "The derivative is $1 - y^2$.",
)
def rules_by_hand() -> None:
    torch.manual_seed(0)
    x, w, g = torch.randn(2, 3, requires_grad=True), torch.randn(3, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    (x @ w).backward(g)
    torch.testing.assert_close(x.grad, g @ w.T)
    x.grad = None
    F.cross_entropy(x, torch.tensor([0, 2])).backward()
    torch.testing.assert_close(x.grad, (x.detach().softmax(1) - torch.eye(3)[[0, 2]]) / 2)
    x.grad = None
    F.batch_norm(x, None, None, training=True).backward(torch.randn(2, 3))
    torch.testing.assert_close(x.grad.sum(0), torch.zeros(3), atol=1e-3, rtol=0)
    table = torch.zeros(4, 2, requires_grad=True)
    table[torch.tensor([1, 3, 1])].backward(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert numbers(table.grad) == [[0.0, 0.0], [6.0, 8.0], [0.0, 0.0], [3.0, 4.0]]
    y = leaf(0.5)
    y.tanh().backward()
    torch.testing.assert_close(y.grad, 1 - y.detach().tanh() ** 2)


@true(
    "17",
    "PyTorch keeps only those of leaves.)",
    "PyTorch keeps gradients only in leaves, and frees what a rule needs after use.",
)
def leaves_alone() -> None:
    a, b = leaf(2.0), leaf(3.0)
    c = a * b
    y = c * c + c
    y.backward()
    assert (a.grad.item(), b.grad.item(), grad_of(c)) == (39.0, 26.0, None)
    refused(y.backward)
