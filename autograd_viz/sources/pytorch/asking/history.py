"""What the recorder has seen, as `reasons.History`. Without a recording, it is what live objects show."""

from __future__ import annotations

import gc
import math
import re
import weakref
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch.autograd.graph import Node

from ....graph.passes import HUGE, TINY, Holder
from ...shared.questions import holder
from ..reading.handles import Handle, current
from ..reading.nodes import edge_of, grad_fn_of, grad_of, is_leaf, reach
from ..reading.op_log import Event, Log, PassRecord, op_of
from ..reading.op_pages import Leaf, OpRecord, SeenOp, name_of_function, op_of_node
from ..reading.saved import VERSIONS, saved_tensors
from ..reading.shards import sharded
from ..reading.values import all_unseen, unseen
from ..recording import watch
from ..recording.data import is_written, order_of

OPTIMIZERS = "optimizers"
SHAPE = re.compile(r"\[torch\.\w+ \[([\d, ]*)\]\]")


@all_unseen
class TorchHistory:
    """`reasons.History` of PyTorch programs."""

    unknown_root = "not_recorded"

    def __init__(self, recorder: watch.Watch | None, tensor: torch.Tensor, alive: dict[str, Any]) -> None:
        self._alive = alive
        self.is_recorded = recorder is not None and (recorder.is_on or _knows(recorder.log, tensor))
        self.is_whole = recorder is None or recorder.is_whole
        self.knows_uses = self.is_recorded and self.is_whole
        self._log = recorder.log if recorder is not None and self.is_recorded else Log()
        self.passes: Sequence[PassRecord] = tuple(self._log.passes)
        self.left: Sequence[OpRecord] = tuple(self._log.left)
        self.clips: Sequence[Event] = tuple(e for e in self._log.modes if e.name.startswith("clip_grad_"))
        self.gone: Sequence[Event] = tuple(e for e in self._log.steps if e.detail() is None)
        self.born: Sequence[Event] = tuple(self._log.optimizers)
        for kind in ("scalers", "onto_itself", "layers", "seeds", "draws"):
            setattr(self, kind, tuple(getattr(self._log, kind)))
        self.events_of, self.used = unseen(self._log.events_of), unseen(self._log.used)
        self.is_leaf, self.grad_of = unseen(is_leaf), unseen(grad_of)

    def op_of(self, tensor: Any) -> OpRecord | None:
        """The op that made a tensor; of a node that an op made inside, this op. A leaf has none, whatever made its value."""
        if tensor.requires_grad and is_leaf(tensor):
            return None
        found = op_of(tensor, self._log) or _op_of_recording(tensor)
        if found is None and (node := edge_of(tensor)[0]) is not None:
            behind = reach([node])
            near = [n for n in behind if op_of_node(n) is not None]
            found = OpRecord(SimpleNamespace(__name__=node.name()), None, [], 0)
            found.given = [op for n in near[-1:] if (op := op_of_node(n)) is not None]
            found.given += [v for n in behind if (v := getattr(n, "variable", None)) is not None]
        return found

    def state_of(self, tensor: torch.Tensor) -> str:
        """What its grad contains, computed on its device."""
        grad = grad_of(tensor)
        if grad is None or grad.is_meta:  # it has no numbers
            return ""
        values = grad.detach().coalesce().values() if grad.layout is torch.sparse_coo else grad.detach()
        if bool(torch.isnan(values).any()):
            return "nan"
        if bool(torch.isinf(values).any()):
            return "inf"
        size = _norm(values)
        return "zero" if not bool(values.any()) else "huge" if size >= HUGE else "tiny" if size <= TINY else ""

    def norms(self, tensor: torch.Tensor) -> tuple[float, float]:
        """Computed on their device."""
        grad = grad_of(tensor)
        if grad is None or grad.layout is not torch.strided:
            return 0.0, 0.0
        return _norm(tensor.detach()), _norm(grad.detach())

    def clearings(self, tensor: Any) -> list[Event]:
        """Events that cleared its grad, and calls of zero_grad() on what holds it."""
        own = self._log.events_of(tensor, "cleared")
        numbers = {ref.numbers[0] for ref in weakref.getweakrefs(tensor) if type(ref) is Leaf}
        shared = [e for e in self._log.cleared if not numbers.isdisjoint(e.leaves) or _may_hold(e.detail(), tensor)]
        return sorted([*own, *shared], key=lambda e: e.number)

    def data_made(self, tensor: Any) -> Event | None:
        """What made a tensor of data, if it is as it was then."""
        known = self._log.data.get(tensor) if isinstance(tensor, torch.Tensor) else None
        if known is None or any(e.number > known[2] for e in self._log.events_of(tensor, "written")):
            return None
        func, line, number, shape = known[:4]
        return Event("made", name_of_function(func), line, number, tuple(shape))

    def made_anew(self, tensor: Any) -> Event | None:
        """The function that made a tensor of no other, if it is as it was then."""
        events = [e for e in self._log.events_of(tensor) if e.kind in ("made", "written")]
        return events[0] if [e.kind for e in events] == ["made"] and events[0].detail == tuple(tensor.shape) else None

    def lost(self, tensor: Any) -> Event | None:
        """Where whole numbers were lost that a tensor of data was made of."""
        known = self._log.data.get(tensor) if isinstance(tensor, torch.Tensor) else None
        lost: Event | None = None if known is None else known[4]
        return lost if lost is not None and bool(lost.detail) else None

    def ordered(self, tensor: Any) -> tuple[int, int, Any] | None:
        """The permutation that its rows were put in, the number of the event that made them, and the line of the index."""
        order = order_of(self._log, tensor) if isinstance(tensor, torch.Tensor) else None
        if order is None or is_written(self._log, order, tensor):
            return None
        return order.drawn, order.root.made, Event("put", "", order.line, 0, None).source

    def users(self, given: set[Any]) -> list[SeenOp]:
        """The ops that were given results of these ops, or these leaves."""
        ops = {g.number for g in given if isinstance(g, OpRecord)}
        tensors = [g for g in given if not isinstance(g, OpRecord)]
        return self._log.users(ops | {ref.numbers[0] for t in tensors for ref in weakref.getweakrefs(t) if type(ref) is Leaf})

    def optimizers(self, tensor: Any) -> list[Holder]:
        """Recorded optimizers, and other live ones."""
        found: dict[Any, Event | None] = {o: e for e in self._log.optimizers if (o := e.detail()) is not None}
        if not found:
            if OPTIMIZERS not in self._alive:  # the search takes as long as there are objects
                others = [o for o in gc.get_objects() if issubclass(type(o), torch.optim.Optimizer)]
                self._alive[OPTIMIZERS] = [weakref.ref(o) for o in others]  # an answer that is kept keeps none of them
            found = {o: None for ref in self._alive[OPTIMIZERS] if (o := ref()) is not None}
        if not found:
            return self._gone_with_their_function(tensor)
        return [holder(o, made, (e for e in self._log.steps if e.detail() is o), tensor) for o, made in found.items()]

    def _gone_with_their_function(self, tensor: torch.Tensor) -> list[Holder]:
        """If no optimizer lives: those that have stepped with the gradients of the last pass."""
        since = self.passes[-1].number if self.passes else 0
        found = []
        for born in self._log.optimizers:
            steps = [e for e in self._log.steps if e.detail is born.detail]  # a dead reference has no hash
            left = self._log.as_at_first_step(born) if steps and steps[-1].number > since else None
            if left is not None:
                # a schedule may have moved its rate
                found.append(replace(holder(left, born, steps, tensor), kind=born.name, rate=None, began=None))
        return found

    def shards(self, tensor: torch.Tensor) -> int:
        """Over how many ranks FSDP has sharded the parameter."""
        found = sharded(tensor) if hasattr(type(tensor), "device_mesh") else None  # a DTensor; the search is slow
        return 0 if found is None else int(found.mesh_info.shard_mesh_size)

    def early(self, tensor: torch.Tensor) -> None:
        """Unknown: an op without an input that requires grad is not kept."""

    def unmade(self, tensor: torch.Tensor) -> str:
        """It was created so; or nobody has seen how."""
        return "not_asked" if self.is_recorded or _op_of_recording(tensor) is not None else "not_asked_unseen"

    def owner_of(self, tensor: Any) -> Event | None:
        """The event that put another parameter, or a module with another, in its place."""
        own = self._log.events_of(tensor, "placed")
        if not own:
            return None
        for e in reversed(self._log.places):
            if e.detail[2] and e.detail[0]() is not None and e.number > own[0].number and self._was_there(e, tensor, own):
                return e
        return None

    def _was_there(self, place: Event, tensor: Any, own: list[Event]) -> bool:
        """Was the tensor there before, itself or in a module?"""
        owner, name = place.detail[0](), place.detail[1]
        before = [e for e in self._log.places if e.number < place.number and e.detail[0]() is owner and e.detail[1] == name]
        if not before or _has(getattr(owner, name, None), tensor):
            return False
        module = before[-1].detail[3]
        if module is None:
            return before[-1] in own
        return _has(module(), tensor) if module() is not None else own[0].detail[0]() is None

    def mode_of(self, op: OpRecord) -> Event | None:
        """The last switch of grad mode before it."""
        before = [e for e in self._log.modes if e.number < op.number]
        is_off = bool(before) and before[-1].kind == "mode_off"
        is_block = any(e.kind == "mode_on" and e.number > op.number for e in self._log.modes)
        return before[-1] if is_off and not (is_block and before[-1].name == "set_grad_enabled") else None

    def factor_of(self, event: Event) -> float | None:
        """The factor of mul_(): clip_grad_norm_() calls it."""
        factor = event.detail[2] if isinstance(event.detail, tuple) and len(event.detail) > 2 else None
        return None if factor is None else float(factor)

    def switched_off(self) -> list[Event]:
        """The last calls that switched requires_grad off."""
        return list(self._log.switches)

    def is_running(self) -> bool:
        """Does this thread run a pass? Then it has a graph task."""
        return bool(torch._C._current_graph_task_id() != -1)

    def modified(self, root: Any, message: str) -> tuple[OpRecord | None, Event | None]:
        """The node that refuses its saved tensor, and the event that made the next version."""
        saver = self._refusing(root, message)
        versions, shape = VERSIONS.search(message), SHAPE.search(message)
        if versions is None:
            return saver, None
        now, expected = int(versions.group(1)), int(versions.group(2))
        wanted = tuple(int(n) for n in shape.group(1).split(",") if n.strip()) if shape is not None else None
        written = (e for e in self._log.all_events("written") if expected < e.detail[0] <= now)
        changes = [e for e in written if saver is None or e.number > saver.number]
        whole = [e for e in changes if e.detail[1] == wanted] or changes  # none if the change came through a view
        first = min(whole, key=lambda e: e.number, default=None)
        step = next((s for s in self._log.steps if saver is not None and s.number > saver.number), None)
        return saver, first if first is not None else step

    def _refusing(self, root: object, message: str) -> OpRecord | None:
        nodes = reach([edge_of(root)[0]])
        refusing = [n for n in reversed(nodes) if _refuses(n, message)]
        for node in refusing:
            if (op := op_of_node(node)) is not None:
                return op
        behind = [n for n in nodes if any(after in refusing for after, _ in n.next_functions)]
        return next((op for n in behind if (op := op_of_node(n)) is not None), None)


def _norm(t: torch.Tensor) -> float:
    """Its squares may be too large for float32. A tensor without numbers has none."""
    if t.is_meta:
        return 0.0
    t = t.abs() if t.is_complex() else t
    size = float(torch.linalg.vector_norm(t.float()))
    return float(torch.linalg.vector_norm(t.double().cpu())) if size == math.inf else size


def _knows(log: Log, tensor: torch.Tensor) -> bool:
    """Has the recorder ever seen it?"""
    node = grad_fn_of(tensor)
    if node is not None:
        return op_of_node(node) is not None
    return bool(log.events_of(tensor)) or log.used(tensor) is not None or log.made.get(tensor) is not None


def _op_of_recording(tensor: Any) -> OpRecord | None:
    """The op that detached a tensor, if `av.record()` has seen it."""
    handle = None if tensor.requires_grad else current(tensor)
    made = None if handle is None else handle.maker
    if made is None:
        return None
    has_history = any(isinstance(given, Handle) and given.requires_grad for given in made.inputs)
    cut = ("op" if has_history else "") if made.is_tracked else "inference" if tensor.is_inference() else "no_grad"
    return OpRecord(SimpleNamespace(__name__=made.name), made.place, [], 0, cut)


def _refuses(node: Node, message: str) -> bool:
    try:
        saved_tensors(node, quiet=False)
    except RuntimeError as error:
        return str(error).split("Hint")[0] in message or message.split("Hint", maxsplit=1)[0] in str(error)
    return False


def _has(value: Any, tensor: object) -> bool:
    """Is it the tensor, or a module that has it?"""
    return value is tensor or (isinstance(value, torch.nn.Module) and any(p is tensor for p in value.parameters()))


def _may_hold(owner: Any, tensor: object) -> bool:
    if isinstance(owner, torch.optim.Optimizer):
        return any(p is tensor for g in owner.param_groups for p in g["params"])
    of = getattr(owner, "parameters", None)  # an optimizer of the user's own may have none
    return of is not None and any(p is tensor for p in of())
