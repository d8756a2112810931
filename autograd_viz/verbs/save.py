"""The verbs that write and read: save, iframe, to_graphviz, load."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownChoiceError
from ..graph.codec import recording_from_json
from ..graph.limits import BYTES
from ..graph.trace import State, Trace
from ..pictures.render.drawing import AUTO
from ..runtime.collector import collector_waits
from ..runtime.files import read_text, write_file
from ..sources import anything
from ..sources.asking import unseen
from ..sources.shared.names import callers_names
from ..stepper.recorded import Recording
from ..stepper.sentences import with_advice
from ..stepper.stepper import Stepper
from ..twin.core.tensor import storage
from ..twin.core.tensor.tensor import Tensor
from ..widget.html import frame
from .formats import WRITERS, Subject, Wishes, check, html_text, save_still, suffix_of, to_digraph
from .options import check_options
from .show import forward_alone, graph_of

if TYPE_CHECKING:
    from graphviz import Digraph


def subject_of(
    x: Any, variables: Mapping[str, Any], params: Any = None, is_outline: bool = False, gradient: Any = None
) -> Subject:
    """The subject behind a tensor, a stepper or its widget, else NotDrawableError; `is_outline`: for a map, whose pass begins
    with `gradient`.
    """
    exported = anything.exported_document(x, is_outline)
    x = x if exported is None else Recording(exported, Trace())
    stepper = getattr(x, "stepper", x)
    if isinstance(x, Recording):
        return Subject(x.document, State(), x.stepper)
    if isinstance(stepper, Stepper):
        return Subject(stepper.document, stepper.state, lambda: stepper, drawing=getattr(x, "drawing", None))
    graph = graph_of(x, variables, params, is_outline)
    with unseen(x):
        can_step = x.requires_grad and not graph.document.is_freed

    def backward() -> Stepper:
        return Stepper(graph.document, anything.pass_of(graph, x, gradient, None, False))

    return Subject(
        graph.document,
        graph.past(),
        forward_alone(graph, x, gradient) or backward,
        can_step,
        lambda places: anything.norms_of(graph, x, gradient, places) if can_step else {},
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
    detail: str = AUTO,
    steps: bool | Sequence[int] = False,
) -> None:
    """Write `x` to a file. The suffix sets the format::

        .svg .png .pdf     the picture
        .pptx              slides, a step on each
        .gif .apng .webp   the backward pass as an animation
        .html              a page that steps, without kernel and network
        .dot .mmd          the graph for Graphviz, and its structure for Mermaid
        .json              the graph with every step of its pass, for `load`
        .npz .pt .ckpt ... tensors, a state_dict, for `load`: a .npz under any name

    A format that needs the steps runs the backward pass for real, with the user's hooks, and then takes it back.

    Args:
        x: as for `show`; a stepper; or a picture from `show`, `map` or `memory`. For a map, .json lists cards and arrows, and
            .html has cards that open. For a memory both have its tables. Or a run from `watch`: .html, .json and .csv have its
            numbers. For .npz: a state_dict, or any nest of dictionaries and lists of tensors and plain values.
        path: the file; an existing file is replaced. A symbolic link stays, and the file that it leads to is replaced. A file
            opened for writing bytes gets a .npz.
        step: the step that a picture shows, a page opens at, or an animation ends with. It is a number (negative: the forward
            pass), "final", or None. None means the current state (of a stepper: its current step). An animation then shows all
            steps.
        params: as for `show`.
        theme: "light", "dark", "waite" or "auto". With "auto" a page follows the reader's system, and a picture is light.
        scale: pixels per px, for .png (default 2, or less for large pictures) and animations (default 1).
        duration: duration of one step of an animation, in seconds.
        collapse: as for `show`. .dot, .mmd and .json contain every op. None keeps the groups of a widget as they are.
        detail: as for `show`; a page chooses, other formats are full.
        steps: True writes a .pdf with a page for the start and for each step, its sentence under the picture; a list chooses
            steps. A .pptx has all steps, or the list. Slides have the most detail that is read from afar, unless one is given.

    Raises:
        NotDrawableError: `x` is neither a tensor nor a stepper.
        UnknownChoiceError: the theme, detail or suffix does not exist, for what is drawn.
        ValueError: the step does not exist, or scale or duration is not positive.
        RuntimeError: a step was given, and ``backward()`` would fail; the message is PyTorch's.
        CannotWriteError: the file cannot be written.
        TypeError: `path` is not a path, a state holds what a .npz cannot, or an option has a wrong type.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> av.save(a * b, "c.svg")
        >>> av.save(a * b, "c.html")  # steps in any browser
    """
    check_options(step=step, theme=theme, scale=scale, duration=duration, collapse=collapse, detail=detail, steps=steps)
    if not isinstance(path, str | os.PathLike) or _is_state(x, path):
        storage.save(x, path)
        return
    if isinstance(getattr(x, "svg", None), str):
        save_still(x, path, Wishes(theme=theme, scale=scale))
        return
    wishes = Wishes(step, theme, scale, duration, collapse, detail, steps)
    check(wishes, path)
    subject = subject_of(x, callers_names(), params)
    with with_advice(x):
        write_file(path, WRITERS[suffix_of(path)](subject, wishes))


def _is_state(x: Any, path: Any) -> bool:
    """Is it written as an archive? A tensor with a graph only under a name that PyTorch's programs give to one."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npz" or suffix_of(path) in WRITERS:
        return suffix == ".npz"
    if isinstance(x, Tensor):
        return x.is_leaf or suffix in ("", ".pt", ".pth", ".ckpt", ".bin", ".pkl", ".tar")
    return isinstance(x, (dict, list, tuple, np.ndarray, np.generic, *storage.PLAIN)) or hasattr(x, "state_dict")


class Frame:
    """A cell output: a page in its own frame, isolated from the page around it. `html` is the element."""

    def __init__(self, page: str, height: int) -> None:
        self.html = frame(page, height)

    def _repr_html_(self) -> str:
        return self.html


def iframe(
    x: Any, *, params: Any = None, theme: str = "auto", height: int = 700, collapse: bool | None = None
) -> Frame:  # fmt: skip
    """The page that `save` writes as .html, in an ``<iframe>``. A cell that ends in it shows it; `.html` is its source.

    A cell that ends in a stepper also stores such a page in the notebook, for use without a kernel.

    Args:
        x: a tensor or a stepper.
        params: as for `show`.
        theme: as for `save`.
        height: height in px.
        collapse: as for `show`. Errors are those of `save`.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> av.iframe(a * b).html[:7]
        '<iframe'
    """
    check_options(theme=theme, height=height, collapse=collapse)
    wishes = Wishes(None, theme, collapse=collapse)
    check(wishes)
    subject = subject_of(x, callers_names(), params)
    with with_advice(x):
        return Frame(html_text(subject, wishes), height)


def to_graphviz(x: Any, *, step: int | str | None = None, params: Any = None, theme: str = "auto") -> Digraph:
    """Convert the graph to a ``graphviz.Digraph`` of HTML-like tables.

    Args:
        x: a tensor or a stepper.
        step: as for `save`.
        params: as for `show`.
        theme: as for `save`. So are the errors.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> 'MulBackward0' in av.to_graphviz(a * b).source
        True
    """
    check_options(step=step, theme=theme)
    wishes = Wishes(step, theme)
    check(wishes)
    subject = subject_of(x, callers_names(), params)
    with with_advice(x):
        return to_digraph(subject, wishes)


def load(path: Any, map_location: Any = None, *, weights_only: bool = True) -> Recording | storage.State:
    """Read what `save` wrote: a .json, or a .npz under any name. NumPy's own .npz becomes a dictionary of tensors.

    Args:
        path: a path, or a file opened for reading bytes (a .npz).
        map_location: ignored; there is one device.
        weights_only: ignored; the files contain no code.

    Returns:
        for a .json a `Recording`, which `show`, `step` and `save` accept; for a .npz what was saved.

    Raises:
        CannotReadError: the file does not exist, is not a .npz, or is a pickle, which is never read.
        DocumentError: the .json was not written by `save`.
        UnknownChoiceError: the suffix is that of a picture.
        TypeError: `path` is neither.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> c = a * b
        >>> av.save(c, "c.json")
        >>> av.load("c.json")
        <Recording of a, b, c: 3 steps>
    """
    suffix = suffix_of(path) if isinstance(path, str | os.PathLike) else ""
    if suffix == ".json":
        with collector_waits():
            return Recording(*recording_from_json(read_text(path, BYTES)))
    if suffix in WRITERS:
        raise UnknownChoiceError("suffix", Path(path).suffix, [".json", ".npz"])
    state: storage.State = storage.load(path)
    return state
