"""How tall things are: as Waite draws them, and close together for a screen."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Sizes:
    """Heights in px. The letters of rows have one size in every picture."""

    head: float = 40
    row: float = 30
    pair: float = 40
    # head, row, pair, foot: of a box: its title, a row of one line, a row of two lines, and what is below its rows
    foot: float = 10
    op: float = 80
    plain: float = 80  # op, plain: an op with a row, and without one. A ctx is as tall as an op with a row.
    between: float = 10  # from the saved tensors to next_functions
    line: float = 15
    first: float = 15  # line, first: in next_functions: from line to line, and from the top to the baseline of the first line
    closes: bool = True  # next_functions has its last bracket on a line of its own
    name: float = 24
    title: float = 14  # name, title: the letters of a tensor's name, and of other titles
    name_y: float = 29
    title_y: float = 26  # name_y, title_y: from the top of a box to the baseline of these
    corner: float = 24  # the radius of a node's corners
    gap: float = 40
    node_gap: float = 60  # gap, node_gap: the least space above a row of forward boxes, and above one of backward boxes
    track: float = 20  # the space of a gap beside its tracks
    low: float = 40
    high: float = 40  # low, high: an op stands so far below the top of its node, at least and at most
    leaf: float = 60  # AccumulateGrad stands so far below the top of its leaf
    alone: float = 100  # where no AccumulateGrad stands, lines keep so far below the top of the tensors
    margin: float = 20  # around the picture
    fits: bool = False  # a box is as wide as its rows' text asks for at full size
    code: float = 18  # the letters of the code
    # "full": all rows; "brief": a tensor's value and grad, an op's name, a node's saved tensors; "names": names
    detail: str = "full"
    slot: float = 200
    entry: float = 100  # slot, entry: between tensors over one op, and between the arrows into it
    inset: float = 10  # an arrow starts so far inside of a box's right edge


WAITE = Sizes()
DENSE = Sizes(
    head=20, row=17, pair=32, foot=5, op=40, plain=30, between=3, line=14, first=13, closes=False, name=15, title=13,
    name_y=15, title_y=14.5, corner=16, gap=20, node_gap=20, track=10, low=-20, high=40, leaf=0, alone=20, margin=8, fits=True,
    code=12,
)  # fmt: skip
BRIEF = replace(
    DENSE, head=20, row=16, foot=4, op=24, plain=24, between=0, name=13, title=13, name_y=15, title_y=15.5, corner=10, gap=16,
    node_gap=16, track=12, low=-30, high=30, alone=10, detail="brief", slot=120, entry=30, inset=0,
)  # fmt: skip
NAMES = replace(
    BRIEF, head=18, foot=2, op=20, plain=20, name=12, title=12, name_y=14, title_y=14.5, gap=14, node_gap=14, slot=80,
    detail="names",
)  # fmt: skip
DETAILS = {"full": DENSE, "brief": BRIEF, "names": NAMES}  # on a screen, the most detailed first
