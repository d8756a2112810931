"""What a question about a tensor asks of a live graph: which graph is meant, and what steppers have done to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ...graph.model import Value
from ...graph.passes import Holder
from ...graph.trace import Step
from ...runtime.alive import Alive
from .names import names_by_identity

_moves = itertools.count()
_passes: Alive[int] = Alive()  # a pass -> when it last moved


def moved(stepped: Any) -> None:
    """A pass has called a node, or has taken a call back."""
    _passes[stepped] = next(_moves)


def last_pass(nodes: Iterable[Any]) -> Any:
    """The stepper's pass that went through one of these nodes and moved last; None if there is none. Graphs that share only
    leaves are different graphs.
    """
    nodes = list(nodes)
    own = [n for n in nodes if not hasattr(n, "variable")] or nodes
    found = [(when, p) for p, when in _passes.items() if not p.nodes.isdisjoint(own)]
    return max(found, key=lambda f: f[0])[1] if found else None


def numbers_of(steps: Mapping[Any, Step], ids: Mapping[Any, str]) -> dict[str, Value | None]:
    """What a stepper saw, by address: what went along each arrow, and at `arrived:n2.0` what arrived, after hooks. The steps
    are by node, the ids those of the nodes in the document in question.
    """
    found: dict[str, Value | None] = {}
    for id, step in ((ids[node], step) for node, step in steps.items() if node in ids):
        found |= {f"next:{id}.{i}": g for i, g in enumerate(step.grad_inputs)}
        found |= {f"arrived:{id}.{i}": g for i, g in enumerate(step.grad_outputs)}
    return found | grads_before(steps, ids)


def _is_mask(tensor: Any) -> bool:
    """Does it choose between 0 or another number, and 1? Then it is constant almost everywhere."""
    with suppress(Exception):  # of a sparse one, or one without numbers
        numbers = {*tensor.flatten()[:SAMPLE].tolist()}
        return len(numbers) <= TWO and 1 in numbers
    return False


def grads_before(steps: Mapping[Any, Step], ids: Mapping[Any, str]) -> dict[str, Value | None]:
    """The grad of each leaf before a stepper's pass changed it: `before:n3`, by the id of its AccumulateGrad."""
    known = ((ids[node], change) for node, step in steps.items() if node in ids for change in step.changes)
    return {f"before:{id}": change.before for id, change in known if change.at.endswith(".grad")}


class Live:
    """What a `reasons.Live` of each library knows."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._nodes = {id: node for node, id in graph.node_ids.items()}
        stepped = last_pass(graph.node_ids)
        self._seen: dict[Any, Step] = {} if stepped is None else stepped.seen()

    def is_stepped(self) -> bool:
        """Has a stepper run it?"""
        return bool(self._seen)

    # known where a recorder tells when a tensor was written, how data was made, and what whole numbers have wrapped around
    _unknown: Any = staticmethod(lambda *_: None)
    written_before_pass = data_made = lost = ordered = is_data = made_of_data = _unknown

    def repeated(self, node: str, saved: str) -> tuple[int, ...]:
        """The dimensions along which a saved tensor repeats one number, as `expand` makes them."""
        return ()

    def called_as(self, node: str) -> str:
        """The name of the function that the program called, and that made the node; "" if no recorder has seen it."""
        return ""

    def kept_on_ctx(self, node: str) -> tuple[str, ...]:
        """The attributes of a user's ctx that are tensors without a history. A mask has no derivative: it is none of them."""
        held = getattr(self._nodes[node], "__dict__", {})
        kept = {n: t for n, t in held.items() if not n.startswith("_") and getattr(t, "requires_grad", None) is False}
        return tuple(n for n, t in kept.items() if not _is_mask(t))

    def has(self, tensor: Any) -> bool:
        """Does a node or an op read it?"""
        return self.id_of(tensor) is not None

    def id_of(self, tensor: Any) -> str | None:
        """Its id in the document."""
        found: str | None = self._graph.tensor_id(tensor)
        return found


def holder(optimizer: Any, made: Any, steps: Iterable[Any], tensor: Any) -> Holder:
    """An optimizer of any library, as the answers see it. `made` is the event of its birth, `steps` are those of its steps."""
    groups = [g for g in optimizer.param_groups if any(p is tensor for p in g["params"])]
    own = groups[0] if groups else {}
    first = own.get("initial_lr", getattr(optimizer, "defaults", {}).get("lr")) if groups else None
    state = getattr(optimizer, "state", None)
    kept = state.get(tensor) if groups and isinstance(state, dict) else None  # a dictionary, or what its author chose
    return Holder(
        kind=type(optimizer).__name__, made=made, holds=bool(groups), rate=float(own["lr"]) if "lr" in own else None,
        steps=tuple(steps), leaves=tuple(p for g in optimizer.param_groups for p in g["params"]),
        momentum=any(own.get(setting) for setting in ("momentum", "betas", "weight_decay")),
        began=None if first is None else float(first), maximizes=any(g.get("maximize") for g in optimizer.param_groups),
        decay=float(own.get("weight_decay") or 0.0), eps=float((own or [*optimizer.param_groups, {}][0]).get("eps") or 0.0),
        has_moved=kept is not None and not (isinstance(kept, dict) and not kept),
    )  # fmt: skip


TWO, SAMPLE = 2, 4096  # the numbers of a mask; elements of which they are read
MOST_ROOTS = 8  # graphs that are searched if the loss is not named


class Access(NamedTuple):
    """How to ask a tensor, or a backward node, of one framework."""

    is_tensor: Callable[[Any], bool]  # is a thing one of its tensors?
    grad_fn: Callable[[Any], Any]  # the backward node of a tensor, None for a leaf
    end: Callable[[Any], Any]  # the node at which the gradient of a tensor arrives; None if there is none
    after: Callable[[Any], Iterable[Any]]  # the nodes that a node sends gradients to
    order: Callable[[Any], int]  # rises with the time at which a node was made
    size: Callable[[Any], int]  # how many elements a tensor has
    passes: Callable[[Any], list[Any]]  # when backward() was called on a tensor, if that is remembered
    is_computed: Callable[[Any], bool]  # may the tensor be a loss outside every graph?


def roots_among(tensor: Any, variables: Mapping[str, Any], access: Access) -> tuple[Any, ...]:
    """The roots, among the caller's variables, that the tensor's gradient would come from. Those that lead to the tensor; else
    the one on which backward() was called last; else what looks like a loss.
    """
    known = dict.fromkeys(t for _, t in names_by_identity(variables, access.is_tensor))
    others = [t for t in known if t is not tensor]
    made = [t for t in others if access.grad_fn(t) is not None]
    ends, leads = _ends(made, access.end(tensor), access)
    mine = [t for t in ends if access.grad_fn(t) in leads]
    if not mine and access.passes(tensor):
        return (tensor,)
    asked = _latest_root(ends, access)
    found = _most_likely(mine, access) or asked or [t for t in _most_likely(ends, access)[-1:] if access.size(t) == 1]
    return tuple((found or [t for t in others if access.is_computed(t)][-1:])[-MOST_ROOTS:])


def _latest_root(tensors: list[Any], access: Access) -> list[Any]:
    asked = [(order, i) for i, t in enumerate(tensors) for order in access.passes(t)]
    return [tensors[max(asked)[1]]] if asked else []


def _most_likely(ends: list[Any], access: Access) -> list[Any]:
    """The one on which backward() was called last, else those of one element, else all; the latest last."""
    found = sorted(ends, key=lambda t: access.order(access.grad_fn(t)))
    return _latest_root(found, access) or [t for t in found if access.size(t) == 1] or found


def _ends(made: list[Any], target: Any, access: Access) -> tuple[list[Any], set[Any]]:
    """The tensors whose nodes no other tensor's node leads to, and all nodes that lead to the target."""
    senders: dict[Any, list[Any]] = {}
    seen = dict.fromkeys(access.grad_fn(t) for t in made)
    for node in (stack := [*seen]):  # grows
        for after in access.after(node):
            senders.setdefault(after, []).append(node)
            if after not in seen:
                seen[after] = None
                stack.append(after)
    leads = dict.fromkeys(senders.get(target, ()) if target is not None else ())
    for node in (back := [*leads]):  # grows
        new = [n for n in senders.get(node, ()) if n not in leads]
        leads |= dict.fromkeys(new)
        back += new
    return [t for t in made if access.grad_fn(t) not in senders], {*leads}
