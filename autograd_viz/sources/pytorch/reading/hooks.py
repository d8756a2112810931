"""The user's hooks around a node that is called by hand.

# Note [How hooks are found]
Tensor hooks and retain_grad are C++ code. PyTorch's engine runs them, in a pass that starts and ends at the same edge and calls
no node. The hooks of a node are in a dictionary. A handle of any hook on the node refers to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge, Node

from ....graph.model import Value
from ....graph.trace import HookRun
from ....twin.core.backward.hooks import checked
from ...shared.replacement import name_of_hook, runs_of
from . import older
from .nodes import variable_of
from .older import ENGINE
from .values import value_of


def check_result(hook: object, before: Sequence[Any], returned: object) -> tuple[Any, ...]:
    """Check what a hook returned, and give the gradients that go on. All errors are in PyTorch's words.
    TypeError: it is no tuple, or has an item that is no tensor. RuntimeError: their number, a type or a size is wrong.
    """
    return tuple(before if returned is None else checked(hook, returned, before, _check))


def _check(hook: Any, was: Any, now: Any) -> None:
    name = getattr(hook, "__name__", "<unknown>")
    if was is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(now, torch.Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(now).__name__}'")
    if (was.dtype, was.layout, was.device.type) != (now.dtype, now.layout, now.device.type):
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {_type(was)} got {_type(now)})")
    if not was.is_nested and was.shape != now.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def _type(tensor: Any) -> str:
    """PyTorch's name of the type; complex types have another kind of name."""
    if not tensor.is_complex():
        return str(tensor.type())
    return f"{tensor.device.type.upper()}{str(tensor.type()).removeprefix('torch.').replace('Tensor', 'Type')}"


@dataclass(eq=False)
class HookRunner:
    """Runs the hooks of one pass, and remembers their results."""

    create_graph: bool
    runs: list[HookRun] = field(default_factory=list)  # the hooks that have run since the list was last emptied
    # by node, the dictionaries in which its outputs (or its leaf) keep their hooks, and the outputs that retain their grad
    watched: dict[Any, list[tuple[int, dict[Any, Any]]]] = field(default_factory=dict)
    retaining: dict[Any, list[Any]] = field(default_factory=dict)
    told: Exception | None = None  # the last error that PyTorch's engine has warned of, in anomaly mode
    _dicts: dict[Any, tuple[dict[Any, Any], dict[Any, Any]]] = field(default_factory=dict)

    def dicts(self, node: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The dictionaries of a node's pre-hooks and hooks; a node keeps them once it has been asked."""
        if node not in self._dicts:
            self._dicts[node] = (dict_of(node.register_prehook), dict_of(node.register_hook))
        return self._dicts[node]

    def before(self, node: Node, grads: list[Any]) -> list[Any]:
        """What arrived, after tensor hooks, retain_grad and pre-hooks."""
        grads = self._through_tensor_hooks(node, grads)
        for hook in list(self.dicts(node)[0].values()):
            given = tuple(grads)
            seen = _values(given)
            grads = list(check_result(hook, given, hook(given)))
            self.runs += runs_of("pre", hook, seen, _values(grads))
        return grads

    def after(self, node: object, grad_inputs: Sequence[Any], grad_outputs: Sequence[Any]) -> tuple[Any, ...]:
        """What leaves, after the node's hooks."""
        left = tuple(grad_inputs)  # the same object, if there is no hook
        for hook in list(self.dicts(node)[1].values()):
            seen = _values(left)
            left = check_result(hook, left, hook(left, tuple(grad_outputs)))
            self.runs += runs_of("post", hook, seen, _values(left))
        return left

    def _through_tensor_hooks(self, node: Node, grads: list[Any]) -> list[Any]:
        """Let the engine run them: a pass from these edges to the same edges."""
        hooks, places = self.watched.get(node, ()), [i for i, g in enumerate(grads) if g is not None]
        if older.IS_OLDER:
            with replaced(hooks, partial(_HookWatch, self, "tensor")):
                return older.through_hooks(grads, hooks, self.retaining.get(node, ()), self.create_graph)
        if not places:
            self._run_without_gradient(hooks, places)
            return grads
        edges = [GradientEdge(node, i) for i in places]
        with replaced(hooks, partial(_HookWatch, self, "tensor")), self.engine_tells():
            passed = gradients_at(edges, edges, [grads[i] for i in places], self.create_graph)
        found = list(grads)
        for i, g in zip(places, passed, strict=True):
            found[i] = g
        self._run_without_gradient(hooks, places)
        return found

    def _run_without_gradient(self, hooks: Sequence[tuple[int, dict[Any, Any]]], places: Sequence[int]) -> None:
        """Run the tensor hooks of outputs without a gradient: they get None, and must return it."""
        for i, hook in [(i, hook) for i, d in hooks if i not in places for hook in list(d.values())]:
            returned = _HookWatch(self, "tensor", i, hook)(None)
            check_result(hook, (None,), None if returned is None else (returned,))

    @contextmanager
    def engine_tells(self) -> Iterator[None]:
        """Inside, the engine runs code that may fail, and warns of the error."""
        try:
            yield
        except Exception as error:
            self.told = error
            raise

    @contextmanager
    def accumulating(self, node: Node) -> Iterator[None]:
        """Inside, post-accumulate hooks of the node's leaf and hooks of the node are watched. The engine runs them."""
        leaf = variable_of(node)
        if leaf is None:
            yield
            return
        after, hooks = getattr(leaf, "_post_accumulate_grad_hooks", None) or {}, self.dicts(node)[1]
        watch = partial(_HookWatch, self)
        with replaced([(0, after)], partial(watch, "post_accumulate")), replaced([(0, hooks)], partial(watch, "post")):
            yield

    @contextmanager
    def silent(self, node: object) -> Iterator[None]:
        """Inside, hooks that have run already do nothing in a pass of the engine's."""
        dicts = [*self.watched.get(node, ()), (0, self.dicts(node)[0])]
        with replaced(dicts, lambda *_: nothing), keep_grads(self.retaining.get(node, ())):
            yield


class _HookWatch:
    """A hook that records its input and its result."""

    def __init__(self, runner: HookRunner, kind: str, index: int, hook: Any) -> None:
        self.runner, self.kind, self.index, self.hook = runner, kind, index, hook
        if hasattr(hook, "__name__"):  # PyTorch's errors show it
            self.__name__ = hook.__name__

    def __call__(self, given: Any, *more: Any) -> Any:
        before = self._value(given)
        returned = self.hook(given, *more)
        if self.kind == "post" or not isinstance(returned, torch.Tensor | None):  # PyTorch refuses a result of another type
            after = before
        else:
            after = self._value(given if returned is None or self.kind == "post_accumulate" else returned)
        self.runner.runs.append(HookRun(self.kind, name_of_hook(self.hook), before, after, self.index))
        return returned

    def _value(self, given: Any) -> Value | None:
        return _value(given.grad if self.kind == "post_accumulate" else given)


@contextmanager
def replaced(dicts: Iterable[tuple[Any, dict[Any, Any]]], by: Callable[[Any, Any], Any]) -> Iterator[None]:
    """Inside, every hook in these dictionaries is replaced. What the user adds or removes meanwhile is added or removed."""
    hooks = [(d, key, hook, by(i, hook)) for i, d in dicts for key, hook in d.items()]
    for d, key, _, other in hooks:
        d[key] = other
    try:
        yield
    finally:
        for d, key, hook, other in hooks:
            if d.get(key) is other:
                d[key] = hook


@contextmanager
def keep_grads(tensors: Iterable[Any]) -> Iterator[None]:
    """Inside, tensors that retain their grad may get another one."""
    retained = [(t, t.grad) for t in tensors if t.retains_grad]
    try:
        yield
    finally:
        for tensor, grad in retained:
            tensor.grad = grad


def run_backward(edges: Sequence[Any], grads: Sequence[Any], create_graph: bool) -> None:
    """A pass of PyTorch's engine from these edges; nothing is freed."""
    starts = tuple(node.variable if older.IS_OLDER else GradientEdge(node, i) for node, i in edges)  # before 2.5: at a leaf
    ENGINE.run_backward(starts, tuple(grads), True, create_graph, (), allow_unreachable=True, accumulate_grad=True)


def gradients_at(starts: Sequence[Any], ends: Sequence[Any], grads: Sequence[Any], create_graph: bool) -> Sequence[Any]:
    """The gradients that a pass of PyTorch's engine brings from some edges to others. It writes no grad and frees nothing."""
    return tuple(
        ENGINE.run_backward(
            tuple(starts), tuple(grads), True, create_graph, tuple(ends), allow_unreachable=True, accumulate_grad=False
        )
    )


def dict_of(register: Any) -> dict[Any, Any]:
    """The dictionary that ``node.register_hook`` or ``node.register_prehook`` adds to."""
    handle = register(nothing)
    hooks: dict[Any, Any] | None = handle.hooks_dict_ref()
    handle.remove()
    return {} if hooks is None else hooks


def nothing(*_: object) -> None:
    """A hook that changes nothing."""


def _value(grad: Any) -> Value | None:
    return value_of(grad) if isinstance(grad, torch.Tensor) else None


def _values(grads: Sequence[Any]) -> list[Value | None]:
    return [_value(g) for g in grads]
