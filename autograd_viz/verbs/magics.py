"""`%load_ext autograd_viz`: record what the cells run, for explain; `%%record`: record one cell."""

from __future__ import annotations

from typing import Any

from ..errors import MissingLibraryError
from .show import record
from .watch import watch

_handles: list[Any] = []


def load_ipython_extension(shell: Any) -> None:
    """Begin to watch, and define `%%record`."""
    unload_ipython_extension(shell)
    try:
        _handles.append(watch())
    except MissingLibraryError:
        print("PyTorch is not installed. Programs of autograd_viz need no watching.")
        return
    shell.events.register("pre_run_cell", _rearm)
    shell.register_magic_function(_recorded_cell(shell), "cell", "record")


def unload_ipython_extension(shell: Any) -> None:
    """Stop watching."""
    while _handles:
        _handles.pop().close()
        shell.events.unregister("pre_run_cell", _rearm)
        shell.magics_manager.magics["cell"].pop("record", None)


def _rearm(info: Any) -> None:
    """A cell begins: an optimizer's step() that raised before may have left the recorder off."""
    for handle in _handles:
        handle.rearm()


def _recorded_cell(shell: Any) -> Any:
    """The magic, for one shell."""

    def run(line: str, cell: str) -> None:
        """Run the cell under av.record(): the picture has every value, line and module."""
        own = vars(shell).get("showtraceback")
        shell.showtraceback = lambda *_, **__: None  # the cell around this one shows the error
        try:
            with record():
                result = shell.run_cell(cell, store_history=False)
        finally:
            del shell.showtraceback
            if own is not None:
                shell.showtraceback = own
        result.raise_error()

    return run
