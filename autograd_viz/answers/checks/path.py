"""Checks of paths to the loss."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from itertools import permutations
from typing import Any

from ... import words
from ...graph.listing import assigned
from ..causes.cause import Cause, cause_of, source_of
from ..causes.check import ASKED, MAY, SO, check
from ..causes.code import ASSIGNED, mentions, spelling
from ..causes.facts import Facts
from ..causes.history import Op, PassEvent
from ..causes.ops import cause_at, name_of_op, op_of
from ..causes.paths import behind, has_graph, is_op, leading_from, origins, with_history
from ..causes.question import Question
from .errors import RENAMING, switched_on
from .missing import UPDATES, missing
from .players import ends_of

UNUSED_KINDS = ("not_used", "not_in_loss", "left_as_number", "left_in_weights", "no_path", "made_after", "replaced", "copied")
TERM_KINDS = (
    "term_left_out", "adapted_left_out", "term_of_gradients", "term_of_weights", "term_without_gradient", "sampled_away",
    "drawn_by_normal", "term_cut", "term_without_history",
)  # fmt: skip
SWITCHES = ("switch_of_module", "switch_on_module", "frozen_in_vain")
TYPOS = ("require_grad", "require_grads", "requires_grads", "requiers_grad", "requires_gard", "required_grad")
MOST_LINES = 4  # of backward() that are looked at
DETACHING = ("detach", "detach_", "data")
STEPS = ("gt", "ge", "lt", "le", "eq", "ne", "argmax", "argmin", "one_hot", "heaviside", "bucketize", "histc", "bincount")
CELLS = ("gru_cell", "lstm_cell", "rnn_tanh_cell", "rnn_relu_cell")
MANY_CELLS = 2
SQUASHING = ("softmax", "sigmoid")  # of numbers that were drawn in the statement, as examples have them: probabilities
SCALING, MEASURES = ("mul", "div", "truediv", "neg"), (
    "kl_div", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "triplet_margin_loss", "ctc_loss",
)  # fmt: skip
ADDING = ("add", "radd", "iadd", "sub", "rsub", "isub")
TERM = re.compile(  # names of what a loss has as a term
    r"s?log_?(abs_?)?det\w*|s?l[ad]*dj|(\w+_)?(aux|reg|kld?|gp|penalty|commit\w*|vq|smooth\w*)_?loss|(\w+_)?penalty|kld?|kl_div"
)


@check("AV101", "detached", {"path_cut_*": MAY})
def detached(q: Question) -> list[Cause]:
    """The path from a parameter to the loss was cut: detach(), .data, item(), no_grad(), an op without a gradient."""
    return [c for c in q.once(missing) if c.kind.startswith("path_cut")]


@check("AV108", "cut-at-each-step", {"each_step_cut": MAY}, of_run=True)
def cut_each_step(q: Question) -> Iterator[Cause]:
    """A recurrent cell whose state is detached before each of its calls in one pass: nothing is learned over more than one."""
    there = behind([q.last_root]) if q.last_root is not None and q.minimizes else []
    before = [p.number for p in q.passes[:-1]]  # what they went through is another sequence
    cells = [op for op in there if op.name in CELLS and (not before or op.number > before[-1])]
    cells.sort(key=lambda op: op.number)
    cuts = [(c, g) for c in cells for g in c.given if is_op(g) and g.name in ("detach", "data") and g.given]
    for _, cut in cuts[-1:]:
        own = [*{c: c for c, g in cuts if g.source == cut.source and any(is_op(x) and x.name in CELLS for x in _picked(g))}]
        if len(own) > MANY_CELLS and len(own) >= len(cells) - 1:
            yield cause_of("each_step_cut", cut, op=spelling(own[-1]), cut=spelling(cut), count=len(own))


def _picked(op: Op) -> list[Any]:
    """What it was given, behind elements of tuples."""
    found = [*op.given]
    return [x for g in found for x in (g.given if is_op(g) and g.name in ("getitem", "__getitem__", "unbind") else [g])]


@check("AV102", "unused", {**dict.fromkeys(UNUSED_KINDS, MAY), "not_used_now": ASKED})
def unused(q: Question) -> list[Cause]:
    """No op of the last pass used the parameter, or the loss does not depend on what it made."""
    return [c for c in q.once(missing) if c.kind in (*UNUSED_KINDS, "not_used_now")]


@check("AV103", "written-as-data", {"written_as_data": SO}, of_run=True, first=True)
def written_as_data(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A tensor that an op had saved was changed through .data: autograd did not see it, and backward() used the new values."""
    for node in nodes:
        for saved in f.nodes[node].saved:
            write = None if saved.tensor is None else f.live.written_before_pass(node, saved.name)
            if write is not None and saved.tensor is not None:
                said = {"written": f.name_of(saved.tensor) or words.THE_TENSOR, "op": name_of_op(f, node)}
                yield cause_of("written_as_data", write, saved=f.source(node), **said)


@check("AV104", "skip-written", {"skip_written": MAY}, of_run=True, first=True)
def skip_written(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """An in-place op first in a residual branch: it writes into the tensor that the skip adds, too."""
    for node in nodes:
        users = f.takers(node)
        adds = [s for s in users if op_of(f, s) == "Add"]
        others = [s for s in users if s not in adds]
        layers = [s for s in others if f.source(s) is not None and f.source(s) == f.source(node)]
        before = next((a.node for a in f.nodes[node].next_functions if adds and others), None)
        is_first = before is not None and (op_of(f, before) == "Add" or f.source(before) != f.source(node))
        is_first &= bool(layers) or (before is not None and _begins_branch(f, node, adds[0], before))
        is_of_user = f.live.called_as(node).replace("_", "") == op_of(f, node).lower()  # a GRU has in-place ops inside
        written = f.live.changed(node, "result") if is_first and is_of_user else None
        if written is not None and written.now:
            yield cause_at(f, "skip_written", node, added=f.source(adds[0]))


def _begins_branch(f: Facts, node: str, add: str, before: str) -> bool:
    """Does the function that adds call it earlier, or inside the sum, on what another function has made?"""
    op, its, outer = (f.source(n) for n in (node, add, before))
    if op is None or its is None or outer is None or not op.function or (op.file, op.function) != (its.file, its.function):
        return False
    is_given = (outer.file, outer.function) != (op.file, op.function) or op_of(f, before) == "Add"
    return is_given and (op.end_line < its.line or (op.line == its.line == its.end_line and its.contains(op)))


@check("AV107", "leaf-lost", {"leaf_gone": MAY, "parameter_gone": MAY, "leaf_renamed": MAY}, of_run=True, first=True)
def lost_leaf(q: Question) -> Iterator[Cause]:
    """A leaf, or a parameter, that was changed in the statement that made it: what has its name is neither."""
    yield from _renamed(q)
    root = q.last_root
    parts = {f"{name}.{k}": v for name, m in q.models.items() for k, v in vars(m).items() if k[:1] != "_"}
    for name, value in {**q.names, **parts}.items() if root is not None else ():
        op = q.maker_of(value) if has_graph(value) else None
        leaf = op.given[0] if op is not None and op is not root and len(op.given) == 1 else None
        if op is None or leaf is None or is_op(leaf) or op not in q.ops_behind(root) or op.name.endswith(SQUASHING):
            continue
        is_parameter = type(leaf).__name__ == "Parameter"
        is_one = op.source is not None and ("Parameter(" if is_parameter else "requires_grad") in op.source.text
        if is_one and q.name_of(leaf) is None and not value.retains_grad:
            yield cause_of("parameter_gone" if is_parameter else "leaf_gone", op, variable=name, op=spelling(op))


def _renamed(q: Question) -> Iterator[Cause]:
    """A name that an optimizer's tensor had, and that a line of the loop has given to another leaf."""
    for name, value in q.names.items():
        on = q.events_of(value, "switched_on")
        line = on[-1].source.text if on and on[-1].source is not None else ""
        named = RENAMING.match(line)
        if named is None or named[1] != name or any(value is p for h in q.holders for p in h.leaves):
            continue
        for h in q.holders:
            old = [p for p in h.leaves if p.shape == value.shape and q.name_of(p) is None and type(p).__name__ != "Parameter"]
            if h.steps and old and on[-1].number > h.steps[0].number:
                yield cause_of("leaf_renamed", on[-1], variable=name, optimizer=h.kind)


@check("AV105", "not-frozen", {"misspelt": SO, **dict.fromkeys(SWITCHES, MAY)}, of_run=True)
def not_frozen(q: Question) -> Iterator[Cause]:
    """requires_grad misspelt, or assigned to a module: a new attribute, which switches nothing."""
    yield from filter(None, [switched_on(q)])
    yield from _in_vain(q)
    file = "" if q.last is None or q.last.source is None else q.last.source.file
    for name, model in q.models.items():
        of = ((t, path) for t in TYPOS for path, p in model.named_parameters() if t in getattr(p, "__dict__", ()))
        for typo, path in [*of][:1]:
            yield Cause("misspelt", source=assigned(file, typo), said={"typo": typo, "model": f"{name}.{path}"})
        for part in model.modules():
            switch = next((t for t in ("requires_grad", *TYPOS) if vars(part).get(t) is False), None)
            own = [p for p in part.parameters() if p.requires_grad and not q.events_of(p, "switched_on", "switched_off")]
            is_setting = any(f"self.{switch} =" in line for line in linecache.getlines(file))  # of its class
            if own and switch is not None and not is_setting:
                yield Cause("switch_of_module", source=assigned(file, switch), said={"switch": switch, "model": name})
                break


def _in_vain(q: Question) -> Iterator[Cause]:
    """A line that freezes parameters, all of which another one, in the same function and soon after, lets train again."""
    began = min((s.number for h in q.holders for s in h.steps), default=None)
    frozen = dict[Any, list[Any]]()
    for p in {p for m in q.models.values() for p in m.parameters()} if began is not None else ():
        offs, ons = q.events_of(p, "switched_off"), q.events_of(p, "switched_on")
        if offs and offs[-1].number < began:
            later = next((e for e in ons if offs[-1].number < e.number < began), None)
            frozen.setdefault(offs[-1].source, []).append(later)
    for off, ons in frozen.items():
        on = ons[0].source if ons[0] is not None else None
        if off is None or on is None or any(e is None or e.source != on for e in ons):
            continue
        between = "".join(linecache.getlines(off.file)[off.end_line : on.line - 1])
        is_same = off.file == on.file and off.function == on.function and off.line < on.line
        # what is frozen may have computed something, or been written, in between; and an `if` is a choice
        uses = re.compile(
            rf"\b({'|'.join(map(re.escape, q.models))})[([]|\w_\(|no_grad|requires_grad|^\s*(if|elif|else)\b", re.MULTILINE
        )
        if is_same and not uses.search(between):
            yield cause_of("frozen_in_vain", ons[0], frozen=off, count=len(ons))


@check("AV106", "lost-term", dict.fromkeys(TERM_KINDS, MAY), of_run=True, first=True)
def lost_term(q: Question) -> Iterator[Cause]:
    """A part of the loss that trains nothing, beside others: of gradients or weights without a graph, or made by sample()."""
    roots = {p.source: p.root for p in q.history.passes if p.name == "backward" and not p.error}  # the last of each line
    yield from (found for r in [*roots.values()][-MOST_LINES:] if r is not None and not r.cut for found in _lost(q, r))
    root = q.last_root
    if root is None or root.cut:
        return
    yield from _cut_off(q)
    if q.history.knows_uses:
        yield from _left_out(q, {r for r in roots.values() if r is not None})
    there, all_ops = with_history([root]), behind([root])
    # a score function weighs the draw, and does not follow it
    is_score = any(op.source is not None and "log_prob" in op.source.text for op in all_ops)
    normal = next((op for op in there if op.name == "normal" and any(map(is_op, op.given))), None)
    named = ASSIGNED.match(normal.source.text) if normal is not None and normal.source is not None else None
    weighed = re.compile(rf"log_prob\(\s*{named[1]}\b" if named is not None else "log_prob")
    is_weighed = is_score and any(op.source is not None and weighed.search(op.source.text) for op in all_ops)
    if normal is not None and not is_weighed:
        yield cause_of("drawn_by_normal", normal, op=spelling(normal))
    for draw in all_ops:
        if draw.cut == "no_grad" and draw.source is not None and ".sample(" in draw.source.text:
            owners = there & {*behind([draw])}  # what made the distribution, and reaches the loss in another way
            users = leading_from(draw, all_ops) & there
            is_used = any(type(g).__name__ == "Parameter" for op in users for g in op.given)
            if owners and is_used and (not is_score or _is_judged(q, root, owners, users)):
                yield cause_of("sampled_away", draw)


def _cut_off(q: Question) -> Iterator[Cause]:
    """Terms of a loss that move nothing: what they reach is thrown away, and another path was cut; or all of it is data."""
    lines = dict[Any, list[PassEvent]]()
    for p in q.history.passes:
        if p.name == "backward" and not p.error:
            lines.setdefault(p.source, []).append(p)
    for passes in lines.values():
        root = passes[-1].root
        terms = [] if root is None or root.cut else [*_terms(root)]
        moved = {p for h in q.holders if h.steps for p in h.leaves} & q.leaves_of(root) if len(terms) > 1 else set()
        taken = {g for op in behind([root]) if op.name.strip("_") == "sub" for g in op.given[1:]} if root is not None else set()
        for term in terms if moved else ():
            reached, loss = q.leaves_of(term), _measure(term)
            cutting = [op for op in behind([term]) if op.name in DETACHING or op.cut == "no_grad"]
            cuts = [(op, own) for op in cutting if (own := (moved & _leaves_before(op)) - reached)]
            is_compared = loss is not None and loss.cut == "behind" and term not in taken  # not a constant of the teacher
            is_lost = (
                _is_thrown_away(q, reached, passes) if cuts and reached and reached <= moved else not reached and is_compared
            )
            if cuts and is_lost and not _is_thrown_away(q, cuts[0][1], passes):
                cut = cuts[0][0]
                by = spelling(cut) if cut.name in DETACHING else "no_grad()"
                yield cause_of("term_cut", cut, op=by, term=term.source)
            elif loss is not None and is_compared and not reached:
                yield cause_of("term_without_history", loss, op=spelling(loss), of=source_of(next(iter(origins(term)), None)))


def _is_thrown_away(q: Question, leaves: set[Any], passes: list[PassEvent]) -> bool:
    """Were the leaves cleared after each of the first and the last passes of a line, before their next step? One of each
    optimizer is asked: it clears all of its own.
    """
    for h in q.holders:
        leaf = next((p for p in h.leaves if p in leaves), None) if h.steps else None
        cleared = [c.number for c in q.history.clearings(leaf)] if leaf is not None else []
        later = [(p.number, next((s.number for s in h.steps if s.number > p.number), None)) for p in _few(passes)]
        rounds = [any(begin < c < end for c in cleared) for begin, end in later if end is not None]
        if leaf is not None and not (rounds and all(rounds)):
            return False
    return True


def _few(passes: list[PassEvent]) -> list[PassEvent]:
    """The first few and the last few."""
    return passes if len(passes) <= 2 * MOST_LINES else [*passes[:MOST_LINES], *passes[-MOST_LINES:]]


def _measure(term: Op) -> Op | None:
    """The function of a loss that a term is a multiple of."""
    op: Op | None = term
    while op is not None and op.name.strip("_").removeprefix("r") in SCALING:
        op = next(filter(is_op, op.given), None)
    return op if op is not None and op.name in MEASURES else None


def _leaves_before(op: Op) -> set[Any]:
    """The leaves whose gradients end at an op that detaches, or that ran under no_grad()."""
    return {g for o in (op, *with_history(filter(is_op, op.given))) for g in o.given if not is_op(g)}


def _left_out(q: Question, roots: set[Op]) -> Iterator[Cause]:
    """What was computed on the way to a loss as a term of it, or with a graph for it, and nothing has used."""
    there, last = {op for root in roots for op in q.ops_behind(root)}, q.passes[-1].number
    grads = [p for p in q.history.passes if p.name == "grad" and p.keeps and p.number < last]
    read = {g for op in q.history.left for g in op.given}  # as a number, to be shown
    for name, value in q.names.items():
        several = [*value.values()] if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
        ops = [q.maker_of(t) for t in several if q.is_of_library(t) and t.requires_grad]
        made = {op for op in ops if op is not None and op.number < last}
        if not made or len(made) != len(several) or made & there or made & read or q.history.users({*made}):
            continue
        if TERM.fullmatch(name) and len(made) == 1 and q.ops_behind(ops[0]) & there and not _is_added(q, name):
            yield cause_of("term_left_out", ops[0], term=name)
        elif len(made) > 1 and all(op.name in UPDATES and any(p.number < op.number for p in grads) for op in made):
            yield cause_of("adapted_left_out", ops[0], term=name)


def _is_added(q: Question, name: str) -> bool:
    """Does a line add it to something, though it may not have run yet, or show it, or keep it by a name?"""
    ways = rf"[-+]=? *{name}\b", rf"\* *{name}\b", rf"\b{name} *\*", rf"\b{name}\b[^=,]*[-+]", rf"append\({name}\b"
    added = re.compile("|".join([*ways, rf"print\(.*\b{name}\b", rf"['\"]\s*:\s*{name}\b", rf"\{{{name}\b"]))
    return mentions(q.passes[-1].source, added)


def _is_judged(q: Question, root: Op, owners: set[Op], users: set[Op]) -> bool:
    """Is what another network gives for the draw added to the loss, which trains the owners, and not that network?"""
    own = {g for op in owners for g in op.given if not is_op(g)}
    stepped = {p for h in q.holders if h.steps and not own.isdisjoint(h.leaves) for p in h.leaves}
    scores = [op for op, sign, _ in ends_of(root, q) if sign and op in users]
    return bool(stepped) and any(stepped.isdisjoint(q.leaves_of(op)) for op in scores)


def _lost(q: Question, root: Op) -> Iterator[Cause]:
    """Terms of a loss, and parts of a residual, that autograd.grad() returned without a graph."""
    for term in _terms(root):
        is_lost = term.cut or not any(type(leaf).__name__ == "Parameter" for leaf in q.leaves_of(term))
        made = _gradient_in(term) if is_lost else None
        if made is not None:
            yield cause_of("term_of_gradients", made, term=term.source)
        cuts = [*origins(term)] if term.cut else []
        trained = {p for h in q.holders if h.steps for p in h.leaves} | (q.leaves_of(root) if q.history.gone else set())
        if cuts and all(op.given and {*op.given} <= trained and type(op.given[0]).__name__ == "Parameter" for op in cuts):
            yield cause_of("term_of_weights", cuts[0], op=spelling(cuts[0]))
            return
        steps = [op for op in cuts if op.cut == "op" and op.name.strip("_") in STEPS]
        if cuts and len(steps) == len(cuts) and any(_has_parameters(q, *filter(is_op, op.given)) for op in steps):
            yield cause_of("term_without_gradient", steps[0], op=spelling(steps[0]), term=term.source)
    for op in q.ops_behind(root):
        given = [*filter(is_op, op.given)] if op.name.strip("_") in ADDING else []
        for part, other in permutations(given, 2):
            made = _gradient_in(part) if part.cut and not other.cut else None
            if made is None or any(o.name in DETACHING for o in behind([part])) or not _has_parameters(q, other):
                continue
            after = leading_from(op, [*q.ops_behind(root)]) - {op}
            # it moves what a layer gets, as an attack does
            if any(type(g).__name__ == "Parameter" for o in after for g in o.given):
                continue
            before = [g for g in made.given if is_op(g)]  # what was differentiated: of data that requires grad, too
            has_data = any(type(leaf).__name__ != "Parameter" for g in before for leaf in q.leaves_of(g))
            if has_data and _has_parameters(q, *before):
                yield cause_of("term_of_gradients", made, term=op.source)


def _gradient_in(op: Op) -> Op | None:
    """The call of autograd.grad() without a graph that an op comes from."""
    return next((o for o in origins(op) if o.name == "grad" and o.cut == "op"), None)


def _has_parameters(q: Question, *ops: Op) -> bool:
    """Does a gradient of one reach a parameter?"""
    return any(type(leaf).__name__ == "Parameter" for op in ops for leaf in q.leaves_of(op))


def _terms(root: Op) -> Iterator[Op]:
    """What a loss is the sum of."""
    todo = [root]
    while todo:
        op = todo.pop()
        if op.name.strip("_") in ADDING and op.cut in ("", "behind", "behind_no_grad"):
            todo += filter(is_op, op.given)
        else:
            yield op
