"""The map as SVG: cards with what they say, arrows between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..layout.measure import ADVANCE, columns, text_width
from ..render.caption import caption_elements, caption_height, caption_lines
from ..render.escape import element, text
from ..render.svg import whole_picture
from ..render.theme import Theme
from .arrows import DOWN, Arrows, bars, legend_of_arrows
from .cards import Card, is_in_time
from .chips import APART, CHIP, PAD, fitted
from .ink import SMALL, TITLE, Ink, shortened
from .labels import Line
from .numbers import Place, norm_text
from .place import HEADER, PILL, ROW, has_chips
from .plan import Plan

MARGIN, TOP, LEGEND = 24.0, 64.0, 130.0
ROUND, PILL_ROUND = 6.0, 15.0
STACKED = 3.0  # px: the outlines behind a stack
TINT = 0.16  # of a card's fill
RESULT = 200.0  # px of the result's box
GRADS = 96.0  # px for the gradients of a card's parameters
TOLD = 0.55  # of a card's width at most: what is known of the whole


def framed(
    plan: Plan, ink: Ink, opened: frozenset[str] | None, inside: str, size: tuple[float, float], caption: str = "",
    legend: Callable[[Ink, float, float], Iterable[str]] | None = None,
) -> str:  # fmt: skip
    """Heading, legend (that of the arrows if none is given), what is drawn, and a caption under it."""
    (width, height), at = size, MARGIN + plan.places.widths[plan.root.id] + 16
    lines = caption_lines(caption, width)
    below = caption_elements(lines, 0.0, height, ink.theme)
    height += caption_height(lines)
    is_passed = bool(plan.document.nodes)  # else no gradient will ever be there
    gradients = legend_of_arrows(ink, at, TOP + 8, plan.has_sums(opened)) if is_passed else ()
    content = [
        element("title", text(f"{plan.result}: {plan.summary(opened)}")),
        element("rect", width=width or "100%", height=height, **ink.fill("canvas", more="ground")),
        ink.text(MARGIN, 28, plan.result, size=17, bold=True),
        ink.text(MARGIN, 48, plan.summary(opened), role="none"),
        element("g", "".join(gradients if legend is None else legend(ink, at, TOP + 8)), class_="legend"),
        element("g", inside, class_="whole", transform=f"translate({MARGIN:g} {TOP:g})"),
        *below,
    ]
    return whole_picture("\n".join(content), width, height)


def side_of(painter: Painter, opened: frozenset[str], title: str, size: float, y: float) -> str:
    """A map in a picture of several, under its title."""
    plan = painter.plan
    heading = painter.ink.text(MARGIN, y, f"{title}: {plan.result}", size=size, bold=True)
    inside = painter.inside(plan.root, opened, plan.places.heights(opened))
    return heading + element("g", inside, transform=f"translate({MARGIN:g} 22)")


def several(ink: Ink, title: str, said: str, below: Iterable[str], size: tuple[float, float], y: float = 28) -> str:
    """A picture of several maps: its heading at y, and what is below; `said` is for readers who do not see it."""
    content = [
        element("title", text(said)),
        element("rect", width=size[0], height=size[1], **ink.fill("canvas", more="ground")),
        ink.text(MARGIN, y, title, size=17, bold=True),
        *below,
    ]
    return whole_picture("\n".join(content), *size)


def size_of(plan: Plan, heights: Mapping[str, float]) -> tuple[float, float]:
    """Width and height of the whole picture in px."""
    return plan.places.widths[plan.root.id] + 2 * MARGIN + beside(plan), heights[plan.root.id] + TOP + MARGIN


def beside(plan: Plan) -> float:
    """px right of the cards: for the legend, and for what a long heading says."""
    return max(LEGEND, text_width(plan.summary(frozenset()), SMALL) - plan.places.widths[plan.root.id])


class Painter:
    """Draws the cards of a map. `known`: norms by place. `called`: by node, how often it has been called. `is_over`: no
    gradient is to come. `both`: also what a closed card says where it is open, for a page that opens and closes it.
    """

    numbers_room = 250.0  # px for the numbers of a parameter

    def __init__(
        self, plan: Plan, theme: Theme, known: Mapping[Place, float], called: Mapping[str, int], both: bool = False,
        is_over: bool = True,
    ) -> None:  # fmt: skip
        self.plan, self.ink, self.known, self.called, self.both = plan, Ink(theme), known, called, both
        self.arrows, self._below = Arrows(plan, self.ink, known), dict[str, float]()  # px of alarms below their card's title
        self.oddities = self.arrows.odd
        self.odd = self.oddities.outliers(known, is_over)

    def whole(
        self, opened: frozenset[str], caption: str, legend: Callable[[Ink, float, float], Iterable[str]] | None = None
    ) -> str:
        """The whole picture with some cards open; `caption` and `legend` as in `framed`."""
        plan, heights = self.plan, self.plan.places.heights(opened)
        return framed(plan, self.ink, opened, self.inside(plan.root, opened, heights), size_of(plan, heights), caption, legend)

    def inside(self, card: Card, opened: frozenset[str], heights: dict[str, float] | None) -> str:
        """What is in an open card; without heights the page puts it in place."""
        places, parts = self.plan.places, self.plan.places.parts(card)
        tops = [0.0] * len(parts) if heights is None else places.tops(card, heights)
        cards = [self.card(p, y, x, opened, heights) for p, y, x in zip(parts, tops, places.lefts(card), strict=True)]
        return "".join([*cards, *self.arrows.all_of(card, heights)])

    def card(self, card: Card, y: float, x: float, opened: frozenset[str], heights: dict[str, float] | None) -> str:
        """A card at its place, with what is in it if it is open."""
        is_open = card.id in opened and heights is not None
        height = heights[card.id] if heights is not None else self.plan.places.closed[card.id]
        drawn = [*self.outline(card, height, is_open), *self.words(card, is_open)]
        if self.both or not is_open:
            drawn.append(element("g", "".join(self.rows(card)), class_="rows"))
        if is_open:
            drawn.append(element("g", self.inside(card, opened, heights), class_="inside"))
        names, path = "card open" if is_open else "card", card.name if card.kind == "module" else None
        place = f"translate({x:g} {y:g})"
        return element("g", "".join(drawn), class_=names, data_at=card.id, data_path=path, transform=place)

    def outline(self, card: Card, height: float, is_open: bool) -> Iterator[str]:
        """The box; behind a closed stack two more."""
        width, labels = self.plan.places.widths[card.id], self.plan.labels
        is_unseen = card.kind not in ("root", "function") and (self.plan.is_guessed or labels.unseen(card))  # it is dotted
        dash = {"stroke_dasharray": "5 3"} if is_unseen else {}
        if card.kind == "root":
            yield self.ink.box(DOWN - RESULT / 2, 0, RESULT, PILL, ROUND, "brown", names="outline")
            return
        if card.kind == "stack" and (self.both or not is_open):
            for k in (2, 1):
                yield self.ink.box(STACKED * k, STACKED * k, width, height, ROUND, "canvas", names="behind")
        yield self.ink.box(0, 0, width, height, PILL_ROUND if card.kind == "ops" else ROUND, "canvas", names="outline", **dash)
        if card.kind == "ops":
            return
        yield element("rect", width=width, height=height, rx=ROUND, fill_opacity=TINT, **self.ink.fill("brown", more="tint"))
        if (share := self.share(card)) or self.both:
            yield element("rect", width=width * share, height=3, rx=1.5, **self.ink.fill("blue", "fs", more="done"))

    def share(self, card: Card) -> float:
        """How much of it has been called: 0 to 1."""
        nodes = self.plan.members.get(card.id, ()) if self.called else ()
        return sum(node in self.called for node in nodes) / len(nodes) if nodes else 0.0

    def words(self, card: Card, is_open: bool) -> Iterator[str]:
        """Name, class, badges, and what is known of the whole."""
        ink, width, labels = self.ink, self.plan.places.widths[card.id], self.plan.labels
        if card.kind == "root":
            role = "grad" if self.known and not self.plan.is_finite else "text"
            yield ink.text(DOWN - RESULT / 2 + 14, 19, self.plan.result, size=12, role=role, room=RESULT - 20)
            return
        x, right, about = 28.0 if card.items else 12.0, width - 14, labels.about(card)
        if card.kind == "ops":
            yield from self.pill(card, about, right)
            return
        if card.items:
            yield self.opener(card, is_open)
        yield ink.text(x, 22, card.title, size=TITLE, bold=True, room=width * 0.5)
        x += min(text_width(card.title, TITLE), width * 0.5) + 8
        said, odd = labels.grads(card, self.known, self.odd) if labels.rows is None else ("", False)
        if labels.rows is None and labels.told is None and labels.count(card):
            yield ink.cell(f"grad:{card.id}", right, 18, said, "grad" if odd else "link", end=True)
            right -= max(GRADS, text_width(said, SMALL) + 14)
        needed = self.needed(card)
        while about and text_width(about, SMALL) > max((right - x) * TOLD, right - x - needed):
            about = about.rpartition(" · ")[0]
        if about and needed + text_width(about, SMALL) > right - x:
            about = ""
        yield ink.text(right, 22, about, role="none", end=True)
        yield from self.beside_title(card, x, right - text_width(about, SMALL) - 10, is_open)

    def pill(self, card: Card, about: str, right: float) -> Iterator[str]:
        """Its code, the parameters that it takes, and the ops."""
        said, ink, room = self.plan.titled(card), self.ink, (right + 14) * 0.6
        alarms = self.alarms(card)
        others = sum(text_width(text, SMALL) + 30 for text in (alarms, self.told(card)) if text)
        if text_width(said, 12) > room - others:  # the code says more than the ops
            about = about.partition(" · ")[0]
            room = max(right * 0.35, right - text_width(about, SMALL) - 40 - others)
        x, end = 16 + min(text_width(said, 12), room), right - text_width(about, SMALL) - 10
        yield ink.text(16, 19, said, size=12, room=room)
        yield from self.owned(card, x + 12, 19, end - (text_width(alarms, SMALL) + 12 if alarms else 0))
        yield ink.text(right, 19, about, role="none", end=True, room=right - x - 16)
        yield ink.cell(f"alarm:{card.id}", end, 15, alarms, "grad", end=True)

    def opener(self, card: Card, is_open: bool) -> str:
        """What a page opens it with."""
        ground = element("rect", x=4, y=4, width=24, height=26, fill_opacity=0, **self.ink.fill("canvas"))
        arrow = self.ink.text(12, 22, "▾" if is_open else "▸", size=TITLE, role="none")
        return element("g", ground + arrow, class_="opener", data_opens=card.id)

    def beside_title(self, card: Card, x: float, right: float, is_open: bool) -> Iterator[str]:
        """Class, badges and alarms, as far as there is room."""
        kind, ink = self.plan.labels.kind_of(card), self.ink
        is_alarmed = card.items or not self.plan.labels.is_told(card)
        alarms = self.alarms(card) if is_alarmed and (self.both or not is_open) else ""
        wide, end, y = text_width(alarms, SMALL) + 12 if alarms else 0.0, right, 18.0
        if wide > right - x and has_chips(card, self.plan.labels):
            self._below[card.id], wide, end, y = wide, 0.0, self.plan.places.widths[card.id] - 14, HEADER + 9
        elif wide > right - x:
            alarms = shortened(alarms, int((right - x) / ADVANCE / SMALL))
        right -= wide
        badges = [(badge, text_width(badge, SMALL) + 10) for badge in self.plan.labels.badges(card)]
        room = right - x - sum(w + 6 for _, w in badges)
        if kind and room > 50:
            name, times, count = kind.rpartition(" × ")
            short = shortened(name or kind, int(room / ADVANCE / SMALL) - columns(times + count) - 2 if name else 10_000)
            yield ink.text(x, 22, f"· {short}{times}{count if name else ''}", role="none", room=room)
            x += min((columns(kind) + 2) * ADVANCE * SMALL, room) + 8
        for badge, w in badges:
            if x + w > right + 8:
                break
            yield ink.box(x, 9, w, 17, 8, "canvas", names="badge") + ink.text(x + 5, 21, badge, role="none")
            x += w + 6
        yield from self.owned(card, x, 22, right)
        if is_alarmed:
            yield ink.cell(f"alarm:{card.id}", end, y, alarms, "grad", end=True)

    def needed(self, card: Card) -> float:
        """px of its class, badges, and the parameters that it tells in its line."""
        said = self.plan.labels.kind_of(card), *self.plan.labels.badges(card), self.told(card)
        return sum(text_width(each, SMALL) + 22 for each in said if each)

    def told(self, card: Card) -> str:
        """The parameters that it owns itself: `weight (20, 16), bias (20)`."""
        return ", ".join(line.name + line.shape for line in self.plan.labels.own(card))

    def alarms(self, card: Card) -> str:
        """What is odd in it."""
        return ", ".join(self.oddities.alarms(card, self.known, self.odd))

    def owned(self, card: Card, x: float, y: float, right: float) -> Iterator[str]:
        """The parameters that it owns itself, with a box of their colour."""
        lines = self.plan.labels.own(card)
        if lines and right - x > 60:
            yield self.ink.box(x, y - 9, 9, 9, 1, "green" if any(line.trains for line in lines) else "yellow")
            is_far = self.odd is not None and any(line.id in self.odd.values for line in lines)
            yield self.ink.text(x + 14, y, self.told(card), role="grad" if is_far else "text", room=right - x - 16)

    def chips(self, card: Card) -> Iterator[str]:
        """What is in a closed card."""
        ink, x, y = self.ink, 12.0 - APART, HEADER + 13
        right = self.plan.places.widths[card.id] - 14 - self._below.get(card.id, 0.0)
        for chip in fitted(self.plan.labels.inside.of(card), right - x):
            if chip.after:
                yield ink.text(x + APART, y, "→", role="none")
            x += chip.before
            if chip.kind == "call":
                yield ink.box(x, y - 14, chip.width, 20, 10, "canvas", names="chip")
                yield ink.text(x + PAD, y, chip.title, size=CHIP)
                yield ink.text(x + PAD + text_width(chip.title + " ", CHIP), y, chip.about, role="none")
            else:
                yield ink.text(x, y, chip.title, role="none")
            x += chip.width
        if is_in_time(card):
            flows = self.plan.places.frames[card.id].flows
            yield from bars(self.ink, card, flows, self.known, x + 2 * APART, right, HEADER + 13, self.both)

    def rows(self, card: Card) -> Iterator[str]:
        """What is in a closed card; or its parameters, a line each."""
        if has_chips(card, self.plan.labels):
            yield from self.chips(card)
        for k, line in enumerate(self.plan.labels.lines(card)):
            yield from self.row(card, HEADER + ROW * k, line)

    def row(self, card: Card, y: float, line: Line) -> Iterator[str]:
        """A parameter: its name and shape, and its numbers."""
        right = self.plan.places.widths[card.id] - 14
        if line.id:
            yield self.ink.box(12, y, 9, 9, 1, "green" if line.trains else "yellow")
        yield self.ink.text(28, y + 9, line.name + line.shape, room=right - self.numbers_room)
        yield from self.numbers(card, y, line, right)

    def numbers(self, card: Card, y: float, line: Line, right: float) -> Iterator[str]:
        """The norm of a parameter, and that of its gradient."""
        is_far = self.odd is not None and line.id in self.odd.values
        if line.data is not None:
            yield self.ink.text(right - 120, y + 9, norm_text(line.data), role="grad" if is_far else "none", end=True)
        if line.trains:
            said, odd = line.said(self.known, self.odd)
            yield self.ink.cell(f"line:{card.id}.{line.id}", right, y + 5, said, "grad" if odd else "link", end=True)
