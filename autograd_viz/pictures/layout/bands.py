"""The figure: bands of tensors and ops on the left, their backward nodes on the right, arrows in reserved lanes.

Stages: rank, size, place, frame, wire, assign tracks, set heights, assign corridor lanes, trace. Each is a function of the ones
before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping
from math import ceil

from ...graph.frames import OpenGroup
from ...graph.model import Document
from .finish import code_lines, geometry_of
from .frames import frames_of, pieces_of, reserve
from .geometry import Geometry
from .ladder import Ladder, assign_tracks, fewer_crossings
from .measure import accumulate_part, edge_width, gradient_shapes, label_width, node_part, op_part, tensor_part
from .parts import LEFT, PITCH, Crossing, Net, Part, Wire, simplified
from .place import ForwardPlaces, place_ctx, place_right
from .ranks import makers, ranks
from .sizes import WAITE, Sizes
from .wiring import Wiring, saving_ops


def is_shown(document: Document) -> set[str]:
    """Ids of the tensors that get a box: all but unnamed intermediate results. Such a result is an arrow from op to op."""
    made_by, used = makers(document), {i.tensor for op in document.ops for i in op.inputs}
    unnamed = (t for t in document.tensors if t.name is None and t.id not in document.roots and not t.retains_grad)
    between = {t.id for t in unnamed if t.id in made_by and t.id in used and not (t.is_leaf and t.requires_grad)}
    return {t.id for t in document.tensors} - between


def layout(document: Document, groups: tuple[OpenGroup, ...] = (), sizes: Sizes = WAITE) -> Geometry:
    """Boxes, arrows, labels and code lines of a document, and frames around open groups."""
    made_by = makers(document)
    row, beside = ranks(document, made_by)
    saving = saving_ops(document) if sizes.detail == "full" else {}
    parts = make_parts(document, row, beside, saving, sizes)
    count = 2 * ((max(row.values(), default=0) + 2) // 2)
    left, right = Ladder(count, is_right=False, room=sizes.track), Ladder(count, is_right=True, room=sizes.track)
    for p in parts.values():
        (right if p.kind in ("node", "accumulate") else left).rows[p.row].append(p)
    ForwardPlaces(document, parts, made_by, beside, sizes.slot).place(left.rows)
    place_ctx(parts, saving, left.rows, sizes.op)
    place_right(document, parts, beside, (left.rows, right.rows), sizes.slot)
    pieces = pieces_of(groups, (left, right))
    wiring = Wiring(document, parts, made_by, (left, right), sizes)
    wiring.run()
    reserve(pieces)
    left.assign()
    right.assign()
    set_heights(left, right, count, sizes)
    shift, lanes = corridor(left, right, wiring.crossings)
    for p in (p for line in right.rows for p in line):
        p.centre += shift
    for wire in wiring.wires:
        trace(wire, (left, right), lanes, shift)
    code = code_lines(document, row, left, sizes.code)
    return geometry_of(parts, wiring, code, frames_of(pieces, wiring.wires, shift), sizes)


def make_parts(
    document: Document, row: Mapping[str, int], beside: Container[str], saving: Container[str], sizes: Sizes
) -> dict[str, Part]:
    """All boxes but ctx, with sizes and without places."""
    parts: dict[str, Part] = {}
    shown, nodes = is_shown(document), {n.id: n for n in document.nodes}
    for t in document.tensors:
        if t.id in shown:
            parts[t.id] = tensor_part(t, row[t.id], sizes, nodes[t.grad_fn].name if t.grad_fn in nodes else "")
            if t.id in document.roots and t.grad_fn is not None:
                parts[t.id].right += label_width(t.value.shape)
            if t.retains_grad:
                parts[t.id].right += 20
    for o in document.ops:
        parts[o.id] = op_part(o, nodes.get(o.node or ""), row[o.id], o.id in beside, sizes)
        parts[o.id].right += 40 + sizes.op if o.id in saving else 0
    shapes, tensors = gradient_shapes(document), {t.id: t for t in document.tensors}
    named = {t.grad_fn for t in document.tensors if t.id in shown}
    for n in document.nodes:
        if n.variable is not None:
            parts[n.id] = accumulate_part(n, row[n.id], tensors.get(n.variable), sizes)
        else:
            next_name = max((nodes[f.node].name for f in n.next_functions if f.node in nodes), key=len, default="")
            labels = max([edge_width(f, shapes.get((f.node, f.index), ())) for f in n.next_functions if f.node], default=0.0)
            parts[n.id] = node_part(n, row[n.id], labels, sizes, next_name)
        if n.id in named or n.op in saving:
            parts[n.id].left = 30  # for the arrows from the left
    return parts


def set_heights(left: Ladder, right: Ladder, count: int, sizes: Sizes) -> None:
    """Set heights from top to bottom, on both ladders at once. A backward node stays near its op (`sizes`)."""
    end = [0.0, 0.0]  # bottom of the last row, left and right
    for r in range(count):
        tall = [10 * ceil(max([p.h for p in side.rows[r]], default=0) / 10) for side in (left, right)]
        least = sizes.gap if left.rows[r] or sizes.detail == "full" else 0
        top = [end[0] + left.gap_height(r, least), end[1] + right.gap_height(r, sizes.node_gap if right.rows[r] else 0)]
        if right.rows[r] and r % 2:
            top[0] = max(top[0], top[1] + sizes.low)
            top[1] = max(top[1], top[0] - sizes.high)
        elif r % 2 == 0 and (left.rows[r] or right.rows[r]):
            top[1] = max(top[1], top[0] + (sizes.leaf if right.rows[r] else sizes.alone))
        for i, side in enumerate((left, right)):
            side.top.append(top[i])
            side.bottom.append(top[i] + tall[i])
            end[i] = side.bottom[r]
            for p in side.rows[r]:
                p.y = top[i]


def corridor(left: Ladder, right: Ladder, crossings: list[Crossing]) -> tuple[float, dict[Net, float]]:
    """The x of the right ladder, and the x of a lane for every net that crosses between the ladders."""
    edge = max([left.reach] + [p.end + p.right for line in left.rows for p in line], default=0)
    spans: dict[Net, list[float]] = defaultdict(list)
    lows: list[tuple[Net, float, bool]] = []
    highs: list[tuple[Net, float, bool]] = []
    for c in crossings:
        near_end = c.wire.end if c.wire.kind in ("grad", "retain") else c.wire.start
        far_end = c.wire.start if c.wire.kind == "retain" else c.wire.end
        y_left = near_end.y() if c.left_gap is None else left.track_y(c.left_gap, c.net)
        y_right = far_end.y() if c.right_gap is None else right.track_y(c.right_gap, c.net)
        if c.right_gap is not None and y_left != y_right and right.level(c.right_gap, c.net, y_left):
            y_right = y_left
        spans[c.net] += [y_left, y_right]
        lows.append((c.net, y_left, True))
        highs.append((c.net, y_right, False))
    near = _near(lows, highs)
    extent = {n: (min(ys), max(ys)) for n, ys in spans.items()}
    lanes, number = assign_tracks(extent, near, fewer_crossings(extent, lows + highs))
    return edge + max(40, PITCH * number + 20), {n: edge + 10 + PITCH * i for n, i in lanes.items()}


def _near(lows: list[tuple[Net, float, bool]], highs: list[tuple[Net, float, bool]]) -> list[tuple[Net, Net]]:
    """Pairs of nets whose heights are less than 7 px apart, in the order of `lows`, then of `highs`."""
    steps: dict[int, list[int]] = defaultdict(list)
    for i, (_, z, _) in enumerate(highs):
        steps[int(z // 7)].append(i)
    pairs = []
    for a, y, _ in lows:
        at = int(y // 7)
        close = sorted(i for step in (at - 1, at, at + 1) for i in steps.get(step, ()))
        pairs += [(a, highs[i][0]) for i in close if highs[i][0] != a and abs(y - highs[i][1]) < 7]
    return pairs


def trace(wire: Wire, ladders: tuple[Ladder, Ladder], lanes: dict[Net, float], shift: float) -> None:
    """Fill in the corners of a wire from its path."""
    start, end = wire.start, wire.end
    y = start.y()
    x = start.part.x + start.dx if start.dx is not None else 0.0
    corners = [(x, y)] if start.dx is not None else []
    for turn in wire.path:
        if turn.to == "lane":
            x = lanes[wire.net]
        elif turn.pin is not None:
            x = turn.pin.x + (0 if turn.side == LEFT else shift)
        elif wire.net in ladders[turn.side].track[turn.gap]:
            y = ladders[turn.side].track_y(turn.gap, wire.net)
        corners.append((x, y))
    corners.append((x, end.y()))
    corners.append((end.part.x + end.dx if end.dx is not None else x, end.y()))
    wire.points = simplified(corners)
