"""Checks of layers and Functions: their mode, their values when training begins, and what they leave of a gradient."""

from __future__ import annotations

import ast
import linecache
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ... import words
from ...graph.listing import parsed
from ...graph.model import Value
from ...graph.surroundings import Source
from ..causes.cause import Cause, cause_of
from ..causes.check import MAY, check
from ..causes.code import statement_at, tree_of
from ..causes.facts import Facts
from ..causes.history import Event
from ..causes.numbers import norm
from ..causes.ops import cause_at, op_of
from ..causes.question import Question
from .sizes import NORMS, ROUTES

# parts whose statistics may follow the data on purpose
FOLLOWING = re.compile(r"(?:^|_)(?:target|tgt|teacher|ema|momentum|ref|reference|k|key|discriminator|critic)(?:_|$)")
CONSTANT = re.compile(  # what has no derivative
    r"[<>=!]=|[<>]|\b(rand\w*|bernoulli|sign|round|floor|ceil|arg\w+|heaviside|nonzero|detach|shape|size|long|bool|int"
    r"|\w+_like|zeros|ones|empty|full|arange|eye|new_\w+)\b"
)
WEIGHT, TRAINING = 1, 2  # among the inputs of the node; among the arguments of dropout()
WRITES = re.compile(r"[a-z]_$")  # of names of methods that write
EQUAL = 1e-3  # rows that differ less, as a part of the largest element, are equal
FLAT = 0.1  # the mean derivative of a sigmoid or tanh that is saturated, as a part of the largest
CONTAINERS = ("Sequential", "ModuleList")
NAMED, GRAD = re.compile(r"\s*\(?(\w+)"), re.compile(r"\bgrad\(\s*(\w+)")  # the result; what autograd.grad() differentiates
SMOOTH = ("Tanh", "Sigmoid", "Softplus", "Gelu", "Silu", "Sin", "Elu", "Mish")
PLENTY_OF = 16  # elements
STRONG = 0.21  # the part that a dropout leaves
MOST = 8  # Functions
SOME = 0.2  # the part of a gradient that is zero
BENDS = (
    "Relu", "Sigmoid", "Tanh", "Gelu", "Silu", "LeakyRelu", "Elu", "Selu", "Celu", "Softplus", "Hardtanh", "Hardswish", "Mish",
    "Prelu", "Rrelu", "LogSigmoid", "Softmax", "Sin", "Cos", "Exp", "Pow", "Mul", "Div", "Abs", "Max", "Maximum", "Clamp",
    "ClampMin", "Sqrt", "Log", "NativeLayerNorm", "NativeGroupNorm", "CudnnRnn", "Threshold", "Where", "Hardsigmoid", "Glu",
    "MaxPool2DWithIndices", "ScaledDotProductEfficientAttention", "ScaledDotProductFlashAttentionForCpu", "Sign", "Atan",
)  # fmt: skip
TAKERS = ("Addmm", "Mm", "Bmm", "Convolution")


@check("AV305", "equal-units", {"equal_units": MAY})
def equal_units(q: Question, f: Facts) -> Iterator[Cause]:
    """All units of a layer began with the same weights, so they get the same gradient and stay equal."""
    grad = q.grad
    steps = [s for h in q.optimizers for s in h.steps]
    if q.tensor.ndim < 2 or len(q.tensor) < 2 or not steps or not _is_inside(f):
        return
    own, its = _spread(q.tensor.detach()), None if grad is None else _spread(grad.detach())
    if (own or 0.0) <= EQUAL and (its or 0.0) <= EQUAL:
        yield cause_of("equal_units", steps[-1], count=len(q.tensor))


def _is_inside(f: Facts) -> bool:
    """Does the result of its layer go into another layer? What a last layer learns may be equal: `y = x.sum(1)`."""
    layer = next((n for n in (f.leading(f.edge) if f.edge is not None else ()) if op_of(f, n) in TAKERS), None)
    behind = [] if layer is None else [n for edge in f.edges_at(layer) for n in f.leading(edge)]
    return any(op_of(f, n) in TAKERS for n in behind)


def _spread(t: Any) -> float | None:
    """By how much its rows differ, as a part of the largest element; None if all are zero."""
    largest = float(t.abs().max())
    return float((t - t[:1]).abs().max()) / largest if largest else None


@check("AV308", "dropout-too-strong", {"dropout_strong": MAY}, of_run=True, first=True)
def dropout_strong(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A dropout that leaves a fifth of its input or less. Its number is the part that it drops."""
    for node in nodes:
        called = f.live.called_as(node)
        kept = f.live.kept(node, "other" if op_of(f, node) == "Mul" else "result1") if called == "dropout" else None
        most = 0.0 if kept is None or not kept.size else float(kept.max())  # 1 / (1 - p), or True
        share = 1 / most if most > 1 else float(kept.mean()) if kept is not None and kept.size else 1.0
        if kept is not None and kept.size >= PLENTY_OF and 0 < share <= STRONG:
            yield cause_at(f, "dropout_strong", node, op=called, percent=f"{100 * (1 - share):.3g}")


@check("AV309", "no-activation", {"no_activation": MAY}, of_run=True, first=True)
def no_activation(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """Linear layers one after the other with nothing between them, in a model without an activation: they are one layer."""
    if not any(h.steps for h in q.holders) or any(op_of(f, n) in BENDS for n in _before_layers(f, nodes)):
        return
    layers = [n for n in nodes if op_of(f, n) == "Addmm" and f.nodes[n].next_functions[1].node is not None]
    for node in layers:
        before = f.nodes[node].next_functions[1].node
        while before is not None and op_of(f, before) in ROUTES:
            before = f.nodes[before].next_functions[0].node
        shapes = [next((t.value.shape for t in of), ()) for of in (f.results(before), f.results(node))] if before else [(), ()]
        first = re.findall(r"\d+", f.plain(before, "mat1_sym_sizes")) if before is not None else []
        if before is None or op_of(f, before) != "Addmm" or len(first) != 2 or not all(shapes):
            continue
        if shapes[0][-1] >= max(int(first[-1]), shapes[1][-1]):  # a narrow layer between two wide ones is a factor
            yield cause_at(f, "no_activation", node, before=f.source(before))


def _before_layers(f: Facts, nodes: tuple[str, ...]) -> Iterable[str]:
    """What led to an input of a layer."""
    return f.downstream(n for n in nodes if op_of(f, n) in TAKERS)


@check("AV311", "flat-second-derivative", {"flat_twice": MAY}, of_run=True)
def flat_twice(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A derivative of a derivative of a network of relu, which is 0 everywhere."""
    grads = [p for p in q.history.passes if p.name == "grad" and q.last is not None and p.number < q.last.number]
    texts = [p.source.text for p in grads if p.source is not None]
    made = {m[1] for t in texts if (m := NAMED.match(t)) is not None}
    again = next((p for p in reversed(grads) if p.source and (m := GRAD.search(p.source.text)) and m[1] in made), None)
    smooth = {op_of(f, n) for n in _before_layers(f, nodes)} & {*SMOOTH}
    if again is not None and not smooth and any(op_of(f, n) == "ThresholdBackward" for n in nodes):
        yield cause_of("flat_twice", again)


@check("AV312", "norm-of-zeros", {"norm_of_zeros": MAY}, first=True)
def norm_of_zeros(f: Facts, q: Question) -> Iterator[Cause]:
    """A normalization whose weight was set to 0 and stays there, since its gradient is zero, too: it gives its bias alone."""
    for name, model in q.models.items():
        for path, part in model.named_modules() if any(p is q.tensor for p in model.parameters()) else ():
            weight = getattr(part, "weight", None) if "Norm" in type(part).__name__ else None
            if weight is None or not q.is_of_library(weight) or not weight.requires_grad or bool((weight != 0).any()):
                continue
            steps = [s for h in q.history.optimizers(weight) if h.holds for s in h.steps]
            written, grad = q.events_of(weight, "written"), q.history.grad_of(weight)
            edge = f.edge_of(f.live.id_of(weight) or "")
            layer = next(iter(f.leading(edge)), None) if edge is not None else None
            is_dead = layer is not None and any(op_of(f, n) == "Relu" for n in f.takers(layer))  # else a factor of it may be 0
            if len(steps) > 1 and written and is_dead and grad is not None and not bool((grad != 0).any()):
                yield cause_of("norm_of_zeros", written[-1], by=f"{written[-1].name}()", weight=f"{name}.{path}.weight")


@check("AV310", "one-sided-hook", {"one_sided_hook": MAY})
def one_sided_hook(q: Question, f: Facts) -> Iterator[Cause]:
    """A hook that leaves only the positive, or only the negative, part of a gradient."""
    grad = q.grad
    hooks = words.COMMA.join(f.live.hooks(f.edge[0])) if f.edge is not None else ""
    if not hooks or grad is None or grad.numel() < PLENTY_OF:
        return
    zeros, is_one_sided = int((grad == 0).sum()), not bool((grad < 0).any()) or not bool((grad > 0).any())
    if is_one_sided and SOME * grad.numel() < zeros < grad.numel():
        yield cause_of("one_sided_hook", hook=hooks, zeros=zeros, count=grad.numel())


@check("AV307", "same-layer-again", {"same_again": MAY}, of_run=True, first=True)
def same_again(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A container has one layer several times, as `[layer] * 4` makes it, and its results go through it again."""
    for name, part in [(name, p) for name, m in q.models.items() for p in m.modules() if type(p).__name__ in CONTAINERS]:
        counts = Counter(p for p in part._modules.values() if p is not None)
        for layer, count in counts.items():
            own = {f.live.id_of(p) for p in layer.parameters()} if count > 1 else set()
            users = [n for n in nodes if op_of(f, n) in TAKERS and weights_of(f, n) & own] if own else []
            if len(users) > 1 and {*users} <= {*f.downstream(users[:1])}:
                yield cause_at(f, "same_again", users[0], model=name, count=count, layer=type(layer).__name__)


def weights_of(f: Facts, layer: str) -> set[str | None]:
    """The leaves that are the weights of a layer, themselves or transposed."""
    near = f.ways_on(layer)
    behind = [a.node for n in near if op_of(f, n) in ROUTES for a in f.nodes[n].next_functions if a.node is not None]
    return {f.nodes[n].variable for n in (*near, *behind)} - {None}


@check("AV306", "saturated", {"saturated": MAY}, of_run=True, first=True)
def saturated(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """A sigmoid or tanh inside a model whose inputs are so large that it passes almost no gradient."""
    for node in nodes:
        op = op_of(f, node)
        slope = _slope(op, f.result(node)) if op in ("Sigmoid", "Tanh") else None
        if slope is not None and slope < FLAT * (1.0 if op == "Tanh" else 0.25) and _taker(f, node) in TAKERS:
            yield cause_at(f, "saturated", node, slope=slope)


def _slope(op: str, value: Value | None) -> float | None:
    """The mean derivative of a sigmoid or a tanh with this result."""
    size, count = norm(value), 0 if value is None else math.prod(value.shape)
    if value is None or size is None or count < 2:
        return None
    numbers = [n.real for n in value.numbers]
    mean = value.summary.mean if value.summary is not None else sum(numbers) / count
    return max(0.0, (mean if op == "Sigmoid" else 1.0) - size * size / count)  # rounding may go below


def _taker(f: Facts, node: str) -> str:
    """The op that takes its result, behind views and dropout."""
    for _ in range(len(ROUTES)):
        after = next(iter(f.takers(node)), None)
        if after is None or op_of(f, after) not in (*ROUTES, "NativeDropout", "Mul"):
            return "" if after is None else op_of(f, after)
        node = after
    return ""


@check("AV501", "trained-in-eval-mode", {"evaluating": MAY}, of_run=True, first=True)
def evaluating(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A batch norm whose weight is trained, and that ran in evaluation mode: with statistics that do not learn."""
    if not q.optimizers or any(m.training for m in q.models.values()):
        return  # a look at what the input does; or some parts stay
    for node in nodes:
        after = f.nodes[node].next_functions[WEIGHT : WEIGHT + 1]
        is_trained = bool(after) and after[0].node is not None and f.nodes[after[0].node].variable is not None
        if f.called(node).startswith(NORMS) and f.plain(node, "training") == "False" and is_trained:
            yield from () if dropout_off.ask(q) else [cause_at(f, "evaluating", node)]  # else that says it


@check("AV502", "dropout-off", {"dropout_off": MAY}, of_run=True)
def dropout_off(q: Question) -> Iterator[Cause]:
    """Dropout did nothing in a pass after which the optimizer stepped: its module was in evaluation mode."""
    last = q.last
    before = max((p.number for p in q.history.passes if last is not None and p.number < last.number), default=0)
    off = [e for e in q.history.layers if e.kind == "off" and last is not None and before < e.number < last.number]
    trained = [p for h in q.holders if last is not None and any(s.number > last.number for s in h.steps) for p in h.leaves]
    # if a part is frozen, its dropout may be off, too
    is_frozen = any(not p.requires_grad for m in q.models.values() for _, p in m.named_parameters())
    if off and not is_frozen and any(type(p).__name__ == "Parameter" for p in trained):
        yield cause_of("dropout_off", off[-1], op=off[-1].name)


@check("AV503", "evaluated-in-training-mode", {"training_on": MAY, "dropout_always": MAY}, of_run=True)
def training_on(q: Question) -> Iterator[Cause]:
    """Dropout or batch norm ran in training mode under no_grad(), after the last step: in what seems an evaluation."""
    done = max((s.number for h in q.holders for s in h.steps), default=None)
    on = [e for e in q.history.layers if e.kind == "on" and done is not None and e.number > done]
    if not on or q.last is None or on[-1].number < q.last.number:
        return
    if any(h.steps and h.steps[-1].number < q.last.number for h in q.holders):  # a GAN draws samples so, to look at them
        return
    if any(not m.training and any(part.training for part in m.modules()) for m in q.models.values()):
        return  # dropout alone is on again: its user wants to see how results vary
    if "update_bn" not in getattr(on[-1].source, "text", "") and not (_is_asked_for(on[-1]) or _is_thrown_away(q, on[-1])):
        yield cause_of("dropout_always" if on[-1].detail else "training_on", on[-1], op=on[-1].name)


def _is_thrown_away(q: Question, norm: Event) -> bool:
    """Is a model called for nothing, as for its statistics of new data?"""
    found = statement_at(norm.source)
    call = found[0].value if found is not None and isinstance(found[0], ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in q.models


@check("AV504", "frozen-part-in-training-mode", {"frozen_follows": MAY}, of_run=True, first=True)
def frozen_follows(q: Question) -> Iterator[Cause]:
    """A batch norm, frozen alone or with its part, in training mode: each batch changes its statistics; its weights stay."""
    trained = {p for h in q.holders if h.steps for p in h.leaves}
    for name, model in q.models.items():
        if trained.isdisjoint(model.parameters()) or FOLLOWING.search(name):
            continue
        parts = dict(model.named_modules())
        for path, part in parts.items():
            around = [*parts[path.rpartition(".")[0]].parameters()]
            is_part = any(p.ndim > 1 for p in around) and not any(p.requires_grad for p in around)
            own = [*part.parameters(recurse=False)]
            is_frozen = is_part or (bool(own) and not any(p.requires_grad for p in own))
            if is_frozen and not FOLLOWING.search(path.replace(".", "_")) and _is_changed(q, part):
                yield Cause("frozen_follows", said={"norm": f"{name}.{path}"})


def _is_changed(q: Question, norm: Any) -> bool:
    """Has a batch norm whose weights nothing writes counted batches between steps?"""
    own = [*norm.parameters(recurse=False)] if type(norm).__name__.startswith("BatchNorm") else []
    steps = [s.number for h in q.holders for s in h.steps]
    began, done = min(steps, default=0), max(steps, default=0)
    is_written = any(e.number > began for p in own for e in q.history.events_of(p, "written", "data"))
    held = {p for h in q.holders for p in h.leaves}
    if not own or is_written or not held.isdisjoint(own) or norm.num_batches_tracked is None:
        return False
    counted = q.history.events_of(norm.num_batches_tracked, "written")
    # the twin does not know when it was written last
    return any(began < e.number < done or (e.number > began and not e.name and norm.training) for e in counted)


def _is_asked_for(dropout: Event) -> bool:
    """Does the line say when it trains, as for Monte Carlo dropout? With `training=self.training` it would be off."""
    try:
        tree = parsed("" if dropout.source is None else dropout.source.text.strip())
    except SyntaxError:  # a part of a statement
        return False
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith(dropout.name)]
    return any(len(c.args) > TRAINING or any(k.arg == "training" for k in c.keywords) for c in calls)


@check("AV701", "wrong-backward", {"wrong_backward": MAY, "nothing_sent": MAY}, of_run=True)
def wrong_backward(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """The backward of a Function differs from finite differences of its forward, in float64; or it returns None for a leaf."""
    functions = {f.live.written_at(node): node for node in nodes if f.nodes[node].rule == "user"}
    for source, node in [*functions.items()][:MOST]:
        if f.live.disagrees(node, [t.id for t in f.inputs(node)]):
            yield Cause("wrong_backward", (), (node,), source, {"op": f.called(node).removesuffix("Backward")})


@check("AV703", "grad-output-written", {"grad_output_written": MAY}, of_run=True, first=True)
def grad_output_written(f: Facts, nodes: tuple[str, ...]) -> Iterator[Cause]:
    """The backward of a Function changes its grad_output in place: another path may get the same tensor."""
    for node in nodes:
        source = f.live.written_at(node) if f.nodes[node].rule == "user" else None
        line = None if source is None else _write_of_argument(source)
        if line is not None and source is not None:
            text = linecache.getline(source.file, line).rstrip("\n")
            at = Source(source.file, line, line, 0, len(text), text)
            yield Cause("grad_output_written", (), (node,), at, {"op": f.called(node).removesuffix("Backward")})


def _write_of_argument(source: Source) -> int | None:
    """The first line of a function that writes into one of its arguments, besides the first."""
    found = next(
        (n for n in ast.walk(tree_of(source.file)) if isinstance(n, ast.FunctionDef) and n.lineno == source.line), None
    )
    names = set() if found is None else {a.arg for a in found.args.args[1:]}
    todo = list[ast.AST]([] if found is None else found.body[::-1])
    while todo:
        n = todo.pop()
        if isinstance(n, ast.FunctionDef | ast.Lambda):
            continue
        todo += [*ast.iter_child_nodes(n)][::-1]
        stored = {m.id for m in ast.walk(n) if isinstance(m, ast.Name) and isinstance(m.ctx, ast.Store)}
        if isinstance(n, ast.Assign | ast.AnnAssign):  # another name of it, or its name for something else
            is_same = isinstance(n.value, ast.Name) and n.value.id in names
            names = names | stored if is_same else names - stored
        called = n.func if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) else None
        writes = isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
        base = n.target if isinstance(n, ast.AugAssign) else n.value if isinstance(n, ast.Subscript) and writes else None
        base = called.value if called is not None and WRITES.search(called.attr) else base
        if isinstance(base, ast.Name) and base.id in names:
            return base.lineno
    return None


@check("AV702", "kept-on-ctx", {"kept_on_ctx": MAY}, of_run=True, first=True)
def kept_on_ctx(f: Facts, nodes: tuple[str, ...], q: Question) -> Iterator[Cause]:
    """A Function that is differentiated twice uses a tensor that its forward made, and that has no history."""
    sources = [p.source for p in [*q.history.passes][:-1] if p.keeps and p.source is not None]
    is_twice = any("create_graph" in at.expression for at in sources)  # retain_graph keeps a graph, too, and makes none
    for node in nodes if is_twice else ():
        if f.nodes[node].rule != "user":
            continue
        source, first = f.live.written_at(node), f.first(node)
        names = [f"ctx.{n}" for n in f.live.kept_on_ctx(node)]
        names += [] if source is None or first is None else _made_and_saved(source)
        if names:
            said = {"op": f.called(node).removesuffix("Backward"), "kept": words.COMMA.join(names)}
            yield Cause("kept_on_ctx", (), (node,), source, said)


def _made_and_saved(backward: Source) -> list[str]:
    """What a Function saves that its forward computed from its first argument, and does not return."""
    classes = [n for n in ast.walk(tree_of(backward.file)) if isinstance(n, ast.ClassDef)]
    bodies = [c.body for c in classes if any(n.lineno == backward.line for n in c.body if isinstance(n, ast.FunctionDef))]
    forward = next((n for n in (bodies or [[]])[0] if isinstance(n, ast.FunctionDef) and n.name == "forward"), None)
    if forward is None or len(forward.args.args) <= 1:
        return []
    first, inside = forward.args.args[1].arg, [*ast.walk(forward)]
    made = {first}  # what depends on it and has a derivative
    for n in inside:
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name):
            names = {m.id for m in ast.walk(n.value) if isinstance(m, ast.Name)}
            is_made = not made.isdisjoint(names) and not CONSTANT.search(ast.unparse(n.value))
            made = made | {n.targets[0].id} if is_made else made - {n.targets[0].id}
    returned = [n.value for n in inside if isinstance(n, ast.Return)]
    results = {ast.unparse(v) for r in returned for v in (r.elts if isinstance(r, ast.Tuple) else [r]) if v is not None}
    calls = [n for n in inside if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("save_for_backward")]
    return [name for c in calls for name in map(ast.unparse, c.args) if name in made - {first} - results]
