"""Two training runs side by side: what `diff` gives for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import words
from ..errors import DocumentError
from ..graph.limits import BYTES
from ..graph.text import few_names
from ..pictures.render import theme_named
from ..pictures.runs.apart import GRADIENT, LOSS, PROBE, Apart, Place, Told
from ..pictures.runs.overlay import Overlay
from ..pictures.runs.table import told
from ..runtime.files import read_text
from .results import Framed, Records, Result, as_frame
from .watch import Run

TOLERANCE = 1e-3  # of a number's size
PARTS = {"steps", "totals", "table", "marks"}


class _Words(NamedTuple):
    part: str  # where two runs part
    what: str  # what differs there
    why: str  # what follows, if nothing before differs


def _said(kind: str) -> _Words:
    """Sentences for a kind of number."""
    if kind == LOSS:
        return _Words(words.RUNS_LOSS, words.RUNS_THE_LOSS, words.RUNS_AFTER)
    if kind == PROBE:
        return _Words(words.RUNS_PROBE, words.RUNS_THE_PROBE, words.RUNS_PROBE_WEIGHTS)
    if kind == GRADIENT:
        return _Words(words.RUNS_GRADIENT, words.RUNS_THE_GRADIENT, words.RUNS_BACKWARD)
    return _Words(words.RUNS_UPDATE, words.RUNS_THE_UPDATE, words.RUNS_OPTIMIZER)


class RunDifference(Result):
    """Two training runs compared: `titles` is what they are called. `first` is the first step, and there the loss, gradient or
    update, that differs beyond the tolerance; None if none does.
    """

    def __init__(self, apart: Apart, titles: tuple[str, str], tolerance: float, theme: str) -> None:
        super().__init__(theme)
        self.titles, self._apart, self._tolerance = titles, apart, tolerance
        self.first: Place | None = apart.first(tolerance)

    @property
    def title(self) -> str:
        """What is compared."""
        return words.DIFF_TITLE.format(a=self.titles[0], b=self.titles[1])

    @property
    def sentences(self) -> list[str]:
        """The answer: where they part, which settings differ, where they end."""
        return [*self._parting(), *self._settings(), *self._end()]

    def _parting(self) -> Iterator[str]:
        if not len(self._apart.steps):
            yield words.RUNS_NOTHING
            return
        place, exact = self.first, self._apart.first()
        if place is not None:
            same = list(self._apart.all_at_first(self._tolerance))
            more = words.RUNS_MORE.format(count=len(same) - 1) if len(same) > 1 else ""
            numbers = {"a": f"{place.a:.4g}", "b": f"{place.b:.4g}", "step": place.step, "name": place.path}
            yield _said(place.kind).part.format(**numbers, **self._sides, more=more)
            yield self._why(place, exact)
        elif exact is None:
            yield words.RUNS_SAME.format(steps=len(self._apart.steps))
        elif (most := self._apart.furthest) is not None:
            what = _said(most.kind).what.format(name=most.path)
            said = {"tolerance": f"{self._tolerance:g}", "gap": f"{most.gap:.2g}", "step": most.step}
            yield words.RUNS_CLOSE.format(what=what, **said)

    def _why(self, place: Place, exact: Place | None) -> str:
        """What it follows from: nothing that was measured before may differ by a bit."""
        if exact is not None and (exact.step, exact.kind) != (place.step, place.kind):
            return words.RUNS_GREW.format(
                step=exact.step, what=_said(exact.kind).what.format(name=exact.path), gap=f"{exact.gap:.1g}"
            )
        if place.kind == LOSS and not place.step:
            probe = next((c for c in self._apart.columns if c.kind == PROBE), None)
            return words.RUNS_FROM_START if probe is None or probe.gap[0] != 0 else words.RUNS_OTHER_DATA
        if place.kind == GRADIENT and not self._apart.knows_loss(place.step):
            return words.RUNS_UNKNOWN_LOSS
        return _said(place.kind).why

    @property
    def _sides(self) -> dict[str, str]:
        return {"side_a": self.titles[0], "side_b": self.titles[1]}

    def _settings(self) -> Iterator[str]:
        for name, a, b in self._apart.settings():
            yield words.RUNS_SETTING.format(name=name, a=a, b=b, **self._sides)
        rate = self._apart.rates()
        if rate is not None and not any(name == "lr" for name, _, _ in self._apart.settings()):
            yield words.RUNS_RATE.format(step=rate[0], a=f"{rate[1]:.4g}", b=f"{rate[2]:.4g}", **self._sides)
        for side, names in zip(self.titles, self._apart.only, strict=True):
            if names:
                yield words.RUNS_ONLY.format(side=side, names=few_names(names))
        a, b = (run["steps"] for run in self._apart.runs)
        if a != b:
            yield words.RUNS_LENGTH.format(a=a, b=b, **self._sides)

    def _end(self) -> Iterator[str]:
        rows = self._apart.by_step(self._tolerance)
        if self.first is not None and rows and None not in (rows[-1]["a"], rows[-1]["b"]):
            last = rows[-1]
            yield words.RUNS_LAST.format(step=last["step"], a=f"{last['a']:.4g}", b=f"{last['b']:.4g}")

    def svg_in(self, theme: str) -> str:
        """The picture in a theme: losses and some gradients over each other, and a line where they part."""
        return Overlay(self._apart, self.first, self.titles, self.sentences, theme_named(theme)).svg()

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page, in a theme or in both."""
        return {**super().page(theme), "help": words.RUNS_HELP}

    def table(self, by: str = "row") -> Records:
        """Records by "row": for the loss, each gradient and each update the first step that differs, and the largest gap; or by
        "step": both losses, and what is furthest apart. ValueError: there is no such table.
        """
        if by not in ("row", "step"):
            raise ValueError(f"table(by=...) is 'row' or 'step', got {by!r}")
        return self._apart.by_row(self._tolerance) if by == "row" else self._apart.by_step(self._tolerance)

    def tables(self) -> Sequence[tuple[str, Records]]:
        """Both, for a page."""
        return (words.RUNS_BY_ROW, self.table()), (words.RUNS_BY_STEP, self.table("step"))

    def frame(self, by: str = "row") -> Framed[Records]:
        """The same as a pandas.DataFrame; as records if pandas is not installed."""
        return as_frame(self.table(by))

    def to_json(self) -> str:
        """The sentences, the settings that differ, and both tables as JSON."""
        settings = [{"name": name, "a": a, "b": b} for name, a, b in self._apart.settings()]
        whole = {"sentences": self.sentences, "settings": settings, "rows": self.table(), "steps": self.table("step")}
        return json.dumps(whole, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return f"<RunDifference: {self}>"


def _run_of(x: Any) -> Told | None:
    if isinstance(x, Run):
        return told(x.flushed())
    if not isinstance(x, str | Path) or Path(x).suffix.lower() != ".json":
        return None
    try:
        whole = json.loads(read_text(x, BYTES))
    except (ValueError, RecursionError):
        return None  # `load` says what is wrong with it
    if not isinstance(whole, dict) or not whole.keys() >= PARTS:
        return None
    return checked(whole)


def checked(whole: dict[str, Any]) -> Told:
    """A run that was saved. DocumentError: it is damaged."""
    try:
        texts = [*whole["table"]["path"], *(text for pair in whole.get("settings", {}).items() for text in pair)]
        if not all(isinstance(text, str) for text in texts) or not all(type(s) is int for s in whole["totals"]["step"]):
            raise TypeError("a path or a setting is no text, or a step no number")
        same = Apart(whole, whole)
        same.rates(), same.settings()
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DocumentError(f"this .json is no run that save() has written: {type(error).__name__}: {error}") from None
    return whole


def _titles(given: Sequence[Any], variables: Mapping[str, Any]) -> tuple[str, str]:
    """What the two are called: a file by its name, a run by its variable; "a" and "b" if these are alike."""
    runs = {name: value for name, value in variables.items() if isinstance(value, Run)}
    names = [Path(x).stem if isinstance(x, str | Path) else next((n for n, run in runs.items() if run is x), "") for x in given]
    return (names[0], names[1]) if all(names) and names[0] != names[1] else ("a", "b")


def runs_compared(given: Sequence[Any], variables: Mapping[str, Any], rtol: float | None, theme: str) -> RunDifference | None:
    """Compare two runs, live or saved as .json; None if none was given. `rtol` is a share of a number's size.
    TypeError: only one is a run. DocumentError: a file is damaged.
    """
    runs = [_run_of(x) for x in given]
    if all(run is None for run in runs):
        return None
    found = [run for run in runs if run is not None]
    if len(found) < len(runs):
        other = next(x for x, run in zip(given, runs, strict=True) if run is None)
        came = f"{type(other).__name__} ({other!r:.60})"
        raise TypeError(f"diff(run, other) compares two runs of watch(model), or their .json, got {came}")
    return RunDifference(Apart(*found), _titles(given, variables), TOLERANCE if rtol is None else rtol, theme)
