"""What the core remembers of a program, as `reasons.History`. Tensors and nodes keep it; no recorder is needed."""

from __future__ import annotations

from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ...graph.op_names import plain_name, stem
from ...graph.passes import HUGE, TINY, Holder
from ...graph.surroundings import Source
from ...twin.core.backward.engine import GraphTask
from ...twin.core.base import events, provenance
from ...twin.core.base.provenance import Place
from ...twin.core.tensor.tensor import Tensor
from ..shared.questions import holder
from ..shared.saved import raw_saved, version_of
from ..shared.source_code import source_at
from .graph import CoreGraph
from .questions import counter_of, line_after


class CoreOp:
    """A call or a node of the core, as `reasons.Op`. Two of one call are equal."""

    def __init__(self, call: Any, is_flat: bool = False) -> None:
        self.call, self._is_flat = call, is_flat
        self.number = call.order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreOp) and other.call is self.call

    def __hash__(self) -> int:
        return hash(self.call)

    @property
    def name(self) -> str:
        """As in `torch.<name>`."""
        return plain_name(stem(str(self.call.op)))

    @property
    def source(self) -> Source | None:
        """Where it was called."""
        return _source(self.call.at)

    @cached_property
    def given(self) -> list[Any]:
        """The ops of its inputs, and leaves that require grad."""
        found: list[Any] = []
        for t in (t for t in self.call.inputs if t is not None and not t._is_number):
            op = op_of(t)
            if op is not None and (t.requires_grad or op.given or op.cut):
                found.append(op)
            elif t.requires_grad and not self._was_early(t):
                found.append(t)
        return found

    @property
    def before(self) -> list[Any]:
        """The ops of its inputs, with or without a history."""
        return [op for t in self.call.inputs if t is not None and (op := op_of(t)) is not None]

    def _was_early(self, leaf: Tensor) -> bool:
        return any(e.kind == "requires_grad" and e.order > self.number for e in leaf._events)

    @property
    def early(self) -> Tensor | None:
        """A leaf that started to require grad after the op ran."""
        return next((t for t in self.call.inputs if t is not None and t.requires_grad and self._was_early(t)), None)

    @property
    def cut(self) -> str:
        """Why a call has no node."""
        if self.call.node is not None:
            return ""
        given = self.given
        if not any(isinstance(g, Tensor) or not g.cut for g in given):
            return "behind" if given else ""
        return "op" if self.name == "detach" or self._is_flat else "no_grad"


def op_of(tensor: Tensor) -> CoreOp | GradOp | None:
    """The op that made a tensor; grad() for a gradient that it returned without a graph."""
    returned = (p for p in events.passes if not tensor.requires_grad and any(r() is tensor for r in p.results))
    if (noted := next(returned, None)) is not None:
        return GradOp(noted)
    call = tensor._made_by
    return CoreOp(call, tensor._data.dtype.kind not in "fc") if call is not None and call.inputs else None


class GradOp:
    """A call of autograd.grad() that returned a gradient without history, as `reasons.Op`. Two of one call are equal."""

    name, early, before, cut = "grad", None, (), "op"

    def __init__(self, noted: events.PassNote) -> None:
        self.cut = "constant" if noted.keeps_graph else "op"
        root = noted.root()
        self.given = [] if root is None or (made := op_of(root)) is None else [made]
        self.number, self.source = noted.order, _source(noted.at)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradOp) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


class NumberOp:
    """A tensor that became a number, as `reasons.Op`."""

    cut = "op"

    def __init__(self, noted: events.NumberNote) -> None:
        self.name, self.number, self.source = noted.name, noted.order, _source(noted.at)
        self.given: list[Any] = [leaf for ref in noted.leaves if (leaf := ref()) is not None]


class CoreEvent:
    """Something that happened, as `reasons.Event`."""

    def __init__(self, kind: str, name: str, number: Any, at: Place | None, detail: Any = None) -> None:
        self.kind, self.name, self.number, self.detail, self._at = kind, name, number, detail, at

    @property
    def source(self) -> Source | None:
        """Where it happened."""
        return _source(self._at)


class CorePass(CoreEvent):
    """A call of backward() or grad()."""

    def __init__(self, noted: events.PassNote) -> None:
        super().__init__("pass", noted.name, noted.order, noted.at)
        root = noted.root()
        self.root = op_of(root) if isinstance(root, Tensor) else None
        self.error, self.wanted, self.keeps = noted.error, noted.wanted, noted.retains  # of backward() it is not noted
        self.has_graph = not isinstance(root, Tensor) or root._node is not None


class CoreHistory:
    """`reasons.History` of programs of the core."""

    is_recorded, is_whole, knows_uses, unknown_root = True, True, False, "root_gone"
    # unknown: modules keep no history, and a leaf does not know its users
    scalers = clips = layers = seeds = draws = onto_itself = born = tuple[Any, ...]()
    _unknown: Any = staticmethod(lambda _: None)
    used = owner_of = mode_of = factor_of = _unknown
    _none: Any = staticmethod(lambda *_: [])
    users = switched_off = _none  # a result does not know its users, and tensors remember their own switches
    shards: Any = staticmethod(lambda _: 0)  # there is one process

    def __init__(self) -> None:
        self.passes = tuple(CorePass(p) for p in events.passes)
        self.gone = tuple(CoreEvent("step", "", s.order, s.at) for s in events.steps if s.of() is None)
        self.left = tuple(NumberOp(n) for n in events.numbers)

    def op_of(self, tensor: Any) -> Any:
        """The op that made a tensor of the core."""
        return op_of(tensor) if isinstance(tensor, Tensor) else None

    def events_of(self, tensor: Tensor, *kinds: str) -> list[CoreEvent]:
        """Events of the tensor itself, and changes of its memory."""
        kinds_now = {"requires_grad": "switched_on" if tensor._requires_grad else "switched_off"}
        found = [CoreEvent(kinds_now.get(e.kind, e.kind), e.kind, e.order, e.at) for e in tensor._events]
        if (call := tensor._made_by) is not None and not call.inputs:
            found.insert(0, CoreEvent("made", str(call.op), call.order, call.at))
        counter: Any = tensor._counter
        written, now = reversed(counter[1:]) if type(counter) is list else (), provenance.now()
        found += [CoreEvent("written", "", now, Place(*place), version) for version, place in written]
        return [e for e in found if not kinds or e.kind in kinds]

    is_leaf: Any = staticmethod(attrgetter("is_leaf"))
    grad_of: Any = staticmethod(attrgetter("_grad"))  # without a warning

    def state_of(self, tensor: Tensor) -> str:
        """What its grad contains."""
        if tensor._grad is None:
            return ""
        values = tensor._grad._data
        if not np.isfinite(values).all():
            return "nan" if np.isnan(values).any() else "inf"
        size = float(np.linalg.norm(values.ravel().astype(complex if values.dtype.kind == "c" else float)))
        return "zero" if not values.any() else "huge" if size >= HUGE else "tiny" if size <= TINY else ""

    def norms(self, tensor: Tensor) -> tuple[float, float]:
        """In double precision."""
        if (grad := tensor._grad) is None:
            return 0.0, 0.0
        own, its = (float(np.linalg.norm(np.abs(t._data.ravel()).astype(float))) for t in (tensor, grad))
        return own, its

    def clearings(self, tensor: Tensor) -> list[CoreEvent]:
        """The events that set its grad to None."""
        names = {"cleared": "grad", "zero_grad": "zero_grad"}
        return [CoreEvent("cleared", names[e.kind], e.order, e.at) for e in tensor._events if e.kind in names]

    def optimizers(self, tensor: Tensor) -> list[Holder]:
        """The live optimizers."""
        made = {o: d for d in events.optimizers if (o := d.of()) is not None}
        births = {o: CoreEvent("optimizer", type(o).__name__, d.order, d.at) for o, d in made.items()}
        steps = [(s, CoreEvent("step", type(s.of()).__name__, s.order, s.at)) for s in events.steps]
        return [holder(o, birth, (e for s, e in steps if s.of() is o), tensor) for o, birth in births.items()]

    def early(self, tensor: Tensor) -> tuple[CoreOp, Tensor] | None:
        """The op that ran before one of its inputs required grad, and that input."""
        seen = [] if (op := op_of(tensor)) is None else [op]
        for o in seen:
            if o.early is not None:
                return o, o.early
            seen += [p for p in o.before if p not in seen]
        return None

    def unmade(self, tensor: Tensor) -> str:
        """Unknown: nothing is remembered under no_grad()."""
        return "not_asked" if tensor._made_by is not None else "cut_no_grad"

    def modified(self, root: Tensor, message: str) -> tuple[CoreOp | None, CoreEvent | None]:
        """The node whose saved tensor was changed in place, and the line of the first change."""
        for node in reversed(list(CoreGraph([root], {}).node_ids)):
            for kept in raw_saved(node).values() if hasattr(node, "_results") else ():
                counter = counter_of(kept)
                if type(counter) is list and version_of(kept) != counter[0]:
                    return CoreOp(node), _writer(counter, version_of(kept))
        return None, None

    def is_running(self) -> bool:
        """Is the user's code running inside a pass: a hook, a Function?"""
        return GraphTask.current is not None


def _writer(counter: Any, version: int) -> CoreEvent | None:
    """What made the next version: a line, or one of its steps."""
    place = line_after(counter, version)
    is_step = place in [tuple(s.at) for s in events.steps]
    return None if place is None else CoreEvent("step" if is_step else "written", "", (), Place(*place))


def _source(at: Any) -> Source | None:
    return None if at is None else source_at(at.code, at.lasti)
