"""Checkpointing: keep only a function's inputs, and compute the function again in the backward pass.

As in PyTorch, there are two ways. With ``use_reentrant=False``, saved-tensor hooks replace saved tensors by promises. The first
promise that backward needs runs the function again and fulfils all. With ``use_reentrant=True``, the whole function is one
node. Its backward runs the function again, and then a backward pass inside the backward pass.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..autograd.graph import saved_tensors_hooks
from ..core.backward.backward import backward
from ..core.backward.engine import GraphTask
from ..core.base.grad_mode import enable_grad, no_grad
from ..core.base.scopes import checkpointed
from ..core.function.function import Function
from ..core.tensor.random import chosen
from ..core.tensor.tensor import Tensor
from .promises import CheckpointError, Promises, random_numbers_of, set_checkpoint_debug_enabled, set_checkpoint_early_stop

__all__ = [
    "CheckpointError", "checkpoint", "checkpoint_sequential", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

PASSED_EXPLICITLY = (
    "the use_reentrant parameter should be passed explicitly. {else_} use_reentrant=False is recommended, but if you need to "
    "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
    "between the two variants."
)
_IN_FUTURE = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
_IN_SEQUENCE = "In version 2.9 we will raise an exception if use_reentrant is not passed."
Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


def _no_contexts() -> Contexts:
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = _no_contexts, preserve_rng_state: bool = True, early_stop: bool = True,
    determinism_check: str = "default", debug: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """``function(*args, **kwargs)``, computed again in the backward pass instead of saving its tensors.

    Args:
        function: the function to compute.
        args: its arguments.
        use_reentrant: which of the two ways; see the top of this file.
        context_fn: returns two context managers: for the first run of the function, and for the second.
        preserve_rng_state: use the same random numbers in the second run.
        early_stop: end the second run as soon as all needed tensors exist.
        determinism_check: "none" lets the second run save tensors of other shapes.
        debug: if the second run saves other tensors, show the lines that saved them in both runs.
        kwargs: keyword arguments of `function`, without `use_reentrant`.

    Raises:
        ValueError: keyword arguments or contexts with ``use_reentrant=True``.
    """
    if use_reentrant is None:
        warnings.warn(f"torch.utils.checkpoint: {PASSED_EXPLICITLY.format(else_=_IN_FUTURE)}", UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant and (debug or context_fn is not _no_contexts):
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if use_reentrant and kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    random_state = chosen(None).get_state() if preserve_rng_state else None
    if use_reentrant:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=2)
        with checkpointed():
            return CheckpointFunction.apply(function, random_state, *args)
    first, second = context_fn()

    def again() -> None:
        with second:
            function(*args, **kwargs)

    promises = Promises(again, random_state, early_stop, determinism_check != "none", debug)
    with saved_tensors_hooks(promises.pack, promises.unpack), checkpointed(), first:
        return function(*args, **kwargs)


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **options: Any) -> Any:
    """Call the functions one after the other, in `segments` parts. All parts except the last are checkpointed."""
    if use_reentrant is None:
        text = f"torch.utils.checkpoint.checkpoint_sequential: {PASSED_EXPLICITLY.format(else_=_IN_SEQUENCE)}"
        warnings.warn(text, UserWarning, stacklevel=2)
        use_reentrant = True
    functions = list(functions)
    length = len(functions) // segments

    def run(value: Any, first: int, last: int | None = None) -> Any:
        for f in functions[first:last]:
            value = f(value)
        return value

    for first in range(0, length * (segments - 1), length):
        input = checkpoint(run, input, first, first + length, use_reentrant=use_reentrant, **options)
    return run(input, length * (segments - 1))


class CheckpointFunction(Function):
    """The reentrant way: a Function that calls the function."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], random_state: Tensor | None, *args: Any) -> Any:
        """Run the function, unrecorded."""
        ctx.function, ctx.random_state = function, random_state
        ctx.args = tuple(None if isinstance(a, Tensor) else a for a in args)
        ctx.places = tuple(i for i, a in enumerate(args) if isinstance(a, Tensor))
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Run the function again, recorded, then a backward pass through it."""
        if GraphTask.current is not None and GraphTask.current.needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter "
                "to .backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without "
                "passing the `inputs` argument."
            )
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor.detach().requires_grad_(tensor.requires_grad)
        with random_numbers_of(ctx.random_state), enable_grad():
            outputs = ctx.function(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        tracked = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not tracked:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in tracked], [g for _, g in tracked])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))
