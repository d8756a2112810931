"""Checks of graphs that are kept."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice, pairwise
from typing import Any

from ...graph.surroundings import Source
from ..causes.cause import Cause, cause_of, source_of
from ..causes.check import MAY, SO, check
from ..causes.code import spelling
from ..causes.history import Op, PassEvent
from ..causes.paths import behind, has_graph, is_of_user, is_op, with_history
from ..causes.question import Question
from .missing import NUMBERS

PLENTY, MANY_RESULTS = 2, 4  # passes whose graphs are kept; results
DEPTH = 4  # lists, dictionaries and objects in each other
MOST, MANY = 1000, 20_000  # things that one of them holds, and all together
TARGET = re.compile(r"^\s*([\w.\[\]\"']+)\s*(?:[-+*/]?=)(?!=)")  # the left side of an assignment
CHOOSING = re.compile(r"[<>]|\b(?:min|max|sorted|append|argmin|argmax)\b")  # a line that takes one of several losses
LAST = re.compile(r"\w+(?=\W*$)")  # the last name of a path


@check("AV601", "kept-graphs", {"kept_graphs": SO, "kept_for_sum": MAY, "kept_unused": MAY}, of_run=True)
def kept_graphs(q: Question) -> Iterator[Cause]:
    """A variable that keeps the graphs of earlier passes: `total += loss`, a list of losses, a hidden state."""
    own = _own_ops(q)
    if len(own) < PLENTY:
        return
    found = []
    for name, tensors in _held(q.names):
        ops = [op for t in tensors if (op := q.maker_of(t)) is not None]
        kept = _of_one_line(own, with_history(ops))
        if len(kept) >= PLENTY:
            last = max(ops, key=lambda op: op.number)
            cause = cause_of("kept_graphs", last, held=name, count=len(kept))
            found.append(replace(cause, source=_filled_at(name, source_of(last)) or cause.source))
    yield from {c.source: c for c in reversed(found)}.values() if found else chain(_summed(q, own), _unused(q))


@check("AV602", "old-graph", {"old_graph": MAY, "graph_grows": MAY}, of_run=True, first=True)
def old_graph(q: Question) -> Iterator[Cause]:
    """An op of an earlier pass, or from before the loop, and that each pass goes through again."""
    last = q.last
    before = next((p for p in q.passes[-2::-1] if last is not None and p.source == last.source), None)
    if last is None or last.root is None or before is None or before.root is None:
        return
    shared = with_history([before.root]) & with_history([last.root])
    began = [p.number for p in q.passes if p.number < before.number][-2:]
    carried = [op for op in shared if len(began) == PLENTY and op.number > began[0]]
    ages = {op.number > began[1] for op in carried}  # of one age: several losses of one forward pass
    if len(ages) == PLENTY and not before.error:
        yield cause_of("graph_grows", op := max(carried, key=lambda op: op.number), op=spelling(op), **{"pass": last.source})
    for holder in q.holders:
        step = next((s.number for s in holder.steps if before.number < s.number < last.number), None)
        used = [op for op in shared if step is not None and any(g is leaf for g in op.given for leaf in holder.leaves)]
        if used:
            yield cause_of("old_graph", min(used, key=lambda op: op.number), op=spelling(used[0]), optimizer=holder.kind)


def _own_ops(q: Question) -> dict[PassEvent, set[Op]]:
    """The ops that ran for each of the last passes, and for no other."""
    through = {p: with_history([p.root]) for p in q.passes if p.root is not None and not p.error}
    counts = Counter(chain.from_iterable(through.values()))
    before = {p: last for last, p in pairwise(q.passes)}
    return {
        p: {op for op in ops if counts[op] == 1 and (p not in before or op.number > before[p].number)}
        for p, ops in through.items()
    }


def _of_one_line(own: dict[PassEvent, set[Op]], there: set[Op]) -> list[PassEvent]:
    """The passes whose ops are among these, if one line ran them all."""
    kept = [p for p, ops in own.items() if not ops.isdisjoint(there)]
    return kept if len({p.source for p in kept}) == 1 else []


def _summed(q: Question, own: dict[PassEvent, set[Op]]) -> Iterator[Cause]:
    """What a function added up, or stacked, of several passes that had freed their graphs. Its variable is gone."""
    freed = {p: ops for p, ops in own.items() if not p.keeps}
    passed = set(chain.from_iterable(with_history([root]) for p in q.passes if (root := p.root) is not None))
    after = [op for op in q.history.users(set(chain.from_iterable(freed.values()))) if not op.cut and op not in passed]
    for op in sorted(after, key=lambda op: op.number, reverse=True):
        kept = _of_one_line(freed, with_history([op]))
        if len(kept) >= PLENTY:
            named = TARGET.match(getattr(op.source, "text", ""))
            yield cause_of("kept_for_sum", op, held=named[1] if named else spelling(op), count=len(kept))
            return


def _unused(q: Question) -> Iterator[Cause]:
    """A list of results that were computed one by one after the last step, with graphs that no pass used: an evaluation."""
    done = max((s.number for h in q.holders for s in h.steps), default=None)
    passed = {*chain.from_iterable(q.ops_behind(p.root) for p in q.passes)}
    for name, tensors in _held(q.names) if done is not None else ():
        ops = [op for t in tensors if (op := q.maker_of(t)) is not None and op.number > done and op not in passed]
        if len(ops) >= MANY_RESULTS and len({op.source for op in ops}) == 1:
            yield cause_of("kept_unused", ops[-1], held=name, count=len(ops))
            return


@check("AV603", "losses-dropped", {"losses_dropped": MAY}, of_run=True)
def losses_dropped(q: Question) -> Iterator[Cause]:
    """Several losses of one line before each backward(), which uses the last of them only: it may stand behind a loop."""
    last = q.last
    root = None if last is None else last.root
    if last is None or root is None or last.source is None or len(q.passes) <= PLENTY:
        return
    roots = [p.root for p in q.passes if p.root is not None]
    used, lines = {*behind(roots)}, {op.source for op in q.ops_behind(root)}
    first = [op for op in q.history.users(q.leaves_of(root)) if not op.cut]
    count = 0
    for a, b in pairwise([p.number for p in q.passes][-PLENTY - 1 :]):
        there = [op for op in first if a < op.number < b]
        own, others = [op.number for op in there if op in used], [op for op in there if op not in used]
        if not own or len(others) < PLENTY or max(op.number for op in others) > min(own):
            return
        count = len(ends := _ends(q, others))
        is_of_pass = all(e.source in lines and getattr(e.source, "function", None) == last.source.function for e in ends)
        readers = q.history.users(ends)
        is_chosen = any(u.name not in NUMBERS or CHOOSING.search(getattr(u.source, "text", "<")) for u in readers)
        if count < PLENTY or not is_of_pass or is_chosen:
            return
    yield cause_of("losses_dropped", root, count=count, **{"pass": last.source})


def _ends(q: Question, ops: list[Op]) -> set[Op]:
    """What they led to, and no op with a history used."""
    found, new = set[Op](), {*ops}
    while new:
        found |= new
        new = {u for u in q.history.users(new) if not u.cut} - found
    return found - {g for op in found for g in op.given if is_op(g)}


def _held(names: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The tensors with a graph in each variable, list, dictionary and object, by where they are: `trainer.losses`."""
    todo, left = [*names.items()], MANY
    for _ in range(DEPTH):
        inside: list[tuple[str, Any]] = []
        for path, value in islice(todo, left):
            parts = [*islice(_parts(path, value), MOST)]
            tensors = [v for _, v in parts if has_graph(v)] or ([value] if has_graph(value) else [])
            if tensors:
                yield path, tensors
            inside += [(p, v) for p, v in parts if not has_graph(v) and not isinstance(v, str | int | float)]
        todo, left = inside, left - len(todo)
        if left <= 0:
            return


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a list, a dictionary or an object holds. No code of the user's runs."""
    kind = type(value)
    if kind in (list, tuple):
        yield from ((path, v) for v in value)
    elif issubclass(kind, dict):
        yield from ((f"{path}[{k!r}]", v) for k, v in dict.items(value))
    elif is_of_user(value):
        try:
            held = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return
        modules = held.get("_modules")
        yield from ((f"{path}.{k}", v) for k, v in (modules.items() if isinstance(modules, dict) else ()))
        yield from ((f"{path}.{k}", v) for k, v in held.items() if isinstance(k, str) and k[:1] != "_")


def _filled_at(path: str, near: Source | None) -> Source | None:
    """The line that puts something into a list or a sum of this name, if the file has one such line."""
    name = LAST.search(path)
    if near is None or name is None:
        return None
    fills = re.compile(rf"\b{name[0]}\b[\w\"'\]\[]*(?:\.append\(|\.extend\(|\s*\+=|\[[^]]+\]\s*=(?!=))")
    lines = [(k, line.rstrip("\n")) for k, line in enumerate(linecache.getlines(near.file), 1) if fills.search(line)]
    if len(lines) != 1:
        return None
    ((k, text),) = lines
    return Source(near.file, k, k, 0, len(text), text)
