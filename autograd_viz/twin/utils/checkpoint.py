"""Checkpointing: keep only a function's inputs, and compute the function again in the backward pass.

As in PyTorch, there are two ways. With ``use_reentrant=False``, saved-tensor hooks replace saved tensors by promises. The first
promise that backward needs runs the function again and fulfils all. With ``use_reentrant=True``, the whole function is one
node. Its backward runs the function again, and then a backward pass inside the backward pass.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary

from ..autograd.graph import saved_tensors_hooks
from ..core.backward.backward import backward
from ..core.backward.engine import GraphTask
from ..core.base.grad_mode import enable_grad, no_grad
from ..core.base.provenance import callers_frame
from ..core.base.scopes import checkpointed
from ..core.function.function import Function
from ..core.tensor import Tensor, chosen, refuse_if

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
TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint\u2011debug mode globally.
"""
DEBUG = (
    "You are seeing this error because you passed `debug=True` to checkpoint and tensors to be saved during the original "
    "forward and differ between those saved during recomputation."
)


class CheckpointError(RuntimeError):
    """The second run of the function saved other tensors than the first."""


class _Settings:
    early_stop = True
    debug: bool | None = None  # None: each checkpoint decides


@contextmanager
def _set(name: str, value: bool | None) -> Iterator[None]:
    before = getattr(_Settings, name)
    setattr(_Settings, name, value)
    try:
        yield
    finally:
        setattr(_Settings, name, before)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A block: does the second run end as soon as all needed tensors exist? The default is True."""
    return _set("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager[None]:
    """A block that shows what both runs saved: for all checkpoints (True), for none (False), or as each decides (None)."""
    return _set("debug", enabled)


@contextmanager
def random_numbers_of(state: Tensor | None) -> Iterator[None]:
    """Use the random numbers that followed `state`. Afterwards the generator continues as if none had been used."""
    generator = chosen(None)
    now = generator.get_state()
    if state is not None:
        generator.set_state(state)
    try:
        yield
    finally:
        if state is not None:
            generator.set_state(now)


class _Enough(Exception):  # noqa: N818 -- not an error
    """All needed tensors have been computed."""


class Promises:
    """Placeholders for the saved tensors of a checkpointed function. The graph holds the number i of the i-th tensor."""

    def __init__(
        self, again: Callable[[], Any], random_state: Tensor | None, early_stop: bool, strict: bool, debug: bool
    ) -> None:
        self.again, self.random_state, self.strict = again, random_state, strict
        self.stops = early_stop and _Settings.early_stop
        self.debug = debug if _Settings.debug is None else _Settings.debug
        self.metadata: list[tuple[Any, Any]] = []  # shape and type of each, in the order of saving
        self.lines: list[str] = []  # that saved them, for debugging
        self.values: WeakKeyDictionary[GraphTask, list[Tensor]] = WeakKeyDictionary()  # computed again in each pass

    def pack(self, tensor: Tensor) -> int:
        """The number of a tensor."""
        self.metadata.append((tensor.shape, tensor.dtype))
        if self.debug:
            self.lines.append(_callers_line())
        return len(self.metadata) - 1

    def unpack(self, number: int) -> Tensor:
        """The tensor of a number; a stepper may ask again. The first call in a backward pass runs the function again."""
        task = GraphTask.current
        if task is None:  # a saved tensor is read outside a pass
            return self._computed()[number]
        if task not in self.values:
            self.values[task] = self._computed()
        return self.values[task][number]

    def _computed(self) -> list[Tensor]:
        """All tensors that the function saves, computed again; they must be those of the first run."""
        found: list[Tensor] = []
        lines: list[str] = []

        def collect(tensor: Tensor) -> Tensor:
            if self.debug:
                lines.append(_callers_line())
            if len(found) == len(self.metadata):
                said = "trying to save more tensors during recomputation than during the original forward pass."
                raise CheckpointError(f"torch.utils.checkpoint: {said}")
            found.append(tensor.detach() if tensor.requires_grad else tensor)
            if self.stops and len(found) == len(self.metadata):
                raise _Enough
            return found[-1]

        hooks = saved_tensors_hooks(collect, lambda tensor: tensor)
        try:
            with suppress(_Enough), random_numbers_of(self.random_state), enable_grad(), hooks:
                self.again()
            self._check(found)
        except CheckpointError as error:
            both = ("".join(f"  {i}: {line}\n" for i, line in enumerate(run)) for run in (self.lines, lines))
            said = "{}\nSaved during the original forward:\n{}Saved during recomputation:\n{}".format(DEBUG, *both)
            raise CheckpointError(f"{said}{error}" if self.debug else f"{error}\n{TIP}") from None
        return found

    def _check(self, found: list[Tensor]) -> None:
        if len(found) != len(self.metadata):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.metadata)}\nNumber of tensors saved during "
                f"recomputation: {len(found)}."
            )
        differ = [i for i, (t, k) in enumerate(zip(found, self.metadata, strict=True)) if (t.shape, t.dtype) != k]
        if differ and self.strict:
            data = "{{'shape': {}, 'dtype': {}, 'device': device(type='cpu')}}".format
            said = "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
            for i in differ:
                said += f"tensor at position {i}:\nsaved metadata: {data(*self.metadata[i])}\n"
                said += f"recomputed metadata: {data(found[i].shape, found[i].dtype)}\n"
            raise CheckpointError(f"torch.utils.checkpoint: {said}.")


def _callers_line() -> str:
    frame = callers_frame()
    file = frame.f_code.co_filename
    return f"{file}:{frame.f_lineno}: {linecache.getline(file, frame.f_lineno).strip()}"


def _no_contexts() -> Contexts:
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = _no_contexts, preserve_rng_state: bool = True, early_stop: bool = True,
    determinism_check: str = "default", debug: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """``function(*args, **kwargs)``, computed again in the backward pass instead of saving its tensors.

    `use_reentrant`: which of the two ways; see the top of this file. `context_fn` returns two context managers, for the first
    and the second run. The second uses the same random numbers (`preserve_rng_state`), ends as soon as all needed tensors exist
    (`early_stop`), and may save tensors of other shapes only if `determinism_check` is "none". If it saves others, `debug`
    shows the lines that saved them in both runs. Raises ValueError: keyword arguments or contexts with ``use_reentrant=True``.
    """
    if use_reentrant is None:
        warnings.warn(f"torch.utils.checkpoint: {PASSED_EXPLICITLY.format(else_=_IN_FUTURE)}", UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant and (debug or context_fn is not _no_contexts):
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    refuse_if(use_reentrant and kwargs, lambda: "Unexpected keyword arguments: " + ",".join(kwargs), ValueError)
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
        refuse_if(not tracked, "none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in tracked], [g for _, g in tracked])
        return (None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))
