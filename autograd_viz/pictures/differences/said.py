"""A report in a few sentences: what differs first, forward and backward, and how far it grows."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ... import words
from ...answers.causes.text import place_text
from ...graph.text import few_names
from .gap import Gap
from .report import Item, Report


def sentences(report: Report, titles: tuple[str, str], why_not: str = "") -> list[str]:
    """The answer. `why_not`: why no gradients were compared, or ""."""
    return (
        list(_differing(report, titles))
        + list(_apart(report, titles))
        + ([words.DIFF_NO_PASS.format(why=why_not)] if why_not else [])
    )


def _differing(report: Report, titles: tuple[str, str]) -> Iterator[str]:
    value, gradient = report.first_value, report.first_gradient
    most = report.most()
    if value is None and gradient is None:
        if report.is_same or most is None or most.gap.relative == 0:
            yield words.DIFF_SAME
        else:
            yield words.DIFF_CLOSE.format(most=number(most.gap.relative), what=_kind(most))
        return
    yield words.DIFF_NO_VALUE if value is None else words.DIFF_VALUE.format(what=_what(value), gap=_gap(value.gap, titles))
    if gradient is not None:
        yield words.DIFF_GRADIENT.format(what=_what(gradient), gap=_gap(gradient.gap, titles))
    elif report.gradients:
        yield words.DIFF_NO_GRADIENT
    end = report.at_end()
    if value is not None and end is not None and most is not None and value.a != end.a:
        first, last = number(value.gap.relative), number(end.gap.relative)
        yield words.DIFF_GROWS.format(first=first, end=last, most=number(most.gap.relative), what=_kind(most))


def _apart(report: Report, titles: tuple[str, str]) -> Iterator[str]:
    """What has no partner, and what was guessed."""
    for side, only in enumerate(report.pairs.only):
        if only:
            names = few_names(list(dict.fromkeys(_op(report, side, i) for i in only)))
            form = words.DIFF_ONLY_ONE if len(only) == 1 else words.DIFF_ONLY
            yield form.format(side=titles[side], count=len(only), names=names)
    if report.pairs.moved:
        made = {t: op.name for op in report.documents[0].ops for t in op.outputs}
        yield words.DIFF_MOVED.format(names=few_names(list(dict.fromkeys(made[t] for t in sorted(report.pairs.moved)))))
    if report.pairs.renamed:
        yield words.DIFF_RENAMED.format(pairs=few_names([f"{a} → {b}" for a, b in report.pairs.renamed.items()]))


def _op(report: Report, side: int, i: int) -> str:
    op = report.documents[side].ops[i]
    return f"{op.name} ({op.module})" if op.module else op.name


def _what(item: Item) -> str:
    """A tensor with its module and line."""
    is_told = not item.module or item.module in item.name
    what = item.name if is_told else words.DIFF_IN.format(name=item.name, module=item.module)
    if item.source is None:
        return what
    return f"{what} ({place_text(item.source)})"


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
