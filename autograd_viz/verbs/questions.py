"""Questions about one tensor, and about all leaves of a module, of a loss, or of the last pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

from .. import words
from ..answers.causes.answer import BEST
from ..answers.causes.cause import Cause
from ..answers.causes.check import SO
from ..answers.causes.facts import Facts
from ..answers.causes.question import Question
from ..answers.checks.ask import BY_CODE, causes_of, page_of
from ..errors import NotDrawableError
from ..graph.text import shape_text
from ..sources.anything import is_drawable, is_leaf
from ..sources.asking import Look, history_of, kept_root, look, sends_to, unseen
from ..sources.shared.names import elements, modules_among, names_by_identity
from ..sources.shared.run.results import run_with

MOST_ROOTS = 3


def question_of(
    tensor: Any,
    loss: Any,
    variables: dict[str, Any],
    is_recorded: bool = True,
    known: Any = None,
    read: Any = None,
    alive: Any = None,
    outside: bool = True,
) -> Question:
    """A question about a tensor. `is_recorded`: False for a pass that is not the program's. `known`: names and tensors, if they
    have been read before. `read` gives the graph and its numbers, if questions share them: then however large the graph is.
    `alive`, `outside`: as in `history_of`.
    """
    known = names_by_identity(variables, is_drawable) if known is None else known

    def name_of(t: Any) -> str | None:
        return next((name for name, other in known if other is t), None)

    facts = partial(facts_about, tensor, loss, variables) if read is None else read
    history = history_of(tensor, is_recorded, alive, outside)
    return Question(tensor, loss, history, name_of, facts, variables, read is not None)


def facts_about(tensor: Any, loss: Any, variables: Mapping[str, Any]) -> Facts:
    """The live graph as a document, with the numbers of the last pass."""
    return _facts(look(tensor, loss, variables))


def _facts(seen: Look) -> Facts:
    return Facts(seen.document, seen.subject, seen.past, seen.live, seen.loss, bool(seen.changed))


def questions_about(what: Any, names: dict[str, Any], outside: bool = False) -> list[tuple[Question, str]]:
    """A question about each leaf of a module, of a loss, or (None) of the last pass. They share one look at each graph.
    `outside`: as in `history_of`: what is known of a run is less than what its pass shows that runs again.

    Raises:
        NotDrawableError: `what` is none of these.
    """
    names = _with_module(what, names)
    known = names_by_identity(names, is_drawable)
    what = None if is_drawable(what) and kept_root()[0] is what and is_leaf(what) else what  # a loss that was cut off
    shared: list[tuple[Any, Facts]] = []

    def read(tensor: Any) -> Facts:
        there = next((s for s in shared if s[0].tensor_id(tensor) is not None and sends_to(s[0], tensor)), None)
        if there is None:
            seen = look(tensor, what if is_drawable(what) else None, names)
            shared.append(there := (seen.graph, _facts(seen)))
        return there[1].about(there[0].tensor_id(tensor) or there[1].subject.id)

    leaves = _leaves(what, known, read, shared)
    called = {**_in_lists(names), **_first_names(known)}
    root = what if is_drawable(what) else None
    ops, alive = dict[Any, Any](), dict[str, Any]()
    with unseen(next(iter(leaves), None)):
        ask = partial(question_of, loss=root, variables=names, known=known, alive=alive, outside=outside)
        questions = [(ask(t, read=partial(read, t)), t) for t in leaves]
    return [(replace(q, shared=ops), _called(t, called.get(t, leaves[t]))) for q, t in questions]


def _with_module(what: Any, names: dict[str, Any]) -> dict[str, Any]:
    """The names, with one of the module that is asked about: `self.model` has none of its own."""
    is_unnamed = hasattr(what, "named_parameters") and all(v is not what for v in names.values())
    free = next((n for n in ("model", "net", "module") if n not in names), None) if is_unnamed else None
    return names if free is None else {**names, free: what}


def _called(tensor: Any, name: str) -> str:
    """What a tensor is called; of a parameter without a name, its shape."""
    is_unnamed = name == words.THE_TENSOR and type(tensor).__name__ == "Parameter"
    return words.UNNAMED_PARAMETER.format(shape=shape_text(tuple(tensor.shape))) if is_unnamed else name


def _leaves(what: Any, known: list[tuple[str, Any]], read: Any, shared: list[tuple[Any, Facts]]) -> dict[Any, str]:
    """The leaves by what they are called."""
    if hasattr(what, "named_parameters"):
        own = {p: path for path, p in what.named_parameters()}
        return {**own, **dict.fromkeys(_strays(what, own, known, read, shared), words.THE_TENSOR)}
    root = kept_root()[0] if what is None else what
    if root is not None and not is_drawable(root):
        raise NotDrawableError.instead_of("it takes a module, a tensor of autograd_viz or of PyTorch, or an error", root)
    mine = _first_names(known) if what is None else {}
    found = {t: name for t, name in mine.items() if is_leaf(t) and (t.requires_grad or t.grad is not None)}
    if root is not None:
        read(root)
        found |= {t: found.get(t, words.THE_TENSOR) for t in shared[0][0].tensors.values() if is_leaf(t) and t.requires_grad}
    return found


def _strays(module: Any, own: Mapping[Any, str], known: list[tuple[str, Any]], read: Any, shared: Any) -> list[Any]:
    """Parameters on the way to the loss that the code of a module, or its lists, have, and no other module and no optimizer."""
    root, others = kept_root()[0], {t for _, t in known}
    if root is None or not all(isinstance(p, type(root)) for p in own):
        return []
    read(root)
    leaves = [t for t in shared[0][0].tensors.values() if is_leaf(t) and t.requires_grad]
    lone = [t for t in leaves if type(t).__name__ == "Parameter" and t not in own and t not in others]
    code = _code_of(module) if lone and any(t in own for t in leaves) else []
    listed = _in_lists({"": module})
    with unseen(root):
        history = {t: history_of(t) for t in lone}
        places = {t: getattr(h.used(t), "source", None) for t, h in history.items()}
        own_code = {t for t, at in places.items() if at and any(at.file == f and at.line in lines for f, lines in code)}
        used = [t for t in lone if t in own_code or t in listed]
        return [t for t in used if not any(h.holds for h in history[t].optimizers(t))]


def _code_of(module: Any) -> list[tuple[str, range]]:
    """The files and lines of the methods of a module and its parts."""
    kinds = {kind for part in module.modules() for kind in type(part).__mro__}
    codes = [f.__code__ for kind in kinds for f in vars(kind).values() if isinstance(f, FunctionType)]
    lines = [(c.co_filename, [line for *_, line in c.co_lines() if line is not None]) for c in codes]
    return [(file, range(min(of), max(of) + 1)) for file, of in lines if of]


def _in_lists(names: dict[str, Any]) -> dict[Any, str]:
    """The parameters of modules in plain lists: `net.layers[0].weight`."""
    parts = [(f"{name}.{path}".strip("."), part) for name, m in modules_among(names) for path, part in m.named_modules()]
    held = {f"{at}.{k}": v for at, part in parts for k, v in vars(part).items() if k[:1] != "_"}
    several = [pair for name, v in {**names, **held}.items() for pair in elements(name, v)]
    return {p: f"{at}.{k}" for at, m in several if hasattr(type(m), "named_parameters") for k, p in m.named_parameters()}


def _first_names(known: list[tuple[str, Any]]) -> dict[Any, str]:
    """Each tensor's first name, in their order."""
    found: dict[Any, str] = {}
    for name, tensor in known:
        found.setdefault(tensor, name)
    return found


def asked_again(questions: list[tuple[Question, str]]) -> list[tuple[Question, str]]:
    """The same questions, about the last pass of the run that watches these leaves: it runs again, recorded.

    One stays whose gradient is another now: a later line has changed it.
    """
    runs = [None if q.history.is_recorded or q.root is not None else run_with(q.tensor) for q, _ in questions]
    run = next((run for run in runs if run is not None), None)
    if run is None:
        return questions
    try:
        with run.opened(run.moment()) as again:
            again.root.backward(again.gradient, retain_graph=True)
    except Exception:  # it cannot run again: the questions are answered by what is known
        return questions
    results, gradients = (all(bool(t.isfinite().all()) for t in of) for of in zip(*again.reached, strict=True))
    if results and not gradients:  # it was born after the model, in code that does not run again
        return questions
    paths = {p: path for path, p in run.model().named_parameters()}
    model = next((f"{name}." for name, value in questions[0][0].names.items() if value is run.model()), "")
    names = {f"{model}{path}": leaf for path, leaf in again.leaves.items()} | {"the result": again.root}
    found, known, alive = [], names_by_identity(names, is_drawable), dict[str, Any]()
    names |= questions[0][0].models  # checks ask for their mode
    for (q, name), own in zip(questions, runs, strict=True):
        leaf = again.leaves.get(paths.get(q.tensor, "")) if own is run else None
        asked = None if leaf is None else question_of(leaf, again.root, names, False, known=known, alive=alive)
        other = None if asked is None else replace(asked, parameter=q.tensor)
        found.append((q if other is None or other.state != q.state else other, name))
    return found


def all_causes(questions: list[tuple[Question, str]]) -> list[tuple[Question, str, list[Cause]]]:
    """Those of each leaf's gradient, and of the run, without what accuses nobody."""
    first = questions[0][0] if questions else None
    of_run = [] if first is None else of_its_run(first)
    with unseen(None if first is None else first.tensor):
        return [(q, name, [*(of_run if q is first else []), *_causes(q)]) for q, name in questions]


def of_its_run(q: Question) -> list[Cause]:
    """What is wrong with the pass that has reached a leaf."""
    with unseen(q.tensor):
        run = q.of_pass()
        return [c for page in BY_CODE.values() if page.of_run for c in page.ask(run)]


def other_roots(q: Question, names: Mapping[str, Any]) -> list[Any]:
    """The user's losses of which other passes began than the last one, as of a critic that is trained before its generator."""
    roots = {p.source: p.root for p in q.passes if not p.error}  # the last of each line
    others = {root for root in roots.values() if root is not None} - {q.last_root}
    with unseen(q.tensor):
        return [v for v in names.values() if others and is_drawable(v) and q.maker_of(v) in others][:MOST_ROOTS]


def _causes(q: Question) -> list[Cause]:
    found = causes_of(q)
    if q.holders and not q.optimizers and not _is_apart(q):  # a target network, an input: it need not learn
        found = [c for c in found if c.kind.startswith("not_held") or (page_of(c.kind) or ("", ""))[1] == SO]
    if q.is_scaled and q.state in ("nan", "inf"):  # the scaler meets an inf, which is its work
        found = []
    if any(c.kind.startswith("old") for c in found):  # an earlier pass reached it: the last one is of another loss
        found = [c for c in found if not c.kind.startswith("path_cut")]
    best: dict[Any, Cause] = {}  # by check: the nearest, or what tells it all
    for cause in found:
        if (page := page_of(cause.kind)) is not None and (page[0].code not in best or cause.kind in BEST):
            best[page[0].code] = cause
    return [c for c in found if page_of(c.kind) is None or c in best.values()]


def _is_apart(q: Question) -> bool:
    """Has its pass reached nothing that an optimizer has? Then the optimizers are those of other models."""
    return q.facts.is_connected and not any(map(q.facts.live.has, (leaf for h in q.holders for leaf in h.leaves)))
