"""Checks of what is done to weights besides a step: cleared passes, writes, copies, and optimizers that forget."""

from __future__ import annotations

import ast
import linecache
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from typing import Any

from ... import words
from ...graph.passes import Holder
from ...graph.surroundings import Source
from ..causes.cause import Cause, Said, cause_of
from ..causes.check import MAY, SO, check
from ..causes.code import mentions, statement_at, tree_of
from ..causes.facts import Facts
from ..causes.history import Event, Op, PassEvent
from ..causes.ops import op_of
from ..causes.paths import behind, is_of_user, leading_from
from ..causes.question import Question
from .layers import TAKERS, weights_of
from .loop import PLENTY, SETTLED, modules_of, step_of
from .present import last_write

FEW = 4  # elements whose signs may agree by chance
SOME_NUMBERS, ALIKE = 48, 0.9  # of a weight; a correlation that no chance gives
CLOSE = 0.05  # a distance, as a part of a step
MANY_MODELS = 6  # with one step each; fewer may be folds
STATEFUL = ("Adam", "NAdam", "RAdam", "RMSprop", "Adadelta", "Adagrad")
APART, ADDING = ("AdamW", "Lion"), ("SGD", "Adam", "NAdam", "RAdam", "RMSprop")  # how they use weight_decay
DECAYED, LARGE_DECAY = 0.01, 0.05  # the part of a weight that a step takes away; weight_decay
BALANCE = 0.5  # of a gradient and a decay that have come to rest against each other, as a part of the gradient
PLAIN = ("clamp", "clip", "clamp_min", "clamp_max", "mul", "add", "sub", "div", "lerp", "neg", "abs", "masked_fill", "renorm")
SHAPING = (
    "view", "reshape", "squeeze", "unsqueeze", "transpose", "permute", "flatten", "t", "detach", "masked_scatter", "scatter",
    "scatter_add", "index_fill", "index_add", "index_copy", "relu", "sigmoid", "tanh", "softmax", "log_softmax", "sqrt", "exp",
)  # fmt: skip
OF_SEVERAL = ("where", "cat", "concat", "stack", "hstack", "vstack", "einsum", "broadcast_tensors", "meshgrid", "lerp")
FUNCTIONS = ("torch", "F", "nn.functional", "torch.nn.functional")
NESTED = 6  # ops of one expression
GIVING = ("to", "cpu", "cuda", "detach", "data", "float", "double", "half", "contiguous")  # perhaps the tensor itself
TARGET = re.compile(r"(?:^|_)(?:target|tgt|teacher|ema|momentum|ref|reference)(?:_|$)")  # what must not be the trained network
DROPPING = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
PRODUCTS, PUTTING = ("mul_", "__imul__", "data"), ("__setitem__", "masked_fill_")  # how a mask is written
FACTOR = re.compile(
    r"(?:mul_\(|\*=|\bdata \* ?)\s*(\w+)(?:\.\w+\(\w*\))?\s*(?:$|[);#])"
)  # its name, if that is the whole factor
ZERO, MATRIX = re.compile(r"[=,]\s*0(?:\.0*)?\s*(?:$|[);#])"), 2  # as a value; dimensions
DRAWN = ("uniform_", "normal_", "orthogonal_", "reset_parameters")  # how names of random initializations end


@check("AV412", "cleared-between-passes", {"cleared_between": MAY})
def cleared_between(q: Question) -> Iterator[Cause]:
    """Several passes before each step(), with zero_grad() before each of them: the step uses the last one only."""
    steps = sorted(s.number for h in q.optimizers if h.kind != "LBFGS" for s in h.steps)  # it clears for each trial of a step
    passes = [p for p in q.passes if not (p.error or p.wanted) and (p.root is None or q.is_reached_from(p.root))]
    if len(steps) < PLENTY or not passes or [c for c in last_write(q) if c.kind != "clipped"]:
        return
    cleared = q.history.clearings(q.tensor)
    set_by = [e for e in (*q.events("set"), *q.events("written")) if e.number > passes[0].number]  # a program that keeps each
    numbers = [p.number for p in passes]
    ends = [0, *(bisect_left(numbers, s) for s in steps)]
    rounds = [passes[a:b] for a, b in pairwise(ends) if a < b][-PLENTY:]
    if not rounds:
        return
    pairs = [(a, b, [c for c in cleared if a.number < c.number < b.number]) for r in rounds for a, b in pairwise(r)]
    is_always = all(cs and (a.source == b.source or _is_unread(q, a, cs[0])) for a, b, cs in pairs)
    is_of_one = len({p.source for p in rounds[-1]}) == 1 or bool(rounds[-1][0].root)
    is_always &= is_of_one and all(len(r) >= PLENTY for r in rounds)
    others = [s.number for h in q.holders if not h.holds for s in h.steps]  # of an optimizer that has its turn in between
    is_used = any(a.number < s < b.number for a, b, _ in pairs for s in others)
    is_used |= any(_serves_another(q, a) for a, _, _ in pairs)
    if is_always and not set_by and not is_used:
        at = next(c for c in reversed(cleared) if c.number < rounds[-1][-1].number)
        yield cause_of("cleared_between", at, count=len(rounds[-1]), **{"pass": rounds[-1][-1].source})


def _serves_another(q: Question, of: PassEvent) -> bool:
    """Does a pass send gradients to what another optimizer steps, as a generator's loss does through the discriminator?"""
    steps = [h for h in q.holders if not h.holds and h.steps and h.steps[-1].number > of.number]
    return any(not q.leaves_of(of.root).isdisjoint(h.leaves) for h in steps)


def _is_unread(q: Question, of: PassEvent, cleared: Event) -> bool:
    """Does nothing stand between a pass of parameters and the line that clears its gradients? Hooks may have read them."""
    leaves = set[Any]() if of.root is None else q.leaves_of(of.root)  # roots of long ago are unknown
    if not all(type(leaf).__name__ == "Parameter" and not getattr(leaf, "_backward_hooks", None) for leaf in leaves):
        return False
    first, then = of.source, cleared.source
    if first is None or then is None or first.file != then.file or first.function != then.function:
        return False
    between = linecache.getlines(first.file)[first.end_line : then.line - 1]
    return first.line <= then.line and all(not line.strip() or line.strip().startswith(("#", "print(")) for line in between)


LAYERS = ("torch.nn.", "autograd_viz.twin.nn.")


@check("AV413", "undone", {"drawn_anew": MAY, "clamped_back": MAY})
def undone(q: Question) -> Iterator[Cause]:
    """What steps have changed is written over: values are drawn anew in the loop, or clamped back to their bounds."""
    steps = sorted(s.number for h in q.optimizers for s in h.steps)
    written = q.events("written") if len(steps) >= SETTLED else []
    if not written:
        return
    last, by = written[-1], f"{written[-1].name}()"
    if steps[-2] < last.number < steps[-1] and last.name.endswith(DRAWN) and last.detail[1] == tuple(q.tensor.shape):
        yield cause_of("drawn_anew", last, by=by, count=len(steps) - 1)
    elif last.number > steps[-1] and last.name.startswith(("clamp", "clip")) and q.grad is not None and _is_of_layer(q):
        value, grad = q.tensor.detach(), q.grad.detach()
        least, most = value.min(), value.max()
        outward = ((value == most) & (grad < 0)) | ((value == least) & (grad > 0))
        if value.numel() >= FEW and bool(least < most) and bool(outward.all()):
            yield cause_of("clamped_back", last, by=by)


def _is_of_layer(q: Question) -> bool:
    """Is it a weight of one of the library's layers? What the user bounds alone may have its best value at a bound."""
    parts = [part for m in q.models.values() for part in m.modules() if type(part).__module__.startswith(LAYERS)]
    return any(p is q.tensor for part in parts for p in part._parameters.values())


@check("AV414", "copied-onto-itself", {"onto_itself": MAY, "one_network": MAY, "nothing_loaded": MAY}, of_run=True)
def copied_onto_itself(q: Question) -> Iterator[Cause]:
    """A copy that copies nothing: state_dict() gives the weights themselves, and `target = net` is the same network."""
    for e in [e for e in q.history.layers if e.kind == "nothing_loaded"][-1:]:
        module = e.detail[2]()
        own = [] if module is None else [*module.parameters()]
        if not any(w.number > e.number for p in own for w in q.history.events_of(p, "written")):  # another one has filled it
            yield cause_of("nothing_loaded", e, wanted=e.detail[0], got=e.detail[1])
    first = min((s.number for h in q.holders for s in h.steps), default=None)
    found = [e for e in q.history.onto_itself if first is not None and e.number > first]
    if found and not _is_part(q, found):
        yield cause_of("onto_itself", found[-1], by=f"{found[-1].name}()")
    elif first is not None and (pair := _one_network(q)) is not None:
        root, target, online = pair
        yield cause_of("one_network", root, target=target, online=online)


def _is_part(q: Question, itself: list[Event]) -> bool:
    """Does the last load_state_dict() put other numbers into some weights, and leave the rest as it is?"""
    last, numbers = itself[-1], [e.number for e in itself]
    trained = [p for h in q.holders if h.steps for p in h.leaves] if last.name == "load_state_dict" else []
    loaded = [
        e for p in trained for e in q.history.events_of(p, "written")[-1:] if (e.name, e.source) == (last.name, last.source)
    ]
    return any(e.number >= numbers[0] and e.number not in numbers for e in loaded)


def _one_network(q: Question) -> tuple[Op, str, str] | None:
    """A trained module with two names, one of them a target's, of which the loss has a result without a history, too."""
    root = q.last_root
    apart = behind(op for op in behind([root]) if op.cut) if root is not None else []
    trained = {p for h in q.holders if h.steps for p in h.leaves}
    for path, names in _namespaces(q.names):
        nets = {name: m for name, m in names.items() if hasattr(type(m), "modules")}
        for target in filter(TARGET.search, nets):
            online = next((n for n, m in nets.items() if m is nets[target] and not TARGET.search(n)), None)
            own = [p for p in nets[target].parameters() if p in trained]
            made = [op for op in apart if any(g is p for g in op.given for p in own)]
            # rewards are added to what it gives; a network may be its own teacher
            after = {o for m in made for o in leading_from(m, apart)} - {*made}
            is_of_later = any(o.name.strip("_").removeprefix("r") == "add" for o in after)
            if online is not None and root is not None and is_of_later:
                return root, path + target, path + online
    return None


def _namespaces(names: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The user's variables, and the attributes of each of the user's objects. No code of the user's runs."""
    yield "", names
    for name, value in names.items():
        held = getattr(value, "__dict__", None) if is_of_user(value) else None
        if isinstance(held, dict):
            yield f"{name}.", {**held, **held.get("_modules", {})}


@check("AV420", "tie-lost", {"tie_copied": MAY, "tie_replaced": MAY}, of_run=True, first=True)
def tie_lost(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A table of embeddings and the weight of a layer that seem meant to be one parameter, and are two."""
    leaves = {f.live.id_of(p): p for h in q.holders if h.steps for p in h.leaves}
    edges = [a for n in nodes if op_of(f, n) == "Embedding" for a in f.nodes[n].next_functions]
    tables = {f.nodes[a.node].variable for a in edges if a.node is not None}
    layers = set[str | None]().union(*(weights_of(f, n) for n in nodes if op_of(f, n) in TAKERS)) if tables else set()
    for table, layer in product(tables - layers - {None}, layers - tables):
        own, other = leaves.get(layer), leaves.get(table)
        if own is None or other is None or own.shape != other.shape or own.numel() < SOME_NUMBERS:
            continue
        said: dict[str, Said] = {"layer": q.name_of(own) or words.A_TENSOR, "table": q.name_of(other) or words.A_TENSOR}
        gone, first = q.history.owner_of(own), next(iter(q.history.events_of(own, "placed")), None)
        if gone is not None and first is not None and "Embedding" in getattr(first.source, "text", ""):
            yield cause_of("tie_replaced", gone, **said)
        if _alike(own.detach(), other.detach()) > ALIKE:
            begun = min(s.number for h in q.holders for s in h.steps)
            made = [e for e in q.history.events_of(own, "made", "placed", "written") if e.number < begun]
            yield cause_of("tie_copied", made[-1] if made else None, **said)


def _alike(a: Any, b: Any) -> float:
    """The correlation of their numbers; 0 if one has only equal ones, or if both share one memory."""
    a, b = a - a.mean(), b - b.mean()
    size = float(a.norm() * b.norm())
    return float((a * b).sum()) / size if size and bool((a != b).any()) else 0.0


@check("AV415", "optimizer-made-anew", dict.fromkeys(("made_anew", "model_anew", "model_of_epoch", "state_lost"), MAY))
def made_anew(q: Question) -> Iterator[Cause]:
    """An optimizer with averages of the gradient is made anew for each step, so it begins again; or with its model."""
    for h in [h for h in q.optimizers if h.made is not None]:
        if (loaded := _state_lost(q, h)) is not None:
            yield cause_of("state_lost", h.made, optimizer=h.kind, loaded=loaded.source)
        same = [e for e in q.history.born if e.source == h.made.source and e.name == h.kind]
        steps = {s.number for s in (*q.history.gone, *(s for other in q.holders for s in other.steps))}
        counts = [sum(a.number < s < b.number for s in steps) for a, b in pairwise(same)]
        used = q.history.used(q.tensor)
        is_of_last = used is not None and len(same) >= SETTLED and used.detail > same[-PLENTY].number and all(counts)
        if is_of_last and counts[-PLENTY:] != [1] * PLENTY and _is_of_epoch(h.made.source) and not _goes_on(q):
            yield cause_of("model_of_epoch", h.made, optimizer=h.kind, count=len(same))
        if used is None or len(same) < SETTLED or counts[-PLENTY:] != [1] * PLENTY:
            continue
        if used.detail > same[-PLENTY].number:
            if len(same) > MANY_MODELS and not _goes_on(q):
                yield cause_of("model_anew", h.made, optimizer=h.kind, count=len(same))
        elif h.kind.startswith(STATEFUL) or h.momentum:
            is_read = any(e.number > same[0].number for e in q.events("written"))
            yield from () if is_read else [cause_of("made_anew", h.made, optimizer=h.kind)]


def _state_lost(q: Question, h: Holder) -> Event | None:
    """The loading of a state into another optimizer of the tensor, before this one was made and anything had stepped."""
    is_same = h.kind.startswith(STATEFUL) or h.momentum
    loaded = [e for e in q.events("state_loaded")[-1:] if e.name == h.kind and h.steps and h.made is not None and is_same]
    if any(mentions(e.source, ".state[") for e in loaded):  # it is carried over by hand
        return None
    others = [o for o in q.optimizers if o is not h and o.steps]
    loaded = [e for e in loaded if not any(o.steps[-1].number > e.number for o in others)]  # which go on with it
    since = [s.number for s in (*q.history.gone, *(s for other in q.holders for s in other.steps))]
    is_lost = any(e.number < h.made.number and not any(e.number < n < h.made.number for n in since) for e in loaded)
    return loaded[0] if is_lost else None


def _is_of_epoch(at: Source | None) -> bool:
    """Does its line stand in a function of an epoch, or directly in the loop over epochs? A loop over folds begins anew."""
    if at is None or "epoch" in at.function:
        return at is not None
    lines = linecache.getlines(at.file)[: at.line]
    indent = len(at.text) - len(at.text.lstrip())
    outer = next((line for line in reversed(lines) if line.strip() and len(line) - len(line.lstrip()) < indent), "")
    return bool(re.match(r"\s*for \w*epoch\w* in", outer))


def _goes_on(q: Question) -> bool:
    """Does its model begin where another one ended? It was filled, or another network has its shapes: a copy for a task."""
    own, others = list[Any](), list[Any]()
    for model in q.models.values():
        leaves = [*model.parameters()]
        (own if any(p is q.tensor for p in leaves) else others).append([p.shape for p in leaves])
    lines = {e.source for e in q.events("made", "placed")}  # its numbers are drawn there
    return any(e.source not in lines for e in q.events("written")) or any(shapes in others for shapes in own)


@check("AV416", "target-follows-at-once", {"follows_at_once": MAY, "led_back": MAY}, of_run=True, first=True)
def follows_at_once(q: Question) -> Iterator[Cause]:
    """An update that makes a target network almost equal to the trained one, or the trained one to the other."""
    held = {p for h in q.holders for p in h.leaves}
    nets = [(name, dict(m.named_parameters())) for name, m in q.models.items()]
    for name, copies in nets:
        for online, own in nets:
            if own.keys() != copies.keys() or held.isdisjoint(own.values()) or not held.isdisjoint(copies.values()):
                continue
            for path, t in copies.items():
                found = _follows(q, t, own[path]) or _follows(q, own[path], t) if own[path] in held else None
                if found is not None:
                    yield Cause(found.kind, source=found.source, said={**found.said, "target": name, "online": online})


def _follows(q: Question, t: Any, w: Any) -> Cause | None:
    """Was one last written after the last step of the parameter among them, and is nearer to the other than a part of it?"""
    written, alike = q.history.events_of(t, "written"), t.shape == w.shape and t.dtype == w.dtype
    trained = [(p, h) for p in (t, w) for h in q.history.optimizers(p) if h.holds and len(h.steps) >= SETTLED]
    holders: list[Holder] = [h for _, h in trained]
    kind = "led_back" if trained and trained[0][0] is t else "follows_at_once"
    if not written or not holders or not alike or written[-1].number < holders[-1].steps[-1].number:
        return None
    apart, step = float((t.detach() - w.detach()).norm()), step_of(holders[-1], q.history.norms(trained[0][0])[1], w.numel())
    return cause_of(kind, written[-1], apart=apart, step=step) if 0 < apart < CLOSE * step else None


@check("AV417", "decayed-away", {"decayed_away": MAY, "decay_in_gradient": MAY})
def decayed_away(q: Question) -> Iterator[Cause]:
    """A weight decay that takes a large part of the weights away in each step, or adds more to a gradient than it has."""
    for h in q.optimizers if q.tensor.ndim > 1 else ():
        part, (own, grad) = (h.rate or 0.0) * h.decay, q.norms
        if len(h.steps) < SETTLED or not own or sum(p.ndim > 1 for p in h.leaves) < 2:
            continue  # of one matrix it may be a ridge regression, which is meant
        if h.kind in APART and part >= DECAYED:
            yield cause_of("decayed_away", h.steps[-1], optimizer=h.kind, decay=h.decay, percent=f"{100 * part:.3g}")
        elif h.kind in ADDING and h.decay >= LARGE_DECAY and h.decay * own > grad * BALANCE:
            said = {"decay": h.decay, "added": h.decay * own, "own": grad}
            yield cause_of("decay_in_gradient", h.steps[-1], optimizer=h.kind, **said)


@check("AV421", "not-written-back", {"value_dropped": SO, "result_dropped": MAY, "name_rebound": MAY}, of_run=True, first=True)
def not_written_back(q: Question) -> Iterator[Cause]:
    """A new value that nothing keeps: `score.masked_fill(mask, 0)` as a statement, `p = 0.9 * p` in a loop over parameters."""
    yield from dropped(q, q.ops_behind(q.last_root))
    trained = {p for h in q.holders if h.steps for p in h.leaves}
    for place, op in {op.source: op for op in q.history.users(trained)}.items() if trained else ():
        statement, loops = statement_at(place) or (None, [])
        names = _parameters_of(loops[-1]) if loops else set()
        call = statement.value if isinstance(statement, ast.Expr) else None
        func = call.func if isinstance(call, ast.Call) and not any(k.arg == "out" for k in call.keywords) else None
        of = func.value if isinstance(func, ast.Attribute) and func.attr in PLAIN else None
        is_one = of.attr in ("data", "grad") if isinstance(of, ast.Attribute) else isinstance(of, ast.Name) and of.id in names
        if isinstance(func, ast.Attribute) and is_one and _is_made_by(q, op, call):
            yield cause_of("result_dropped", op, op=f"{func.attr}()", own=f"{func.attr}_()")
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        is_same = isinstance(statement, ast.Assign) and op.name in GIVING and _is_whole(op, statement.value)
        name = target.id if isinstance(target, ast.Name) and target.id in names and not is_same else ""
        is_new = isinstance(statement, ast.Assign) and _is_made_by(q, op, statement.value)
        if name and is_new and _is_rebound(name, statement, loops[-1], place):
            yield cause_of("name_rebound", op, variable=name)


def dropped(q: Question, there: set[Op]) -> Iterator[Cause]:
    """Statements that are calls of what these ops gave, with a new tensor as their result; the last of a cell would show it."""
    for op in [op for op in q.history.users({*there}) if op not in there] if there else ():  # a hook may have kept it
        statement, loops = statement_at(op.source) or (None, [])
        call = statement.value if isinstance(statement, ast.Expr) else None
        given = _given_to(q, call, op, bool(loops)) if isinstance(call, ast.Call) and _is_whole(op, call) else None
        if given is not None and isinstance(call, ast.Call):
            whole, by = ast.unparse(call), f"{ast.unparse(call.func).rpartition('.')[2]}()"
            of = loops[-1].iter if loops and ast.unparse(loops[-1].target) == given else None
            if isinstance(of, ast.Name):  # a list holds it, and would go on doing so
                given, whole = of.id, f"[{whole} for {given} in {of.id}]"
            yield cause_of("value_dropped", op, op=by, variable=given, whole=whole)


def _given_to(q: Question, call: ast.Call, op: Op, is_in_loop: bool) -> str | None:
    """What a method, a function or, in forward(), a layer of `self` gets, and leaves as it is."""
    function = "" if op.source is None else op.source.function
    is_inside, writes = is_in_loop or bool(function), any(k.arg in ("out", "inplace") for k in call.keywords)
    writes |= any(isinstance(a, ast.Constant) and a.value is True for a in call.args)  # of `F.relu(x, True)`
    writes |= op.name.endswith(("_", "_norm"))  # a batch norm counts
    if not isinstance(call.func, ast.Attribute) or not is_inside or writes or _is_tried(op.source):
        return None
    of, name = ast.unparse(call.func.value), call.func.attr
    if op.name == name and name in (*PLAIN, *SHAPING) and of not in FUNCTIONS:
        return of
    is_layer = of == "self" and function == "forward" and not any(m._forward_hooks for m in modules_of(q))
    is_one = is_layer or (of in FUNCTIONS and name not in OF_SEVERAL)
    return ast.unparse(call.args[0]) if call.args and is_one else None


def _is_tried(at: Source | None) -> bool:
    """Does it stand in a `try`? Then it may be there to raise."""
    tries = [] if at is None else [n for n in ast.walk(tree_of(at.file)) if isinstance(n, ast.Try)]
    return at is not None and any(n.lineno < at.line <= (n.body[-1].end_lineno or 0) for n in tries)


def _parameters_of(loop: ast.For) -> set[str]:
    """The variables of a loop over parameters."""
    is_over = "param" in ast.unparse(loop.iter).lower()
    return _names(loop.target) if is_over else set()


def _names(code: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(code) if isinstance(n, ast.Name)}


def _is_made_by(q: Question, op: Op, code: ast.expr | None) -> bool:
    """Did an op that writes into nothing make the value of an expression, from what this op gave? A function may write."""
    ops: list[Op] = [op]
    for _ in range(NESTED):
        if any(_is_whole(o, code) for o in ops):
            return not any(o.name.endswith("_") and not o.name.startswith("__") for o in ops if _is_whole(o, code))
        ops = q.history.users({*ops}) if ops else []
    return False


def _is_whole(op: Op, code: ast.expr | None) -> bool:
    """Is the expression all that this op computes? `seen.add(p.abs())` is more than the op in it."""
    place = op.source
    spot = None if place is None else (place.line, place.column, place.end_column)
    return code is not None and spot == (code.lineno, code.col_offset, code.end_col_offset)


def _is_rebound(name: str, statement: ast.stmt | None, loop: ast.For, place: Source | None) -> bool:
    """Does nothing after a statement of a loop read the new value of a variable, in the loop or behind it?"""
    if statement not in loop.body or place is None:
        return False
    after = loop.body[loop.body.index(statement) + 1 :]
    whole = tree_of(place.file)
    anew = [n for n in ast.walk(whole) if isinstance(n, ast.For) and name in _names(n.target)]  # there it is another variable
    own = {m for n in anew for m in ast.walk(n)}
    behind = [n for n in ast.walk(whole) if n not in own and getattr(n, "lineno", 0) > (loop.end_lineno or 0)]
    read = [*(n for s in after for n in ast.walk(s)), *behind]
    changed = [n.target for n in read if isinstance(n, ast.AugAssign)]
    names = [n for n in read if isinstance(n, ast.Name) and n.id == name]
    return not any(isinstance(n.ctx, ast.Load) or n in changed for n in names)


@check("AV422", "pruned-weights-move", {"pruned_moves": MAY})
def pruned_moves(q: Question) -> Iterator[Cause]:
    """Weights that are set to zero, and whose gradient is masked: what the optimizer keeps of earlier gradients moves them."""
    holder = next((h for h in q.optimizers if h.has_moved and len(h.steps) >= SETTLED), None)
    if holder is None or q.grad is None or getattr(q.grad, "is_sparse", False) or q.tensor.ndim < MATRIX:
        return
    first, last = holder.steps[0].number, holder.steps[-1].number
    zeroed = [e for e in q.events("written", "data") if first < e.number < last and _is_zeroing(e)]
    for mask in _masks_in(q, zeroed[-1]) if zeroed else ():
        is_off = q.grad.detach() == 0
        # a unit that gives nothing has a row of zeros, and an input that is always zero a column
        is_mixed = all(bool((is_off.any(d) & ~is_off.all(d)).any()) for d in (0, 1))
        moved = int((mask & (q.tensor.detach() != 0)).sum())
        if is_mixed and bool(is_off[mask].all()) and moved >= FEW:
            yield cause_of("pruned_moves", zeroed[-1], optimizer=holder.kind, count=moved)
            return


def _is_zeroing(write: Event) -> bool:
    """Is it a product with one name, or an assignment of 0? What adds, or chooses between two, may leave other numbers."""
    line = getattr(write.source, "text", "")
    return bool(ZERO.search(line)) if write.name in PUTTING else write.name in PRODUCTS and bool(FACTOR.search(line))


def _masks_in(q: Question, write: Event) -> Iterator[Any]:
    """Where a write sets the tensor to 0: where its factor is 0; of `w[mask] = 0` perhaps where the mask is not."""
    is_put, line = write.name in PUTTING, getattr(write.source, "text", "")
    named: list[Any] = [q.names.get(name) for name in dict.fromkeys((re.compile(r"\w+") if is_put else FACTOR).findall(line))]
    for mask in named:
        if q.is_of_library(mask) and mask.shape == q.tensor.shape and not mask.requires_grad:
            parts = [mask == 0, *([mask != 0] if is_put else [])]
            yield from (part for part in parts if part.any() and not part.all())


@check("AV418", "seeded-in-loop", {"seeded_in_loop": MAY}, of_run=True)
def seeded_in_loop(q: Question) -> Iterator[Cause]:
    """manual_seed() with the same seed in each iteration: dropout, noise and batches are the same in all steps."""
    seeds = q.history.seeds
    passes = [p.number for p in q.passes][-PLENTY - 1 :]
    rounds = [[e for e in seeds if a < e.number < b] for a, b in pairwise(passes)]
    if len(rounds) < PLENTY or q.last is None or q.last.root is None or not all(rounds):
        return
    is_trained = any(all(any(a < s.number < b for s in h.steps) for a, b in pairwise(passes)) for h in q.holders)
    first = min(e.number for e in rounds[-1])
    drawn = next((e.name for e in q.history.draws if first < e.number < passes[-1]), "")
    drawn = next((op.name for op in q.ops_behind(q.last.root) if op.name in DROPPING and op.number > first), drawn)
    if drawn and is_trained and len({(r[-1].source, r[-1].detail) for r in rounds}) == 1:
        yield cause_of("seeded_in_loop", rounds[-1][-1], seed=rounds[-1][-1].detail, drawn=drawn)
