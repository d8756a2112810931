"""What an error of autograd means for this program."""

from __future__ import annotations

from typing import Any

from ...graph.surroundings import Source
from ..sentences import explain_error
from .cause import Cause
from .missing import cut
from .paths import behind, is_op, reaches, with_history
from .question import Question
from .spelling import spelled
from .without_grad import without_grad

NO_GRAPH = "does not require grad and does not have a grad_fn"
TWICE = "through the graph a second time"
MODIFIED = "modified by an inplace operation"
NOT_LEAF = "can't optimize a non-leaf Tensor"
KNOWN = ("made_of_number", "made_early", "inference", "dtype")  # other reasons why a root has no history, besides its inputs
UNUSED = ("to not have been used in the graph", "One of the differentiated Tensors")


def causes_of_error(q: Question | None, message: str, node: str, line: Source | None) -> list[Cause]:
    """What an error was about.

    Args:
        q: about the root of the pass that raised; None if there was none.
        message: the error's text.
        node: the name of the node that raised, if known.
        line: the user's line that raised it.
    """
    found: list[Cause] = []
    if q is not None and MODIFIED in message:
        found = _modified(q, message)
    elif q is not None and TWICE in message:
        found = _twice(q)
    elif q is not None and NO_GRAPH in message:
        found = _no_graph(q, line)
    meaning = explain_error(message, node)
    general = [Cause("error", source=line, said={"meaning": meaning})] if meaning else [Cause("unknown_error")]
    return found or general


def complaint(q: Question, message: str, line: Source | None) -> list[Cause]:
    """What is wrong with an argument of the failing call; empty if the arguments are right."""
    if NOT_LEAF in message and not q.is_leaf:
        op = q.history.op_of(q.tensor)
        name = spelled(op) if op is not None else q.tensor.grad_fn.name()
        return [Cause("optimizer_not_leaf", source=line if op is None else op.source, said={"op": name})]
    if not any(part in message for part in UNUSED):
        return []
    if not q.tensor.requires_grad:
        return without_grad(q)
    root = q.root_op
    if root is None or reaches(root, q.subject):
        return []
    return cut(q, root, q.subject) or [Cause("no_path", source=line)]


def _no_graph(q: Question, line: Source | None) -> list[Cause]:
    """The root of a pass has no history."""
    op, off = q.history.op_of(q.tensor), q.history.switched_off()
    leaves = [] if op is None else [g for o in behind([op]) for g in o.given if not is_op(g)]
    is_frozen = bool(off) and not any(type(leaf).__name__ == "Parameter" for leaf in leaves)
    frozen = [Cause("root_frozen", source=off[-1].source)] if is_frozen else []
    own = without_grad(q)
    if own[0].kind in KNOWN:
        return own
    return frozen or (own if op is not None and (op.given or op.cut) else [Cause("root_of_data", source=line)])


def _twice(q: Question) -> list[Cause]:
    """Which pass freed the graph, and which part of the graph was used again."""
    root = q.root_op
    before = [p for p in q.history.passes if not p.error]
    if root is None or not before:
        return []
    there = with_history([root])
    used = {op: p for p in reversed(before) if p.root is not None for op in with_history([p.root]) & there}
    used = used or {op: before[-1] for op in there if op.number < before[-1].number}  # what that pass went through is unknown
    if not used:
        return []
    old = root if root in used else max(used, key=lambda op: op.number)
    source = used[old].source
    if old is root:
        return [Cause("twice_root", source=old.source, said={"pass": source})]
    is_again = any(op.source == old.source for op in there - used.keys() if op.number > used[old].number)
    is_loop = q.history.passes[-1].source == source
    kind = "twice" if is_again else "twice_before" if is_loop else "twice_shared"
    return [Cause(kind, source=old.source, said={"op": spelled(old), "pass": source})]


def _modified(q: Question, message: str) -> list[Cause]:
    """Which op saved a tensor, and which line has modified it since."""
    saver, writer = q.history.modified(q.tensor, message)
    if writer is None:
        return [] if saver is None else [Cause("modified_unseen", source=saver.source, said={"op": spelled(saver)})]
    said = {"op": "" if saver is None else spelled(saver), "saved": _source(saver)}
    kind = "modified_by_step" if writer.kind == "step" else "modified"
    return [Cause(kind, source=writer.source, said=said)]


def _source(op: Any) -> Source | None:
    return None if op is None else op.source
