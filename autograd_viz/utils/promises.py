"""What stands in a graph for the tensors of a checkpointed function: promises to compute them once more."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

from ..autograd.graph import saved_tensors_hooks
from ..core.backward.engine import GraphTask
from ..core.base.grad_mode import enable_grad
from ..core.base.provenance import callers_frame
from ..core.tensor.random import chosen
from ..core.tensor.tensor import Tensor

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
    """Computed again, the function did not save what it had saved the first time."""


class _Settings:
    early_stop = True
    debug: bool | None = None  # None: as each checkpoint was told


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether computing again ends as soon as everything wanted is there (it does unless switched off)."""
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Let all checkpoints (True), none (False), or those that were told so (None) tell what they saved in both runs."""
    before, _Settings.debug = _Settings.debug, enabled
    try:
        yield
    finally:
        _Settings.debug = before


@contextmanager
def random_numbers_of(state: Tensor | None) -> Iterator[None]:
    """Draw the numbers that followed `state`, and go on afterwards as if none had been drawn."""
    if state is None:
        yield
        return
    generator = chosen(None)
    now = generator.get_state()
    generator.set_state(state)
    try:
        yield
    finally:
        generator.set_state(now)


class _Enough(Exception):  # noqa: N818 -- not an error
    """Everything wanted has been computed."""


class Promises:
    """What stands in a graph for the tensors that a checkpointed function saved: the i-th tensor is kept as its number i.

    Attributes:
        kept: shape and type of each, in the order in which they were saved.
        values: the tensors computed again, by backward pass.
        lines: those that saved, if they are to be told.
    """

    def __init__(
        self, again: Callable[[], Any], random_state: Tensor | None, early_stop: bool, strict: bool, debug: bool
    ) -> None:
        self.again, self.random_state, self.strict = again, random_state, strict
        self.stops = early_stop and _Settings.early_stop
        self.debug = debug if _Settings.debug is None else _Settings.debug
        self.kept: list[tuple[Any, Any]] = []
        self.lines: list[str] = []
        self.values: WeakKeyDictionary[GraphTask, list[Tensor]] = WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> int:
        """A number for a tensor."""
        self.kept.append((tensor.shape, tensor.dtype))
        if self.debug:
            self.lines.append(_callers_line())
        return len(self.kept) - 1

    def unpack(self, number: int) -> Tensor:
        """The tensor for the number; the first of a backward pass runs the function again.

        PyTorch gives each once. A stepper that goes back asks again.
        """
        task = GraphTask.current
        if task is None:  # somebody looks at a saved tensor outside a pass
            return self._computed()[number]
        if task not in self.values:
            self.values[task] = self._computed()
        return self.values[task][number]

    def _computed(self) -> list[Tensor]:
        """Everything that the function saves, computed again.

        Raises:
            CheckpointError: it saves something else.
        """
        found: list[Tensor] = []
        lines: list[str] = []

        def collect(tensor: Tensor) -> Tensor:
            if self.debug:
                lines.append(_callers_line())
            if len(found) == len(self.kept):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
                    "pass."
                )
            found.append(tensor.detach() if tensor.requires_grad else tensor)
            if self.stops and len(found) == len(self.kept):
                raise _Enough
            return found[-1]

        hooks = saved_tensors_hooks(collect, lambda kept: kept)
        try:
            with suppress(_Enough), random_numbers_of(self.random_state), enable_grad(), hooks:
                self.again()
            self._check(found)
        except CheckpointError as error:
            raise CheckpointError(f"{_both(self.lines, lines)}{error}" if self.debug else f"{error}\n{TIP}") from None
        return found

    def _check(self, found: list[Tensor]) -> None:
        """Refuse a second run that saved something else."""
        if len(found) != len(self.kept):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.kept)}\nNumber of tensors saved during "
                f"recomputation: {len(found)}."
            )
        differ = [i for i, (t, k) in enumerate(zip(found, self.kept, strict=True)) if (t.shape, t.dtype) != k]
        if differ and self.strict:
            lines = (
                f"tensor at position {i}:\nsaved metadata: {_described(*self.kept[i])}\n"
                f"recomputed metadata: {_described(found[i].shape, found[i].dtype)}\n"
                for i in differ
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
                "forward pass.\n" + "".join(lines) + "."
            )


def _described(shape: Any, dtype: Any) -> str:
    return f"{{'shape': {shape}, 'dtype': {dtype}, 'device': device(type='cpu')}}"


def _callers_line() -> str:
    frame = callers_frame()
    file = frame.f_code.co_filename
    return f"{file}:{frame.f_lineno}: {linecache.getline(file, frame.f_lineno).strip()}"


def _both(first: list[str], second: list[str]) -> str:
    """What two runs have saved, line by line."""
    before, after = ("".join(f"  {i}: {line}\n" for i, line in enumerate(lines)) for lines in (first, second))
    return f"{DEBUG}\nSaved during the original forward:\n{before}Saved during recomputation:\n{after}"
