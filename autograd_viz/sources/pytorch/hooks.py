"""The user's hooks around a node that is called by hand.

# Note [How hooks are found]
Tensor hooks and retain_grad belong to C++: they are run by PyTorch's engine itself, in a pass that starts and ends at the same
edge and calls no node. Hooks of a node stand in a dictionary that a handle of any hook registered on the node refers to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd.graph import GradientEdge

from ...graph.model import Value
from ...graph.trace import HookRun
from .nodes import is_accumulate, variable_of
from .values import value_of


class HookRunner:
    """Runs the hooks of one pass, and remembers what they made of the gradients.

    Args:
        create_graph: what hooks do is recorded.

    Attributes:
        runs: what has run since it was last emptied.
        watched: by node, the dictionaries in which its outputs (or its leaf) keep their hooks.
    """

    def __init__(self, create_graph: bool) -> None:
        self.create_graph = create_graph
        self.runs: list[HookRun] = []
        self.watched: dict[Any, list[tuple[int, dict[Any, Any]]]] = {}

    def before(self, node: Any, grads: list[Any]) -> list[Any]:
        """What arrived, after tensor hooks, retain_grad and pre-hooks.

        Raises:
            Exception: whatever a hook raises.
        """
        grads = self._through_tensor_hooks(node, grads)
        for hook in list(dict_of(node.register_prehook).values()):
            given = tuple(grads)
            seen = _values(given)
            returned = hook(given)
            if returned is not None:
                grads = list(returned) if isinstance(returned, tuple | list) else [returned]
            self._ran_for_all("pre", hook, seen, _values(grads))
        return grads

    def after(self, node: Any, grad_inputs: Sequence[Any], grad_outputs: Sequence[Any]) -> tuple[Any, ...]:
        """What leaves, after the node's hooks."""
        left = tuple(grad_inputs)
        for hook in list(dict_of(node.register_hook).values()):
            seen = _values(left)
            returned = hook(left, tuple(grad_outputs))
            if returned is not None:
                left = tuple(returned) if isinstance(returned, tuple | list) else (returned,)
            self._ran_for_all("post", hook, seen, _values(left))
        return left

    def _through_tensor_hooks(self, node: Any, grads: list[Any]) -> list[Any]:
        """The engine runs them: a pass from these edges to the same edges."""
        places = [i for i, g in enumerate(grads) if g is not None]
        if not places:
            return grads
        edges = [GradientEdge(node, i) for i in places]
        with self._watching(self.watched.get(node, ()), "tensor"):
            passed = torch.autograd.grad(
                edges, edges, [grads[i] for i in places], retain_graph=True, create_graph=self.create_graph, allow_unused=True
            )
        found = list(grads)
        for i, g in zip(places, passed, strict=True):
            found[i] = g
        return found

    @contextmanager
    def accumulating(self, node: Any) -> Iterator[None]:
        """Inside, post-accumulate hooks of the node's leaf are watched: AccumulateGrad itself runs them."""
        hooks = getattr(variable_of(node), "_post_accumulate_grad_hooks", None) if is_accumulate(node) else None
        with self._watching([(0, hooks)] if hooks else (), "post_accumulate"):
            yield

    @contextmanager
    def _watching(self, dicts: Iterable[tuple[int, dict[Any, Any]]], kind: str) -> Iterator[None]:
        """Inside, every hook in these dictionaries says what it was given and what it made of it."""
        dicts = [(i, d) for i, d in dicts if d]
        for index, hooks in dicts:
            for key, hook in list(hooks.items()):
                hooks[key] = _Watched(self, kind, index, hook)
        try:
            yield
        finally:
            for _, hooks in dicts:
                for key, hook in list(hooks.items()):
                    hooks[key] = hook.hook if isinstance(hook, _Watched) else hook

    def _ran_for_all(self, kind: str, hook: Any, before: Sequence[Value | None], after: Sequence[Value | None]) -> None:
        """Several gradients at once: one line for each that is another now, or one for the first that there is."""
        pairs = list(enumerate(zip(before, after, strict=True)))
        changed = [(i, p) for i, p in pairs if repr(p[0]) != repr(p[1])]  # nan equals nan
        there = [(i, p) for i, p in pairs if p[0] is not None]
        for i, (b, a) in changed or there[:1] or pairs[:1]:
            self.runs.append(HookRun(kind, name_of_hook(hook), b, a, i))


class _Watched:
    """A hook that says what it was given and what it made of it."""

    def __init__(self, runner: HookRunner, kind: str, index: int, hook: Any) -> None:
        self.runner, self.kind, self.index, self.hook = runner, kind, index, hook

    def __call__(self, given: Any) -> Any:
        """Run the hook."""
        gives_leaf = self.kind == "post_accumulate"
        before = _value(given.grad if gives_leaf else given)
        returned = self.hook(given)
        after = given.grad if gives_leaf else given if returned is None else returned
        self.runner.runs.append(HookRun(self.kind, name_of_hook(self.hook), before, _value(after), self.index))
        return returned


def dict_of(register: Any) -> dict[Any, Any]:
    """The hooks that ``node.register_hook`` or ``node.register_prehook`` adds to."""
    handle = register(_nothing)
    hooks: dict[Any, Any] = handle.hooks_dict_ref() or {}
    handle.remove()
    return hooks


def name_of_hook(hook: Any) -> str:
    """What the user calls the function."""
    return str(getattr(hook, "__name__", type(hook).__name__))


def _nothing(*_: Any) -> None:
    """A hook that leaves everything as it is."""


def _value(grad: Any) -> Value | None:
    return value_of(grad) if isinstance(grad, torch.Tensor) else None


def _values(grads: Sequence[Any]) -> list[Value | None]:
    return [_value(g) for g in grads]
