"""Random programs with views, in-place changes, hooks and modes: everything that happens is what happens in PyTorch."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import autograd_viz as av

from ..effort import examples
from ..wild import Program, wild_programs

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")


def backward_says(module: Any, pool: list[Any]) -> tuple[list[str], str]:
    """Run backward from everything that requires grad: the nodes in the order in which they ran, and the error if any."""
    roots = [t for t in pool if isinstance(facts(t), tuple) and t.requires_grad]
    if not roots:
        return [], ""
    order: list[str] = []
    try:
        loss = sum((r * 0.5).sum() for r in roots)
        seen, stack = set(), [loss.grad_fn]
        while stack:
            n = stack.pop()
            if n is not None and n not in seen:
                seen.add(n)
                n.register_prehook(lambda g, n=n: order.append(n.name()))
                stack += [after for after, _ in n.next_functions]
        loss.backward()
    except RuntimeError as error:
        return order, str(error)
    return order, ""


def graph(root: Any) -> list[Any]:
    """Names and edges of the backward graph behind a tensor."""
    numbers, found, queue = {root: 0}, [], [root]
    while queue:
        n = queue.pop(0)
        edges = []
        for after, index in n.next_functions:
            if after is not None and after not in numbers:
                numbers[after] = len(numbers)
                queue.append(after)
            edges.append((None if after is None else numbers[after], index if after is not None else 0))
        found.append((n.name(), edges))
    return found


def facts(tensor: Any) -> Any:
    """What a tensor says of itself, with the graph behind it; or the error of asking."""
    try:
        behind = None if tensor.grad_fn is None else graph(tensor.grad_fn)
        return tensor.requires_grad, tensor.is_leaf, tensor._version, tensor._is_view(), behind
    except RuntimeError as error:
        return str(error)


def told_late(mine: str, theirs: str) -> str:
    """Our error, except where PyTorch complains of a view's history first and we of the op's arguments: both refuse."""
    both = " RuntimeError: " in theirs and "Error: " in mine and mine.split(maxsplit=1)[0] == theirs.split(maxsplit=1)[0]
    return theirs if both and "its base or another view of its base has been modified" in theirs else mine


def of_a_view(mine: str, theirs: str) -> str:
    """Our error, except where PyTorch says that a result written into a view is the view's: it does so while anything holds
    the grad_fn that the view had then, and calls it the op's own otherwise, as we always do.
    """
    both = [re.sub(r", which is output 0 of \w+,", "", text) for text in (mine, theirs)]
    return theirs if both[0] == both[1] and "which is output 0 of AsStrided," in theirs else mine


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-9, equal_nan=True))


def differences(program: Program) -> list[str]:
    """Run the program in both; what is not the same."""
    (mine, said), (theirs, torch_said) = program.run(av), program.run(torch)
    if [*map(told_late, said, torch_said)] != torch_said or len(said) != len(torch_said) or len(mine) != len(theirs):
        return [f"said {said}, PyTorch: {torch_said}"]
    found = [
        f"p{i}: {facts(m)}, PyTorch: {facts(t)}" for i, m, t in pairs(mine, theirs) if not close(m, t) or facts(m) != facts(t)
    ]
    said.clear()
    torch_said.clear()
    ran, torch_ran = backward_says(av, mine), backward_says(torch, theirs)
    ran = (ran[0], of_a_view(ran[1], torch_ran[1]))
    if ran != torch_ran or said != torch_said:
        found.append(f"ran {ran} {said}, PyTorch: {torch_ran} {torch_said}")
    for i, m, t in pairs(mine, theirs):
        if isinstance(facts(t), tuple) and (t.is_leaf or t.retains_grad):
            alike = m.grad is t.grad if m.grad is None or t.grad is None else close(m.grad, t.grad)
            found += [] if alike else [f"p{i}.grad: {m.grad}, PyTorch: {t.grad}"]
    return found


def pairs(mine: list[Any], theirs: list[Any]) -> list[tuple[int, Any, Any]]:
    return [(i, m, t) for i, (m, t) in enumerate(zip(mine, theirs, strict=True))]


@given(wild_programs())
@settings(
    max_examples=examples(2000),
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
)
def test_wild_programs_agree(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert differences(program) == []
