"""Where the way from tensors that require grad to one that does not was cut: asked of the result, before any pass."""

from __future__ import annotations

import math

from .cause import Cause
from .code import assignment, statement_of
from .facts import Facts
from .holders import PART
from .made import made_at
from .slices import read_in
from .ways import is_unsure, ways_between

MOST = 40  # tensors that are looked for


def cut_from_leaves(f: Facts) -> list[Cause]:
    """The cut on the way from the first of the variables that require grad and lead here, as the code has it."""
    asked, name = statement_of(f.here), f.subject.name
    made = statement_of(made_at(f))
    if made is None and asked is not None and name is not None and name.isidentifier():
        made = assignment(name, asked)
    if made is None or math.prod(f.subject.value.shape) != 1:
        return []
    read = read_in(made)
    for leaf in f.live.requiring()[:MOST]:
        ways = ways_between(read, PART.sub(r".\1", leaf), asked)
        cuts = [c for c in ways.cuts if not is_unsure(c, asked)]
        if cuts and not ways.uncut:
            said = {"what": cuts[0].what, "name": leaf}
            return [Cause(f"cut_{cuts[0].how}", (f.subject.id,), source=cuts[0].source, said=said)]
    return []
