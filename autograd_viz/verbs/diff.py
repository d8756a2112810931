"""The verb diff: two passes, or two runs, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import words
from ..graph.model import Document
from ..pictures.differences.gap import Elements, Gap, Tolerance, gap_of, missing
from ..pictures.differences.pairs import Pairs, pairs_of
from ..pictures.differences.picture import Half, halves, partners, picture
from ..pictures.differences.report import Record, Report, sentences
from ..pictures.render import theme_named
from ..runtime.collector import collector_waits
from ..sources.shared.names import callers_names
from ..sources.shared.stepping.norms import Place
from .diff_runs import RunDifference, runs_compared
from .diff_sides import Side, alike, result_of, side_of
from .options import check_options
from .results import Framed, Records, Result, as_frame

TITLES = ("a", "b")


class Difference(Result):
    """Two passes compared: `titles` is what they are called, `report` all that was compared. `first_value` is the first forward
    value that differs beyond the tolerance, or None; `first_gradient` that gradient, in the order of the backward pass.
    """

    def __init__(self, report: Report, titles: tuple[str, str], why_not: str, theme: str) -> None:
        super().__init__(theme)
        self.report, self.titles, self._why_not = report, titles, why_not
        self.first_value, self.first_gradient = report.first_value, report.first_gradient

    @property
    def title(self) -> str:
        """What is compared."""
        return words.DIFF_TITLE.format(a=self.titles[0], b=self.titles[1])

    @property
    def sentences(self) -> list[str]:
        """The answer: what differs first, forward and backward, how far it grows, and what has no partner."""
        return sentences(self.report, self.titles, self._why_not)

    def svg_in(self, theme: str) -> str:
        """The picture in a theme: both maps, errors on their arrows and cards, the first difference lit."""
        return picture(self.report, self._halves, self.titles, self.sentences, theme_named(theme))

    @cached_property
    def _halves(self) -> tuple[Half, Half]:
        return halves(self.report)

    @cached_property
    def partners(self) -> dict[str, str]:  # type: ignore[override]  # made when a page asks
        """By card of the first map, the card of the second that is lit with it."""
        return partners(self.report, self._halves)

    def table(self, by: str = "module") -> list[Record]:
        """Records by "module": the largest relative errors in each; or by "tensor": each value and gradient, in the order of
        the pass. ValueError: there is no such table.
        """
        if by not in ("module", "tensor"):
            raise ValueError(f"table(by=...) is 'module' or 'tensor', got {by!r}")
        return self.report.by_module() if by == "module" else self.report.table()

    def tables(self) -> Sequence[tuple[str, Records]]:
        """Both, for a page."""
        return (words.BY_MODULE, self.table()), (words.DIFF_TENSORS, self.table("tensor"))

    def frame(self, by: str = "module") -> Framed[Records]:
        """The same as a pandas.DataFrame; as records if pandas is not installed."""
        return as_frame(self.table(by))

    def to_json(self) -> str:
        """The sentences and both tables as JSON."""
        everything = {"sentences": self.sentences, "modules": self.table(), "tensors": self.table("tensor")}
        return json.dumps(everything, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return f"<Difference: {self}>"


def diff(
    a: Any, b: Any = None, *, rtol: float | None = None, atol: float | None = None, params: Any = None, theme: str = "auto"
) -> Difference | RunDifference:
    """``diff(a, b)``: find where two passes, or two training runs, differ first.

    Forward values and gradients are compared in the order in which they were made. Both backward passes run, and are taken
    back. For recorded passes of PyTorch (`record`), values, modules and lines are known.

    ``diff(run, other)`` compares two runs of ``watch(model)``, live or saved as .json: the first step and parameter at which
    they part, settings that differ, losses and gradients over each other.

    Args:
        a: a loss, of autograd_viz or of PyTorch; a stepper; what `load` gave, or the path of such a .json; or a function
            that returns a loss. Functions run one after the other from the same random state, and are recorded. Or a run.
        b: the same: what it is compared with.
        rtol: the tolerance: ``|a - b| <= atol + rtol * |b|``. Default: by dtype, as ``torch.testing.assert_close``; of two
            dtypes the looser. Of runs it is a share of a number's size, and 0.001 by default.
        atol: see `rtol`.
        params: names for parameters: as for `show`.
        theme: "light", "dark", or "auto": a page follows the reader's system, and a picture is light.

    Returns:
        a `Difference`, of runs a `RunDifference`: sentences, a picture, tables.

    Raises:
        NotDrawableError: one of them is none of these.
        TypeError: the second is missing, or only one is a run.
        CannotReadError, DocumentError: a file is not what `save` wrote.
        UnknownChoiceError: no such theme.
        RuntimeError: the second function has changed, in place, what the first one used.

    Example:
        >>> a = av.tensor(2.0, requires_grad=True)
        >>> b = av.tensor(3.0, requires_grad=True)
        >>> print(av.diff(a * b, a * b * 2))
        The first value that differs is the result: relative error 0.5, largest difference 6.
        The first gradient that differs is that of Mul(a, b) (line 1): relative error 0.5, largest difference 1.
        Only b has the op Mul.
    """
    if b is None or isinstance(b, int):
        raise TypeError(
            "diff(a, b) compares two passes, and the second is missing: give it another loss. "
            "PyTorch's op of this name is autograd_viz.twin.diff"
        )
    check_options(theme=theme, rtol=rtol, atol=atol)
    names = callers_names()
    runs = runs_compared((a, b), names, rtol, theme)
    if runs is not None:
        return runs
    sides = []
    for x in (a, b):
        result, known = result_of(x, names)
        with collector_waits():
            sides.append(side_of(result, known, params))
    with collector_waits():
        return compare_sides(sides, titles_of((a, b), sides), Tolerance(rtol, atol), theme)


def titles_of(given: tuple[Any, Any], sides: list[Side]) -> tuple[str, str]:
    """What the two are called: a function or file by its name, a tensor by its variable; "a" and "b" if these are alike."""
    names = []
    for x, side in zip(given, sides, strict=True):
        name = Path(x).stem if isinstance(x, str | Path) else str(getattr(x, "__name__", ""))
        roots = [t.name for t in side.document.tensors if t.id in side.document.roots and t.name and t.name.isidentifier()]
        names.append(name if name.isidentifier() or isinstance(x, str | Path) else roots[0] if roots else "")
    return (names[0], names[1]) if all(names) and names[0] != names[1] else TITLES


def compare_sides(sides: list[Side], titles: tuple[str, str], tolerance: Tolerance, theme: str) -> Difference:
    """Compare two sides."""
    sides[0].check()
    documents = sides[0].document, sides[1].document
    pairs = pairs_of(*documents)
    dtypes = [{t.id: t.value.dtype for t in d.tensors} for d in documents]

    def value(x: str, y: str) -> Gap | None:
        mine, other = sides[0].elements(x), sides[1].elements(y)
        return None if mine is None or other is None else gap(mine, other, x, y)

    def gap(mine: Elements, other: Elements, x: str, y: str) -> Gap | None:
        dtype = dtypes[0][x], dtypes[1][y]
        return gap_of(*alike(mine, other, dtype), dtype, tolerance)

    frozen = [k for k, side in enumerate(sides) if not side.can_pass]
    gradients = {} if frozen else _gradients(sides, pairs, gap)
    why = words.DIFF_FREED.format(side=titles[frozen[0]]) if frozen else ""
    return Difference(Report(documents, pairs, value, gradients), titles, why, theme)


def _gradients(
    sides: list[Side], pairs: Pairs, gap_of_two: Callable[[Elements, Elements, str, str], Gap | None]
) -> dict[str, Gap]:
    """The gaps of gradients, by the first tensor's id. Those of the first pass wait for the second's."""
    places = [_places(side.document) for side in sides]
    first = {places[0][x]: x for x in pairs.tensors if x in places[0]}
    second = {places[1][y]: (x, y) for x, y in pairs.tensors.items() if y in places[1]}
    waiting: dict[str, Elements] = {}
    gaps: dict[str, Gap] = {}

    def take(place: Place, gradient: Elements) -> None:
        x, y = second[place]
        mine = waiting.pop(x, None)
        gap = missing(1) if mine is None else gap_of_two(mine, gradient, x, y)
        if gap is not None:
            gaps[x] = gap

    sides[0].each_gradient(first, lambda place, gradient: waiting.update({first[place]: gradient}))
    sides[1].each_gradient(second, take)
    return {**gaps, **dict.fromkeys(waiting, missing(0))}


def _places(document: Document) -> Mapping[str, Place]:
    """Where the gradient of each tensor arrives."""
    leaves: dict[str, Place] = {n.variable: (n.id, "in", 0) for n in document.nodes if n.variable is not None}
    inner: dict[str, Place] = {t.id: (t.grad_fn, "in", t.output_nr) for t in document.tensors if t.grad_fn is not None}
    return {**leaves, **inner}
