"""What differs first, forward and backward, and how far it grows: as sentences and as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ... import words
from ...answers.causes.code import place_text
from ...graph.model import Document
from ...graph.surroundings import Source
from ...graph.text import Labels, few_names
from .gap import Gap
from .pairs import Pairs, owner, paths_in

Record = dict[str, Any]


class Item(NamedTuple):
    """Two numbers that belong together."""

    kind: str  # "value" or "gradient"
    a: str
    b: str  # a, b: ids of the tensors
    name: str  # of the tensor in the first document
    module: str  # path of the module that made it, or owns it
    source: Source | None  # the line that made it, if it is known
    gap: Gap  # how far they are apart


class Report:
    """Two passes compared. `value` gives the gap of two tensors, None if one is not known; `gradients` are by first tensor."""

    def __init__(
        self, documents: tuple[Document, Document], pairs: Pairs, value: Callable[[str, str], Gap | None],
        gradients: Mapping[str, Gap],
    ) -> None:  # fmt: skip
        self.documents, self.pairs = documents, pairs
        self._tensors = {t.id: t for t in documents[0].tensors}
        self._labels, self._paths = Labels(documents[0]), paths_in(documents[0])
        self._makers = {t: i for i, op in enumerate(documents[0].ops) for t in op.outputs if t is not None}
        there = [a for a in sorted(pairs.tensors, key=lambda t: int(t[1:])) if a not in pairs.moved]
        gaps = ((a, value(a, pairs.tensors[a])) for a in there)
        # forward values in the order of the program, gradients in that of the backward pass
        self.values = tuple(self._item("value", a, gap) for a, gap in gaps if gap is not None)
        ends = ((a, b, value(a, b)) for a, b in zip(*(d.roots for d in documents), strict=False) if pairs.tensors.get(a) != b)
        # results that are not alike: another op made each
        self.ends = tuple(self._item("value", a, gap)._replace(b=b) for a, b, gap in ends if gap is not None)
        ops = documents[0].ops
        users = {o.tensor: i for i, op in reversed([*enumerate(ops)]) for o in op.inputs}

        def turn(a: str) -> float:  # a gradient is whole when the first op that used the tensor has run
            return -self._makers[a] if a in self._makers else 0.5 - users.get(a, 0)

        arrived = sorted((a for a in there if a in gradients), key=turn)
        self.gradients = tuple(self._item("gradient", a, gradients[a]) for a in arrived)

    def _item(self, kind: str, a: str, gap: Gap) -> Item:
        t, maker = self._tensors[a], self._makers.get(a)
        op = None if maker is None else self.documents[0].ops[maker]
        module, made_at = (owner(t.name or "", self._paths), None) if op is None else (op.module, op.source)
        return Item(kind, a, self.pairs.tensors[a], self._labels.of(a), module, t.source or made_at, gap)

    @cached_property
    def first_value(self) -> Item | None:
        """The first forward value beyond the tolerance; if none is, a result that another op made."""
        return next((i for i in (*self.values, *self.ends) if i.gap.is_beyond), None)

    @cached_property
    def first_gradient(self) -> Item | None:
        """The first gradient of the backward pass beyond the tolerance."""
        return next((i for i in self.gradients if i.gap.is_beyond), None)

    @property
    def items(self) -> tuple[Item, ...]:
        """All of them: values, then gradients."""
        return (*self.values, *self.ends, *self.gradients)

    def most(self) -> Item | None:
        """The item with the largest relative error."""
        return max((i for i in self.items if not i.gap.shapes and i.gap.only < 0), key=lambda i: i.gap.relative, default=None)

    def table(self) -> list[Record]:
        """A record for each pair, in the order of the pass."""
        return [
            {"kind": i.kind, "name": i.name, "module": i.module, "line": None if i.source is None else i.source.line,
             "relative": _number(i.gap.relative), "largest": _number(i.gap.largest), "beyond": i.gap.is_beyond,
             "same": i.gap.is_same, "compared": "elements" if i.gap.is_told else "summary"}
            for i in self.items
        ]  # fmt: skip

    def by_module(self) -> list[Record]:
        """For each module the largest relative errors of values and gradients in it, and how many are beyond the tolerance."""
        found: dict[str, dict[str, list[Gap]]] = {}
        for i in self.items:
            found.setdefault(i.module, {"value": [], "gradient": []})[i.kind].append(i.gap)
        return [
            {"module": module, "values": _worst(gaps["value"]), "gradients": _worst(gaps["gradient"]),
             "beyond": sum(g.is_beyond for of in gaps.values() for g in of)}
            for module, gaps in found.items()
        ]  # fmt: skip


def _worst(gaps: list[Gap]) -> float | None:
    return _number(max((math.inf if math.isnan(g.relative) else g.relative for g in gaps), default=math.nan))


def _number(x: float) -> float | None:
    """A number that JSON has."""
    return x if math.isfinite(x) else None if math.isnan(x) else math.copysign(1e308, x)


def sentences(report: Report, titles: tuple[str, str], why_not: str = "") -> list[str]:
    """The answer. `why_not`: why no gradients were compared, or ""."""
    no_pass = [words.DIFF_NO_PASS.format(why=why_not)] if why_not else []
    return [*_differing(report, titles), *_apart(report, titles), *no_pass]


def _differing(report: Report, titles: tuple[str, str]) -> Iterator[str]:
    value, gradient, most = report.first_value, report.first_gradient, report.most()
    if value is None and gradient is None:
        is_same = all(i.gap.is_same for i in report.items) and not any(report.pairs.only)
        if is_same or most is None or most.gap.relative == 0:
            yield words.DIFF_SAME
        else:
            yield words.DIFF_CLOSE.format(most=number(most.gap.relative), what=_kind(most))
        return
    if value in report.ends and value is not None:
        yield words.DIFF_RESULT.format(gap=_gap(value.gap, titles))
    else:
        yield words.DIFF_NO_VALUE if value is None else words.DIFF_VALUE.format(what=_what(value), gap=_gap(value.gap, titles))
    if gradient is not None:
        yield words.DIFF_GRADIENT.format(what=_what(gradient), gap=_gap(gradient.gap, titles))
    elif report.gradients:
        yield words.DIFF_NO_GRADIENT
    end = next((i for i in (*report.ends, *report.values) if i.a in report.documents[0].roots), None)
    if value is not None and end is not None and most is not None and value.a != end.a:
        first, last = number(value.gap.relative), number(end.gap.relative)
        yield words.DIFF_GROWS.format(first=first, end=last, most=number(most.gap.relative), what=_kind(most))


def _apart(report: Report, titles: tuple[str, str]) -> Iterator[str]:
    """What has no partner, and what was guessed."""
    for side, only in enumerate(report.pairs.only):
        if only:
            ops = [report.documents[side].ops[i] for i in only]
            names = few_names(list(dict.fromkeys(f"{op.name} ({op.module})" if op.module else op.name for op in ops)))
            form = words.DIFF_ONLY_ONE if len(only) == 1 else words.DIFF_ONLY
            yield form.format(side=titles[side], count=len(only), names=names)
    if report.pairs.moved:
        made = {t: op.name for op in report.documents[0].ops for t in op.outputs}
        yield words.DIFF_MOVED.format(names=few_names(list(dict.fromkeys(made[t] for t in sorted(report.pairs.moved)))))
    if report.pairs.renamed:
        yield words.DIFF_RENAMED.format(pairs=few_names([f"{a} → {b}" for a, b in report.pairs.renamed.items()]))


def _what(item: Item) -> str:
    is_told = not item.module or item.module in item.name
    what = item.name if is_told else words.DIFF_IN.format(name=item.name, module=item.module)
    return what if item.source is None else f"{what} ({place_text(item.source)})"


def _kind(item: Item) -> str:
    return (words.DIFF_OF_VALUE if item.kind == "value" else words.DIFF_OF_GRADIENT).format(what=_what(item))


def _gap(gap: Gap, titles: tuple[str, str]) -> str:
    if gap.only >= 0:
        return words.DIFF_ONE_HAS.format(side=titles[gap.only])
    if gap.shapes:
        return words.DIFF_SHAPES.format(a=gap.shapes[0], b=gap.shapes[1])
    if math.isinf(gap.relative) and math.isinf(gap.largest):
        return words.DIFF_ONE_SIDED
    form = words.DIFF_GAP if gap.is_told else words.DIFF_AT_LEAST
    return form.format(relative=number(gap.relative), largest=number(gap.largest))


def number(x: float) -> str:
    """0.0031, 3e-08."""
    return f"{x:.2g}"
