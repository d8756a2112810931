"""The picture of a job: the map of rank 0, with what each rank has of every gradient, and DDP's buckets beside it.

Where ranks have other graphs (stages of a pipeline), each has its map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ... import words
from ...graph.text import few_names
from ..layout.measure import text_width
from ..maps.cards import Card
from ..maps.ink import Ink
from ..maps.labels import Line as Row
from ..maps.numbers import norm_text
from ..maps.paint import MARGIN, Painter, several, side_of, size_of
from ..maps.plan import Plan
from ..render.caption import MARGIN as CAPTION_MARGIN
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element
from ..render.theme import Theme
from .report import Bucket, Line, Report

HEAD, BETWEEN, SPARE = 44.0, 36.0, 90.0  # px; a map keeps SPARE for a legend that this picture does not have
BUCKET, REDUCE, PITCH = 330.0, 250.0, 16.0
MOST_MAPS, MOST_NAMES = 8, 8


def picture(report: Report, theme: Theme) -> str:
    """The job as SVG."""
    ink = Ink(theme)
    ranks = _shown(report)
    plans = [Plan(report.documents[rank], told=True) for rank in ranks]
    opened = [plan.opened() for plan in plans]
    sizes = [size_of(plan, plan.places.heights(cards)) for plan, cards in zip(plans, opened, strict=True)]
    width = sum(w - SPARE + BETWEEN for w, _ in sizes) + (BUCKET + BETWEEN if report.buckets else 0.0) + MARGIN
    lines = [line for sentence in report.sentences() for line in caption_lines(sentence, width)]
    top = HEAD + caption_height(lines) + 34
    drawn, x = [], 0.0
    for rank, plan, cards, (wide, _) in zip(ranks, plans, opened, sizes, strict=True):
        painter = JobPainter(plan, theme, {line.name: line for line in report.lines})
        part = side_of(painter, cards, words.JOB_RANK.format(rank=rank), 14, 4)
        drawn.append(element("g", part, transform=f"translate({x:g} {top:g})"))
        x += wide - SPARE + BETWEEN
    boxes, tall = _buckets(report, ink)
    drawn.append(element("g", boxes, transform=f"translate({x + MARGIN:g} {top:g})"))
    height = top + max([tall, *(high for _, high in sizes)]) + 30
    title, said = words.JOB_TITLE.format(ranks=report.ranks), caption_elements(lines, MARGIN - CAPTION_MARGIN, HEAD - 4, theme)
    below = [*said, ink.text(MARGIN, top - 22, words.JOB_COLUMNS, role="none"), *drawn]
    return several(ink, title, " ".join([title, *report.sentences()]), below, (width, height), 30)


def _shown(report: Report) -> list[int]:
    """Rank 0, and the ranks whose parameters are others: stages of a pipeline."""
    found: list[int] = []
    for rank, names in enumerate(report.names):
        if not any(names & report.names[other] for other in found):
            found.append(rank)
    return found[:MOST_MAPS]


class JobPainter(Painter):
    """Draws a map whose parameters tell what all ranks have: `lines` by name."""

    numbers_room = 290.0

    def __init__(self, plan: Plan, theme: Theme, lines: Mapping[str, Line]) -> None:
        super().__init__(plan, theme, {}, {})
        names = {t.id: t.name or "" for t in plan.document.tensors}
        self._lines = {id: lines[name] for id, name in names.items() if name in lines}

    def numbers(self, card: Card, y: float, line: Row, right: float) -> Iterator[str]:
        """The local gradients of a parameter over the ranks, and their mean."""
        if job := self._lines.get(line.id):
            said, role = spread(job)
            yield self.ink.text(right - 80, y + 9, said, role=role, end=True)
            yield self.ink.text(right, y + 9, norm_text(job.mean), role="link", end=True)


def spread(line: Line) -> tuple[str, str]:
    """The local gradients of a parameter in a few words, and their colour."""
    if line.placement:
        return f"{line.placement} {line.shard} of {line.whole}".replace("(", "").replace(")", ""), "none"
    here, missing = ([str(r) for r, is_here in enumerate(line.here) if is_here is wanted] for wanted in (True, False))
    known = [n for n in line.norms if n is not None]
    if not known:  # a stage of a pipeline: no pass has run
        return words.JOB_ONLY.format(ranks=", ".join(here)), "none"
    if missing:
        return words.JOB_MISSING.format(ranks=", ".join(missing)), "grad"
    if any(line.bad):
        return words.MAP_HAS_NAN, "grad"
    ends = [f"{n:.2g}" for n in (min(known), max(known))]
    return " … ".join(dict.fromkeys(ends)), "grad" if line.differs else "link"


def _buckets(report: Report, ink: Ink) -> tuple[str, float]:
    """DDP's buckets from the first that is ready, each with its all-reduce; and how high they stand."""
    if not report.buckets:
        return "", 0.0
    count = sum(len(b.names) for b in report.buckets)
    parts, y = [ink.text(0, 4, words.JOB_BUCKETS, size=14, bold=True)], 22.0
    for place, bucket in enumerate(report.buckets):
        drawn, height = _bucket(place, bucket, count, report.ranks, ink)
        parts.append(element("g", drawn, transform=f"translate(0 {y:g})"))
        y += height + 18
    return "".join(parts), y


def _bucket(place: int, bucket: Bucket, count: int, ranks: int, ink: Ink) -> tuple[str, float]:
    names = [*bucket.names[:MOST_NAMES], *(["…"] if len(bucket.names) > MOST_NAMES else [])]
    ready = few_names(list(dict.fromkeys(map(str, bucket.ready))))
    height = 30 + PITCH * len(names)
    said = words.JOB_BUCKET.format(place=place, ready=ready, count=count)
    reduce = words.JOB_REDUCE.format(ranks=ranks)
    drawn = [
        ink.box(0, 0, BUCKET, height, 6, "canvas", names="outline"),
        ink.text(12, 20, said, bold=True, room=BUCKET - 20),
        *(ink.text(12, 38 + PITCH * k, name, room=BUCKET - 20) for k, name in enumerate(names)),
        element("path", d=f"M{BUCKET / 2:g} {height:g}v14", fill="none", stroke_width=1.6, **ink.stroke("blue")),
        element("path", d=f"M{BUCKET / 2:g} {height + 20:g}l-5 -8h10z", **ink.fill("blue", "fs")),
        ink.box((BUCKET - REDUCE) / 2, height + 20, REDUCE, 26, 6, "blue", names="outline"),
        ink.text(BUCKET / 2 - text_width(reduce, 11) / 2, height + 37, reduce),
    ]
    return "".join(drawn), height + 46
