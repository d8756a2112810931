"""Random programs, run, differentiated, stepped and taken back in autograd_viz and in PyTorch; every difference is told.

``python -m tests.trust.equality 20000`` runs as many; a second number is the first seed, and a third a limit in seconds.
"""

from __future__ import annotations

import gc
import random
import sys
import time
import warnings
from typing import Any

import numpy as np
import torch

import autograd_viz as av
from autograd_viz.sources.anything import graph_of, pass_of
from autograd_viz.stepper import Stepper

from ..core.test_wild import backward_says, differences, facts, of_a_view
from ..wild import BINARY, SHAPES, UNARY, Instruction, Program

MOST = 30  # instructions


def program_of(seed: int) -> Program:
    """The program of a seed: as `wild_programs` draws them, without Hypothesis' bookkeeping."""
    draw = random.Random(seed)
    count = draw.randint(1, 3)
    leaves = tuple((draw.choice(SHAPES), k == 0 or draw.random() < 0.5) for k in range(count))
    return Program(leaves, tuple(_instruction(draw) for _ in range(draw.randint(5, MOST))))


def _instruction(draw: random.Random) -> Instruction:
    kind = draw.choice(("unary", "unary", "unary", "binary", "binary", "hook"))
    if kind == "hook":
        return Instruction("hook", (draw.randint(0, 40),))
    table, arity = (UNARY, 1) if kind == "unary" else (BINARY, 2)
    operands = tuple(draw.randint(0, 40) for _ in range(arity))
    return Instruction(draw.choice(sorted(table)), operands, draw.random() < 0.125)


class Passes:
    """A program's pass in one of the two modules, stepped to its end, back to its start, and to its end again."""

    def __init__(self, program: Program, module: Any) -> None:
        self.pool, self.said = program.run(module)
        self.said.clear()
        roots = [t for t in self.pool if isinstance(facts(t), tuple) and t.requires_grad]
        self.steps: list[Any] = []
        self.wrong: list[str] = []
        self.error = ""
        if not roots:
            return
        try:
            loss = sum((r * 0.5).sum() for r in roots)
            graph = graph_of(loss, {})
            self.stepper = Stepper(graph.document, pass_of(graph, loss, None, None, False))
        except RuntimeError as error:
            self.error = str(error)
            return
        self.names = {n.id: n.name for n in graph.document.nodes}
        self._walk()

    def grads(self) -> list[Any]:
        """Every grad that can be asked for without a warning."""
        asked = [t for t in self.pool if isinstance(facts(t), tuple) and (t.is_leaf or t.retains_grad)]
        return [None if t.grad is None else t.grad.detach().numpy().copy() for t in asked]

    def _walk(self) -> None:
        before = self.grads()
        try:
            self.stepper.finish()
        except RuntimeError as error:
            self.error = str(error)
        self.order = [self.names[s.node] for s in self.stepper.trace.steps]
        self.steps = [(s.grad_outputs, s.grad_inputs) for s in self.stepper.trace.steps]
        self.stepper.goto(len(self.steps))  # a pass that raised has been taken back
        end, said = self.grads(), list(self.said)
        self.stepper.goto(0)
        if not same(self.grads(), before):
            self.wrong.append("Back to the start does not restore the grads")
        self.stepper.goto(len(self.steps) // 2)
        self.stepper.back()
        self.stepper.goto(len(self.steps))
        if not same(self.grads(), end) or self.said != said:
            self.wrong.append("the second way to the end is another")
        self.end = end


def same(a: list[Any], b: list[Any]) -> bool:
    """Bit for bit."""
    return all(
        (x is None) == (y is None) and (x is None or np.array_equal(x, y, equal_nan=True)) for x, y in zip(a, b, strict=True)
    )


def step_differences(program: Program) -> list[str]:
    """What is not the same in the steps of both, and in PyTorch's own backward()."""
    ours, theirs = Passes(program, av), Passes(program, torch)
    found = [f"{who}: {w}" for who, p in (("autograd_viz", ours), ("stepped PyTorch", theirs)) for w in p.wrong]
    if ours.error or theirs.error:
        same_error = of_a_view(ours.error, theirs.error) == theirs.error
        return found + ([] if same_error else [f"error {ours.error!r}, PyTorch: {theirs.error!r}"])
    if not ours.steps and not theirs.steps:
        return found
    if ours.order != theirs.order:
        return [*found, f"order {ours.order}, PyTorch: {theirs.order}"]
    for name, mine, other in zip(ours.order, ours.steps, theirs.steps, strict=True):
        found += [f"{name}: {mine}, PyTorch: {other}"] if not alike(mine, other) else []
    found += [] if ours.said == theirs.said else [f"hooks said {ours.said}, PyTorch: {theirs.said}"]
    pool, said = program.run(torch)
    said.clear()
    ran = [name.removeprefix("torch::autograd::") for name in backward_says(torch, pool)[0]]
    found += (
        []
        if ran == ours.order and said == ours.said
        else [f"stepped {ours.order} {ours.said}, PyTorch's backward: {ran} {said}"]
    )
    kept = [t for t in pool if isinstance(facts(t), tuple) and (t.is_leaf or t.retains_grad)]
    for mine, t in zip(ours.end, kept, strict=True):
        equal = mine is None if t.grad is None else mine is not None and np.allclose(mine, t.grad, 1e-9, 1e-9, equal_nan=True)
        found += [] if equal else [f"grad {mine}, PyTorch's backward: {t.grad}"]
    return found


def alike(mine: Any, other: Any) -> bool:
    """Two steps' gradients, output by output and input by input."""
    for a, b in zip((*mine[0], *mine[1]), (*other[0], *other[1]), strict=True):
        if (a is None) != (b is None):
            return False
        if a is not None and (a.shape != b.shape or not np.allclose(a.numbers, b.numbers, 1e-6, 1e-9, equal_nan=True)):
            return False
    return True


def checked(seed: int) -> list[str]:
    """All differences of a seed's program; an error of ours is one."""
    program = program_of(seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return differences(program) or step_differences(program)
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]


def main(count: int, first: int = 0, seconds: float = float("inf")) -> int:
    """Run the programs; returns how many differ."""
    start, wrong, ran = time.monotonic(), 0, 0
    torch.set_num_threads(1)
    checked(first)  # loads what is loaded when it is first needed
    gc.collect()
    gc.freeze()  # each stepper asks the collector for all tensors: it need not go through what was imported
    for seed in range(first, first + count):
        if time.monotonic() - start > seconds:
            break
        found = checked(seed)
        ran += 1
        wrong += bool(found)
        if found:
            print(f"seed {seed}: {program_of(seed)}\n  " + "\n  ".join(found), flush=True)
    print(f"{ran} programs, {wrong} differ, {time.monotonic() - start:.0f} s")
    return wrong


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    sys.exit(bool(main(*numbers)))
