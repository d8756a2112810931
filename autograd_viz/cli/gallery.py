"""The six programs of the Elliot Waite diagrams, each after its backward pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import autograd_viz as av


def one_multiplication(path: Path) -> None:
    """Nothing requires grad: nothing is recorded."""
    a = av.tensor(2.0)
    b = av.tensor(3.0)
    c = a * b
    av.save(c, path)


def one_gradient(path: Path) -> None:
    """One leaf requires grad."""
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0)
    c = a * b
    c.backward()
    av.save(c, path)


def chain_rule(path: Path) -> None:
    """The gradient goes from node to node."""
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    c = a * b
    d = av.tensor(4.0, requires_grad=True)
    e = c * d
    e.backward()
    av.save(e, path)


def retained(path: Path) -> None:
    """A non-leaf keeps its gradient."""
    a = av.tensor(2.0, requires_grad=True)
    b = av.tensor(3.0, requires_grad=True)
    c = a * b
    c.retain_grad()
    d = av.tensor(4.0, requires_grad=True)
    e = c * d
    e.backward()
    av.save(e, path)


def several_outputs(path: Path) -> None:
    """What the index in next_functions is for."""
    a = av.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b, c, d = a.unbind()
    e = b * c * d
    e.backward()
    av.save(e, path)


def fan_in(path: Path) -> None:
    """Where gradients meet."""
    a = av.tensor(2.0)
    b = av.tensor(2.0)
    c = a * b
    c.requires_grad = True
    d = av.tensor(2.0)
    e = c * d
    f = av.tensor(2.0)
    g = e * f
    h = av.tensor(2.0, requires_grad=True)
    i = g / h
    i.retain_grad()
    j = i + h
    k = j * i
    k.backward()
    av.save(k, path)


PROGRAMS: tuple[Callable[[Path], None], ...] = (
    one_multiplication, one_gradient, chain_rule, retained, several_outputs, fan_in,
)  # fmt: skip


def gallery(folder: Path) -> list[Path]:
    """Write the figures as SVG; the folder is made if it is not there.

    Raises:
        CannotWriteError: it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise av.CannotWriteError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    paths = [folder / f"{i}_{program.__name__}.svg" for i, program in enumerate(PROGRAMS, 1)]
    for program, path in zip(PROGRAMS, paths, strict=True):
        program(path)
    return paths
