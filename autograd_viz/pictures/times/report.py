"""What a timing says: sentences, records by module, op, line and node, and flame charts."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

from ... import words
from ...errors import UnknownChoiceError
from ...graph.model import Document, Node, Op
from ...graph.paths import Path, module_paths
from ...graph.timing import Half, Seconds, Timing

Record = dict[str, Any]
NEAR = 0.05  # the parts agree with the pass
DEAR = 1.2  # measured passes may take so many times as long
SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Part(NamedTuple):
    """One op with its node: where it stands, and what it took in each pass."""

    node: Node | None
    op: Op | None
    name: str
    path: Path
    forward: Seconds
    backward: Seconds
    flops: tuple[int, int]  # forward, backward


class Report:
    """The parts of a pass with their times."""

    def __init__(self, document: Document, timing: Timing) -> None:
        self.document, self.timing = document, timing
        self.classes = {m.path: m.name for m in document.modules}
        self.parts = [*self._parts()]
        halves = self._halves()
        self.whole = sum(median(half.whole) for half in halves)  # seconds of a pass
        longer = sum(max(median(half.whole), median(self._sum_of(half))) for half in halves)
        parts = _sum([self._sum_of(half) for half in halves if half.seconds])
        self.seconds = max(longer, median(parts or (0.0,)))  # no share is above 100 %

    def _halves(self) -> list[Half]:
        return [half for half in (self.timing.forward, self.timing.backward) if half is not None]

    def _parts(self) -> Iterator[Part]:
        forward, backward = self.timing.forward, self.timing.backward
        ops = {op.id: op for op in self.document.ops}
        paths = dict(zip(ops, module_paths(self.document), strict=True))
        none = (0.0,) * len(backward.parted)
        for node in self.document.nodes:
            ahead = none if forward is None else forward.seconds.get(node.id, none)
            back = backward.seconds.get(node.id, none)
            if any(ahead) or any(back):
                op = ops.get(node.op or "")
                counts = (0 if forward is None else forward.flops.get(node.id, 0), backward.flops.get(node.id, 0))
                yield Part(node, op, node.name if op is None else op.name, paths.get(node.op or "", ()), ahead, back, counts)
        for bare in () if forward is None else forward.bare:
            path = tuple(bare.module.split(".")) if bare.module else ()
            yield Part(None, None, bare.op, path, bare.seconds, none, (bare.flops, 0))

    def table(self, by: str) -> list[Record]:
        """Records: see `Time.table`. UnknownChoiceError: there is no such table."""
        if by not in [*TABLES]:
            raise UnknownChoiceError("table", by, TABLES)
        groups: dict[Any, list[Part]] = defaultdict(list)
        for part in self.parts:
            names = map(".".join, (part.path[:k] for k in range(len(part.path) + 1)))
            keys = [{"module": n, "class": self.classes.get(n, "")} for n in names] if by == "module" else [TABLES[by](part)]
            for key in keys:
                groups[tuple(key.items())].append(part)
        rows = [{**dict(key), **self.sums(group)} for key, group in groups.items()]
        return sorted(rows, key=lambda row: -row["seconds"])

    def sums(self, parts: Sequence[Part]) -> Record:
        """Medians over the passes, their spread, the share of the whole, and operations."""
        forward, backward = _sum([p.forward for p in parts]), _sum([p.backward for p in parts])
        both = _sum([forward, backward])
        flops = sum(sum(p.flops) for p in parts)
        seconds = median(both) if both else 0.0
        return {
            "seconds": seconds,
            "share": seconds / self.seconds if self.seconds else 0.0,
            "forward": median(forward) if forward else 0.0,
            "backward": median(backward) if backward else 0.0,
            "spread": spread(both),
            "flops": flops,
            "forward_flops": sum(p.flops[0] for p in parts),
            "backward_flops": sum(p.flops[1] for p in parts),
            "flops_per_second": flops / seconds if seconds else 0.0,
        }

    def sentences(self) -> list[str]:
        """How long a pass takes, where, and what the parts leave out."""
        forward, backward = self.timing.forward, self.timing.backward
        told = {"backward": _half_text(backward), "count": len(backward.whole), "device": self.timing.device}
        if forward is None:
            found = [words.TIME_BACKWARD.format(**told), words.TIME_NO_FORWARD]
        else:
            found = [words.TIME_BOTH.format(forward=_half_text(forward), **told)]
        return [*found, *self._most(), *self._missing(), *self._price()]

    def _most(self) -> Iterator[str]:
        """The op, and the module without parts, that take most."""
        modules = self.table("module")
        around = {row["module"].rpartition(".")[0] for row in modules if row["module"]} | {""}
        innermost = [row for row in modules if row["module"] not in around]
        for form, column, rows in ((words.TIME_MOST, "op", self.table("op")), (words.TIME_LONGEST, "module", innermost)):
            for row in rows[:1]:
                yield form.format(name=row[column], time=time_text(row["seconds"]), share=share_text(row["share"]))

    def _missing(self) -> Iterator[str]:
        """What the sum of the parts leaves out of a pass, or has beyond it."""
        for half in self._halves():
            is_forward = half is self.timing.forward
            name = words.TIME_FORWARD if is_forward else words.TIME_BACK
            if is_forward and not half.seconds and not half.bare:
                yield words.TIME_COMPILED
                continue
            whole, parts = median(half.whole), median(self._sum_of(half))
            ratio = parts / whole if whole else 1.0
            if ratio < 1 - NEAR:
                form = words.TIME_BETWEEN if is_forward else words.TIME_ENGINE
                yield form.format(time=time_text(whole - parts), share=f"{1 - ratio:.0%}", half=name)
            elif ratio > 1 + NEAR:
                yield words.TIME_BEYOND.format(share=f"{ratio:.0%}", half=name)

    def _sum_of(self, half: Half) -> Seconds:
        return _sum([*half.seconds.values(), *(b.seconds for b in half.bare)]) or half.whole

    def _price(self) -> list[str]:
        price = sum(median(h.parted) for h in self._halves()) / self.whole if self.whole else 1.0
        return [words.TIME_DEAR.format(price=f"{price:.1f}")] if price > DEAR else []

    def everything(self) -> Record:
        """All tables, and the passes as they were measured."""
        passes: Record = {"forward": None}
        for name, half in zip(("backward", "forward"), self._halves()[::-1], strict=False):
            passes[name] = {"whole": half.whole, "parted": half.parted, "parts": self._sum_of(half)}
        whole = {"device": self.timing.device, "seconds": self.whole, "sentences": self.sentences()}
        return {**whole, "passes": passes, **{by: self.table(by) for by in TABLES}}


def _node_key(part: Part) -> Record:
    node = "" if part.node is None else part.node.id
    return {"op": part.name, "node": node, "module": ".".join(part.path), **_line_key(part)}


def _line_key(part: Part) -> Record:
    source = None if part.op is None else part.op.source
    if source is None:
        return {"file": None, "line": None, "code": ""}
    return {"file": source.file, "line": source.line, "code": source.text.strip().partition("\n")[0]}


TABLES: dict[str, Callable[[Part], Record]] = {
    "module": lambda part: {"module": ".".join(part.path)},
    "op": lambda part: {"op": part.name},
    "line": _line_key,
    "node": _node_key,
}


def _sum(times: Sequence[Seconds]) -> Seconds:
    return tuple(map(sum, zip(*times, strict=True)))


def spread(times: Seconds) -> float:
    """Between the first and the third quartile, in seconds."""
    if len(times) < 2:
        return 0.0
    low, _, high = quantiles(times, n=4, method="inclusive")
    return high - low


def _half_text(half: Half) -> str:
    middle = median(half.whole)
    return f"{time_text(middle)} ± {time_text(spread(half.whole) / 2)}"


def share_text(share: float) -> str:
    """34%, <1%."""
    return f"{share:.0%}" if share >= 0.01 or not share else "<1%"


def time_text(seconds: float) -> str:
    """1.2 s, 3.4 ms, 56 µs."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def speedscope_json(report: Report, name: str) -> str:
    """For speedscope, a viewer of flame charts (its file format: `SCHEMA`): two profiles, forward and backward, with the
    modules around each op, in the order of the pass, and its median time.
    """
    frames: dict[tuple[Any, ...], int] = {}
    halves = [(words.TIME_FORWARD, report.parts, 0), (words.TIME_BACK, report.parts[::-1], 1)]
    profiles = []
    for title, parts, half in halves:
        timed = [(part, median((part.forward, part.backward)[half])) for part in parts]
        samples = [(_stack(part, half, report, frames), seconds) for part, seconds in timed if seconds]
        if samples:
            stacks, weights = zip(*samples, strict=True)
            of = {"type": "sampled", "name": title, "unit": "seconds", "startValue": 0, "endValue": sum(weights)}
            profiles.append({**of, "samples": stacks, "weights": weights})
    told = [{k: v for k, v in zip(("name", "file", "line"), key, strict=False) if v is not None} for key in frames]
    everything = {"$schema": SCHEMA, "shared": {"frames": told}, "profiles": profiles, "name": name, "activeProfileIndex": 0}
    return json.dumps({**everything, "exporter": "autograd_viz"}, ensure_ascii=False, allow_nan=False) + "\n"


def _stack(part: Part, half: int, report: Report, frames: dict[tuple[Any, ...], int]) -> list[int]:
    """The modules around an op, from the outside in, and the op: places among the frames."""
    around = (".".join(part.path[:k]) for k in range(len(part.path) + 1))
    titles = (f"{path} {report.classes.get(path, '')}".strip() for path in around)
    keys: list[tuple[Any, ...]] = [(title,) for title in titles if title]
    source = None if part.op is None else part.op.source
    name = part.name if half == 0 or part.node is None else part.node.name
    keys.append((name,) if source is None else (name, source.file, source.line))
    return [frames.setdefault(key, len(frames)) for key in keys]
