"""A question about a tensor or an error: which ops have run, the graph with the numbers of its last pass, the line."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ..errors import NotDrawableError
from ..graph.model import Document, Value
from ..runtime.pytorch import pytorch
from ..twin.core.backward.node import Node
from ..twin.core.base.provenance import PACKAGE
from .anything import is_drawable, is_torch
from .shared.names import INSIDE, is_module, modules_among, visible_names


class Look(NamedTuple):
    """A graph, and what its last pass has sent."""

    graph: Any  # the live graph
    document: Document  # the graph as a document
    subject: str  # the tensor's id
    past: Mapping[str, Value | None]  # the numbers of the last pass
    live: Any  # what only the live graph knows (`reasons.Live`).
    loss: tuple[str, ...]  # ids of the roots
    changed: tuple[Any, ...]  # leaves that have changed since the pass, if the pass was run again


@contextmanager
def unseen(tensor: Any) -> Iterator[None]:
    """Inside, none of the user's modes sees what we ask of a tensor."""
    if not is_torch(tensor):
        yield
        return
    from .pytorch.reading.values import outside_modes

    with sys.modules["torch"]._C.DisableTorchFunction(), outside_modes():
        yield


def history_of(tensor: Any, is_recorded: bool = True, alive: dict[str, Any] | None = None, outside: bool = True) -> Any:
    """The recorded history, as `reasons.History`; of PyTorch programs, without the recorder if `is_recorded` is False.

    `alive`: what has been found among all objects, for questions that are asked together. `outside`: also what was seen of a
    run, whose recorder sees no ops of its model.
    """
    if not is_torch(tensor):
        from .twin.history import CoreHistory

        return CoreHistory()
    from .pytorch.asking.history import TorchHistory

    recorder = _recorder() if is_recorded else None
    recorder = recorder if outside or recorder is None or recorder.is_whole else None
    return TorchHistory(recorder, tensor, {} if alive is None else alive)


def is_partial() -> bool:
    """Has the recorder seen only what stands outside of models?"""
    recorder = _recorder()
    return recorder is not None and not recorder.is_whole


def _recorder() -> Any:
    """The recorder of PyTorch programs, if it is on or has been on."""
    watch = sys.modules.get(f"{__package__}.pytorch.recording.watch")
    return None if watch is None else watch.current


def has_run(root: Any) -> bool:
    """Has a pass freed the graph of a tensor of a PyTorch program that nobody recorded?"""
    from .pytorch.reading.nodes import grad_fn_of
    from .pytorch.reading.saved import is_freed

    return is_freed([grad_fn_of(root)])


def kept_root() -> tuple[Any, Any]:
    """The tensor on which the last pass was called, and its first gradient, if they are kept."""
    recorder = _recorder()
    return (None, None) if recorder is None else (recorder.last.root, recorder.last.gradient)


def last_pass(variables: Mapping[str, Any], verb: str = "step()") -> tuple[Any, Any, Any, list[str]]:
    """The last pass that was kept: its root, its graph, a maker of a pass through it, and the names of changed leaves."""
    root, gradient = kept_root()
    if root is None or root.grad_fn is None:
        recorder, why = _recorder(), "nothing was watched: call av.watch() first"
        if recorder is not None and recorder.is_whole:
            why = _NOT_KEPT.get(recorder.last.why_not, "none has run")
        raise NotDrawableError(f"{verb} takes the last backward pass that was kept, and there is none; {why}")
    from .pytorch.asking.questions import last_pass as kept

    return root, *kept(root, gradient, variables)


_NOT_KEPT = {
    "budget": "it saved more than av.watch(keep=...) allows",
    "compiled": "compiled code frees its graph",
    "held": "its saved tensors could not be kept",
    "off": "keep is 0",
    "grad": "passes of autograd.grad() and of several tensors are not kept",
}


def look(tensor: Any, loss: Any, variables: Mapping[str, Any]) -> Look:
    """The graph behind a tensor, and the root of its gradient: the loss, that of the last pass, or one among the variables."""
    changed: tuple[Any, ...] = ()
    if is_torch(tensor):
        from .pytorch.asking import questions
        from .pytorch.asking.questions import replay
        from .pytorch.reading.saved import reading

        with reading():
            kept, gradient = kept_root()
            roots, graph, is_alone = _torch_graph(tensor, kept if loss is None else loss, loss, variables)
            live: Any = questions.TorchLive(graph, variables, history_of(tensor))
            past: Mapping[str, Value | None] = {**graph.past().values, **live.numbers()}
            if not past and is_alone and not graph.document.is_freed:
                past, changed = replay(graph, roots[0], gradient if roots[0] is kept else None)
    else:
        from .twin.graph import CoreGraph
        from .twin.questions import CoreLive, numbers_of, roots_for

        roots = roots_for(tensor, variables) if loss is None else (loss,)
        graph = CoreGraph((*roots, tensor), variables)
        live = CoreLive(graph)
        past = {**numbers_of(graph), **live.numbers()}
    ids = tuple(id for r in roots if (id := graph.tensor_id(r)) is not None)
    subject = graph.tensor_id(tensor) or graph.document.roots[-1]
    return Look(graph, graph.document, subject, past, live, ids, changed)


def _torch_graph(tensor: Any, last: Any, loss: Any, variables: Mapping[str, Any]) -> tuple[tuple[Any, ...], Any, bool]:
    """The roots, their graph, and whether it reaches the tensor: that of the last pass, or of an earlier one, as an actor's."""
    from .pytorch.asking.questions import roots_for
    from .pytorch.reading.graph import TorchGraph

    tried: list[tuple[Any, ...]] = [(last,)] if last is not None else []
    tried += [roots_for(tensor, variables)] if loss is None else []
    graphs = ((roots, TorchGraph(roots, variables, opens=False)) for roots in tried if len(roots) == 1)
    there = [(roots, graph) for roots, graph in graphs if graph.tensor_id(tensor) is not None]
    if not there:
        return tried[0], TorchGraph((*tried[0], tensor), variables, opens=False), False
    return *next((pair for pair in there if sends_to(pair[1], tensor)), there[0]), True


def sends_to(graph: Any, tensor: Any) -> bool:
    """Does a pass through the graph send a gradient to a leaf of it that has one? A draw from a policy has no path back."""
    id = graph.tensor_id(tensor)
    is_open = tensor.requires_grad and tensor.grad_fn is None and tensor.grad is not None
    return not is_open or any(node.variable == id for node in graph.document.nodes)


PYTHON = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


class Where(NamedTuple):
    """A frame of the user's, its instruction, and the arguments of its call."""

    frame: FrameType  # the frame
    lasti: int  # the instruction
    outer: Mapping[str, Any] = {}  # the variables of the function around it, if it is a comprehension
    roots: tuple[Any, ...] = ()  # the arguments of backward() or grad(), if it was called there
    wanted: tuple[Any, ...] = ()  # the tensors of an optimizer, or those whose gradients grad() computes


def place_of_error(traceback: TracebackType | None, otherwise: FrameType) -> Where:
    """The last place in the user's code that the error went through."""
    where = Where(otherwise, otherwise.f_lasti)
    while traceback is not None:
        frame, called = traceback.tb_frame, traceback.tb_frame.f_code.co_name
        if not is_library(frame.f_code.co_filename):
            is_inside = frame.f_code.co_name in INSIDE and where.frame.f_code.co_filename == frame.f_code.co_filename
            where = Where(frame, traceback.tb_lasti, visible_names(where.frame) if is_inside else {})
        elif not where.roots and called in ("backward", "grad"):
            wanted = _tensors(frame, ("inputs",)) if called == "grad" else ()
            where = where._replace(roots=_tensors(frame, ("self", "tensors", "outputs")), wanted=wanted)
        elif called == "add_param_group":
            where = where._replace(wanted=_tensors(frame, ("param", "p")))
        traceback = traceback.tb_next
    return where


def ran_before(traceback: TracebackType | None) -> Any:
    """The last tensor with a graph that the frames of an error hold, the innermost frame first; None if nothing ran."""
    there = (v for frame, _ in walk_tb(traceback) for v in frame.f_locals.values() if is_drawable(v) and v.grad_fn is not None)
    return next(iter(deque(there, maxlen=1)), None)


def call_that_raised(traceback: TracebackType | None, names: Mapping[str, Any]) -> dict[str, str]:
    """What is known of the module or the loss that raised: its name, the classes of its scores, the dtype of its targets."""
    found: dict[str, str] = {}
    for frame, _ in walk_tb(traceback):
        is_inside = is_library(frame.f_code.co_filename)
        held: Mapping[str, Any] = frame.f_locals if is_inside else {}
        found = found if is_inside else {}
        given: list[Any] = [held.get(name) for name in ("self", "input", "target")]
        module, scores, target = given
        if is_module(module):
            found = {"module": _name_of_module(module, names)}
            found |= {"table": str(module.num_embeddings)} if hasattr(module, "num_embeddings") else {}
        if is_drawable(scores) and is_drawable(target) and scores.ndim:
            found |= {k: str(t.dtype).rpartition(".")[2] for k, t in (("scores", scores), ("target", target))}
            found |= {"exchanged": ""} if target.requires_grad and not scores.requires_grad else {}
            found["last"] = str(scores.shape[1 if scores.ndim > 1 else 0] - 1)
    return found


def _name_of_module(module: Any, names: Mapping[str, Any]) -> str:
    """Its path from a variable: `net.fc`; else its class."""
    paths = (
        f"{name}.{path}" if path else name for name, of in modules_among(names) for path, m in of.named_modules() if m is module
    )
    return next(paths, type(module).__name__)


def users_names() -> dict[str, Any]:
    """The variables of the user's innermost code."""
    frame = sys._getframe(1)
    while is_library(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return visible_names(frame)


def _tensors(frame: FrameType, names: tuple[str, ...]) -> tuple[Any, ...]:
    """The tensors in a frame, under the first of the names that it has."""
    given = next((frame.f_locals[n] for n in names if n in frame.f_locals), None)
    several = (given,) if is_drawable(given) else given if isinstance(given, Sequence) else ()
    return tuple(t for t in several if is_drawable(t))


def is_library(file: str) -> bool:
    """Is it ours, PyTorch's, or Python's own? `copy.deepcopy` calls methods of what it copies."""
    torch = pytorch()
    theirs = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep if torch is not None and torch.__file__ else PACKAGE
    return file.startswith((PACKAGE, "<autograd_viz", theirs)) or (file.startswith(PYTHON) and "site-packages" not in file)


def failing_node(traceback: TracebackType | None) -> Node | None:
    """The node of the core that was running when the error was raised."""
    found = None
    for frame, _ in walk_tb(traceback):
        node = next((frame.f_locals[n] for n in ("node", "self") if isinstance(frame.f_locals.get(n), Node)), None)
        if frame.f_code.co_filename.startswith((PACKAGE, "<autograd_viz")) and node is not None:
            found = node
    return found
