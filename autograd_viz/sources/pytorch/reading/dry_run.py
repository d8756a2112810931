"""What the nodes of a graph are about to receive. Before 2.5 PyTorch does not tell, so a dry run finds out.

# Note [A dry run]
PyTorch's engine runs the pass once, from the root. A hook of ours looks at what arrives at each node. No grad changes, no
random number is used up, and none of the user's hooks and backward functions runs. Hooks are replaced by empty ones, and the
backward of a Function by zeros.
Only the user's code for reading a saved tensor runs once more (`saved_tensors_hooks`, a checkpoint that recomputes). It runs
only for stepping; a picture does without.
The receivers of a Function tell what its zeros must look like. If they do not, the engine's error does.
The gradients of a dry run are dropped; only shape, type and device are kept.
If a tensor is gone, its hooks are on its node, where Python cannot reach them. The dry run sees which node they belong to.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections import OrderedDict
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch.autograd.graph import GradientEdge
from torch.utils.weak import WeakIdKeyDictionary

from . import older
from .hooked import tensors_with_hooks
from .hooks import dict_of, gradients_at, keep_grads, nothing, replaced
from .nodes import UNKNOWN, Metadata, edge_of, grad_fn_of, is_accumulate, is_function, outputs_of, reach, variable_of
from .saved import saved_of
from .values import outside_modes, unseen

REFUSED = re.compile(r"at index (\d+) - .*expected shape compatible with \[([\d, ]*)\]")
ELSEWHERE = re.compile(r"at index (\d+) - expected device (\S+) but got")


def learn(root: Any, may_unpack: bool = False) -> None:
    """Find out what arrives at every node behind `root`, before PyTorch 2.5. `may_unpack`: reading may call the user's code."""
    start, output = edge_of(root)
    if not older.IS_OLDER or start is None or is_accumulate(start):
        return
    nodes = reach([start])
    lost = _hooks_of_nobody()
    if not lost and all(any(m.is_known for m in outputs_of(n)) for n in nodes):
        return
    if may_unpack or not any(k.state == "kept" and k.value is None for n in nodes for k in saved_of(n)):
        _DryRun(root, nodes, lost).run()
    last: dict[Any, int] = {start: output}  # an unknown node has at least the outputs that are in use
    for node in nodes:
        for after, i in node.next_functions:
            last[after] = max(i, last.get(after, 0))
    for node in nodes:
        known = outputs_of(node)
        if not is_accumulate(node) and len(known) <= last[node]:
            node.metadata[older.LOOKS] = (*known, *[UNKNOWN] * (last[node] + 1 - len(known)))


class _DryRun:
    def __init__(self, root: torch.Tensor, nodes: list[Any], lost: list[Any]) -> None:
        self._root, self._nodes, self._lost = root, nodes, lost
        self._leaves = [GradientEdge(n, 0) for n in nodes if is_accumulate(n)]
        self._told: dict[tuple[Any, int], Metadata] = {}  # what the engine has said about a Function's receivers
        self._called: Any = None  # the Function that has run last
        self._fired: list[tuple[dict[Any, Any], Any]] = []  # hooks, and their gradient, for the next node

    def run(self) -> None:
        """Run, again and again while the engine's errors about a Function's zeros say something new."""
        with ExitStack() as stack:
            self._prepare(stack)
            while self._has_more_to_tell():
                pass

    def _has_more_to_tell(self) -> bool:
        first = unseen(torch.ones_like)(self._root)
        try:
            gradients_at([self._root], self._leaves, [first], create_graph=False)
        except Exception as error:  # the pass itself will report it; the nodes after it stay unknown
            return self._called is not None and self._listened(str(error))
        finally:
            self._fired.clear()
        return False

    def _prepare(self, stack: ExitStack) -> None:
        """Silence the user's code, and watch every node."""
        stack.enter_context(torch.random.fork_rng(range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []))
        stack.enter_context(torch.autograd.set_detect_anomaly(False))
        stack.enter_context(outside_modes())
        inner = [n for n in self._nodes if not is_accumulate(n)]
        known = set(inner)
        live = [t for t in tensors_with_hooks() if grad_fn_of(t) in known]
        stack.enter_context(keep_grads(live))
        leaves = [variable_of(n) for n in self._nodes if is_accumulate(n)]
        of_tensors = [t._backward_hooks for t in (*live, *leaves) if t._backward_hooks]
        stack.enter_context(replaced(((d, d) for d in (*of_tensors, *self._lost)), self._probe))
        of_nodes = [(0, dict_of(r)) for n in self._nodes for r in (n.register_prehook, n.register_hook)]
        stack.enter_context(replaced(of_nodes, lambda *_: nothing))
        for node in inner:
            stack.callback(node.register_prehook(partial(self._arrived, node)).remove)
            if is_function(node):
                node.apply = partial(self._zeros, node)
                stack.callback(delattr, node, "apply")

    def _probe(self, hooks: dict[Any, Any], _: Any) -> Any:
        def probe(grad: Any) -> Any:
            other = None if grad is None else grad.detach()  # two outputs may receive the same object
            self._fired.append((hooks, other))
            return other

        return probe

    def _arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        node.metadata[older.LOOKS] = tuple(map(_look, grads))
        belong = WeakIdKeyDictionary()
        for hooks, given in self._fired:
            belong[hooks] = next((i for i, g in enumerate(grads) if g is given), 0)
        self._fired.clear()
        if belong:
            node.metadata[older.HOOKS] = [(i, weakref.ref(hooks)) for hooks, i in belong.items()]

    def _zeros(self, node: Any, *grads: Any) -> tuple[Any, ...]:
        self._called = node
        if not all(m.is_known for m in node.metadata[older.LOOKS]):
            node.metadata[older.MATERIALIZES] = all(g is not None for g in grads)
            node.metadata[older.LOOKS] = tuple(map(_look, grads))
        device = next((g.device for g in grads if g is not None), self._root.device)
        wanted = iter([(after, i) for after, i in node.next_functions if after is not None])
        return tuple(self._zero(*next(wanted), device) if need else None for need in node.needs_input_grad)

    def _zero(self, after: object, output: int, device: Any) -> Any:
        known = outputs_of(after)
        look = known[output] if output < len(known) and known[output].is_known else self._told.get((after, output))
        if look is None:
            return torch.zeros((), device=device)  # if the shape is wrong, the engine says which is right
        return torch.zeros(look.shape, dtype=look.dtype, device=look.device or device)

    def _listened(self, said: str) -> bool:
        """Does the engine's error say something new about a receiver? Then the dry run can go on."""
        shape, device = REFUSED.search(said), ELSEWHERE.search(said)
        found = shape or device
        if found is None:
            return False
        edge = self._called.next_functions[int(found[1])]
        known = self._told.get(edge, Metadata((), torch.get_default_dtype(), None))
        if shape:
            told = known._replace(shape=tuple(map(int, filter(None, shape[2].split(", ")))))
        else:
            told = known._replace(device=torch.device(found[2]))
        self._told[edge] = told
        return told != known


def _look(grad: Any) -> Metadata:
    return UNKNOWN if grad is None else Metadata(tuple(grad.shape), grad.dtype, grad.device)


def _hooks_of_nobody() -> list[Any]:
    """Dictionaries of hooks that nothing in Python refers to: those of nodes, and of deleted tensors."""
    found = [o for o in gc.get_objects() if type(o) is OrderedDict and o and all(type(k) is int for k in o)]
    owned = WeakIdKeyDictionary()
    for owner in gc.get_referrers(*found) if found else ():
        if owner is not found:
            for o in gc.get_referents(owner):
                if type(o) is OrderedDict:
                    owned[o] = True
    return [o for o in found if o not in owned]
