"""The verb watch: a training run, whose numbers, picture and passes a `Run` gives; or everything that PyTorch does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from .. import words
from ..pictures.files.cell import cell_bundle
from ..pictures.render import printable, theme_named
from ..pictures.runs.history import History
from ..pictures.runs.odd import odd_in
from ..pictures.runs.paint import Painter
from ..pictures.runs.table import table_of, totals_of
from ..runtime.uncopied import refuse
from ..sources.asking import users_names
from ..sources.programs import each_model
from ..sources.shared.names import callers_names, modules_among
from .options import bytes_of, check_options
from .picture import Map
from .results import Columns, Framed, as_frame, show_in_cell
from .run_loop import Loop, Now
from .show import needing

if TYPE_CHECKING:
    from ..sources.pytorch.recording.watch import Watch
    from ..widget.data_widgets import RunWidget
    from ..widget.widget import StepperWidget


class Run:
    """The numbers of a training run (`history`), its picture, and its passes. `model` is the one that is watched."""

    def __init__(self, model: Any, name: str, keep: int, stop: bool, theme: str, probe: Any = None) -> None:
        self.model, self._loop = model, Loop(model, name, keep, stop, theme, probe)
        self.history, self._watch = self._loop.history, self._loop.watch

    @property
    def stopped(self) -> str:
        """The error that stopped the run, or ""."""
        return self._loop.stopped

    def __reduce_ex__(self, protocol: Any) -> tuple[type[None], tuple[()]]:
        """A model that has its run as an attribute can be pickled and copied: the run stays here, and the copy has None.
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

        `every`: each step that is a multiple of it. `when`: a condition on `step` and `loss`: ``lambda s: s.loss > 10``.
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

        `k`: a step that `keep` has chosen; None: the last pass. `theme`, `collapse`: as for `av.step`. KeyError: the step was
        not kept. RuntimeError: the pass cannot run again; the message says why.
        """
        check_options(k=k, theme=theme, collapse=collapse)
        return self._loop.step(k, theme, collapse)

    def map(self, k: int | None = None, *, theme: str = "auto") -> Map:
        """The map of a pass, with its gradients. `k` and the errors are those of `step`."""
        check_options(k=k, theme=theme)
        return self._loop.map(k, theme)

    def frame(self) -> Framed[Columns]:
        """The numbers of gradients and updates: a pandas.DataFrame, or without pandas a dictionary of lists.

        One line for each parameter or module output and step: step, steps, path, kind, norm, rms, largest, zeros, update, bad.
        The last 512 steps are whole. Older ones are joined, and their numbers are means.
        """
        return as_frame(table_of(self.flushed()))

    def totals(self) -> Framed[Columns]:
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

    def ranks(self) -> Framed[Columns]:
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

    def _display_(self) -> RunWidget:
        """What marimo shows."""
        return self.widget()

    def _ipython_display_(self) -> None:
        show_in_cell(repr(self), self.widget, lambda mark: cell_bundle(self.svg, repr(self), mark))

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


KEEP = "256 MB"


@overload
def watch(model: int | str | None = None, *, keep: int | str = ..., stop: bool = ..., theme: str = ...) -> Watch: ...


@overload
def watch(model: Any, *, keep: int | str = ..., stop: bool = ..., theme: str = ..., probe: Any = ...) -> Run: ...


def watch(
    model: Any = None, *, keep: int | str = KEEP, stop: bool = True, theme: str = "auto", probe: Any = None
) -> Run | Watch:
    """Watch PyTorch programs from now on: a model while it trains, or everything, for `explain`.

    ``w = av.watch(model)`` before a training loop measures each step: the norms of gradients, updates, loss, rates. The loop
    stays unchanged. `w` shows the run as a picture, as a table, and opens its passes.

    ``av.watch()`` records all PyTorch code, so that `explain` knows what ran. A second call returns the same recorder.

    A run that you hold keeps its model alive, also after ``.close()``; one that nobody holds ends with its model. It is not
    pickled. A copy of a model that has it as an attribute has None there.

    Watching does not change results, gradients, random numbers, hooks or errors. ``with av.watch():`` ends with the block;
    ``.close()`` ends it at any time. autograd_viz programs need no recorder.

    Args:
        model: a module of PyTorch or of autograd_viz, or None.
        keep: memory for the last backward pass, so that it can be stepped again. Bytes, or a size such as "256 MB"; 0 keeps
            nothing.
        stop: for a model: raise `NotFiniteError` before a step that would move a weight by nan or inf. A step that a
            GradScaler leaves out is none.
        theme: of the picture of a model: "light", "dark" or "auto".
        probe: for a model: a batch whose loss is measured at every 50th step, so that what changes is the training, not the
            data. A function of the model that returns a loss, ``lambda model: loss_fn(model(x), y)``; or what a model takes
            that returns its loss. It runs on a copy, without gradients and from the same random state;
            the hooks of its modules run there too.

    Returns:
        a `Run` for a model, else a `Watch`.

    Raises:
        MissingLibraryError: PyTorch is not installed.
        ValueError: `keep` is not a size; no parameter of the model requires grad; or one has no numbers (on meta, lazy).
        TypeError: `probe` gives no loss.
        NotDrawableError: `model` is not a module.

    Example:
        >>> model = av.nn.Linear(2, 1)
        >>> optimizer = av.optim.SGD(model.parameters(), lr=0.1)
        >>> with av.watch(model) as run:
        ...     for _ in range(3):
        ...         optimizer.zero_grad()
        ...         model(av.ones(1, 2)).pow(2).sum().backward()
        ...         optimizer.step()
        >>> run
        <Run of Linear: 3 steps, ...>
    """
    if isinstance(model, int | str):  # `keep` was the first argument once
        model, keep = None, model
    check_options(keep=keep)
    size = bytes_of(keep, "keep")
    if model is not None:
        return run_of(model, callers_names(), size, stop, theme, probe)
    with needing("watch() needs PyTorch", "torch"):
        from ..sources.pytorch.recording.watch import watch as torch_watch
    return torch_watch(size)


class NamedRun(NamedTuple):
    """A run, and what its model is called and is."""

    run: Run
    name: str
    kind: str


@contextmanager
def each_run(stop: bool) -> Iterator[list[NamedRun]]:
    """Inside, every model that an optimizer has is watched from its first pass on; gives the runs. `stop`: as for `watch`."""
    runs = list[NamedRun]()

    def begins(model: Any) -> Any:
        name = next((name for name, module in modules_among(users_names()) if module is model), "model")
        try:
            run = run_of(model, {name: model}, bytes_of(KEEP, "keep"), stop, "auto")
        except Exception:  # no parameter requires grad: the program goes on
            return None
        run._loop.advice = words.RUN_GO_ON_COMMAND
        runs.append(NamedRun(run, name, type(model).__name__))
        return run._watch

    try:
        with each_model(begins):
            yield runs
    finally:
        for named in runs:
            with suppress(Exception):  # so that the others are closed, and what was measured is written
                named.run.close()
