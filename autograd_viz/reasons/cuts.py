"""Why nothing leads from a tensor to the loss: where the path was cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..graph.model import Document, Op
from ..sentences import is_differentiable
from .bystander import bystander_cause
from .candidates import candidates
from .cause import Cause, NodeAt, Said
from .code import renamed_at, statement_of
from .cutting import Maker, detaching
from .facts import Facts, takes_the_shape
from .holders import PART
from .live import NothingLive
from .loss_code import reads_of_loss
from .slices import detached_after
from .switches import switched_on_after, switches_on
from .text import sentences
from .ways import Ways, is_unsure, ways_between

MOST_SURE = 2  # ways of which each has its cut
MOST_MAYBE = 3  # lines that are named where any may have run
INSIDE = ("CheckpointFunction", "_ReversibleFunction")  # Functions whose backward runs a forward and a backward pass


def cut_causes(f: Facts) -> list[Cause]:
    """Where the path from the subject to the loss was cut; that it was never there, if no cut is found."""
    found = recorded_cuts(f)
    if found:
        return found
    inside = runs_its_own_pass(f)
    if inside is not None and f.has_run(inside.nodes[0]) is not True:
        return [inside]
    return _cuts_in_code(f)


def _cuts_in_code(f: Facts) -> list[Cause]:
    """What the code says: lines that cut, else lines that may have, else why no way leads there."""
    ids, ways, asked = (f.subject.id, *f.loss), _ways(f), statement_of(f.here)
    late = _required_late(f, ways)
    if late is not None:
        return [late]
    sure = [c for c in ways.cuts if not is_unsure(c, asked)]
    if sure:
        found = [Cause(f"cut_{c.how}", ids, source=c.source, said={"what": c.what}) for c in sure]
        return list({(c.kind, c.source): c for c in found}.values())[:MOST_SURE]
    return _maybe(f, ways.cuts) if ways.cuts else _uncut(f, ways)


def _maybe(f: Facts, cuts: list[Maker]) -> list[Cause]:
    """Lines that may not have run."""
    first = "cut_mode" if cuts[0].how == "mode" else "cut_maybe"
    pairs = zip((first, *["cut_maybe_too"] * (MOST_MAYBE - 1)), {(c.source, c.what): c for c in cuts}.values(), strict=False)
    ids, root = (f.subject.id, *f.loss), loss_names(f)
    return [Cause(kind, ids, source=cut.source, said={"what": cut.what, "root": root}) for kind, cut in pairs]


def _uncut(f: Facts, ways: Ways) -> list[Cause]:
    """No line is seen that cut every way."""
    ids, said = (f.subject.id, *f.loss), {"root": loss_names(f)}
    renamed = _renamed(f, ways)
    if renamed is not None:
        return [renamed]
    beside = bystander_cause(f, said["root"], is_read=bool(ways.uncut))
    if beside is not None:
        return [beside]
    if not f.live.is_recording() and not any(f.tensors[root].requires_grad for root in f.loss):
        return [Cause("unreached_off", ids, said={**said})]
    partly = [Cause("cut_partly", ids, source=c.source, said={**said, "what": c.what}) for c in ways.beside]
    kind = "unreached_or_late" if switches_on(f.here) else "unreached"
    return [Cause(kind, ids, said={**said}), *(_candidates(f) or partly[:1])]


def _required_late(f: Facts, ways: Ways) -> Cause | None:
    """It led to the loss when it did not require grad yet."""
    reads = [read.outermost for read in ways.uncut]
    on = switched_on_after(f.subject.name, f.here, reads)
    if on is None:
        return None
    kind = "required_late" if on[1] else "used_before"
    return Cause(kind, (f.subject.id, *f.loss), source=on[0], said={"used": str(reads[0].source.line)})


def _renamed(f: Facts, ways: Ways) -> Cause | None:
    """The name led to the loss when it stood for another tensor."""
    asked, wanted = statement_of(f.here), f.subject.name or ""
    lines = [r.outermost for r in ways.outdated] if asked is not None else []
    new = renamed_at(wanted, lines[0], asked) if lines and asked is not None else None
    if new is None:
        return None
    asked_in = "" if f.here is None else f.here.file
    said: dict[str, Said] = {"used": NodeAt(loss_names(f), lines[0].source, asked_in), "root": loss_names(f)}
    return Cause("renamed", (f.subject.id, *f.loss), source=new.source, said=said)


def _candidates(f: Facts) -> list[Cause]:
    """The lines that may have cut the path, where the code does not tell by which of them it went."""
    ids, is_unrecorded = (f.subject.id,), any(op.reconstructed for op in f.document.ops)
    found = [Cause("candidate_too", ids, source=c.source, said={"what": c.what}) for c in candidates(f.here)]
    kind = "candidate_unrecorded" if is_unrecorded else "candidate"
    return [replace(c, kind=kind) for c in found[:1]] + found[1:]


def recorded_cut_sentences(document: Document, tensors: Iterable[str]) -> dict[str, str]:
    """For each of the tensors that the roots were made from, and that get no gradient, where it was cut off."""
    f: Facts | None = None
    found = {}
    for id in tensors:
        f = f or Facts(document, id, {}, NothingLive(), tuple(document.roots))
        if id in f.behind_loss:
            about = f.about(id)
            found[id] = "".join(sentences(about.subject, recorded_cuts(about)[:1], headed=False)[:1])
    return found


def loss_names(f: Facts) -> str:
    """The names of the roots."""
    return ", ".join(f.tensors[r].name or "loss" for r in f.loss)


# -- what the graph remembers -----------------------------------------------------------------------------------------


def recorded_cuts(f: Facts) -> list[Cause]:
    """The ops at which gradients from the loss would have to pass, and cannot.

    An op beside the way, as the comparison in `z * (z > 0).float()`, is none: what it makes leads to z again, or to nothing
    but its own result.
    """
    reached, stopped = {f.subject.id}, list[tuple[Op, str]]()
    stack = [f.subject.id]
    while stack:
        id = stack.pop()
        for op in f.users.get(id, ()):
            if takes_the_shape(op):
                continue
            new = [o for o in op.outputs if o is not None and o not in reached] if _passes(f, op, id) else []
            stopped += [] if new or {*op.outputs} <= reached else [(op, id)]
            reached.update(new)
            stack += new
    ends = _behind_roots(f, reached)
    outputs = {op.id: [o for o in op.outputs if o is not None] for op, _ in stopped}
    return [_cut_at(f, op, id, outputs[op.id]) for op, id in stopped if ends & {*outputs[op.id]}]


def _behind_roots(f: Facts, but: set[str]) -> set[str]:
    """The tensors that the loss was made from, as far as these."""
    found, stack = {*f.loss} - but, [id for id in f.loss if id not in but]
    while stack:
        op = f.makers.get(stack.pop())
        for operand in () if op is None or takes_the_shape(op) else op.inputs:
            if operand.tensor is not None and operand.tensor not in found | but:
                found.add(operand.tensor)
                stack.append(operand.tensor)
    return found


def _passes(f: Facts, op: Op, tensor: str) -> bool:
    """The op's node sends a gradient to this operand."""
    edge = f.edge_of(tensor)
    return op.node is not None and any((a.node, a.index) == edge for a in f.nodes[op.node].next_functions)


def _cut_at(f: Facts, op: Op, tensor: str, outputs: list[str]) -> Cause:
    ids, said = (f.subject.id, *outputs), {"op": op.name, "what": f.tensors[tensor].name or f"the input of {op.name}"}
    nodes = () if op.node is None else (op.node,)
    made = statement_of(op.source)
    if op.name == "Detach":
        cut = detaching(made)
        how, what = (cut.how, cut.what) if cut is not None else ("detach", ".detach()")
        return Cause(f"cut_{how}", ids, nodes, op.source, said | {"what": what})
    if made is not None and op.node is None and (line := detached_after(made, statement_of(f.here))) is not None:
        return Cause("cut_detach", ids, nodes, line, said | {"what": ".detach_()"})
    dtypes = [t.value.dtype for o in outputs if not is_differentiable((t := f.tensors[o]).value.dtype)]
    if dtypes:
        return Cause("cut_dtype", ids, nodes, op.source, said | {"dtype": dtypes[0]})
    return Cause("cut_early", ids, nodes, op.source, said)


# -- what the code says -----------------------------------------------------------------------------------------------


def _ways(f: Facts) -> Ways:
    """Follow names from the loss back to the subject through the code."""
    wanted = PART.sub(r".\1", f.subject.name or "")
    return ways_between(reads_of_loss(f), wanted, statement_of(f.here)) if wanted else Ways([], [], [], [])


def runs_its_own_pass(f: Facts) -> Cause | None:
    """A Function of a reentrant checkpoint is on the way: what it computes anew in its backward stands in no graph before."""
    node = next((n for n in f.passed if f.called(n).startswith(INSIDE)), None)
    if node is None:
        return None
    return Cause("inside", (f.subject.id, *f.loss), (node,), f.source(node), {"node": f.called(node), "root": loss_names(f)})
