"""The ways from a name to the loss through the user's code, and what cuts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .calls import called_by, element_call
from .choices import may_be_other
from .code import Statement, may_not_have_run, renamed_at, statement_of
from .cutting import Maker
from .defined import is_wrapped
from .exits import may_have_raised
from .meant import chain_from, covers, parts_of, path_of
from .slices import Key, Read, before, returned, returned_by

MOST = 2000  # reads of names that are followed


class Ways(NamedTuple):
    """How a name leads to the loss.

    Attributes:
        cuts: what cuts ways to the loss, nearest to it first.
        beside: what cuts some of the ways from a name to the loss, of which another goes on.
        uncut: where the name is read on ways that nothing is seen to cut.
        outdated: where it is read on ways to the loss, and another tensor has taken the name since.
    """

    cuts: list[Maker]
    beside: list[Maker]
    uncut: list[Read]
    outdated: list[Read]


class _Map(NamedTuple):
    """What was read for what.

    Attributes:
        behind: the names that were read in what a name was given; under None those in the statements of the loss.
        found: where the wanted name is read.
        outdated: where it is read, and stood for another tensor then.
    """

    behind: dict[Key | None, list[Read]]
    found: set[Key]
    outdated: list[Read]


def ways_between(starts: list[Read], wanted: str, asked: Statement | None) -> Ways:
    """The ways from a name to the loss.

    A cut beside a way that surely goes on, as that of the mask in `z * (z > 0).float()`, is none: z still leads there.

    Args:
        starts: what was read in making the loss.
        wanted: the name, or the path: "net.blocks.0.weight".
        asked: the statement of the question, seen from which others may not have run.
    """
    drawn = _drawn(starts, wanted, asked)
    leading = _leading(drawn, lambda read: True)
    whole = _leading(drawn, lambda read: read.cut is None and _is_sure(read, wanted, asked))
    ran = _leading(drawn, lambda read: _is_sure(read, wanted, asked))
    cuts, beside, uncut = list[Maker](), list[Maker](), list[Read]()
    queue = [(read, False) for read in drawn.behind.get(None, ())]
    seen: set[tuple[Key, bool]] = set()
    while queue:
        read, is_beside = queue.pop(0)
        key = read.key
        if key not in leading:
            continue
        if read.cut is not None:
            for found in [*_cuts_before(read, drawn, leading, asked), *_first_cuts(read, drawn, leading, asked)]:
                is_meant = key in ran and not may_be_other(read, wanted)
                cut = found if is_meant else found._replace(is_sure=False)
                (cuts if not is_beside or is_unsure(cut, asked) else beside).append(cut)
        elif (key, is_beside) not in seen:
            seen.add((key, is_beside))
            uncut += [read] if key in drawn.found else []
            queue += [(r, is_beside or key in whole) for r in drawn.behind.get(key, ())]
    return Ways(cuts, beside, uncut, drawn.outdated)


def _is_sure(read: Read, wanted: str, asked: Statement | None) -> bool:
    """It was read, and what it gave was made from what is wanted, not from something beside it."""
    return not may_not_have_run(read.statement.node, asked) and not may_be_other(read, wanted)


def _cuts_before(read: Read, drawn: _Map, leading: set[Key], asked: Statement | None) -> list[Maker]:
    """The cuts through which every way to a cut has gone already, nearest to the wanted name first: they have to go too."""
    assert read.cut is not None
    series, level, seen = list[Maker](), [read], {read.key}
    while level and read.cut.how != "new_tensor":
        level = _cuts_behind(level, drawn, leading, seen, asked)
        series = [*(r.cut for r in level if r.cut is not None), *series]
    return series


def _cuts_behind(reads: list[Read], drawn: _Map, leading: set[Key], seen: set[Key], asked: Statement | None) -> list[Read]:
    """Where each of the ways to these reads was cut last; none if one of them may be whole."""
    found, stack = list[Read](), [r.key for r in reads]
    if drawn.found & {*stack}:
        return []
    while stack:
        for r in drawn.behind.get(stack.pop(), ()):
            is_cut = r.cut is not None and not is_unsure(r.cut, asked)
            if r.key not in leading or (r.key in seen and not is_cut):
                continue
            if not is_cut and r.key in drawn.found:
                return []
            found += [r] if is_cut and r.key not in seen else []
            stack += [] if is_cut else [r.key]
            seen.add(r.key)
    return found


def _first_cuts(read: Read, drawn: _Map, leading: set[Key], asked: Statement | None) -> list[Maker]:
    """The cut; where a tensor is made of what was cut off before, as of a number, that cut, or those of which one ran."""
    assert read.cut is not None
    stack, seen = [read.key] if read.cut.how == "new_tensor" else [], {read.key}
    found = list[Maker]()
    while stack:
        for r in drawn.behind.get(stack.pop(0), ()):
            if r.key not in leading:
                continue
            if r.cut is not None and r.cut.is_sure:
                if not is_unsure(r.cut, asked):
                    return [*found, r.cut]
                found.append(r.cut)
            elif r.key not in seen:
                seen.add(r.key)
                stack.append(r.key)
    return found or [read.cut]


def is_unsure(cut: Maker, asked: Statement | None) -> bool:
    """The code does not say whether it ran."""
    made = statement_of(cut.source)
    if not cut.is_sure or made is None:
        return not cut.is_sure
    return may_not_have_run(made.node, asked) or may_have_raised(made.node, asked and asked.node) or is_wrapped(made.node)


def _drawn(starts: list[Read], wanted: str, asked: Statement | None) -> _Map:
    drawn = _Map({}, set(), [])
    queue: list[tuple[Key | None, Read]] = [(None, r) for r in starts]
    seen: set[Key] = set()
    while queue and len(seen) < MOST:
        reader, read = queue.pop(0)
        key = read.key
        drawn.behind.setdefault(reader, []).append(read)
        if key not in seen:
            seen.add(key)
            new = _behind(read, wanted)
            if new is None and asked is not None and renamed_at(wanted, read.outermost, asked) is not None:
                drawn.outdated.append(read)
                new = []
            elif new is None:
                drawn.found.add(key)
            queue += [(key, r) for r in new or returned(read)]
    return drawn


def _behind(read: Read, wanted: str) -> list[Read] | None:
    """What the name was made from; None if it is the one that is wanted."""
    paths = path_of(chain_from(read.name), read.place, read.rest), _as_written(read)
    if not any(covers(p, wanted) or covers(wanted, p) for p in paths):
        return [*before(read), *returned(read)]
    called = called_by(read.name, read.place) if read.is_called else None
    part = element_call(read.name, read.place, paths[0], wanted) if called is None and read.is_called else None
    if part is not None and wanted not in paths:
        return list(returned_by(part, read))
    is_part_open = called is not None and wanted not in paths  # which parts are used, the function that is called tells
    return list(returned(read)) if is_part_open else None


def _as_written(read: Read) -> str:
    """The path that a chain has in the code of the loss, where a name that goes through a loop may be what was asked about."""
    return ".".join(parts_of(chain_from(read.name))) if read.call is None and not read.rest else ""


def _leading(drawn: _Map, goes_on: Callable[[Read], bool]) -> set[Key]:
    """The names from which such reads lead back to the wanted one."""
    readers: dict[Key, list[Key]] = {}
    for reader, reads in drawn.behind.items():
        for read in reads if reader is not None else ():
            if reader is not None and goes_on(read):
                readers.setdefault(read.key, []).append(reader)
    found = {r.key for reads in drawn.behind.values() for r in reads if r.key in drawn.found and goes_on(r)}
    stack = [*found]
    while stack:
        new: Iterable[Key] = [k for k in readers.get(stack.pop(), ()) if k not in found]
        found.update(new)
        stack += new
    return found
