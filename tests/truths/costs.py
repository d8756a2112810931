"""Notebook 18: windows, time, the two modes, checkpoints."""

from __future__ import annotations

import warnings
import weakref

import torch
from torch.utils.checkpoint import checkpoint

from .said import grad_of, leaf, numbers, refused, true


@true(
    "18",
    "`x[1]` lies in two windows: in the first one it meets 1, in the second one 10.",
    "The kernel is used in every window, so it gets the sum of all windows.",
    "windows transposed times the gradient of `y`.",
)
def a_convolution() -> None:
    x, kernel = leaf([1.0, 2.0, 3.0, 4.0]), leaf([10.0, 1.0])
    windows, g = x.unfold(0, 2, 1), torch.tensor([1.0, 2.0, 3.0])
    y = torch.nn.functional.conv1d(x.reshape(1, 1, 4), kernel.reshape(1, 1, 2)).flatten()
    assert torch.equal(y, windows @ kernel)
    (of_x, of_kernel) = torch.autograd.grad(y.sum(), (x, kernel), retain_graph=True)
    assert of_x[1].item() == 1.0 + 10.0 and torch.equal(of_kernel, windows.sum(0))
    assert torch.equal(torch.autograd.grad(y, kernel, g)[0], windows.T @ g)


@true(
    "18",
    "Each time step sends one gradient to `w`, from the last to the first: 1.5, 0.5 and 0.0.",
    "the gradient of the state is multiplied by `w` at each time step: 1, then 0.5, then 0.25.",
    "The state is 1.75 as before.",
    "so `w` gets 1.5 instead of 2.0.",
)
def a_state() -> None:
    def run(w: torch.Tensor, cut: bool) -> tuple[torch.Tensor, list[float], list[float]]:
        h, sent, states = torch.tensor(0.0), [], []
        for step in range(3):
            product = w * (h.detach() if cut and step == 2 else h)
            product.grad_fn.register_hook(lambda sends, _: sent.append(sends[0].item()))
            h = product + 1.0
            h.register_hook(lambda gradient: states.append(gradient.item()))
        h.backward()
        return h, sent, states

    w = leaf(0.5)
    assert run(w, cut=False)[1:] == ([1.5, 0.5, 0.0], [1.0, 0.5, 0.25]) and w.grad.item() == 2.0
    w = leaf(0.5)
    assert run(w, cut=True)[0].item() == 1.75 and w.grad.item() == 1.5


@true(
    "18",
    "It is 12.0, the slope of $y = a^2 b$ along `a`.",
    "One backward pass gives both slopes: 12.0 and 4.0.",
    "PyTorch calls the two ways `jvp` and `vjp`.",
    "Forward mode takes a pass for each *input*, reverse mode a pass for each *output*.",
)
def two_modes() -> None:
    ran: list[str] = []

    def y_of(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ran.append("y")
        return a * b * a

    at, one, zero = (torch.tensor(2.0), torch.tensor(3.0)), torch.tensor(1.0), torch.tensor(0.0)
    with warnings.catch_warnings(action="ignore"):  # PyTorch's own, of its compiler
        slopes = [torch.func.jvp(y_of, at, along)[1].item() for along in ((one, zero), (zero, one))]
    assert slopes == [12.0, 4.0] and len(ran) == 2
    _, backward = torch.func.vjp(y_of, *at)
    assert [g.item() for g in backward(one)] == [12.0, 4.0] and len(ran) == 3


@true("18", "A *checkpoint* keeps only the input of a part of the program, and runs that part again in the backward pass.")
def a_checkpoint() -> None:
    runs: list[weakref.ref[torch.Tensor]] = []

    def block(x: torch.Tensor) -> torch.Tensor:
        grown = x.exp()
        runs.append(weakref.ref(grown))
        return grown.sin()

    x = leaf([1.0, 2.0, 3.0])
    y = checkpoint(block, x, use_reentrant=False)
    assert [grown() for grown in runs] == [None]
    y.sum().backward()
    assert len(runs) == 2
    again = leaf([1.0, 2.0, 3.0])
    again.exp().sin().sum().backward()
    assert numbers(grad_of(x)) == numbers(again.grad)


@true(
    "18", "The second pass reaches the first batch, whose saved tensors are freed.", "`h = h.detach()` between the batches ends"
)
def a_carried_state() -> None:
    def second(h: torch.Tensor, is_cut: bool) -> None:
        h = (w * h).tanh()
        ((h - 1.0) ** 2).backward()
        h = (w * (h.detach() if is_cut else h)).tanh()
        ((h - 1.0) ** 2).backward()

    w = leaf(0.5)
    assert "second time" in refused(lambda: second(torch.tensor(1.0), is_cut=False))
    second(torch.tensor(1.0), is_cut=True)
