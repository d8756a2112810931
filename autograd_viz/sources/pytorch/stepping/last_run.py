"""The last backward pass of a PyTorch program: see Note [Put back] in ../last_run.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C import _current_graph_task_id as graph_task
from torch.autograd.grad_mode import _unsafe_preserve_version_counter

from ...shared.replaced import Replaced
from ..reading.held import saved_tensors
from ..reading.nodes import edge_of, reach, variable_of
from ..reading.values import unseen
from .snapshots import GradSnapshot, TensorSnapshot

SMALL = 64  # elements: of what nodes have saved, a larger tensor is not copied


class LeafSnapshot:
    """The values of a leaf, which an optimizer changes in place, or the scale of a gradient scaler; and its version."""

    @unseen
    def __init__(self, leaf: torch.Tensor) -> None:
        self._values, self._version = TensorSnapshot(leaf), _unsafe_preserve_version_counter(leaf)

    @unseen
    def restore(self) -> None:
        """Restore them."""
        self._values.restore()
        self._version.__exit__()


def kept_in(last: Any) -> Callable[[], None]:
    """From now on `last`, a `LastRun`, is told of passes; gives what ends it."""

    def nodes_of(tensor: object) -> list[Any]:
        return reach([edge_of(tensor)[0]]) if isinstance(tensor, torch.Tensor) else []

    def runs(run: Any, roots: Any, gradients: Any, keep_graph: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("accumulate_grad") and graph_task() == -1:  # not a pass inside of a pass
            last.forget()
            try:
                if keep_graph and len(roots) == 1 and isinstance(roots[0], torch.Tensor) and not any(args[1:2]):
                    gradient = None if roots[0].numel() == 1 else gradients[0]
                    last.begins(roots[0], gradient, nodes_of(roots[0]), _look)
            except Exception:  # a tensor of a kind that has no values
                last.forget()
        return run(roots, gradients, keep_graph, *args, **kwargs)

    last.nodes_of = nodes_of
    return Replaced(torch.autograd, "_engine_run_backward", runs).undo


def _look(nodes: Sequence[Any]) -> list[Any]:
    leaves = [v for n in nodes if (v := variable_of(n)) is not None]
    saved = [t for n in nodes for t in saved_tensors(n) if t.numel() <= SMALL and t.layout is torch.strided]
    return [*(GradSnapshot(leaf, is_about_to_change=True) for leaf in leaves), *map(LeafSnapshot, (*leaves, *saved))]
