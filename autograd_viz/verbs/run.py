"""A run that is watched: what `watch(model)` gives."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import words
from ..errors import NotFiniteError
from ..export.cell import cell_bundle
from ..render import theme_named
from ..render.escape import printable
from ..runs.history import History
from ..runs.odd import odd_in
from ..runs.page import run_page
from ..runs.paint import Painter
from ..runs.table import table_of, totals_of
from .map import map as map_of
from .picture import Map
from .run_birth import birth_of
from .run_made import watched
from .show import step as step_of

if TYPE_CHECKING:
    from ..widget.run_widget import RunWidget
    from ..widget.widget import StepperWidget


class Now(NamedTuple):
    """What a condition of `keep` is asked about: the step, and its loss (nan if it is unknown)."""

    step: int
    loss: float


class Run:
    """The numbers of a training run, its picture, and its passes.

    Attributes:
        model: the model.
        history: the numbers.
        stopped: the error that stopped the run, or "".
        advice: ends that error.
    """

    def __init__(self, model: Any, name: str, keep: int, stop: bool, theme: str) -> None:
        self.model, self._name, self._theme = model, name, theme
        self.stopped, self.advice = "", words.RUN_GO_ON
        self.history, self._watch, self._shared = watched(model, keep)
        self._watch.before = self._before_step
        self._watch.after = self._follow
        self._is_to_stop = stop
        self._shown: RunWidget | None = None
        self._wanted = list[Callable[[Now], Any]]()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching. The numbers stay, and so do the steps that `keep` has chosen."""
        self._watch.close()
        if self._shared is not None:
            self._shared.end()
        if self._shown is not None:
            self._shown.refresh()

    # -- while the run goes on ----------------------------------------------------------------------------------------

    def keep(self, *, every: int | None = None, when: Callable[[Now], Any] | None = None) -> None:
        """Choose steps that can be opened later, with `step(k)` and `map(k)`.

        Their inputs, random state and parameters go to a temporary file. At most 32 stay; then every other one goes. If a step
        cannot be kept, a warning says why, and no more are.

        Args:
            every: each step that is a multiple of it.
            when: a condition on `step` and `loss`: ``lambda s: s.loss > 10``.

        Raises:
            ValueError: neither is given, or `every` is not positive.
        """
        if (every is None) == (when is None):
            raise ValueError("keep() takes one of every=500 and when=lambda s: s.loss > 10")
        if every is not None and every < 1:
            raise ValueError(f"keep(every=...) must be at least 1, got {every}")
        self._wanted.append(when if when is not None else lambda now: now.step % (every or 1) == 0)

    def _before_step(self, bad: list[int]) -> None:
        """A step is about to move parameters; `bad` has the rows with a gradient that is not finite."""
        try:
            self._keep_if_wanted()
        except Exception as error:  # the loop goes on
            self._wanted = []
            warnings.warn(f"keep() has ended at step {self._watch.count}: {type(error).__name__}: {error}", stacklevel=2)
        if bad and self._is_to_stop:
            self._stop(bad)

    def _keep_if_wanted(self) -> None:
        if not self._wanted:
            return
        now = Now(self._watch.count, self._watch.loss)
        if any(wanted(now) for wanted in self._wanted):
            self._watch.moments.keep(self._watch.moment())

    def _stop(self, bad: list[int]) -> None:
        paths = [self.history.rows[k].path for k in bad]
        step = self._watch.count
        more = words.RUN_MORE_BAD.format(count=len(bad) - 1) if len(bad) > 1 else ""
        said = {"step": step, "name": paths[0], "what": self._watch.what(bad[0]), "more": more, "why": self._birth(paths[0])}
        moved = words.RUN_HAS_MOVED if self._watch.has_moved() else words.RUN_NOT_MOVED
        self.stopped = printable(words.RUN_BROKE.format(**said, moved=moved, advice=self.advice))
        self.history.mark(step, "stopped", self.stopped)
        if self._shown is not None:
            self._shown.refresh()
        raise NotFiniteError(self.stopped)

    def _birth(self, path: str) -> str:
        """Where the first nan or inf of the last pass was born, in a sentence."""
        try:
            with self._opened(None) as (root, gradient, leaves):
                return birth_of(root, gradient, leaves, path)
        except Exception as error:
            return words.RUN_UNKNOWN_BIRTH.format(why=f"{type(error).__name__}: {error}")

    # -- one pass -----------------------------------------------------------------------------------------------------

    def step(self, k: int | None = None, *, theme: str = "auto", collapse: bool | None = None) -> StepperWidget:
        """Step through a pass of this run.

        The model runs again with the same inputs, random state and parameters, on copies. It computes the same bits. The
        backward pass starts with the gradient that reached the model's result.

        Args:
            k: a step that `keep` has chosen; None: the last pass.
            theme: as for `av.step`.
            collapse: as for `av.step`.

        Raises:
            KeyError: the step was not kept.
            RuntimeError: the pass cannot run again; the message says why.
        """
        with self._opened(k) as (result, gradient, leaves):
            return step_of(result, gradient, params=leaves, theme=theme, collapse=collapse)

    def map(self, k: int | None = None, *, theme: str = "auto") -> Map:
        """The map of a pass, with its gradients. `k` and the errors are those of `step`."""
        stepper = self.step(k).stepper
        stepper.finish()
        return map_of(stepper, theme=theme)

    def _opened(self, k: int | None) -> Any:
        """In a block: the result of a pass that runs again, recorded, the gradient that arrived, and the leaves by name."""
        return self._watch.opened(self._moment(k))

    def _moment(self, k: int | None) -> Any:
        if k is None or k == self._watch.count:
            return self._watch.moment()
        try:
            return self._watch.moments.at(k)
        except KeyError:
            kept = ", ".join(map(str, self._watch.moments.steps)) or "none"
            raise KeyError(f"step {k} was not kept (kept: {kept}); run.keep(every=500) chooses steps beforehand") from None

    # -- the numbers --------------------------------------------------------------------------------------------------

    def frame(self) -> Any:
        """The numbers of gradients and updates: a pandas.DataFrame, or without pandas a dictionary of lists.

        One line for each parameter or module output and step: step, steps, path, kind, norm, rms, largest, zeros, update, bad.
        The last 512 steps are whole. Older ones are joined, and their numbers are means.
        """
        return _as_frame(self.flushed(), table_of)

    def totals(self) -> Any:
        """By step: loss, clip (the factor of `clip_grad_norm_`), rate, passes (more than 1: accumulated), seconds."""
        return _as_frame(self.flushed(), totals_of)

    def odd(self) -> list[str]:
        """What is odd, the worst first, in one sentence each; on rank 0 of a job first what is odd between the ranks."""
        history = self.flushed()
        between = [] if history.ranks is None else [said for _, said in history.ranks.sentences(history.rows)]
        return [*between, *(o.sentence for o in odd_in(history))]

    def flushed(self) -> History:
        """The numbers, up to now."""
        self._watch.flush()
        if self._shared is not None:
            self._shared.listen()
        return self.history

    def ranks(self) -> Any:
        """On rank 0 of a job, by 64 steps: least, mean and most of each norm and of the loss over the ranks, and whose it is.

        Empty in a program that is no job, and on other ranks.
        """
        ranks = self.flushed().ranks
        return _as_frame(self.history, lambda history: {} if ranks is None else ranks.table(history.rows))

    # -- the picture --------------------------------------------------------------------------------------------------

    @property
    def svg(self) -> str:
        """The picture: modules by steps, the loss above."""
        return self.svg_in("light" if self._theme == "auto" else self._theme)

    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""
        return Painter(self.flushed(), theme_named(theme), self._name, type(self.model).__name__, self.stopped).svg()

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page that shows the run; theme "auto": that of the run."""
        last = [-1] if self._watch.has_pass else []
        opened = [*self._watch.moments.steps, *last]
        is_live, chosen = self._watch.is_on and not self.stopped, self._theme if theme == "auto" else theme
        return run_page(self.flushed(), self._name, type(self.model).__name__, self.stopped, opened, is_live, chosen)

    def widget(self) -> RunWidget:
        """The live picture: it follows the loop, and opens steps."""
        if self._shown is None:
            from IPython import get_ipython

            from ..widget.run_widget import RunWidget

            self._shown = RunWidget(self.page, self._open_in_page)
            if (shell := get_ipython()) is not None:
                self._shown.follow_cells(shell.events)
        return self._shown

    def _open_in_page(self, step: int, theme: str) -> tuple[str, str]:
        k = None if step < 0 else step
        shown = self.map(k, theme=theme if self._theme == "auto" else self._theme)
        return shown.svg, words.RUN_OPENED_LAST if k is None else words.RUN_OPENED.format(step=k)

    def _ipython_display_(self) -> None:
        """Show the live picture, and the one that stays in the notebook."""
        from IPython.display import display

        widget = self.widget()
        bundle, metadata = widget._repr_mimebundle_() or ({}, {})
        display({**bundle, "text/plain": repr(self)}, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]
        display(cell_bundle(self.svg, repr(self), widget.mark), raw=True)  # type: ignore[no-untyped-call]

    def _follow(self) -> None:
        """A step is complete."""
        if self._shown is not None:
            self._shown.follow()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        state = f"stopped: {self.stopped}" if self.stopped else "watched" if self._watch.is_on else "closed"
        return printable(f"<Run of {type(self.model).__name__}: {self._watch.count:,} steps, {state}>")


def _as_frame(history: History, read: Callable[[History], dict[str, list[Any]]]) -> Any:
    table = read(history)
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError:
        return table
    return pandas.DataFrame(table)


def run_of(model: Any, variables: Mapping[str, Any], keep: int, stop: bool, theme: str) -> Run:
    """Watch a model from now on.

    Raises:
        NotDrawableError: it is not a PyTorch module.
        ValueError: no parameter requires grad.
        UnknownChoiceError: no such theme.
    """
    if theme != "auto":
        theme_named(theme)
    name = next((name for name, value in variables.items() if value is model), "model")
    return Run(model, name, keep, stop, theme)
