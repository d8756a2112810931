"""What happens while a run goes on: steps are kept, the loop is stopped before nan, the picture follows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import words
from ..errors import NotFiniteError
from ..pictures.render.escape import printable
from ..pictures.runs.history import History
from ..pictures.runs.page import run_page
from .map import map as map_of
from .picture import Map
from .run_birth import birth_of
from .run_made import watched
from .show import step as step_of

if TYPE_CHECKING:
    from ..widget.data_widgets import RunWidget
    from ..widget.widget import StepperWidget


class Now(NamedTuple):
    """What a condition of `keep` is asked about: the step, and its loss (nan if it is unknown)."""

    step: int
    loss: float


class Loop:
    """A training loop whose model is watched.

    The watch holds it, and PyTorch's hooks hold the watch. So it holds no model: a model that nobody has any more goes.

    Attributes:
        name, kind, theme: the model's variable and class, and how the run is shown.
        history: the numbers.
        watch: what fills it.
        stopped: the error that stopped the loop, or "".
        advice: ends that error.
    """

    def __init__(self, model: Any, name: str, keep: int, stop: bool, theme: str) -> None:
        self.name, self.kind, self.theme = name, type(model).__name__, theme
        self.stopped, self.advice = "", words.RUN_GO_ON
        self.history, self.watch, self._shared = watched(model, name, keep)
        self.watch.before = self._before_step
        self.watch.after = self._follow
        self._is_to_stop = stop
        self._shown: RunWidget | None = None
        self._wanted = list[Callable[[Now], Any]]()

    def close(self) -> None:
        """Stop watching."""
        self.watch.close()
        if self._shared is not None:
            self._shared.end()
        self._refresh()

    def _refresh(self) -> None:
        if self._shown is not None:
            self._shown.refresh()

    def flushed(self) -> History:
        """The numbers, up to now."""
        self.watch.flush()
        if self._shared is not None:
            self._shared.listen()
        return self.history

    # -- before a step ------------------------------------------------------------------------------------------------

    def keep(self, wanted: Callable[[Now], Any]) -> None:
        """Keep the steps that meet a condition."""
        self._wanted.append(wanted)

    def _before_step(self, bad: list[int]) -> None:
        """A step is about to move parameters; `bad` has the rows with a gradient that is not finite."""
        try:
            self._keep_if_wanted()
        except Exception as error:  # the loop goes on
            self._wanted = []
            warnings.warn(f"keep() has ended at step {self.watch.count}: {type(error).__name__}: {error}", stacklevel=2)
        if bad and self._is_to_stop:
            self._stop(bad)

    def _keep_if_wanted(self) -> None:
        if not self._wanted:
            return
        now = Now(self.watch.count, self.watch.loss)
        if any(wanted(now) for wanted in self._wanted):
            self.watch.moments.keep(self.watch.moment())

    def _stop(self, bad: list[int]) -> None:
        paths = [self.history.rows[k].path for k in bad]
        step = self.watch.count
        more = words.RUN_MORE_BAD.format(count=len(bad) - 1) if len(bad) > 1 else ""
        said = {"step": step, "name": paths[0], "what": self.watch.what(bad[0]), "more": more, "why": self._birth(paths[0])}
        moved = words.RUN_HAS_MOVED if self.watch.has_moved() else words.RUN_NOT_MOVED
        self.stopped = printable(words.RUN_BROKE.format(**said, moved=moved, advice=self.advice))
        self.history.mark(step, "stopped", self.stopped)
        self._refresh()
        raise NotFiniteError(self.stopped)

    def _birth(self, path: str) -> str:
        """Where the first nan or inf of the last pass was born, in a sentence."""
        try:
            model = self.watch.model()
            with self.watch.opened(self._moment(None)) as again:
                return birth_of(again, path, dict(model.named_parameters())[path])
        except Exception as error:
            return words.RUN_UNKNOWN_BIRTH.format(why=f"{type(error).__name__}: {error}")

    # -- a pass again -------------------------------------------------------------------------------------------------

    @contextmanager
    def opened(self, k: int | None) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
        """In a block: the result of a pass that runs again, recorded, the gradient that arrived, and the leaves by name."""
        with self.watch.opened(self._moment(k)) as again:
            yield again.root, again.gradient, again.leaves

    def _moment(self, k: int | None) -> Any:
        if k is None or k == self.watch.count:
            return self.watch.moment()
        try:
            return self.watch.moments.at(k)
        except KeyError:
            kept = ", ".join(map(str, self.watch.moments.steps)) or "none"
            raise KeyError(f"step {k} was not kept (kept: {kept}); run.keep(every=500) chooses steps beforehand") from None

    def step(self, k: int | None, theme: str, collapse: bool | None) -> StepperWidget:
        """A stepper through a pass."""
        with self.opened(k) as (result, gradient, leaves):
            return step_of(result, gradient, params=leaves, theme=theme, collapse=collapse)

    def map(self, k: int | None, theme: str) -> Map:
        """The map of a pass."""
        stepper = self.step(k, "auto", None).stepper
        stepper.finish()
        return map_of(stepper, theme=theme)

    # -- the picture --------------------------------------------------------------------------------------------------

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page that shows the run; theme "auto": that of the run."""
        last = [-1] if self.watch.has_pass else []
        opened = [*self.watch.moments.steps, *last]
        is_live, chosen = self.watch.is_on and not self.stopped, self.theme if theme == "auto" else theme
        return run_page(self.flushed(), self.name, self.kind, self.stopped, opened, is_live, chosen)

    def widget(self) -> RunWidget:
        """The live picture."""
        if self._shown is None:
            from ..widget.data_widgets import RunWidget

            self._shown = RunWidget(self.page, self._open_in_page)
        return self._shown

    def _open_in_page(self, step: int, theme: str) -> tuple[str, str]:
        k = None if step < 0 else step
        shown = self.map(k, theme if self.theme == "auto" else self.theme)
        return shown.svg, words.RUN_OPENED_LAST if k is None else words.RUN_OPENED.format(step=k)

    def _follow(self) -> None:
        """A step is complete."""
        if self._shown is not None:
            self._shown.follow()
