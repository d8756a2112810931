"""The verb watch: a training run, or everything that PyTorch does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, overload

from ..errors import MissingLibraryError
from ..sources.shared.names import callers_names
from .options import check_options
from .run import Run, run_of

if TYPE_CHECKING:
    from ..sources.pytorch.recording.watch import Watch

KEEP = "256 MB"


@overload
def watch(model: int | str | None = None, *, keep: int | str = ..., stop: bool = ..., theme: str = ...) -> Watch: ...


@overload
def watch(model: Any, *, keep: int | str = ..., stop: bool = ..., theme: str = ..., probe: Any = ...) -> Run: ...


def watch(
    model: Any = None, *, keep: int | str = KEEP, stop: bool = True, theme: str = "auto", probe: Any = None
) -> Run | Watch:
    """Watch PyTorch programs from now on: a model while it trains, or everything, for `explain`.

    ``w = av.watch(model)`` before a training loop measures each step: the norms of gradients, updates, loss, rates. The loop
    stays unchanged. `w` shows the run as a picture, as a table, and opens its passes.

    ``av.watch()`` records all PyTorch code, so that `explain` knows what ran. A second call returns the same recorder.

    A run that you hold keeps its model alive, also after ``.close()``; one that nobody holds ends with its model. It is not
    pickled. A copy of a model that has it as an attribute has None there.

    Watching does not change results, gradients, random numbers, hooks or errors. ``with av.watch():`` ends with the block;
    ``.close()`` ends it at any time. autograd_viz programs need no recorder.

    Args:
        model: a module of PyTorch or of autograd_viz, or None.
        keep: memory for the last backward pass, so that it can be stepped again. Bytes, or a size such as "256 MB"; 0 keeps
            nothing.
        stop: for a model: raise `NotFiniteError` before a step that would move a weight by nan or inf. A step that a
            GradScaler leaves out is none.
        theme: of the picture of a model: "light", "dark" or "auto".
        probe: for a model: a batch whose loss is measured at every 50th step, so that what changes is the training, not the
            data. A function of the model that returns a loss, ``lambda model: loss_fn(model(x), y)``; or what a model takes
            that returns its loss. It runs on a copy, without gradients and from the same random state.

    Returns:
        a `Run` for a model, else a `Watch`.

    Raises:
        MissingLibraryError: PyTorch is not installed.
        ValueError: `keep` is not a size; no parameter of the model requires grad; or one has no numbers (on meta, lazy).
        TypeError: `probe` gives no loss.
        NotDrawableError: `model` is not a module.
    """
    if isinstance(model, int | str):  # `keep` was the first argument once
        model, keep = None, model
    check_options(keep=keep)
    size = bytes_of(keep)
    if model is not None:
        return run_of(model, callers_names(), size, stop, theme, probe)
    try:
        from ..sources.pytorch.recording.watch import watch as torch_watch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError("watch() needs PyTorch", "torch") from None
    return torch_watch(size)


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def bytes_of(size: int | str) -> int:
    """The number of bytes: 256_000_000 for "256 MB". ValueError if it is not a size."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", str(size), re.IGNORECASE)
    if found is None or found.group(2).upper() not in UNITS:
        raise ValueError(f'keep must be a number of bytes or a size such as "256 MB", got {size!r:.60}')
    return int(float(found.group(1)) * UNITS[found.group(2).upper()])
