"""What happens while a run goes on: steps are kept, the loop is stopped before nan, the picture follows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import words
from ..answers.causes.answer import sentence
from ..answers.causes.code import place_text
from ..errors import NotFiniteError
from ..pictures.render.escape import printable
from ..pictures.runs.history import History
from ..pictures.runs.page import run_page
from ..sources.asking import users_names
from ..sources.shared.run.results import Again
from ..stepper.stepper import Stepper
from .explain import explain_tensor
from .map import map as map_of
from .picture import Map
from .run_watch import PROBE_EVERY, probe_loss, watch_of
from .show import step as step_of

if TYPE_CHECKING:
    from ..widget.data_widgets import RunWidget
    from ..widget.widget import StepperWidget


BIRTHS = ("born_", "forward_", "nan_of_", "given", "zero_times_")  # kinds of causes that tell one
LATER = ("bad_hook", "bad_since", "bad_written")  # it was made beside the graph


def birth_of(again: Again, path: str, live: Any) -> str:
    """One sentence on a pass that has run again. A parameter, in the program `live`, has nan or inf in its gradient."""
    bad = next(((result, gradient) for result, gradient in again.reached if not bool(result.isfinite().all())), None)
    if bad is not None:
        return _in_forward(again, path, *bad)
    odd = next((gradient for _, gradient in again.reached if not bool(gradient.isfinite().all())), None)
    if odd is not None:
        return _after_model("nan" if bool(odd.isnan().any()) else "inf", path, live)
    return _in_backward(step_of(again.root, again.gradient, params=again.leaves).stepper) or _beside(path, live)


def _after_model(what: str, path: str, live: Any) -> str:
    """The code after the model does not run again. What has recorded the program may know its line."""
    found = explain_tensor(live, None, users_names())
    if found.causes[0].kind.startswith(BIRTHS):
        return words.RUN_AFTER_MODEL_AT.format(cause=sentence(found.causes[0], path))
    advice = "" if found.is_recorded else words.RUN_WATCH_ALL
    return words.RUN_AFTER_MODEL.format(what=what) + advice


def _in_forward(again: Again, path: str, result: Any, gradient: Any) -> str:
    """The model made it, or was given it."""
    result.backward(gradient, retain_graph=True)
    leaf = next(p for p in (again.leaves[path], *again.leaves.values()) if p.grad is not None)
    inputs = {f"input {k}": t for k, t in enumerate(again.inputs)}
    found = explain_tensor(leaf, result, {**again.leaves, **inputs}, is_recorded=False)
    cause = found.causes[0]
    if cause.kind == "given" and cause.said["tensor"] in inputs:
        return words.RUN_BAD_INPUT.format(what=cause.said["what"])
    if cause.kind == "given" and cause.source is None:
        return words.RUN_BAD_CONSTANT.format(what=cause.said["what"])
    return sentence(cause, path) if cause.kind.startswith(BIRTHS) else words.RUN_IN_FORWARD


def _beside(path: str, live: Any) -> str:
    """The pass ran again, and all was finite."""
    found = explain_tensor(live, None, users_names())
    return sentence(found.causes[0], path) if found.causes[0].kind.startswith(LATER) else words.RUN_NOT_AGAIN


def _in_backward(stepper: Stepper) -> str:
    """The step of a backward pass that made the first nan or inf of finite numbers; "" if none has."""
    stepper.stop_on(nan=True)
    stepper.run()
    step = stepper.current
    if stepper.stopped is None or step is None:
        return ""
    node = next(n for n in stepper.document.nodes if n.id == step.node)
    op = next((o for o in stepper.document.ops if o.id == node.op), None)
    line = f" ({place_text(op.source)})" if op is not None and op.source is not None else ""
    return words.RUN_BACKWARD.format(sentence=step.sentence, module=op.module if op is not None else "", line=line)


class Now(NamedTuple):
    """What a condition of `keep` is asked about: the step, and its loss (nan if it is unknown)."""

    step: int
    loss: float


class Loop:
    """A training loop whose model is watched.

    The watch holds it, and PyTorch's hooks hold the watch. So it holds no model: a model that nobody has any more goes.
    `name`, `kind`: the model's variable and class. `stopped`: the error that stopped the loop, or ""; `advice` ends it.
    """

    def __init__(self, model: Any, name: str, keep: int, stop: bool, theme: str, probe: Any) -> None:
        self.name, self.kind, self.theme = name, type(model).__name__, theme
        self.stopped, self.advice = "", words.RUN_GO_ON
        self.history, self.watch, self._shared = watch_of(model, name, keep)
        self.watch.before = self._before_step
        self.watch.after = self._follow
        self._is_to_stop = stop
        self._shown: RunWidget | None = None
        self._wanted = list[Callable[[Now], Any]]()
        self._probe = probe
        if probe is not None:
            try:
                self._measure(model)
            except BaseException:  # nobody has this run
                self.watch.close()
                raise

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

    def keep(self, wanted: Callable[[Now], Any]) -> None:
        """Keep the steps that meet a condition."""
        self._wanted.append(wanted)

    def _before_step(self, bad: list[int]) -> None:
        """A step is about to move parameters; `bad` has the rows with a gradient that is not finite."""
        if self._probe is not None and self.watch.count % PROBE_EVERY == 0:
            self._probe_again()
        try:
            now = Now(self.watch.count, self.watch.loss) if self._wanted else Now(0, 0.0)
            if any(wanted(now) for wanted in self._wanted):
                self.watch.moments.keep(self.watch.moment())
        except Exception as error:  # the loop goes on
            self._wanted = []
            warnings.warn(f"keep() has ended at step {self.watch.count}: {type(error).__name__}: {error}", stacklevel=2)
        if bad and self._is_to_stop:
            self._stop(bad)

    def _probe_again(self) -> None:
        try:
            self.watch.note_probe(self._measure(self.watch.model()))
        except Exception as error:  # the loop goes on
            self._probe = None
            warnings.warn(f"probe= has ended at step {self.watch.count}: {type(error).__name__}: {error}", stacklevel=2)

    def _measure(self, model: Any) -> float:
        with self.watch.aside():
            return probe_loss(self._probe, model)

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

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page that shows the run; theme "auto": that of the run."""
        opened = [*self.watch.moments.steps, *([-1] if self.watch.has_pass else [])]
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
