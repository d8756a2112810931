"""The verbs that write and read: save, iframe, to_graphviz, load."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.tensor import storage
from ..errors import UnknownChoiceError
from ..export.image import read_text, write_file
from ..graph.codec import recording_from_json
from ..graph.limits import BYTES
from ..graph.trace import State
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.names import callers_names
from ..stepper.recorded import Recording
from ..stepper.stepper import Stepper
from ..widget.html import frame
from .formats import Subject, Wishes, check, html_text, save_still, save_subject, to_digraph
from .show import graph_of


def subject_of(x: Any, variables: Mapping[str, Any], params: Any = None) -> Subject:
    """What is saved of a tensor, a stepper or its widget.

    Raises:
        NotDrawableError: it is none of them.
    """
    stepper = getattr(x, "stepper", x)
    if isinstance(x, Recording):
        return Subject(x.document, State(), x.stepper)
    if isinstance(stepper, Stepper):
        return Subject(stepper.document, stepper.state, lambda: stepper, drawing=getattr(x, "drawing", None))
    graph = graph_of(x, variables, params)
    return Subject(
        graph.document,
        graph.past(),
        lambda: Stepper(graph.document, anything.pass_of(graph, x, None, None, False)),
        x.requires_grad and not graph.document.is_freed,
    )


def save(
    x: Any,
    path: Any,
    *,
    step: int | str | None = None,
    params: Any = None,
    theme: str = "auto",
    scale: float | None = None,
    duration: float = 1.5,
    collapse: bool | None = None,
) -> None:
    """Write to a file; the suffix says what::

        .svg .png .pdf     the picture
        .gif .apng .webp   the backward pass as an animation
        .html              a page that steps, without kernel and network
        .dot .mmd          the graph for Graphviz, and its structure for Mermaid
        .json              the graph with every step of its pass, for `load`
        .npz               a state_dict, for `load`

    What needs the steps of the backward pass runs them for real, the user's hooks too, and then takes them back.

    Args:
        x: as for `show`; a stepper; what `show` and `map` return; for .npz a state_dict, or any nested dictionary of tensors
            and plain values.
        path: where to; an existing file is replaced. A file opened for writing bytes gets a .npz.
        step: which step a picture shows, a page opens at and an animation ends with: a number (negative: the forward pass),
            "final", or None for the graph as it is now, of a stepper its present step; an animation then ends with the pass.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto": a page follows the reader's system, a picture is light.
        scale: pixels per px, for .png (None: 2, less of what is too large for it) and animations (None: 1).
        duration: of a step of an animation, in seconds.
        collapse: as for `show`; .dot, .mmd and .json hold every op. A widget is drawn as it is, unless told otherwise.

    Raises:
        NotDrawableError: neither tensor nor stepper.
        UnknownChoiceError: no such theme or suffix.
        ValueError: no such step; scale or duration is not positive.
        RuntimeError: a step was asked for, and ``backward()`` would refuse, in PyTorch's words.
        CannotWriteError: the file cannot be written.
        TypeError: the path is none.
    """
    if hasattr(path, "write"):
        path.write(storage.state_bytes(x))
        return
    if not isinstance(path, str | os.PathLike):
        swapped = "; the arguments are swapped" if isinstance(x, str | os.PathLike) else ""
        raise TypeError(f"save(x, path) takes a path, got {type(path).__name__} ({path!r:.60}){swapped}")
    if Path(path).suffix.lower() == ".npz":
        write_file(path, storage.state_bytes(x))
        return
    storage.refuse_pickle(path)
    if isinstance(getattr(x, "svg", None), str):
        save_still(x.svg, path, scale)
        return
    wishes = Wishes(step, theme, scale, duration, collapse)
    check(wishes, path)
    save_subject(subject_of(x, callers_names(), params), path, wishes)


class Frame:
    """The output of a cell: a page in a frame of its own, which can reach nothing of the page around it.

    Attributes:
        html: the element.
    """

    def __init__(self, page: str, height: int) -> None:
        self.html = frame(page, height)

    def _repr_html_(self) -> str:
        return self.html


def iframe(
    x: Any, *, params: Any = None, theme: str = "auto", height: int = 700, collapse: bool | None = None
) -> Frame:  # fmt: skip
    """The page that `save` writes as .html, in an ``<iframe>`` to paste elsewhere (`.html`); a cell that ends in it shows it.

    A cell that ends in a stepper keeps such a page in the notebook by itself, for as long as there is no kernel.

    Args:
        x: a tensor or a stepper.
        params: as for `show`.
        theme: as for `save`.
        height: in px.
        collapse: as for `show`.

    Raises:
        As `save`.
    """
    wishes = Wishes(None, theme, collapse=collapse)
    check(wishes)
    return Frame(html_text(subject_of(x, callers_names(), params), wishes), height)


def to_graphviz(x: Any, *, step: int | str | None = None, params: Any = None, theme: str = "auto") -> Any:
    """The graph as a ``graphviz.Digraph`` of HTML-like tables, to go on with in Graphviz.

    Args:
        x: a tensor or a stepper.
        step: as for `save`.
        params: as for `show`.
        theme: as for `save`.

    Raises:
        As `save`.
    """
    wishes = Wishes(step, theme)
    check(wishes)
    return to_digraph(subject_of(x, callers_names(), params), wishes)


def load(path: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read a .json or .npz that `save` wrote, or NumPy's own .npz as a dictionary of tensors.

    Args:
        path: a path, or a file opened for reading bytes (a .npz).
        map_location: accepted for PyTorch's sake; there is one device.
        weights_only: likewise; neither file holds code.

    Returns:
        of a .json a `Recording`, which `show`, `step` and `save` take.

    Raises:
        CannotReadError: there is no such file, it is no .npz, or it is a pickle (.pt), which is never read.
        DocumentError: a .json that is none of ours.
        UnknownChoiceError: another suffix.
    """
    if hasattr(path, "read"):
        return storage.load_state(path)
    storage.refuse_pickle(path)
    if Path(path).suffix.lower() == ".json":
        with collector_waits():
            return Recording(*recording_from_json(read_text(path, BYTES)))
    if Path(path).suffix.lower() != ".npz":
        raise UnknownChoiceError("suffix", Path(path).suffix, [".json", ".npz"])
    return storage.load_state(path)
