"""Passes: how they begin and how they fail. The last backward pass, kept so that it can run again.

# Note [As if it had been freed]
The last pass runs with `retain_graph=True`, if the results of its ops are under a budget. The user must not notice. A second
pass through that graph must raise, and its saved tensors must not stay alive. So before the next pass, a graph that somebody
else holds is emptied. Each of its saved tensors gets hooks that drop it.

Emptying a graph costs time per node. So it is done only if the new graph reaches into the old one, or somebody has held a
graph lately. Pages show whether nodes stay alive when our reference to the root goes. If so, somebody holds them, and we search
for them among all tensors and nodes. For a while after that, a graph that cannot be emptied is not kept.

# Note [What has run]
A pass that raised has freed the nodes that ran before the failing one. The engine runs the ready node that was made last, so
the failing node tells which have run. It refuses a saved tensor, or it is a Function whose `backward` raised.
"""

from __future__ import annotations

import gc
import heapq
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from traceback import walk_tb
from typing import Any

import torch
from torch.autograd.graph import Node

from ..reading.call_place import Call, hide_call, users_line
from ..reading.nodes import grad_fn_of, is_function, outputs_of, reach
from ..reading.op_log import Log, PassRecord, op_of, storage_of
from ..reading.op_pages import KEY, OpRecord, Ops, op_of_node
from ..reading.saved import close, empty, is_stuck, reading, saved_tensors
from ..reading.values import unseen
from . import kinds
from .events import tensors_in

CAREFUL = 256  # passes after one whose graph somebody held
COMPILED = "CompiledFunction"  # its backward refuses to keep the graph
DisableTorchFunctionSubclass = torch._C.DisableTorchFunctionSubclass

# in the engine's errors about arguments
WORDS = (
    "grad can be implicitly created",
    "Mismatch in shape",
    "does not require grad",
    "gradient argument",
    "invalid gradient",
)


class LastPass:
    """What is kept of the last pass."""

    def __init__(self, ops: Ops, budget: int) -> None:
        self._ops, self.budget = ops, budget
        self.root: Any = None  # the tensor on which the pass was called; None if nothing is kept
        self.gradient: Any = None  # the first gradient, if one was given
        self.record: PassRecord | None = None  # the pass
        self.why_not = ""  # why it was not kept: "budget", "compiled", "off", "grad", "held"; "" if it is kept
        self.met_old = self.met_unknown = False  # the new graph may reach into older ones, or has unrecorded nodes
        self.bytes = 0  # of the results of ops since the last pass
        self._is_ours = False  # the user has not asked to keep it
        self._older_bytes = 0  # of older graphs that the last ones may reach
        self._began = ops.now
        self._numbers = (0, 0)  # of the ops between the kept pass and the one before
        self._freed: list[Any] | None = None  # the nodes that PyTorch would have freed; None: all
        self._is_looked_at = False  # the program reads grad_fn
        self._careful = 0  # so many more passes are emptied in any case
        self._is_running = self._is_due = False  # the kept pass; to be dropped when it ends

    def begins(self, root: Any, args: Any, kwargs: Any, record: PassRecord) -> tuple[Any, Any]:
        """A pass begins: the previous one is dropped. Returns the arguments to call it with."""
        self.let_go(self.met_old or self.met_unknown)
        self.record, self._numbers = record, (self._began, self._ops.began - 1)
        self._began = self._ops.began
        several = isinstance(args[0], list | tuple) and len(args[0]) != 1 if args else True
        self.why_not = "off" if not self.budget else ""
        if record.name != "backward" or several or record.wanted or root is None or not root.requires_grad:
            self.why_not = self.why_not or "grad"
        self.why_not = self.why_not or self._obstacle(root)
        if not self.why_not:
            given = kwargs.get("gradient", kwargs.get("grad_tensors"))
            self.gradient = given[0] if isinstance(given, list | tuple) and given else given
            self.root, self._is_ours, self._freed = root, not record.keeps, None
            kwargs = {**kwargs, "retain_graph": True}
        self._is_running = self.root is not None
        self._older_bytes, self.bytes = self.bytes + (self._older_bytes if self.met_old else 0), 0
        self.met_old = self.met_unknown = False
        return args, kwargs

    def looked_at(self) -> None:
        """The program has read a grad_fn, so it may read what nodes have saved."""
        self._is_looked_at = True
        self.ended()

    def ended(self) -> None:
        """The pass has ended. A program that reads nodes finds them freed."""
        self._is_running = False
        if self._is_due:
            self.let_go()
        if self._is_looked_at and self._is_ours and self.root is not None and torch._C._current_graph_task_id() == -1:
            for node in reach([grad_fn_of(self.root)]):
                close(node)

    def _obstacle(self, root: object) -> str:
        is_small = self.bytes + self.met_old * self._older_bytes <= self.budget
        is_careful = self._careful or self._is_looked_at
        if is_small and not self.met_unknown and not is_careful:
            return ""
        nodes = reach([grad_fn_of(root)])
        if any(n.name().startswith(COMPILED) for n in nodes):
            return "compiled"
        if is_careful and any(is_stuck(n) for n in nodes):
            return "held"
        return "budget" if sum(map(bytes_made, nodes)) > self.budget else ""

    def failed(self, error: BaseException) -> None:
        """The pass has raised: note which nodes PyTorch would have freed."""
        self._is_running = False
        self._note_freed(error)
        if self._is_due:
            self.let_go()

    def _note_freed(self, error: BaseException) -> None:
        if self.root is None or not self._is_ours:
            return
        if not was_begun(error):
            self.root = self.gradient = None  # no pass has run
            return
        start = grad_fn_of(self.root)
        self._freed = ran_before(start, reach([start]), error)

    def let_go(self, is_careful: bool = True) -> None:
        """Drop the kept pass, and leave its graph as PyTorch would have. One that runs is dropped when it has ended."""
        self._is_due = self._is_running
        if self._is_due:
            return
        root, self.root, self.gradient = self.root, None, None
        freed, self._freed = self._freed, None
        start = None if root is None else grad_fn_of(root)
        if start is None:
            return
        self._careful = max(0, self._careful - 1)
        number = self.record.number_of_root if self.record is not None else None
        is_careful |= bool(self._careful) or freed is not None or number is None or not self._ops.has(number)
        if self._is_ours and (is_careful or self._is_looked_at):
            self._empty(reach([start]) if freed is None else freed)
        del root, start, freed
        if not self._ops.are_alive(*self._numbers):
            return
        if self._is_ours and not is_careful and number is not None and (op := self._ops.op(number)) is not None:
            self._empty(live_nodes(op))
        self._careful = CAREFUL

    @unseen  # a recording sees the number of `w * 3` as an int, and PyTorch would leave half a saved tensor
    def _empty(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            empty(node)

    @property
    def held(self) -> int:
        """Bytes of the saved tensors that are kept, each storage once."""
        if self.root is None:
            return 0
        storages = {}
        with reading():
            for node in reach([grad_fn_of(self.root)]):
                for t in saved_tensors(node):
                    storage = storage_of(t)
                    if storage is not None:
                        storages[storage._cdata] = storage.nbytes()
        return sum(storages.values())


def bytes_made(node: Node) -> int:
    """Bytes of the results of a node's op. Tensors with the user's saved-tensor hooks are not read."""
    known = [m for m in outputs_of(node) if m.is_known]
    return sum(math.prod(n for n in m.shape if type(n) is int) * m.dtype.itemsize for m in known)  # nested: parts of one size


def live_nodes(root: OpRecord) -> list[Any]:
    """Nodes that somebody holds, of the pass whose root this op made. They are found among all tensors and nodes.

    What a detached result came from has not run.
    """
    ran: dict[Any, None] = {}
    stack: list[Any] = [root]
    while stack:
        op = stack.pop()
        if isinstance(op, OpRecord) and not op.cut and op not in ran:
            ran[op] = None
            stack += op.given
    kinds: dict[Any, int] = {}
    alive = [(o, kind) for o in gc.get_objects() if (kind := kinds.get(type(o)) or kinds.setdefault(type(o), _kind(type(o))))]
    held = reach(fn for o, kind in alive if (fn := grad_fn_of(o) if kind == TENSOR else o) is not None)
    return reach(n for n in held if op_of_node(n) in ran)


OTHER, TENSOR, NODE = range(3)


def _kind(type_: Any) -> int:
    """Tensor or node, by its type: asking an object for its class could run its code."""
    if issubclass(type_, torch.Tensor):
        return TENSOR
    return NODE if any("next_functions" in vars(k) and "metadata" in vars(k) for k in type.mro(type_)) else OTHER


def run_pass(log: Log, last: LastPass, kind: int, call: Call, func: object, args: Any, kwargs: Any) -> Any:
    """Note a pass, and keep its graph if it is not too large."""
    __tracebackhide__ = True
    record: PassRecord | None = None
    with log, DisableTorchFunctionSubclass():
        root = next(iter(tensors_in((args[0] if args else next(iter(kwargs.values()), None),))), None)
        record = _begins(log, last, kind, root, kwargs)
        args, kwargs = last.begins(root, args, kwargs, record)
    try:
        result = call(func, args, kwargs)
    except BaseException as error:
        hide_call(error)
        with log, DisableTorchFunctionSubclass():
            if record is not None:
                record.error = str(error) or type(error).__name__
                last.failed(error)
        raise
    with log, DisableTorchFunctionSubclass():
        last.ended()
    if kind == kinds.GRAD and record is not None and (root_op := record.number_of_root) is not None and record.line:
        with log, DisableTorchFunctionSubclass():
            cut = "constant" if (args[4] if len(args) > 4 else kwargs.get("create_graph")) else "op"
            for out in tensors_in(result):
                if grad_fn_of(out) is None:  # grad() has returned it without a graph
                    log.cut(out, func, record.line, [root_op], cut)
    return result


def _begins(log: Log, last: LastPass, kind: int, root: Any, kwargs: Any) -> PassRecord:
    log.now += 1
    keeps, wanted = bool(kwargs.get("retain_graph") or kwargs.get("create_graph")), bool(kwargs.get("inputs"))
    node = None if root is None else grad_fn_of(root)
    number = None if node is None else node.metadata.get(KEY)
    op = op_of(root, log) if node is None and root is not None else number
    name = "backward" if kind == kinds.BACKWARD else "grad"
    record = PassRecord("pass", name, users_line(), log.now, None, [], op, keeps, wanted, has_graph=node is not None)
    if number is None:
        last.met_unknown = True
    elif number < log.began:
        last.met_old = True
    log.passed(record)
    return record


# -- a pass that raised -----------------------------------------------------------------------------------------------


def was_begun(error: BaseException) -> bool:
    """Had the engine begun, or did it refuse the arguments?"""
    names = [frame.f_code.co_name for frame, _ in walk_tb(error.__traceback__)]
    is_refusal = names[-1:] == ["_engine_run_backward"] and any(a in str(error) for a in WORDS)
    return "_engine_run_backward" in names and not is_refusal


def ran_before(root: torch.Tensor, nodes: Collection[Any], error: BaseException) -> list[Any]:
    """The nodes that a failed pass had run. None if the place is unknown; all if it was interrupted at its end."""
    order = order_of(root, nodes)
    failing = _failing(order, error)
    if failing is None:
        return order if not isinstance(error, Exception) else []
    return order[: order.index(failing)]


def _failing(order: Collection[Any], error: BaseException) -> Any:
    """The Function whose backward raised, or the first node that refuses a saved tensor in the same words."""
    functions = [n for n in order if is_function(n)]
    for frame, _ in walk_tb(error.__traceback__ if functions else None):
        values = list(frame.f_locals.values())
        for n in functions:
            if any(v is n for v in values):
                return n
    return next((n for n in order if _refuses(n, str(error))), None)


def _refuses(node: Node, message: str) -> bool:
    try:
        saved_tensors(node, quiet=False)
    except RuntimeError as error:
        said, wanted = (re.sub(r"\s*Hint:.*", "", text, flags=re.DOTALL) for text in (str(error), message))
        return said == wanted
    except AttributeError:
        pass
    return False


def order_of(root: Any, nodes: Collection[Any]) -> list[Any]:
    """The order in which the engine runs nodes: of the ready ones, the one that was made last."""
    waits = Counter(after for n in nodes for after, _ in n.next_functions if after is not None)
    ready, found = [(-root._sequence_nr(), 0, root)], []
    while ready:
        node = heapq.heappop(ready)[2]
        found.append(node)
        for after, _ in node.next_functions:
            if after is not None:
                waits[after] -= 1
                if not waits[after]:
                    heapq.heappush(ready, (-after._sequence_nr(), len(found) + len(ready), after))
    return found
