"""What is drawn of a document: which groups are open, and where everything stands."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ... import words
from ...errors import LayoutError
from ...graph.bundles import bundle
from ...graph.collapse import collapse, titled
from ...graph.collapsed import Collapsed
from ...graph.frames import open_groups
from ...graph.groups import WHOLE, WHOLE_NODES, Group, group_tree, opened_first
from ...graph.model import Document
from ...graph.trace import State
from ..layout import DENSE, DETAILS, WAITE, Geometry, layout, layout_apart, without_code
from . import Theme, render_svg
from .escape import printable
from .svg import framed, painted

NEAR = 600  # ops, or pairs of tensors, that are laid out in this process; more are laid out in their own process
AUTO = "auto"  # the detail that a page chooses by its room; a still is full
TWICE = 150  # nodes, up to which a second layout takes no time
BESIDE = 10  # arrows of each op, and a few nodes


@dataclass(frozen=True)
class Drawing:
    """A document as it is drawn."""

    document: Document  # the whole document
    opened: frozenset[str] | None = None  # ids of the groups whose contents are drawn; None: no group is closed
    detail: str = AUTO  # "full", "brief" or "names"; "auto": a page chooses one, and a still is full
    dense: bool = False  # boxes are low and close together, for a screen. What is not full always is.
    code: bool = True  # the statements stand beside the boxes that they made
    past: State = field(default=State(), compare=False)  # what is written before the first step

    @cached_property
    def tree(self) -> Group:
        """The document's groups."""
        return group_tree(self.document)

    @cached_property
    def shown(self) -> Collapsed:
        """The document with closed groups as boxes and many edges as one."""
        if self.opened is None:
            return bundle(Collapsed(self.document, self.document, {}, {}, {}))
        return bundle(collapse(self.document, self.tree, self.opened))

    @cached_property
    def geometry(self) -> Geometry:
        """The positions of everything. LayoutError: the picture is too large."""
        return self._with_code if self.code else without_code(self._with_code)

    @cached_property
    def _with_code(self) -> Geometry:
        document, groups = self.shown.document, open_groups(self.shown, self.tree, self.opened)
        full = DENSE if self.dense else WAITE
        sizes = full if self.detail in (AUTO, "full") else DETAILS[self.detail]
        return (layout if is_near(document) else layout_apart)(document, groups, sizes)

    def on_screen(self, has_code: bool) -> dict[str, Drawing]:
        """The drawings for a page by detail. The code may have a view of its own. A large one is not laid out again."""
        return {detail: d.without_code if has_code or detail != "full" else d for detail, d in self._by_detail.items()}

    @cached_property
    def _by_detail(self) -> dict[str, Drawing]:
        """A view, the page beside it, and the still in that page draw them."""
        large = len(self.shown.document.nodes) > TWICE
        return {"full": self} if large else {d: self._but(("tree", "shown"), detail=d, dense=True) for d in DETAILS}

    def _but(self, same: Iterable[str], **changes: Any) -> Drawing:
        """Another drawing, in which what took long is the same."""
        drawing = replace(self, **changes)
        drawing.__dict__.update({name: getattr(self, name) for name in same})
        return drawing

    @property
    def height(self) -> float:
        """px."""
        return self.geometry.height

    def after(self, past: State) -> Drawing:
        """The same drawing with this state before the first step. Everything stays where it is."""
        return self._but(("tree", "shown", "_with_code"), past=past)

    @cached_property
    def without_code(self) -> Drawing:
        """The same drawing without the column of statements. Everything else stays where it is."""
        return self._but(("tree", "shown", "_with_code", "_at_start"), code=False)

    def is_open(self, group: Group) -> bool:
        """Are its contents drawn (if the groups around it are open)?"""
        return self.opened is None or group.id in self.opened

    def _with(self, group: str) -> Drawing:
        return self._opened((self.opened or frozenset()) | {group})

    def _opened(self, opened: frozenset[str]) -> Drawing:
        return self._but(("tree",), opened=opened)

    def revealing(self, id: str) -> Drawing:
        """The drawing with the groups open that hide an op, node or tensor."""
        drawing = self
        while (group := drawing.shown.hides(id)) is not None:
            drawing = drawing._with(group.id)
        return drawing

    def expanded(self, what: str) -> Drawing:
        """The drawing with a group open, given by title or id. Or the groups open that hide the op, node or tensor of this id.
        ValueError: it does not exist, or no group hides it.
        """
        group = self._named(what)
        opened = self.revealing(what) if group is None else self.around(group)._with(group.id)
        if opened.opened == self.opened:
            titles = printable(", ".join(titled(g) for g in self.shown.groups.values())) or "none"
            raise ValueError(f"no collapsed group is or contains {what!r}; groups in the picture: {titles}")
        return opened

    def collapsed(self, what: str) -> Drawing:
        """The drawing with the group of this title or id closed. ValueError: the group does not exist."""
        group = self._named(what)
        if group is None or group is self.tree:
            titles = printable(", ".join(titled(g) for g in self.groups() if g is not self.tree and self.is_open(g)))
            raise ValueError(f"there is no group {what!r}; open groups: {titles or 'none'}")
        opened = frozenset(g.id for g in self.groups()) if self.opened is None else self.opened
        return self._opened(opened - {group.id})

    def around(self, group: Group) -> Drawing:
        """The drawing with all groups open that contain a group."""
        above = {g.id for g in self.groups() if g.first <= group.first and group.last <= g.last and g is not group}
        return self if self.opened is None else self._opened(self.opened | above)

    def _named(self, what: str) -> Group | None:
        """The group of an id or title; the largest if several have it."""
        name = what.removeprefix("b")
        return next((g for g in self.groups() if what in (g.title, titled(g)) or name == g.id), None)

    def groups(self) -> Iterable[Group]:
        """All groups, each before those in it."""
        stack = [self.tree]
        while stack:
            stack += (group := stack.pop()).groups
            yield group

    def place(self, id: str) -> tuple[float, float]:
        """The middle of the box of an op, node or tensor, or of its group: px from the picture's corner; else that corner."""
        g, shown = self.geometry, self.shown.shown.get(id, id)
        box = next((b for b in g.boxes if b.id == shown), None)
        return (0.0, 0.0) if box is None else (box.x - g.x + box.w / 2, box.y - g.y + box.h / 2)

    def svg(self, state: State, theme: Theme, caption: str = "") -> str:
        """The picture in a state of the whole document."""
        shown, where = self.shown, self.geometry
        if state != State():
            return render_svg(shown.document, where, shown.state(state), theme, caption)
        key = (theme, words.language())
        if key not in self._at_start:
            self._at_start[key] = painted(shown.document, self._with_code, shown.state(state), theme)
        return framed(self._at_start[key], where, theme, caption)

    @cached_property
    def _at_start(self) -> dict[tuple[Theme, str], tuple[str, list[str], list[str]]]:
        """The picture before the first step. It is shown three times: in the view, beside it, and in a page in a frame."""
        return {}


def is_near(document: Document) -> bool:
    """Is it small enough for a quick layout?"""
    arrows = sum(len(o.inputs) + len(o.outputs) for o in document.ops) + sum(len(n.next_functions) for n in document.nodes)
    return max(len(document.ops), len(document.tensors) // 2, (arrows + len(document.nodes)) // BESIDE) <= NEAR


def drawing_of(document: Document, collapse: bool | None = None, detail: str = AUTO) -> Drawing:
    """How a document is drawn at first: `collapse` closes all groups or none; None closes them if it is large."""
    is_small = len(document.ops) <= WHOLE and len(document.nodes) <= WHOLE_NODES
    if collapse is False or (collapse is None and is_small):
        drawing = Drawing(document, detail=detail)
        try:
            drawing.geometry  # noqa: B018 -- laid out now, to see if it works
            return drawing
        except LayoutError as error:
            warnings.warn(f"{error}; the picture shows groups instead", stacklevel=3)
    drawing = Drawing(document, frozenset(), detail)
    return drawing._opened(opened_first(drawing.tree, 0) if collapse else opened_first(drawing.tree))
