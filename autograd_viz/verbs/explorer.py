"""The verb explore, a function whose leaves a person moves: at each change it runs again, and its figure gets the new numbers.

# Note [What a run leaves behind]
Leaves are new tensors in each run. The backward pass is taken back, so other tensors keep their `grad`, and the generators of
random numbers keep their state: each run draws the same numbers. What the function itself changes elsewhere stays changed.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import twin, words
from ..graph.trace import State
from ..pictures.render import THEMES, printable, theme_named
from ..pictures.render.drawing import drawing_of
from ..runtime.collector import collector_waits
from ..runtime.interrupts import breakable, whole
from ..runtime.pytorch import pytorch
from ..runtime.uncopied import Uncopied
from ..sources import anything
from ..sources.shared.names import Names
from ..stepper.stepper import Stepper
from ..widget.html import explore_html
from .explore_leaves import At, Ran, bound_of, finite, leaves_of, number, quiet
from .explore_pictures import Pictures

if TYPE_CHECKING:
    from ..widget.explore_widget import ExploreWidget

POINTS = (13, 61)  # of a curve: at least, at most
CURVE_SECONDS = 0.1  # that a curve may take, if the least number of points does
MOST_SECONDS = 0.2  # of a run for which others are worth the wait: a curve, and a page of runs
GRID = 20  # pieces of a slider of which a saved page has a run


class Explorer(Uncopied):
    """A function of leaves. `values`: by name, the present elements of each leaf with a slider. `at`: the leaf that is chosen.
    `seconds`: what the last run took. `pictures`: those that were drawn.
    """

    kind = "explorer"

    def __init__(self, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
        self._function, self.pictures, self.seconds = function, Pictures(), 0.0
        self._curves: dict[Any, dict[str, list[float | None]]] = {}
        try:
            self._begin(given, _library(given))
        except Exception:  # a function of PyTorch got the twin's tensors
            if pytorch() is None or _library(given) is not twin:
                raise
            with contextlib.suppress(Exception):
                self._begin(given, pytorch())
                return
            raise

    def _begin(self, given: Mapping[str, Any], library: Any) -> None:
        self.leaves, self._others = leaves_of(given, library)
        self.values = {name: list(leaf.first) for name, leaf in self.leaves.items()}
        self.bounds = {name: [bound_of(v) for v in values] for name, values in self.values.items()}
        if not self.leaves:
            raise TypeError("explore(f, x=2.0) needs a leaf with a slider: a number, or a small tensor or list of numbers")
        self.at = At(next(iter(self.leaves)))
        self.ran = self._run(self.values)

    # -- runs ---------------------------------------------------------------------------------------------------------

    def _output(self, values: Mapping[str, Sequence[float]]) -> tuple[Any, dict[str, Any]]:
        elements = {name: np.reshape(values[name], leaf.shape).tolist() for name, leaf in self.leaves.items()}
        made = {name: leaf.base.new_tensor(elements[name]).requires_grad_() for name, leaf in self.leaves.items()}
        return self._function(**{**self._others, **made}), made

    def _run(self, values: Mapping[str, Sequence[float]]) -> Ran:
        """Run it, and its backward pass, which is taken back. See Note [What a run leaves behind]."""
        began = time.perf_counter()
        with anything.keep_random_numbers():
            output, made = self._output(values)
            if not anything.is_drawable(output):
                raise TypeError(f"the function must return a tensor, got {type(output).__name__}")
            graph = anything.graph_of(output, Names({}, {**self._others, **made}))
            live = anything.pass_of(graph, output, None, True, False)
            live.shows_jacobians = False
            stepper = Stepper(graph.document, live)
            with whole(), stepper.untouched():
                try:
                    with breakable():
                        stepper.finish()
                    grads = {n: None if t.grad is None else np.ravel(t.grad.tolist()).tolist() for n, t in made.items()}
                    state = State(dict(stepper.state.values))
                finally:
                    stepper.goto(0)
        self.seconds = time.perf_counter() - began
        tensors = [replace(t, source=None) if t.name in made else t for t in graph.document.tensors]  # we have made them
        return Ran(replace(graph.document, tensors=tuple(tensors)), state, float(output.item()), grads)

    def _number(self, values: Mapping[str, Sequence[float]]) -> float | None:
        """The output alone; None where the function gives none."""
        try:
            with quiet(), anything.keep_random_numbers():
                found = float(self._output(values)[0].item())
        except Exception:
            return None
        return found if math.isfinite(found) else None

    def _moved(self, at: At, to: float) -> dict[str, list[float]]:
        moved = list(self.values[at.leaf])
        moved[at.element] = to
        return {**self.values, at.leaf: moved}

    # -- what a page asks ---------------------------------------------------------------------------------------------

    def move(self, at: At, values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
        """Give the leaves these values; returns what the page shows then (see `moment`)."""
        moved = {name: [float(v) for v in values.get(name, now)] for name, now in self.values.items()}
        self.at, error = at, ""
        try:
            with quiet():
                ran = self._run(moved)
        except Exception as raised:
            said = printable(f"{type(raised).__name__}: {raised}".split("\n")[0])
            value = number(moved[at.leaf][at.element])
            error = words.EXPLORE_FAILED.format(leaf=self._label(at), value=value, error=said)
        else:
            self.ran = ran
        self.values = moved
        return self.moment(error)

    def give(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """`move` from code: a number, or all elements, by leaf."""
        given = {name: np.ravel(value).tolist() for name, value in values.items()}
        if unknown := [n for n, v in given.items() if len(v) != len(self.values.get(n, ()))]:
            raise ValueError(
                f"set() takes {', '.join(self.values)}, with all elements of each; got {unknown[0]}={values[unknown[0]]!r:.40}"
            )
        at = At(next(iter(given))) if given and self.at.leaf not in given else self.at
        return self.move(at, given)

    def answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """`move` as a page asks for it. KeyError, IndexError, TypeError, ValueError: it knows no such leaf."""
        leaf, element, delta = str(content["leaf"]), int(content["element"]), content.get("delta")
        values = {str(name): [float(v) for v in found] for name, found in content["values"].items()}
        if any(len(found) != len(self.values[name]) for name, found in values.items()):
            raise ValueError(leaf)
        _ = self.values[leaf][element]
        return self.move(At(leaf, element, None if delta is None else float(delta)), values)

    def moment(self, error: str = "") -> dict[str, Any]:
        """What the page shows now: `values` of the leaves, and what is chosen (`at`), with the ends of its slider; of the
        picture its number (`shape`), `lines` by address, and `titles` by detail; sentences; the output along the chosen element
        (`curve`); numbers, None where there is none.
        """
        at, ran = self.at, self.ran
        value, bound = self.values[at.leaf][at.element], self.bounds[at.leaf][at.element]
        if math.isfinite(value) and abs(value) > bound:
            bound = self.bounds[at.leaf][at.element] = bound_of(value)
        delta = bound / 50 if at.delta is None else at.delta
        before, shape = self.pictures.path, self.pictures.shape(ran)
        grads = ran.grads[at.leaf]
        grad = None if grads is None or error else grads[at.element]
        nudged = None if error else self._number(self._moved(at, value + delta))
        return {
            "values": {name: [finite(v) for v in values] for name, values in self.values.items()},
            "at": {"leaf": at.leaf, "element": at.element, "delta": delta, "bound": bound},
            "shape": shape,
            **self.pictures.written(shape, ran),
            "said": "" if error else self._said(at, grad),
            "nudge": "" if error else self._nudge(at, delta, grad, nudged),
            "error": error,
            "redrawn": words.EXPLORE_REDRAWN if before not in (0, self.pictures.path) else "",
            "curve": self._curve(at, bound),
            "output": None if error else finite(ran.output),
            "grad": None if grad is None else finite(grad),
            "nudged": nudged,
            "grads": {} if error else {n: self._gradient(g, at.element if n == at.leaf else 0) for n, g in ran.grads.items()},
        }

    @staticmethod
    def _gradient(gradient: Sequence[float] | None, element: int) -> str:
        return "None" if gradient is None else number(gradient[element])

    def _label(self, at: At) -> str:
        shape = self.leaves[at.leaf].shape
        return at.leaf + (str([int(i) for i in np.unravel_index(at.element, shape)]) if shape else "")

    def _said(self, at: At, grad: float | None) -> str:
        fill = {"output": number(self.ran.output), "leaf": self._label(at)}
        return words.EXPLORE_NONE.format(**fill) if grad is None else words.EXPLORE_SAID.format(**fill, grad=number(grad))

    def _nudge(self, at: At, delta: float, grad: float | None, nudged: float | None) -> str:
        fill = {"leaf": self._label(at), "delta": number(delta)}
        if nudged is None:
            return words.EXPLORE_NUDGE_FAILED.format(**fill)
        if not math.isfinite(self.ran.output):
            return ""
        change = number(nudged - self.ran.output)
        if grad is None:
            return words.EXPLORE_NUDGE_NONE.format(change=change, **fill)
        return words.EXPLORE_NUDGE.format(change=change, grad=number(grad), product=number(grad * delta), **fill)

    def _curve(self, at: At, bound: float) -> dict[str, list[float | None]]:
        """The output along an element, from one end of its slider to the other; the last one is kept while others stay."""
        others = {name: v if name != at.leaf else [*v[: at.element], *v[at.element + 1 :]] for name, v in self.values.items()}
        key = (at.leaf, at.element, bound, repr(others))
        if key not in self._curves:
            began = time.perf_counter()
            self._number(self.values)
            cost = time.perf_counter() - began
            count = int(min(POINTS[1], max(POINTS[0], CURVE_SECONDS / max(cost, 1e-9))))
            places = np.linspace(-bound, bound, count).tolist() if cost < MOST_SECONDS else []
            self._curves = {key: {"x": places, "y": [self._number(self._moved(at, place)) for place in places]}}
        return self._curves[key]

    # -- the picture --------------------------------------------------------------------------------------------------

    def svg_in(self, theme: str) -> str:
        """The figure as it is now."""
        return drawing_of(self.ran.document).svg(self.ran.state, theme_named(theme))

    svg = property(lambda self: self.svg_in("light"), doc="The figure as it is now.")

    def __str__(self) -> str:
        said = self.moment()
        return " ".join(filter(None, (said["said"], said["nudge"])))

    # -- pages --------------------------------------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """What a page gets once, with the pictures that are known."""
        leaves = [
            {"name": n, "shape": leaf.shape, "first": leaf.first, "bounds": self.bounds[n],
             "id": next((t.id for t in self.ran.document.tensors if t.name == n), "")}
            for n, leaf in self.leaves.items()
        ]  # fmt: skip
        return {
            "pictures": {str(shape): picture for shape, picture in self.pictures.known.items()},
            "leaves": leaves,
            "palettes": {name: THEMES[name].colours() for name in ("light", "dark")},
            "words": {**words.ui(), **words.explore()},
            "language": words.language(),
        }

    @property
    def is_quick(self) -> bool:
        """Is a page with many runs worth the wait?"""
        return self.seconds < MOST_SECONDS

    def page(self, is_live: bool = False) -> dict[str, Any]:
        """The data of a page: what is shown now, and runs along the chosen element unless Python answers it."""
        now, values, ran, at = self.moment(), self.values, self.ran, self.at
        runs = []
        try:
            value, bound = values[at.leaf][at.element], now["at"]["bound"]
            for place in sorted({value, *np.linspace(-bound, bound, GRID + 1).tolist()}) if not is_live else ():
                runs.append(self.move(at, self._moved(at, place)))
                self.values = values
        finally:
            self.values, self.ran = values, ran
            self.pictures.shape(ran)
        return {**self.data(), "recorded": now, "runs": runs, "is_live": is_live}

    def to_html(self, theme: str = "auto", is_live: bool = False) -> str:
        """A page with recorded runs along the chosen element."""
        still = self.svg_in("light" if theme == "auto" else theme)
        return explore_html({**self.page(is_live), "theme": theme}, ", ".join(self.leaves), still)


def _library(given: Mapping[str, Any]) -> Any:
    """PyTorch if a leaf is one of its tensors, else the twin."""
    return pytorch() if any(anything.is_torch(v) for v in given.values()) else twin


def explore(f: Callable[..., Any], /, **leaves: Any) -> ExploreWidget | Explorer:
    """Move the leaves of a function by sliders: at each change it runs, and its figure gets the new numbers.

    The figure shows the graph after ``f(...).backward()``. Beside it stand the output's change for a small change of one leaf,
    and grad × change; and a curve of the output along that leaf, with its tangent. Use ``av.explore(f, x=2.0, w=-3.0)``.

    Args:
        f: a function of tensors that returns one number, as a tensor of autograd_viz or of PyTorch. It runs at each change, so
            it should change nothing elsewhere. Random numbers are the same in each run.
        leaves: its arguments by name. A number, a list of numbers or a tensor of floats with at most 64 elements gets a slider,
            which moves one element at a time. All else is passed as it is.

    Returns:
        a widget; ``set(x=1.0)`` moves a leaf from code. `save` writes its figure, and as .html a page of recorded runs.

    Raises:
        TypeError: no leaf has a slider, or `f` cannot be called or returns no tensor.
        Exception: what `f` raises at the first values.

    >>> shown = av.explore(lambda x, w: (w * x - 1.0) ** 2, x=2.0, w=0.5)
    >>> print(shown.set(w=1.0))
    The output is 1.0, and w.grad is 4.0. ...
    """
    if not callable(f):
        raise TypeError(f"explore(f, x=2.0) takes a function, got {type(f).__name__}")
    with collector_waits():
        explorer = Explorer(f, leaves)
        try:
            from ..widget.explore_widget import ExploreWidget
        except ModuleNotFoundError as error:  # a browser's Python
            if error.name not in ("traitlets", "ipywidgets", "anywidget"):
                raise
            return explorer
        return ExploreWidget(explorer)
