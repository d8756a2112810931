"""Random programs with everything that makes autograd hard: views, changes in place, detach, no_grad, hooks, several outputs.

An instruction may fail (a shape that does not fit, a leaf changed in place): then it must fail alike in autograd_viz and
PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda x: -x,
    "exp": lambda x: (x * 0.1).exp(),
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu(),
    "abs": lambda x: x.abs(),
    "square": lambda x: (x * 0.5) ** 2,
    "sum": lambda x: x.sum(),
    "sum0": lambda x: x.sum(0),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    # views
    "first": lambda x: x[0],
    "last_column": lambda x: x[..., -1],
    "rest": lambda x: x[1:],
    "steps": lambda x: x[::2],
    "t": lambda x: x.t(),
    "flat": lambda x: x.reshape(-1),
    "view": lambda x: x.view(-1),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.squeeze(),
    "expand": lambda x: x.expand(2, *x.shape),
    "narrow": lambda x: x.narrow(0, 0, 1),
    # in place
    "zero_": lambda x: x.zero_(),
    "double_": lambda x: x.mul_(2),
    "add1_": lambda x: x.add_(1),
    "relu_": lambda x: x.relu_(),
    "sigmoid_": lambda x: x.sigmoid_(),
    "fill_first": lambda x: x[0].fill_(0.25),
    # not of what retains its grad: PyTorch leaves the hook on the node, where nobody can see it, and fails later with an
    # INTERNAL ASSERT if the tensor is changed in place
    "detach_": lambda x: None if x.is_leaf or x.retains_grad else x.detach_(),
    # several outputs
    "unbind": lambda x: x.unbind(0),
    "split": lambda x: x.split(1),
    # flags
    "requires_grad_": lambda x: x.requires_grad_(),
    "retain_grad": lambda x: x.retain_grad(),
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (y * y + 1),
    "matmul": lambda x, y: x @ y,
    "add_": lambda x, y: x.add_(y),
    "mul_": lambda x, y: x.mul_(y),
    "copy_": lambda x, y: x.copy_(y),
    "set_first": lambda x, y: x.__setitem__(0, y),
    "set_rest": lambda x, y: x.__setitem__(slice(1, None), y),
}  # fmt: skip
WRITTEN: dict[str, Callable[[Any], Any]] = {
    "add_": lambda x: x,
    "mul_": lambda x: x,
    "copy_": lambda x: x,
    "set_first": lambda x: x[:1],
    "set_rest": lambda x: x[1:],
}
SHAPES = ((), (3,), (2, 3), (1, 3), (2, 2))


@dataclass(frozen=True)
class Instruction:
    """One statement on tensors of the pool (positions count modulo its size)."""

    op: str
    operands: tuple[int, ...]
    no_grad: bool = False


@dataclass(frozen=True)
class Program:
    """Leaves as (shape, requires_grad), then instructions."""

    leaves: tuple[tuple[tuple[int, ...], bool], ...]
    instructions: tuple[Instruction, ...]

    def run(self, torch: Any) -> tuple[list[Any], list[Any]]:
        """The pool of tensors at the end, and what was said on the way: errors, hooks in the order in which they ran."""
        pool = [self.leaf(torch, k, *leaf) for k, leaf in enumerate(self.leaves)]
        said: list[Any] = []
        for k, i in enumerate(self.instructions):
            operands = [pool[j % len(pool)] for j in i.operands]
            try:
                if i.op == "hook":
                    if operands[0]._is_view() and operands[0].grad_fn is None:  # PyTorch crashes on views made under no_grad
                        continue
                    operands[0].register_hook(hook(said, k))
                    continue
                if i.op in WRITTEN and depends_on_order(i.op, *(t.data.numpy() for t in operands)):
                    continue
                with torch.set_grad_enabled(not i.no_grad):
                    made = (UNARY | BINARY)[i.op](*operands)
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                said.append(f"{k} {type(error).__name__}: {error}")
                continue
            new = made if isinstance(made, tuple | list) else (made,)
            pool += [t for t in new if t is not None and all(t is not p for p in pool)]
        return pool, said

    @staticmethod
    def leaf(torch: Any, k: int, shape: tuple[int, ...], requires_grad: bool) -> Any:
        count = int(np.prod(shape, dtype=int))
        values = torch.tensor([0.3 + 0.17 * ((i + 3 * k) % 7) for i in range(count)], dtype=torch.float64)
        return values.reshape(shape).clone().requires_grad_(requires_grad)


def depends_on_order(op: str, changed: Any, read: Any) -> bool:
    """Does the op read elements after it has written them? What comes out is chance in PyTorch, which refuses only where both
    tensors lie dense in memory.
    """
    if changed.ndim == 0 or (read.ndim == 0 and op.startswith("set")):
        return False
    written = WRITTEN[op](changed)
    is_dense = [a.flags.c_contiguous or a.flags.f_contiguous for a in (written, read)]
    shape = written.shape[1:] if op == "set_first" else written.shape
    is_repeated = op.startswith("set") and read.size != written.size
    if not np.shares_memory(written, read) or (all(is_dense) and not is_repeated):
        return False
    to, there = addresses(written).reshape(shape), addresses(read)
    try:
        there = np.broadcast_to(there.reshape(there.shape[max(there.ndim - to.ndim, 0) :]), shape)
    except ValueError:  # they do not fit, which both say
        return False
    return bool(np.isin(there[there != to], to).any())


def addresses(array: Any) -> Any:
    """Where in memory each element lies."""
    places = np.indices(array.shape).reshape(array.ndim, -1)
    return (array.ctypes.data + np.array(array.strides, int) @ places).reshape(array.shape)


class Seen:
    """What a hook saw: equal to what another saw but for rounding."""

    def __init__(self, k: int, grad: Any) -> None:
        self.k, self.grad = k, None if grad is None else grad.detach().numpy().copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Seen) or self.k != other.k or (self.grad is None) != (other.grad is None):
            return False
        return self.grad is None or (
            self.grad.shape == other.grad.shape and np.allclose(self.grad, other.grad, rtol=1e-9, atol=1e-9, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"hook {self.k}: {None if self.grad is None else self.grad.tolist()}"


def hook(said: list[Any], k: int) -> Callable[[Any], Any]:
    """A hook that says what it saw, and halves it."""

    def halve(grad: Any) -> Any:
        said.append(Seen(k, grad))
        return None if grad is None else grad * 0.5

    return halve


@st.composite
def wild_programs(draw: Any, most: int = 30) -> Program:
    """A program of 5 to `most` instructions."""
    flags = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    leaves = tuple((draw(st.sampled_from(SHAPES)), flag or k == 0) for k, flag in enumerate(flags))
    position = st.integers(0, 40)
    unary = st.builds(Instruction, st.sampled_from(sorted(UNARY)), st.tuples(position), st.sampled_from([False] * 7 + [True]))
    binary = st.builds(
        Instruction, st.sampled_from(sorted(BINARY)), st.tuples(position, position), st.sampled_from([False] * 7 + [True])
    )
    hooks = st.builds(Instruction, st.just("hook"), st.tuples(position))
    instruction = st.one_of(unary, unary, unary, binary, binary, hooks)
    return Program(leaves, tuple(draw(st.lists(instruction, min_size=5, max_size=most))))
