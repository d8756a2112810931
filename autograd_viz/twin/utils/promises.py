"""Promises: placeholders for the saved tensors of a checkpointed function, which can compute them again."""

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
    """The second run of the function saved other tensors than the first."""


class _Settings:
    early_stop = True
    debug: bool | None = None  # None: each checkpoint decides


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Does the second run end as soon as all needed tensors exist? The default is True."""
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Show what both runs saved: for all checkpoints (True), for none (False), or as each decides (None)."""
    before, _Settings.debug = _Settings.debug, enabled
    try:
        yield
    finally:
        _Settings.debug = before


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
        """The tensor of a number. The first call in a backward pass runs the function again.

        PyTorch returns each tensor once. A stepper that goes back asks again.
        """
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
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward "
                    "pass."
                )
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
            raise CheckpointError(f"{_both(self.lines, lines)}{error}" if self.debug else f"{error}\n{TIP}") from None
        return found

    def _check(self, found: list[Tensor]) -> None:
        """Refuse a second run that saved other tensors."""
        if len(found) != len(self.metadata):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.metadata)}\nNumber of tensors saved during "
                f"recomputation: {len(found)}."
            )
        differ = [i for i, (t, k) in enumerate(zip(found, self.metadata, strict=True)) if (t.shape, t.dtype) != k]
        if differ and self.strict:
            lines = (
                f"tensor at position {i}:\nsaved metadata: {_described(*self.metadata[i])}\n"
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
    """The tensors that two runs saved, line by line."""
    before, after = ("".join(f"  {i}: {line}\n" for i, line in enumerate(lines)) for lines in (first, second))
    return f"{DEBUG}\nSaved during the original forward:\n{before}Saved during recomputation:\n{after}"
