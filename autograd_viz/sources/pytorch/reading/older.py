"""Replaces what releases of PyTorch from 2.2 to 2.4 lack.

# Note [Before PyTorch 2.5]
- A node does not tell what arrives at it (`_input_metadata`). dry_run.py finds out, and stores it on the node.
- A pass cannot start in the middle of a graph (`GradientEdge` in `backward` and `grad`). A pass at a leaf starts at the leaf.
  The hooks of a tensor run on a leaf that replaces it. The dry run has seen whether a Function wants zeros.
- PyTorch 2.2 was built for NumPy 1. With NumPy 2, which this package needs, its `numpy()` and `from_numpy` do not work.
- PyTorch 2.2 has other names for what compiles and what scales gradients. What runs a pass has none; it gets one here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.autograd import Variable

GradScaler: Any = getattr(torch.amp, "GradScaler", torch.cuda.amp.GradScaler)
is_dynamo_compiling: Callable[[], bool] = getattr(torch.compiler, "is_dynamo_compiling", None) or torch._utils.is_compiling

ENGINE: Any = Variable._execution_engine  # nobody sees the passes that it runs
IS_OLDER = not hasattr(torch._C._functions.AddBackward0, "_input_metadata")  # type: ignore[attr-defined]
LOOKS = "autograd_viz.looks"  # in node.metadata: what arrives at a node
HOOKS = "autograd_viz.hooks"  # the dictionaries of tensor hooks that it runs, in order: (output, weak reference)
MATERIALIZES = "autograd_viz.materializes"  # for a Function: it wants zeros where nothing has arrived


class _Engine:
    """PyTorch 2.2's engine: here, too, a pass runs under a name that can be replaced."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ENGINE, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        return torch.autograd._engine_run_backward(*args, **kwargs)  # type: ignore[attr-defined]


def _engine_run_backward(*args: Any, **kwargs: Any) -> Any:
    return ENGINE.run_backward(*args, **kwargs)


if not hasattr(torch.autograd, "_engine_run_backward"):
    torch.autograd._engine_run_backward = _engine_run_backward  # type: ignore[attr-defined]
    Variable._execution_engine = _Engine()  # type: ignore[assignment]


def set_versions(versions: Mapping[Any, int]) -> None:
    """Give tensors other versions."""
    set_all: Any = torch._C._autograd._unsafe_set_version_counter
    try:
        set_all(tuple(versions), tuple(versions.values()))
    except TypeError:  # an older release sets one at a time
        for tensor, version in versions.items():
            set_all(tensor, version)


def with_hooks_of(node: Any, live: list[tuple[int, dict[Any, Any]]]) -> list[tuple[int, dict[Any, Any]]]:
    """The dictionaries of tensor hooks that a node runs: those that the dry run has seen, and those of live tensors."""
    seen = [(i, d()) for i, d in node.metadata.get(HOOKS, ())] if IS_OLDER else []
    return [*(s for s in seen if s[1] is not None), *((i, d) for i, d in live if not any(d is known for _, known in seen))]


def through_hooks(
    grads: Sequence[Any], hooks: Sequence[tuple[int, dict[Any, Any]]], retaining: Sequence[Any], create_graph: bool
) -> list[Any]:
    """What arrived at a node (a gradient or None for each output of its op), after the hooks of its tensors and retain_grad.

    The hooks are (output, dictionary of hooks), as they were registered; `retaining` are the outputs that retain their grad.
    """
    found = list(grads)
    for i, those in hooks:
        if those:
            found[i] = _through(those, found[i], create_graph)
    for t in retaining:
        if (g := found[t.output_nr]) is not None:
            layout = {} if g.is_sparse else {"memory_format": torch.contiguous_format}
            t.grad = g.clone(**layout) if t.grad is None else t.grad + g
    return found


def _through(hooks: dict[Any, Any], grad: Any, create_graph: bool) -> Any:
    if grad is None:
        returned = [hook(None) for hook in list(hooks.values())]
        if any(r is not None for r in returned):
            raise RuntimeError("can't replace a None gradient with a non-None value")
        return None
    stand_in = torch.empty((), dtype=grad.dtype, device=grad.device).expand(grad.shape).requires_grad_()
    stand_in._backward_hooks = hooks  # the same dictionary: a hook may remove itself
    with torch.autograd.set_detect_anomaly(False):  # its warning would be about the stand-in
        return torch.autograd.grad([stand_in], [stand_in], [grad], retain_graph=True, create_graph=create_graph)[0]


def array_of(t: Any) -> Any:
    """The elements as an array, in shared memory if possible. After `numpy()` the user could no longer resize the memory."""
    host = t.cpu().resolve_conj().resolve_neg()
    return np.from_dlpack(host.view(torch.uint8)).view(bool) if host.dtype is torch.bool else np.from_dlpack(host)


def tensor_of(array: Any) -> Any:
    """A tensor with the elements of an array. TypeError: they are no numbers."""
    if not IS_OLDER:
        return torch.from_numpy(array)
    return torch.tensor(array.tolist(), dtype=getattr(torch, array.dtype.name, None))
