"""The verbs: show, step, compare, save, load, record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from .collector import collector_waits
from .core import storage
from .drawing import Drawing, drawing_of
from .errors import MissingLibraryError, NotDrawableError, UnknownChoiceError
from .export.cell import cell_bundle
from .export.image import read_text, write_file
from .graph.codec import recording_from_json
from .graph.trace import State
from .recorded import Recording
from .render import theme_named
from .render.escape import printable
from .saving import Subject, Wishes, check, html_text, save_subject, to_digraph
from .sources import anything
from .sources.names import visible_names
from .stepper import Stepper
from .widget.html import frame

if TYPE_CHECKING:
    from .widget import Compare, StepperWidget


class Figure:
    """A picture of a graph; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, drawing: Drawing, state: State, theme: str) -> None:
        self.document, self._drawn = drawing.document, drawing.shown
        self.svg = drawing.svg(state, theme_named(theme))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        freed = ", saved tensors freed" if self.document.is_freed else ""
        freed += ", forward pass reconstructed (dotted)" if any(o.reconstructed for o in self.document.ops) else ""
        groups = len(self._drawn.groups)
        freed += f", {groups} group{'s' * (groups > 1)} collapsed" if groups else ""
        names = ", ".join(t.name for t in self._drawn.document.tensors if t.name)
        return printable(f"<Figure of {names or 'an unnamed tensor'}: {len(self.document.nodes):,} backward nodes{freed}>")


def graph_of(tensor: Any, variables: Mapping[str, Any], params: Any = None) -> Any:
    """The graph behind a tensor.

    Raises:
        NotDrawableError: it is no tensor.
        TypeError: `params` names nothing.
    """
    if not anything.is_drawable(tensor):
        raise NotDrawableError(
            "there is no graph to draw: expected a tensor of autograd_viz or of PyTorch, got "
            f"{type(tensor).__name__} ({tensor!r:.60})"
        )
    return anything.graph_of(tensor, {**anything.named(params), **variables})


def _caller() -> FrameType:
    return sys._getframe(2)


def record(what: Any = None) -> Any:
    """Follow a PyTorch forward pass, so that its picture has every value, every line of code and every module.

    ``with av.record(model): loss = ...``, or ``av.record(model)(x)``, or ``av.record(function)(*args)``. It changes nothing:
    results, gradients, random numbers and hooks are those of an unrecorded run. Programs of autograd_viz need no recording.

    Args:
        what: a module, whose parts are told by their path; a function; or None.

    Raises:
        MissingLibraryError: PyTorch is not installed.
    """
    try:
        from .sources.pytorch.record import Recorder
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError("record() follows PyTorch programs", "torch") from None
    return Recorder(what)


def show(tensor: Any, *, params: Any = None, theme: str = "light", collapse: bool | None = None) -> Figure:
    """The figure of everything that led to `tensor`, as it is now.

    A large graph is drawn in groups, each of them one box: modules and scopes, what is repeated (× 12), and else a stretch of
    ops.

    Args:
        tensor: the end of the forward pass, of autograd_viz or of PyTorch; a leaf is a figure of one box. Or what `load` gave.
        params: names for parameters: a module, or a dictionary of names and tensors.
        theme: "light", "dark" or "waite".
        collapse: True: in as few boxes as there are groups, False: every op, None: in groups beyond 60 ops or 100 backward
            nodes.

    Raises:
        NotDrawableError: not a tensor.
        UnknownChoiceError: no such theme.
        TypeError: `params` is something else.
    """
    theme_named(theme)
    if isinstance(tensor, Recording):
        return Figure(drawing_of(tensor.document, collapse), State(), theme)
    with collector_waits():
        graph = graph_of(tensor, visible_names(_caller()), params)
        return Figure(drawing_of(graph.document, collapse), graph.past(), theme)


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
        x: as for `show`; or a stepper; for .npz a state_dict, or any nested dictionary of tensors and plain values.
        path: where to; an existing file is replaced. A file opened for writing bytes gets a .npz.
        step: which step a picture shows, a page opens at and an animation ends with: a number (negative: the forward pass),
            "final", or None for the graph as it is now, of a stepper its present step; an animation then ends with the pass.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto": a page follows the reader's system, a picture is light.
        scale: pixels per px, for .png (2 if None) and animations (1 if None).
        duration: of a step of an animation, in seconds.
        collapse: as for `show`; .dot, .mmd and .json hold every op. A widget is drawn as it is, unless told otherwise.

    Raises:
        NotDrawableError: neither tensor nor stepper.
        UnknownChoiceError: no such theme or suffix.
        ValueError: no such step; scale or duration is not positive.
        RuntimeError: a step was asked for, and ``backward()`` would refuse, in PyTorch's words.
        CannotWriteError: the file cannot be written.
    """
    if hasattr(path, "write"):
        path.write(storage.state_bytes(x))
        return
    if Path(path).suffix.lower() == ".npz":
        write_file(path, storage.state_bytes(x))
        return
    storage.refuse_pickle(path)
    wishes = Wishes(step, theme, scale, duration, collapse)
    check(wishes, path)
    save_subject(subject_of(x, visible_names(_caller()), params), path, wishes)


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
    return Frame(html_text(subject_of(x, visible_names(_caller()), params), wishes), height)


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
    return to_digraph(subject_of(x, visible_names(_caller()), params), wishes)


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
        return Recording(*recording_from_json(read_text(path)))
    if Path(path).suffix.lower() != ".npz":
        raise UnknownChoiceError("suffix", Path(path).suffix, [".json", ".npz"])
    return storage.load_state(path)


def step(
    tensor: Any,
    gradient: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    params: Any = None,
    theme: str = "auto",
    collapse: bool | None = None,
) -> StepperWidget:
    """The widget that steps the backward pass of `tensor`, one grad_fn call at a time; scriptable without it.

    Args:
        tensor: the root, as in ``tensor.backward()``; or what `load` gave, which is stepped without computing anything.
        gradient: the first gradient, for a tensor of several elements.
        retain_graph: keep saved tensors.
        create_graph: record the backward pass.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto" to follow the notebook.
        collapse: as for `show`; in the widget a double click opens a group; `expand` and `collapse` do it too.

    Raises:
        NotDrawableError: not a tensor.
        RuntimeError: what ``tensor.backward()`` would refuse, in PyTorch's words.
    """
    from .widget import StepperWidget

    if theme != "auto":
        theme_named(theme)
    if isinstance(tensor, Recording):
        return StepperWidget(tensor.stepper(), len(tensor.trace.steps), theme, collapse, tensor.stepper)
    with collector_waits():
        graph = graph_of(tensor, visible_names(_caller()), params)

        def fresh() -> Any:
            return anything.pass_of(graph, tensor, gradient, retain_graph, create_graph)

        def rehearsal() -> Stepper | None:
            return Stepper(graph.document, live) if (live := fresh()).leaves_no_trace else None

        live = fresh()
        return StepperWidget(Stepper(graph.document, live), live.total, theme, collapse, rehearsal)


def compare(*steppers: Any, titles: tuple[str, ...] | list[str] = ()) -> Compare:
    """Steppers side by side on one cursor: with and without `retain_grad`, before and after `detach`.

    Args:
        steppers: what `step` returns; each stops at its own end.
        titles: a line above each.

    Raises:
        NotDrawableError: something else was given.
    """
    from .widget import Compare, StepperWidget

    for s in steppers:
        if not isinstance(s, StepperWidget):
            raise NotDrawableError(f"compare(a, b) takes steppers, as av.step returns them; got {type(s).__name__} ({s!r:.60})")
    return Compare(*steppers, titles=tuple(titles))
