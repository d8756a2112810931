"""A run that is watched: what `watch(model)` gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..pictures.files.cell import cell_bundle
from ..pictures.render import theme_named
from ..pictures.render.escape import printable
from ..pictures.runs.history import History
from ..pictures.runs.odd import odd_in
from ..pictures.runs.paint import Painter
from ..pictures.runs.table import table_of, totals_of
from ..runtime.uncopied import refuse
from .options import check_options
from .paged import Columns, as_frame, show_live
from .picture import Map
from .run_loop import Loop, Now

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..widget.data_widgets import RunWidget
    from ..widget.widget import StepperWidget


class Run:
    """The numbers of a training run, its picture, and its passes.

    Attributes:
        model: the model.
        history: the numbers.
    """

    def __init__(self, model: Any, name: str, keep: int, stop: bool, theme: str, probe: Any = None) -> None:
        self.model, self._loop = model, Loop(model, name, keep, stop, theme, probe)
        self.history, self._watch = self._loop.history, self._loop.watch

    @property
    def stopped(self) -> str:
        """The error that stopped the run, or ""."""
        return self._loop.stopped

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A model that has its run as an attribute can be pickled and copied: the run stays here, and the copy has None.

        Raises:
            TypeError: it is not such a run.
        """
        if not any(_is_in(value, self) for module in self.model.modules() for value in vars(module).values()):
            refuse("run")
        return type(None), ()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching. The numbers stay, and so do the steps that `keep` has chosen."""
        self._loop.close()

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
        check_options(every=every, when=when)
        self._loop.keep(when if when is not None else lambda now: now.step % (every or 1) == 0)

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
        check_options(k=k, theme=theme, collapse=collapse)
        return self._loop.step(k, theme, collapse)

    def map(self, k: int | None = None, *, theme: str = "auto") -> Map:
        """The map of a pass, with its gradients. `k` and the errors are those of `step`."""
        check_options(k=k, theme=theme)
        return self._loop.map(k, theme)

    def frame(self) -> DataFrame | Columns:
        """The numbers of gradients and updates: a pandas.DataFrame, or without pandas a dictionary of lists.

        One line for each parameter or module output and step: step, steps, path, kind, norm, rms, largest, zeros, update, bad.
        The last 512 steps are whole. Older ones are joined, and their numbers are means.
        """
        return as_frame(table_of(self.flushed()))

    def totals(self) -> DataFrame | Columns:
        """By step: loss, clip (the factor of `clip_grad_norm_`), rate, passes (more than 1: accumulated), probe, seconds.

        `probe` is the loss of the probe batch before the step.
        """
        return as_frame(totals_of(self.flushed()))

    def odd(self) -> list[str]:
        """What is odd, the worst first, in one sentence each; on rank 0 of a job first what is odd between the ranks."""
        history = self.flushed()
        between = [] if history.ranks is None else [said for _, said in history.ranks.sentences(history.rows)]
        return [*between, *(o.sentence for o in odd_in(history))]

    def flushed(self) -> History:
        """The numbers, up to now."""
        return self._loop.flushed()

    def ranks(self) -> DataFrame | Columns:
        """On rank 0 of a job, by 64 steps: least, mean and most of each norm and of the loss over the ranks, and whose it is.

        Empty in a program that is no job, and on other ranks.
        """
        ranks = self.flushed().ranks
        return as_frame({} if ranks is None else ranks.table(self.history.rows))

    @property
    def svg(self) -> str:
        """The picture: modules by steps, the loss above."""
        return self.svg_in("light" if self._loop.theme == "auto" else self._loop.theme)

    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""
        return Painter(self.flushed(), theme_named(theme), self._loop.name, self._loop.kind, self.stopped).svg()

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page that shows the run; theme "auto": that of the run."""
        return self._loop.page(theme)

    def widget(self) -> RunWidget:
        """The live picture: it follows the loop, and opens steps."""
        return self._loop.widget()

    def _ipython_display_(self) -> None:
        widget = self.widget()
        show_live(widget, repr(self), cell_bundle(self.svg, repr(self), widget.mark))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        state = f"stopped: {self.stopped}" if self.stopped else "watched" if self._watch.is_on else "closed"
        state += ", trained in another thread" if self.history.is_elsewhere else ""
        return printable(f"<Run of {self._loop.kind}: {self._watch.count:,} steps, {state}>")


def _is_in(value: Any, run: Run) -> bool:
    """Is an attribute the run, or a list or dictionary with it?"""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else (value,)
    return any(v is run for v in inside)


def run_of(model: Any, variables: Mapping[str, Any], keep: int, stop: bool, theme: str, probe: Any = None) -> Run:
    """Watch a model from now on; errors as for `watch`."""
    check_options(theme=theme, stop=stop)
    name = next((name for name, value in variables.items() if value is model), "model")
    return Run(model, name, keep, stop, theme, probe)
