"""Steppers over PyTorch graphs, and a mode of the user's to see what runs in it."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_viz.sources.pytorch.reading.graph import TorchGraph
from autograd_viz.sources.pytorch.stepping.node_pass import TorchPass
from autograd_viz.stepper import Stepper


def stepper_of(root: Any) -> Stepper:
    graph = TorchGraph([root], {})
    return Stepper(graph.document, TorchPass(graph, root, None, None, False))


def stepped(root: Any) -> None:
    stepper_of(root).finish()


def ops_of(root: Any) -> list[Any]:
    return list(TorchGraph([root], {}).document.ops)


def modes() -> int:
    """How many modes are on."""
    return int(torch._C._len_torch_dispatch_stack())


class Seen(TorchDispatchMode):
    """A mode of the user's, which counts ops."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))
