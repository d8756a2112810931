"""The verbs that show: show, step, compare, record."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import MissingLibraryError, NotDrawableError
from ..export.cell import cell_bundle
from ..graph.text import few_names
from ..graph.trace import State
from ..render import theme_named
from ..render.drawing import Drawing, drawing_of
from ..render.escape import printable
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.asking import last_pass
from ..sources.names import Names, callers_names
from ..stepper.recorded import Recording
from ..stepper.stepper import Stepper

if TYPE_CHECKING:
    from ..sources.pytorch.watch import Watch
    from ..widget.compare import Compare
    from ..widget.widget import StepperWidget


class Figure:
    """A picture of a graph; a notebook cell that ends in one shows it.

    Attributes:
        document: what is drawn.
        svg: the picture.
    """

    def __init__(self, drawing: Drawing, state: State, theme: str) -> None:
        self.document, self._drawn = drawing.document, drawing.shown
        self.svg = drawing.svg(state, theme_named(theme))
        self._place = drawing.place(next(iter(drawing.document.roots), ""))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self), at=self._place)

    def __repr__(self) -> str:
        freed = ", saved tensors freed" if self.document.is_freed else ""
        freed += ", forward pass reconstructed (dotted)" if any(o.reconstructed for o in self.document.ops) else ""
        groups = len(self._drawn.groups)
        freed += f", {groups} group{'s' * (groups > 1)} collapsed" if groups else ""
        names = few_names([t.name for t in self._drawn.document.tensors if t.name])
        return printable(f"<Figure of {names or 'an unnamed tensor'}: {len(self.document.nodes):,} backward nodes{freed}>")


def graph_of(tensor: Any, variables: Mapping[str, Any], params: Any = None) -> Any:
    """The graph behind a tensor.

    Raises:
        NotDrawableError: it is no tensor.
        TypeError: `params` names nothing.
    """
    if not anything.is_drawable(tensor):
        raise NotDrawableError.instead_of("expected a tensor of autograd_viz or of PyTorch", tensor)
    return anything.graph_of(tensor, Names(variables, anything.named(params)))


def record(what: Any = None) -> Any:
    """Follow a PyTorch forward pass, so that its picture has every value, every line of code and every module.

    ``with av.record(model): loss = ...``, or ``av.record(model)(x)``, or ``av.record(function)(*args)``. It changes nothing:
    results, gradients, random numbers and hooks are those of an unrecorded run. Programs of autograd_viz need no recording.

    Args:
        what: a module, whose parts are told by their path; a function; or None.

    Raises:
        MissingLibraryError: PyTorch is not installed.
        NotDrawableError: there is nothing to call.
    """
    if what is not None and not callable(what):
        several = '; for several modules use torch.nn.ModuleDict({"a": a, "b": b})' if isinstance(what, Collection) else ""
        got = f"{type(what).__name__} ({what!r:.60})"
        raise NotDrawableError(f"record(what) takes a module, a function or nothing; got {got}{several}")
    try:
        from ..sources.pytorch.record import Recorder
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError("record() needs PyTorch", "torch") from None
    return Recorder(what)


def watch(keep: int | str = "256 MB") -> Watch:
    """Watch PyTorch programs from now on, so that `explain` knows what ran: a recorder that can stay on.

    It changes nothing: results, gradients, random numbers, hooks and errors are those of an unwatched run. A second call gives
    the same recorder. ``with av.watch():`` ends it with the block, ``.close()`` at any time. Programs of
    autograd_viz need none.

    Args:
        keep: how much of the last backward pass may be kept, so that it can be run again: bytes, or "256 MB"; 0 for nothing.

    Raises:
        MissingLibraryError: PyTorch is not installed.
        ValueError: `keep` is no size.
    """
    size = bytes_of(keep)
    try:
        from ..sources.pytorch.watch import watch as torch_watch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingLibraryError("watch() needs PyTorch", "torch") from None
    return torch_watch(size)


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def bytes_of(size: int | str) -> int:
    """256_000_000 of "256 MB".

    Raises:
        ValueError: it is no size.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?B?)\s*", str(size), re.IGNORECASE)
    if found is None or found.group(2).upper() not in UNITS:
        raise ValueError(f'keep must be a number of bytes or a size such as "256 MB", got {size!r:.60}')
    return int(float(found.group(1)) * UNITS[found.group(2).upper()])


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
        graph = graph_of(tensor, callers_names(), params)
        return Figure(drawing_of(graph.document, collapse), graph.past(), theme)


def step(
    tensor: Any = ...,
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
        tensor: the root, as in ``tensor.backward()``; or what `load` gave, which is stepped without computing anything; left
            out: the root of the last backward pass that `watch` has kept.
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
    from ..widget.widget import StepperWidget

    if theme != "auto":
        theme_named(theme)
    if isinstance(tensor, Recording):
        return StepperWidget(tensor.stepper(), len(tensor.trace.steps), theme, collapse, tensor.stepper)
    names = callers_names()
    if tensor is ...:  # left out; None is refused
        return _step_last(Names(names, anything.named(params)), theme, collapse)
    with collector_waits():
        graph = graph_of(tensor, names, params)

        def fresh() -> Any:
            return anything.pass_of(graph, tensor, gradient, retain_graph, create_graph)

        def rehearsal() -> Stepper | None:
            return Stepper(graph.document, live) if (live := fresh()).leaves_no_trace else None

        try:
            live = fresh()
        except RuntimeError as error:
            raise _with_advice(error, tensor) from None
        return StepperWidget(Stepper(graph.document, live), live.total, theme, collapse, rehearsal)


def _step_last(names: Mapping[str, Any], theme: str, collapse: bool | None) -> StepperWidget:
    """The widget that steps the last pass again, as `watch` has kept it."""
    from ..widget.widget import StepperWidget

    with collector_waits():
        _, graph, fresh, changed = last_pass(names)
        if changed:
            several = few_names([n for n in changed if n]) or f"{len(changed)} leaves"
            warnings.warn(f"changed after the pass: {several}. The stepper uses their current values.",
                          stacklevel=3)  # fmt: skip
        live = fresh()
        return StepperWidget(Stepper(graph.document, live), live.total, theme, collapse, lambda: None)


def _with_advice(error: RuntimeError, root: Any) -> RuntimeError:
    """What PyTorch says of a root that no pass can start from, and what to do."""
    said = str(error)
    if said.startswith("grad can be implicitly created only for scalar outputs"):
        advice = f"this tensor has shape {tuple(root.shape)}: call av.step(tensor, gradient), or sum() it first"
    elif said.startswith("element 0 of tensors does not require grad"):
        advice = "av.explain(tensor) says why"
    else:
        return error
    return RuntimeError(f"{said}; {advice}")


def compare(*steppers: Any, titles: tuple[str, ...] | list[str] = ()) -> Compare:
    """Steppers side by side on one cursor: with and without `retain_grad`, before and after `detach`.

    Args:
        steppers: what `step` returns; each stops at its own end.
        titles: a line above each.

    Raises:
        NotDrawableError: something else was given.
    """
    from ..widget.compare import Compare
    from ..widget.widget import StepperWidget

    for s in steppers:
        if not isinstance(s, StepperWidget):
            raise NotDrawableError(f"compare(a, b) takes steppers from av.step(), got {type(s).__name__} ({s!r:.60})")
    return Compare(*steppers, titles=tuple(titles))
