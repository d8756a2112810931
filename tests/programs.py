"""Random straight-line programs that run in autograd_viz and in PyTorch alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

UNARY = ("neg", "exp", "sin", "cos", "tanh", "sigmoid", "relu", "abs", "square", "sum", "mean", "clone", "t")
BINARY = ("add", "sub", "mul", "div")
SHAPES = ((), (3,), (2, 3), (1, 3))


@dataclass(frozen=True)
class Instruction:
    """One statement: apply `op` to tensors of the pool (by position) or to a number, and add the results to the pool."""

    op: str
    operands: tuple[int, ...] = ()
    number: float | None = None


@dataclass(frozen=True)
class Program:
    """Leaves as (shape, requires_grad), then instructions."""

    leaves: tuple[tuple[tuple[int, ...], bool], ...]
    instructions: tuple[Instruction, ...]

    def run(self, torch: Any) -> tuple[list[Any], list[Any]]:
        """(leaves, pool) in a torch-like module; float64, so that results can be compared closely."""
        leaves = []
        for k, (shape, requires_grad) in enumerate(self.leaves):
            count = 1
            for n in shape:
                count *= n
            values = torch.tensor([0.3 + 0.17 * ((i + 3 * k) % 7) for i in range(count)], dtype=torch.float64)
            leaves.append(values.reshape(shape).clone().requires_grad_(requires_grad))
        pool = list(leaves)
        for i in self.instructions:
            pool += apply(torch, i, [pool[j] for j in i.operands])
        return leaves, pool


def apply(torch: Any, i: Instruction, operands: list[Any]) -> list[Any]:
    """The results of one instruction (`result_shapes` says whether the shapes allow it)."""
    x = operands[0]
    if i.op in BINARY:
        other = i.number if i.number is not None else operands[1]
        return [getattr(torch, i.op)(x, other)]
    if i.op == "t":
        return [x.t()]
    if i.op == "unbind":
        return list(x.unbind(0))
    if i.op == "max":  # the indices are not differentiable, and are read
        best, at = x.max(0)
        return [best, best * at]
    if i.op == "matmul":
        return [x @ x.t()]
    return [getattr(x, i.op)()]


def result_shapes(i: Instruction, shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The shapes of what an instruction makes; none if it would not run."""
    x = shapes[i.operands[0]]
    if i.op in BINARY:
        other = () if i.number is not None else shapes[i.operands[1]]
        try:
            return [np.broadcast_shapes(x, other)]
        except ValueError:
            return []
    if i.op in ("t", "matmul"):
        return [(x[1], x[0]) if i.op == "t" else (x[0], x[0])] if len(x) == 2 else []
    if i.op == "unbind":
        return [x[1:]] * x[0] if x and x[0] <= 3 else []
    if i.op == "max":
        return [x[1:]] * 2 if x else []
    return [() if i.op in ("sum", "mean") else x]


@st.composite
def programs(draw: Any, most: int = 25) -> Program:
    """A program of up to `most` instructions over a few leaves, at least one of which requires grad."""
    flags = draw(st.lists(st.booleans(), min_size=1, max_size=4))
    leaves = tuple((draw(st.sampled_from(SHAPES)), flag or k == 0) for k, flag in enumerate(flags))
    shapes = [shape for shape, _ in leaves]
    instructions = []
    for _ in range(draw(st.integers(1, most))):
        op = draw(st.sampled_from((*UNARY, *BINARY, *BINARY, "unbind", "max", "matmul")))
        recent = st.integers(max(0, len(shapes) - 6), len(shapes) - 1) | st.integers(0, len(shapes) - 1)
        operands = (draw(recent), draw(recent)) if op in BINARY else (draw(recent),)
        number = draw(st.sampled_from([None, None, 2, 0.5])) if op in BINARY else None
        instruction = Instruction(op, operands, number)
        made = result_shapes(instruction, shapes)
        if made:
            instructions.append(instruction)
            shapes += made
    return Program(leaves, tuple(instructions))
