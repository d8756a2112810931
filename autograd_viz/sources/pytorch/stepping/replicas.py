"""DistributedDataParallel, stepped. Every rank accumulates its own gradients; the last AccumulateGrad averages all of them.

# Note [Replicas]
DDP's reducer is a C++ hook on AccumulateGrad. PyTorch's engine runs it, a call by hand does not. So steps call these nodes by
hand. Nothing is sent before the last one. So any rank may step at its own pace, and a pass that is taken back (`save`) leaves
the reducer alone. With the last one, the engine runs all of them again with a gradient of -0.0, which changes no bit. The
reducer's hooks then run in the order of the pass, and reduce their buckets as in `backward()`.
A reducer works once for each forward pass. If that step is taken back, the reducer is made ready again for `backward()`.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch
from torch.autograd.graph import Node

from ..reading.hooks import dict_of, nothing, replaced, run_backward
from ..reading.nodes import is_accumulate, variable_of
from .ranks import is_distributed, meet, slow_notice

WHAT = "DistributedDataParallel averages gradients"
AGAIN = (
    "DistributedDataParallel(static_graph=True) averages once after each forward pass; the step that is taken back has "
    "done it: call the model anew before backward()"
)
ADVICE = ", or step this rank alone: make its loss inside of `with model.no_sync():`"


class Replica:
    """One DDP module that a pass leads to."""

    def __init__(self, module: Any, nodes: list[Any]) -> None:
        self.module, self.nodes = module, frozenset(nodes)
        self.leaves = [p for p in module.parameters() if p.requires_grad]
        self.ranks = int(module.process_group.size())
        self._has_reduced = False

    def reduce(self, nodes: Iterable[Any], create_graph: bool) -> None:
        """Average the gradients over all ranks.

        Args:
            nodes: the AccumulateGrads in the order of the pass.
            create_graph: as in ``backward()``.

        Raises:
            RuntimeError: a rank has not come.
        """
        meet(torch.distributed.get_process_group_ranks(self.module.process_group), WHAT, ADVICE)
        self._has_reduced = True
        with slow_notice(WHAT), ExitStack() as stack:
            nodes = list(nodes)
            for node in nodes:
                stack.enter_context(replaced(_hooks(node), lambda *_: nothing))
            for node in nodes:
                run_backward([(node, 0)], [torch.zeros_like(variable_of(node)).neg()], create_graph)
            if self.module.reducer._rebuild_buckets():  # else the next forward pass does it; needed by make_ready
                self.module._has_rebuilt_buckets = True

    def make_ready(self, root: Any) -> None:
        """Take the reduction back: the next ``backward()`` reduces."""
        if not self._has_reduced:
            return
        self._has_reduced = False
        if self.module.static_graph:  # the reducer counts its calls
            warnings.warn(AGAIN, stacklevel=2)
        else:
            self.module.reducer.prepare_for_backward([root] if self.module.find_unused_parameters else [])


class ReducerSnapshot:
    """The reducer before a step: taking the step back makes it ready again."""

    def __init__(self, replica: Replica, root: torch.Tensor) -> None:
        self.replica, self.root = replica, root

    def restore(self) -> None:
        """Restore it."""
        self.replica.make_ready(self.root)

    def holds(self) -> bool:
        """Yes: nobody else can change it."""
        return True


def replicas_of(nodes: Iterable[Any]) -> list[Replica]:
    """The DDP modules whose reducers wait for a pass through these nodes."""
    if not is_distributed():
        return []
    from torch.nn.parallel import DistributedDataParallel

    owners = {leaf: n for n in nodes if is_accumulate(n) and (leaf := variable_of(n)) is not None}
    found = []
    for module in gc.get_referrers(DistributedDataParallel):
        if isinstance(module, DistributedDataParallel) and module.require_forward_param_sync:  # not inside no_sync()
            own = [owners[p] for p in module.parameters() if p in owners]
            found += [Replica(module, own)] if own else []
    return found


def _hooks(node: Node) -> list[tuple[int, dict[Any, Any]]]:
    """The user's hooks on a gradient that goes into a leaf: they have run already."""
    leaf = variable_of(node)
    of_leaf = (leaf._backward_hooks, leaf._post_accumulate_grad_hooks)
    of_node = (dict_of(node.register_prehook), dict_of(node.register_hook))
    return [(0, hooks) for hooks in (*of_leaf, *of_node) if hooks]
