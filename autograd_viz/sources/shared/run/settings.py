"""With what a model is trained, as words: a difference between two runs often begins here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .table import Sink

SETTING = "setting"  # a mark: "name=value", as it was when the run began
PLAIN = (bool, int, float, str, tuple, list)


def note_settings(sink: Sink, optimizer: Any, place: int, parameters: Sequence[Any], inputs: Iterable[Any], cast: str) -> None:
    """Mark them once, before an optimizer's first step.

    Args:
        sink: takes the marks.
        optimizer: it is about to step.
        place: how many optimizers have stepped before.
        parameters: of the model, those that are trained.
        inputs: the tensors that the model was given.
        cast: the dtype of autocast, or "".
    """
    which = f" {place + 1}" if place else ""
    for name, value in _options(optimizer):
        sink.mark(0, SETTING, f"{name}{which}={value}")
    if not place:
        sink.mark(0, SETTING, f"parameters={sum(p.numel() for p in parameters):,}")
        sink.mark(
            0, SETTING, f"dtype={', '.join(sorted({_dtype(p) for p in parameters}))}{f' under autocast to {cast}' * bool(cast)}"
        )
        if shapes := ", ".join(str(tuple(t.shape)) for t in inputs):
            sink.mark(0, SETTING, f"input={shapes}")


def _options(optimizer: Any) -> Iterator[tuple[str, Any]]:
    yield "optimizer", type(optimizer).__name__
    for name in optimizer.param_groups[0]:
        values = [group.get(name) for group in optimizer.param_groups]
        if name not in ("params", "param_names") and all(isinstance(v, PLAIN) for v in values):
            yield name, ", ".join(dict.fromkeys(map(str, values)))


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).rpartition(".")[2]
