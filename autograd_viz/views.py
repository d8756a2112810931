"""The verbs: show, step, compare, save, load, record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from .core import storage
from .errors import MissingLibraryError, NotDrawableError, UnknownChoiceError
from .export.cell import cell_bundle
from .export.image import check_suffix, write, write_file
from .graph.model import Document
from .graph.trace import State
from .layout import Geometry, layout
from .render import render_svg, theme_named
from .sources import anything
from .sources.names import visible_names
from .stepper import Stepper


class Figure:
    """A picture of a graph; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, document: Document, geometry: Geometry, state: State, theme: str) -> None:
        self.document = document
        self.svg = render_svg(document, geometry, state, theme_named(theme))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        freed = ", saved tensors freed" if self.document.is_freed else ""
        freed += ", forward pass reconstructed (dotted)" if any(o.reconstructed for o in self.document.ops) else ""
        names = ", ".join(t.name for t in self.document.tensors if t.name)
        return f"<Figure of {names or 'an unnamed tensor'}: {len(self.document.nodes)} backward nodes{freed}>"


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


def show(tensor: Any, *, params: Any = None, theme: str = "light") -> Figure:
    """The figure of everything that led to `tensor`, as it is now.

    Args:
        tensor: the end of the forward pass, of autograd_viz or of PyTorch; a leaf is a figure of one box.
        params: names for parameters: a module, or a dictionary of names and tensors.
        theme: "light", "dark" or "waite".

    Raises:
        NotDrawableError: not a tensor.
        UnknownChoiceError: no such theme.
        TypeError: `params` is something else.
    """
    theme_named(theme)
    graph = graph_of(tensor, visible_names(_caller()), params)
    return Figure(graph.document, layout(graph.document), graph.past(), theme)


def save(tensor: Any, path: Any, *, params: Any = None, theme: str = "light", scale: float = 2.0) -> None:
    """Write to a file; the suffix says what: a figure (.svg, .png), or a state_dict (.npz).

    Args:
        tensor: as for `show`; or a stepper, whose present step is saved; for .npz a state_dict, or any nested dictionary of
            tensors and plain values.
        path: where to; an existing file is replaced. A file opened for writing bytes gets a .npz.
        params: as for `show`.
        theme: "light", "dark" or "waite".
        scale: pixels per px, for .png.

    Raises:
        NotDrawableError: not a tensor.
        UnknownChoiceError: no such theme or suffix.
        CannotWriteError: the file cannot be written.
    """
    if hasattr(path, "write"):
        path.write(storage.state_bytes(tensor))
        return
    if Path(path).suffix.lower() == ".npz":
        write_file(path, storage.state_bytes(tensor))
        return
    storage.refuse_pickle(path)
    check_suffix(path)
    theme_named(theme)
    stepper = getattr(tensor, "stepper", tensor)
    if isinstance(stepper, Stepper):
        figure = Figure(stepper.document, layout(stepper.document), stepper.state, theme)
    else:
        graph = graph_of(tensor, visible_names(_caller()), params)
        figure = Figure(graph.document, layout(graph.document), graph.past(), theme)
    write(figure.svg, path, scale)


def load(path: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read a .npz: what `save` wrote there, or NumPy's own as a dictionary of tensors.

    Args:
        path: a path, or a file opened for reading bytes.
        map_location: accepted for PyTorch's sake; there is one device.
        weights_only: likewise; a .npz holds nothing else.

    Raises:
        CannotReadError: there is no such file, it is no .npz, or it is a pickle (.pt), which is never read.
        UnknownChoiceError: another suffix.
    """
    if not hasattr(path, "read"):
        storage.refuse_pickle(path)
        if Path(path).suffix.lower() != ".npz":
            raise UnknownChoiceError("suffix", Path(path).suffix, [".npz"])
    return storage.load_state(path)


def step(
    tensor: Any,
    gradient: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    params: Any = None,
    theme: str = "auto",
) -> Any:
    """The widget that steps the backward pass of `tensor`, one grad_fn call at a time; scriptable without it.

    Args:
        tensor: the root, as in ``tensor.backward()``.
        gradient: the first gradient, for a tensor of several elements.
        retain_graph: keep saved tensors.
        create_graph: record the backward pass.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto" to follow the notebook.

    Raises:
        NotDrawableError: not a tensor.
        RuntimeError: what ``tensor.backward()`` would refuse, in PyTorch's words.
    """
    from .widget import StepperWidget

    if theme != "auto":
        theme_named(theme)
    graph = graph_of(tensor, visible_names(_caller()), params)
    live = anything.pass_of(graph, tensor, gradient, retain_graph, create_graph)
    return StepperWidget(Stepper(graph.document, live), live.total, theme)


def compare(*steppers: Any, titles: tuple[str, ...] | list[str] = ()) -> Any:
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
