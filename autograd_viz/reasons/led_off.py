"""Where the way from tensors that require grad to one that does not was cut: asked of the result, before any pass."""

from __future__ import annotations

import ast

from .cause import Cause
from .code import assignment, is_given_between, scope_of, statement_of
from .cutting import Maker
from .facts import Facts
from .holders import PART
from .loss_code import reads_of_pass
from .made import made_at
from .meant import chain_from
from .slices import Read, before, read_in
from .ways import is_unsure, ways_between

MOST_READ = 100  # reads of names that are followed
MOST = 40  # tensors that are looked for


def cut_from_leaves(f: Facts) -> list[Cause]:
    """The cut on the way from the first of the variables that require grad and lead here, as the code has it."""
    asked, read = statement_of(f.here), _read_for(f)
    for leaf in f.live.requiring()[:MOST]:
        ways = ways_between(read, PART.sub(r".\1", leaf), asked)
        cuts = [c for c in ways.cuts if c.how != "parameter" and not is_unsure(c, asked)]  # a parameter does require grad
        if cuts and not ways.uncut:
            return [_made(f, cuts[0])]
    ran = f.makers.get(f.subject.id) is not None  # the graph knows the op
    own = [r.cut for r in read if r.cut is not None and (r.cut.is_sure if ran else not is_unsure(r.cut, asked))]
    is_all = len(own) == len(read) and all(c.how != "parameter" for c in own)
    return [_made(f, own[0])] if own and is_all else []


def comes_from_leaves(f: Facts) -> bool:
    """A way is seen from one of the variables that require grad, cut or not; or there are too many to look."""
    asked, read, leaves = statement_of(f.here), _read_for(f), f.live.requiring()
    ways = (ways_between(read, PART.sub(r".\1", leaf), asked) for leaf in leaves[:MOST])
    return any(w.cuts or w.beside or w.uncut or w.outdated for w in ways) or len(leaves) > MOST


def _made(f: Facts, cut: Maker) -> Cause:
    return Cause(f"made_{cut.how}", (f.subject.id,), source=cut.source, said={"what": cut.what})


def computed_from(f: Facts) -> list[ast.expr]:
    """The names that were read in making the subject, and in making those, as they are written beside the question."""
    asked, found, queue = statement_of(f.here), list[ast.expr](), _read_for(f)
    seen: set[ast.Name] = set()
    while queue and asked is not None and len(seen) < MOST_READ:
        read = queue.pop(0)
        if read.name in seen:
            continue
        seen.add(read.name)
        is_beside = read.call is None and scope_of(read.name) is scope_of(asked.node)
        if is_beside and not is_given_between(read.name.id, read.statement.node, asked):
            found += _prefixes(chain_from(read.name))
        queue += before(read)
    return found


def _prefixes(chain: ast.expr) -> list[ast.expr]:
    """`w.a.detach`, `w.a`, `w`."""
    found = [chain]
    while isinstance(chain, ast.Attribute | ast.Subscript):
        chain = chain.value
        found.append(chain)
    return found


def _read_for(f: Facts) -> list[Read]:
    """What was read in making the subject; of one without a name, in the failing pass that starts from it."""
    asked, name = statement_of(f.here), f.subject.name
    made = statement_of(made_at(f))
    if name is None and asked is not None and (made is None or made == asked):
        return reads_of_pass(asked)
    if made is None and asked is not None and name is not None and name.isidentifier():
        made = assignment(name, asked)
    return read_in(made) if made is not None else []
