"""What watches a model: one of PyTorch or of ours, alone or as a rank of a job."""

from __future__ import annotations

from typing import Any

from ..errors import NotDrawableError
from ..pictures.runs.history import History
from ..pictures.runs.rows import Row
from ..runtime.pytorch import pytorch
from ..sources.shared.run.rows import rows_of
from ..sources.twin.run import CoreRunWatch
from ..twin.core.tensor.tensor import Tensor
from .run_shared import Shared


def watched(model: Any, name: str, keep: int) -> tuple[History, Any, Shared | None]:
    """An empty history, the watch that fills it, and in a job what tells rank 0.

    Raises:
        NotDrawableError: it is no module.
        ValueError: no parameter requires grad, or one has no numbers.
    """
    if _is_core(model):
        rows = rows_of(model, Tensor.numel)
        history = History(Row(*row) for row in rows.named)
        return history, CoreRunWatch(model, rows, history, keep), None
    _check_torch(model)
    from ..sources.pytorch.ranks.run import Channel, known_by
    from ..sources.pytorch.recording.watch import own_code
    from ..sources.pytorch.run.numbers import own_size
    from ..sources.pytorch.run.run import RunWatch

    _check_numbers(model)
    with own_code():
        rows = rows_of(model, own_size)
    history = History(Row(*row) for row in rows.named)
    channel = Channel(known_by(model, name, rows), f"{name} ({type(model).__name__})")
    shared = Shared(history, channel) if channel.world > 1 else None
    return history, RunWatch(model, rows, shared or history, keep, is_rank=shared is not None), shared


def _check_numbers(model: Any) -> None:
    """Refuse a model whose parameters have no numbers yet."""
    for name, p in model.named_parameters():
        kind = type(p).__name__
        what = "on the device meta" if p.is_meta else "not initialized" if kind.startswith("Uninitialized") else ""
        if p.requires_grad and (what or kind == "FakeTensor"):
            raise ValueError(f"watch(model): {name} is {what or 'a fake tensor'} and has no numbers; call it later")


def _is_core(model: Any) -> bool:
    """Is it a module of ours? Its parameters tell."""
    return callable(getattr(type(model), "named_parameters", None)) and any(isinstance(p, Tensor) for p in model.parameters())


def _check_torch(model: Any) -> None:
    torch = pytorch()
    if torch is None or not isinstance(model, torch.nn.Module):
        raise NotDrawableError(f"watch(model) takes a module, got {type(model).__name__} ({model!r:.60})")
