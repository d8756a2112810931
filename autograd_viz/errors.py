"""The errors outside the autograd core: each is an `AutogradVizError`, and one of Python's own.

The core raises PyTorch's types (RuntimeError, TypeError, ...), in PyTorch's words.
"""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterable

__all__ = [
    "AutogradVizError", "CannotReadError", "CannotWriteError", "DocumentError", "LayoutError", "MissingLibraryError",
    "NotDrawableError", "NotFiniteError", "UnknownChoiceError",
]  # fmt: skip
IN_PAGE = sys.platform == "emscripten"  # Python in a web page: no threads, no processes, few libraries
# what stands at a path and is not a file, by its st_mode: "it is a folder"
NO_FILES = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}  # fmt: skip


class AutogradVizError(Exception):
    """Base class of the errors that drawing, stepping and exporting raise."""


class NotDrawableError(AutogradVizError, TypeError):
    """The object has no graph: show(3)."""

    @classmethod
    def instead_of(cls, expected: str, given: object) -> NotDrawableError:
        """The error that names the expected type, the given one, and an alternative. "got ..." follows `expected`."""
        what, advice = f"{expected}, got {type(given).__name__} ({given!r:.60})", _advice(given)
        return cls(f"{what}; {advice}" if advice else what)


def _advice(given: object) -> str | None:
    """The argument to use instead of a module, a list, or a plain number."""
    if type(given).__name__ == "ExportedProgram":
        return "show and map draw an exported program; for its backward pass, pass a loss of program.module()(x)"
    if callable(getattr(given, "named_parameters", None)):
        return "a module has no graph before it is called: pass the loss (params=model gives the names), or one parameter"
    if isinstance(given, dict):
        return f"pass one of its values: {', '.join(map(repr, [*given][:10])) or 'it has none'}"
    if isinstance(given, list | tuple):
        return "pass one of them; for several losses pass their sum: loss_a + loss_b"
    if isinstance(given, int | float | complex) or type(given).__module__.partition(".")[0] == "numpy":
        return "plain numbers have no graph: pass the tensor that they came from"
    return None


class UnknownChoiceError(AutogradVizError, ValueError):
    """The argument is not one of the choices, which the message lists: theme="blue"."""

    def __init__(self, what: str, given: object, choices: Iterable[str]) -> None:
        super().__init__(f"unknown {what} {given!r}; choose one of: {', '.join(choices)}")


class DocumentError(AutogradVizError, ValueError):
    """The JSON text is not a document that this version can read: save() did not write it."""


class CannotReadError(AutogradVizError, OSError):
    """A file cannot be read, or its kind is never read: load("model.pt"). It gives the reason."""


class CannotWriteError(AutogradVizError, OSError):
    """A file cannot be written: save(e, "/no/such/folder/e.svg"). An existing file at the path stays unchanged."""


class MissingLibraryError(AutogradVizError, ImportError):
    """An optional library is not installed: record(model) without PyTorch.

    `what` needs it, a sentence without its full stop; `package` installs it; `in_page` helps where a browser's Python cannot.
    """

    def __init__(self, what: str, package: str, in_page: str = "") -> None:
        lacks = ", which a page lacks" + f"; {in_page}" * bool(in_page)
        super().__init__(what + (lacks if IN_PAGE else f"; install it with: pip install {package}"))


class LayoutError(AutogradVizError):
    """Expanding a picture whose layout takes over 20 s."""


class NotFiniteError(AutogradVizError, FloatingPointError):
    """A gradient of a watched run is nan or inf; its optimizer has not stepped."""
