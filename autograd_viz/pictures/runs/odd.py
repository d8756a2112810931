"""What is odd in a run, in one sentence each: rules on the numbers that were measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from ... import words
from .history import WHOLE, History
from .rows import Numbers

RECENT = 50  # numbers that a rule looks at, of the steps that are kept whole
FEW = 5  # steps without which nothing is odd yet
FAINT = 1e-4  # of the largest usual norm: little arrives
BURST = 1e3  # times the usual norm
STILL, WILD = 1e-6, 0.1  # update ÷ parameter
FEW_ELEMENTS = 16  # of a parameter: each may cross zero, and then any update is large
MOST_DEAD = 0.9  # share of zeros
OF_LITTLE = ("zero", "faint", "still", "mostly_zero")
MOST_NAMES = 4  # in a sentence
MOST_BETWEEN = 6  # sentences about ranks


class Odd(NamedTuple):
    """Something odd: the row, which rule, how much it matters (0 is worst), and the sentence."""

    row: int
    kind: str
    rank: int
    sentence: str


# from the worst to the least
KINDS = ("elsewhere", "bad", "none", "zero", "burst", "faint", "wild", "still", "mostly_zero")


@dataclass(frozen=True)
class Lately:
    """What was measured of a row last."""

    norm: Numbers
    zeros: Numbers
    update: Numbers  # norm, zeros, update: the last finite numbers, oldest first
    ever: bool  # was a norm ever measured?
    bad: int  # how often it was nan or inf, in the whole run
    first_bad: int  # the first step in which it was
    top: float  # the largest of all rows' usual norms
    size: int  # elements of a parameter; 0 of the output of a module


def odd_in(history: History) -> list[Odd]:
    """Everything odd, the worst first; each row once. Of rows with nan or inf, that which had it first."""
    elsewhere = [Odd(0, "elsewhere", 0, words.RUN_ELSEWHERE)] if history.is_elsewhere else []
    if history.steps == 0:
        return elsewhere
    # the last finite numbers of each row: some are measured in every step, some in one of many
    lately = {name: history.series[name].last(WHOLE).T for name in ("norm", "zeros", "update")}
    recent = {name: [row[np.isfinite(row)][-RECENT:] for row in rows] for name, rows in lately.items()}
    spans = history.series["norm"].spans()
    bad, first_bad = spans.bad.sum(0), history.series["norm"].first_bad
    ever = np.isfinite(spans.most).any(0) | (bad > 0)
    usual = [float(np.median(norm)) if len(norm) else 0.0 for norm in recent["norm"]]
    top = max(usual, default=0.0)
    reached = {
        row.module for row, norm in zip(history.rows, usual, strict=True) if row.name == "weight" and norm >= FAINT * top > 0
    }
    found = []
    for k, row in enumerate(history.rows):
        numbers = {name: rows[k] for name, rows in recent.items()}
        told = Lately(**numbers, ever=bool(ever[k]), bad=int(bad[k]), first_bad=int(first_bad[k]), top=top, size=row.size)
        cancels = row.name == "bias" and row.module in reached  # as before a batch norm, or in a difference of two outputs
        rules = (rule for rule in _rules(told) if not (cancels and rule[0] in OF_LITTLE))
        for kind, values in islice(rules, 1):
            form = getattr(words, f"RUN_{kind.upper()}")
            found.append(Odd(k, kind, KINDS.index(kind), form.format(name=row.path or words.RUN_MODEL, **values)))
    return elsewhere + sorted(found, key=lambda o: (o.rank, first_bad[o.row], o.row))


def _rules(row: Lately) -> Iterator[tuple[str, dict[str, str]]]:
    """The rules that hold, the worst first, with the values of their sentences."""
    if row.bad:
        yield "bad", {"count": f"{row.bad:,}", "step": f"{row.first_bad:,}"}
    if row.size and not row.ever:
        yield "none", {}
    if len(row.norm) >= FEW:
        last, usual = float(row.norm[-1]), float(np.median(row.norm))
        if not row.norm[-FEW:].any():
            yield "zero", {"steps": f"{FEW}"}
        elif usual > 0 and last > BURST * usual:
            yield "burst", {"last": f"{last:.3g}", "usual": f"{usual:.3g}"}
        elif row.size and usual < FAINT * row.top:
            yield "faint", {"usual": f"{usual:.3g}", "top": f"{row.top:.3g}"}
    if len(row.update) >= FEW:
        last, usual = float(row.update[-1]), float(np.median(row.update))
        if min(last, usual) > WILD and row.size >= FEW_ELEMENTS:
            yield "wild", {"share": f"{usual:.3g}"}
        elif usual < STILL:
            yield "still", {"share": f"{usual:.3g}"}
    if len(row.zeros) and np.median(row.zeros) > MOST_DEAD:
        yield "mostly_zero", {"share": f"{100 * float(np.median(row.zeros)):.0f} %"}


def sentences(history: History, odd: Sequence[Odd]) -> list[tuple[int | None, str]]:
    """For each kind of oddity its first row, with a sentence that also says where else it is found. What is odd between the
    ranks of a job comes first, and may have no row.
    """
    said = [] if history.ranks is None else history.ranks.sentences(history.rows)[:MOST_BETWEEN]
    for _, same in groupby(odd, lambda o: o.kind):
        first, *others = same
        names = ", ".join(history.rows[o.row].path or words.RUN_MODEL for o in others[:MOST_NAMES])
        names += ", …" * (len(others) > MOST_NAMES)
        more = f" {words.RUN_LIKEWISE.format(count=len(others), names=names)}" if others else ""
        said.append((first.row, first.sentence + more))
    return said


def size_said(class_name: str, steps: int) -> str:
    """The class of the model and how many steps there were."""
    form = words.RUN_EMPTY if not steps else words.RUN_ONE_STEP if steps == 1 else words.RUN_STEPS
    return form.format(class_name=class_name, steps=f"{steps:,}")
