"""A sentence of a notebook, and the program that shows it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Truth(NamedTuple):
    """`shown` raises if one of the sentences is false in PyTorch."""

    notebook: str  # "04"
    sentences: tuple[str, ...]  # as they stand there
    shown: Callable[[], None]


TRUTHS: list[Truth] = []


def true(notebook: str, *sentences: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Enter a program for some sentences."""

    def enter(shown: Callable[[], None]) -> Callable[[], None]:
        TRUTHS.append(Truth(notebook, sentences, shown))
        return shown

    return enter


def leaf(data: Any = 2.0) -> torch.Tensor:
    return torch.tensor(data, requires_grad=True)


def numbers(t: torch.Tensor | None) -> Any:
    return None if t is None else t.tolist()


def grad_of(t: torch.Tensor) -> torch.Tensor | None:
    """Its grad; PyTorch warns that what is no leaf has none."""
    with warnings.catch_warnings(action="ignore"):
        return t.grad


def refused(call: Callable[[], Any], kind: type[Exception] = RuntimeError) -> str:
    """What PyTorch says, which must refuse."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("PyTorch does not refuse it")


def order_of(root: torch.Tensor, **names: Any) -> list[str]:
    """Which of the named nodes run, in their order."""
    ran: list[str] = []
    handles = [node.register_hook(lambda *_, name=name: ran.append(name)) for name, node in names.items()]
    root.backward()
    for handle in handles:
        handle.remove()
    return ran


def accumulator(t: torch.Tensor) -> Any:
    """The AccumulateGrad of a leaf."""
    return t.view_as(t).grad_fn.next_functions[0][0]  # type: ignore[union-attr]
