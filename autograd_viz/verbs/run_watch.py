"""What watches a model: one of PyTorch or of ours, alone or as a rank of a job; and the loss of a probe batch."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from ..errors import NotDrawableError
from ..pictures.runs.history import History
from ..pictures.runs.ranks import Ranks, Teller, unpack
from ..pictures.runs.rows import Row
from ..runtime.pytorch import pytorch
from ..sources import anything
from ..sources.shared.run.table import rows_of
from ..sources.twin.run import CoreRunWatch
from ..twin import manual_seed, no_grad
from ..twin.core.tensor.tensor import Tensor


def watch_of(model: Any, name: str, keep: int) -> tuple[History, Any, RankSink | None]:
    """An empty history, the watch that fills it, and in a job what tells rank 0; errors as for `watch`."""
    is_module = callable(getattr(type(model), "named_parameters", None))
    if is_module and any(isinstance(p, Tensor) for p in model.parameters()):  # of ours
        rows = rows_of(model, Tensor.numel)
        history = History(Row(*row) for row in rows.named)
        return history, CoreRunWatch(model, rows, history, keep), None
    torch = pytorch()
    if torch is None or not isinstance(model, torch.nn.Module):
        raise NotDrawableError(f"watch(model) takes a module, got {type(model).__name__} ({model!r:.60})")
    from ..sources.pytorch.ranks.run import Channel, known_by
    from ..sources.pytorch.recording.watch import own_code
    from ..sources.pytorch.run.numbers import own_size
    from ..sources.pytorch.run.run import RunWatch

    _check_numbers(model)
    with own_code():
        rows = rows_of(model, own_size)
    history = History(Row(*row) for row in rows.named)
    channel = Channel(known_by(model, name, rows), f"{name} ({type(model).__name__})")
    shared = RankSink(history, channel) if channel.world > 1 else None
    return history, RunWatch(model, rows, shared or history, keep, is_rank=shared is not None), shared


def _check_numbers(model: Any) -> None:
    """Refuse a model whose parameters have no numbers yet."""
    for name, p in model.named_parameters():
        kind = type(p).__name__
        what = "on the device meta" if p.is_meta else "not initialized" if kind.startswith("Uninitialized") else ""
        if p.requires_grad and (what or kind == "FakeTensor"):
            raise ValueError(f"watch(model): {name} is {what or 'a fake tensor'} and has no numbers; call it later")


PATIENCE = 1.0  # seconds that rank 0 waits at the end for what others still tell


class RankSink:
    """Takes the numbers of a rank, and tells rank 0 through a channel. On rank 0 `history.ranks` gets what all told."""

    def __init__(self, history: History, channel: Any) -> None:
        self._history, self._channel = history, channel
        self._teller = Teller(channel.rank, len(history.rows))
        if not channel.rank:
            history.ranks = Ranks(channel.world)

    def add(self, values: Any, seen: Any) -> None:
        """More steps."""
        self._history.add(values, seen)
        self._tell(self._teller.add(values, seen))

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Something happened at a step of this rank."""
        self._history.mark(step, kind, text)

    def _tell(self, windows: Any) -> None:
        for told in windows:
            if self._channel.rank:
                self._channel.send(told.pack())
            elif self._history.ranks is not None:
                self._history.ranks.add(told)
                self.listen()

    def listen(self) -> None:
        """On rank 0: what the others have told."""
        if self._history.ranks is not None:
            for message in self._channel.heard():
                self._history.ranks.add(unpack(message))
            self._history.ranks.others = self._channel.others

    def end(self) -> None:
        """The run ends. Rank 0 waits a moment for the others."""
        self._tell(self._teller.rest())
        ranks, deadline = self._history.ranks, time.monotonic() + PATIENCE
        self._channel.end()
        self.listen()
        while ranks is not None and time.monotonic() < deadline and self._is_behind(ranks):
            time.sleep(0.02)
            self.listen()
        if ranks is not None:
            ranks.end()

    def _is_behind(self, ranks: Ranks) -> bool:
        """Has a rank that watches the same still to tell something?"""
        return any(ranks.steps[rank] < ranks.steps[0] for rank in range(ranks.world) if rank not in ranks.others)


PROBE_EVERY = 50  # steps: the same batch each time, so that what changes is the training


def probe_loss(probe: Any, model: Any) -> float:
    """The loss of a probe, on a copy of the model; random numbers are the same each time, and as before afterwards.

    Raises:
        TypeError: the probe gives no loss.
    """
    torch = pytorch()
    copied = copy.deepcopy(model)
    with anything.keep_random_numbers(), no_grad(), nullcontext() if torch is None else torch.no_grad():
        manual_seed(0)
        if torch is not None:
            torch.manual_seed(0)
        result = probe(copied) if callable(probe) else _called(copied, probe)
    return _loss_of(result)


def _called(model: Any, batch: Any) -> Any:
    args, kwargs = ((), batch) if isinstance(batch, Mapping) else (batch if isinstance(batch, tuple | list) else (batch,), {})
    try:
        return model(*args, **kwargs)
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
        raise TypeError(f"probe= must be a batch that the model takes, or a function of the model; it raised {came}") from error


def _loss_of(result: Any) -> float:
    """The number in a scalar, or in what a model gives that has a loss."""
    loss: Any = result.get("loss") if isinstance(result, Mapping) else getattr(result, "loss", result)
    if isinstance(loss, int | float):
        return float(loss)
    if callable(getattr(loss, "numel", None)) and loss.numel() == 1:
        return float(loss.item())
    shape = getattr(loss, "shape", None)
    came = type(result).__name__ if shape is None else f"shape {tuple(shape)}"
    raise TypeError(
        f"probe= needs a loss, and the model gives {came}: give it a function of the model, "
        "probe=lambda model: loss_fn(model(x), y)"
    )
