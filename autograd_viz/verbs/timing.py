"""The verb time: where a PyTorch pass spends its time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import words
from ..errors import NotDrawableError
from ..pictures.render import printable, theme_named
from ..pictures.times.picture import picture
from ..pictures.times.report import Record, Report, speedscope_json
from ..runtime.collector import collector_waits
from ..runtime.pytorch import pytorch
from ..sources import anything
from ..sources.shared.names import Names, callers_names, modules_among
from ..stepper.sentences import with_advice
from .diff_sides import variables_of
from .options import check_options
from .results import Framed, Records, Result, as_frame
from .show import graph_of


class Time(Result):
    """Where a pass spends its time; a notebook cell that ends in one shows it on the map, `svg`. `seconds`: of a pass, the
    median: forward and backward, or backward alone.
    """

    def __init__(self, report: Report, theme: str) -> None:
        super().__init__(theme)
        self.report, self.seconds = report, report.whole

    @property
    def title(self) -> str:
        """What was measured."""
        return words.TIME_TITLE.format(name=next((t.name for t in self.report.document.tensors if t.name == "loss"), "f"))

    @property
    def sentences(self) -> list[str]:
        """How long, where most, and what the parts leave out."""
        return self.report.sentences()

    def page(self, theme: str = "auto") -> dict[str, Any]:
        """The data of a page, in a theme or in both."""
        return {**super().page(theme), "help": words.TIME_HELP}

    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""
        return picture(self.report, theme_named(theme))

    def table(self, by: str = "module") -> list[Record]:
        """Records, the longest first: seconds (medians), their share of a pass, forward, backward, spread (between the first
        and the third quartile), floating-point operations of `torch.utils.flop_counter`. `by`: "module" (with all that is
        inside it), "op", "line", or "node": each op with its backward node. UnknownChoiceError: there is no such table.
        """
        return self.report.table(by)

    def tables(self) -> Sequence[tuple[str, Records]]:
        """By module, op and line, for a page."""
        titles = {"module": words.BY_MODULE, "op": words.TIME_OPS, "line": words.BY_LINE}
        return [(title, self.table(by)) for by, title in titles.items()]

    def frame(self, by: str = "module") -> Framed[Records]:
        """The same as a pandas.DataFrame; as records if pandas is not installed."""
        return as_frame(self.table(by))

    def to_json(self) -> str:
        """All tables, and the passes."""
        return json.dumps(self.report.everything(), allow_nan=False) + "\n"

    def to_speedscope(self) -> str:
        """A flame chart for https://www.speedscope.app; `save` writes it as .speedscope.json."""
        return speedscope_json(self.report, self.title)

    def __repr__(self) -> str:
        return printable(f"<Time: {' '.join(self.sentences)}>")


def time(what: Any, *, params: Any = None, theme: str = "auto") -> Time:
    """Time a PyTorch pass by module, op and line: several passes, the median and its spread, and floating-point operations.

    Passes of which only the whole is timed take turns with passes whose parts are timed. On a GPU, events in its stream tell
    the time. No grad is written, and no optimizer steps; random numbers and buffers are as before. Your hooks run.

    Args:
        what: a function that takes nothing and returns a loss: it is called 8 to 42 times, for about a second. Or a loss, whose
            forward pass has run: its backward pass alone is timed.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto": a page follows the reader's system, and a picture is light.

    Raises:
        NotDrawableError: it is no loss of PyTorch, and no function that returns one.
        RuntimeError: ``backward()`` would fail (the message is PyTorch's), or the function runs other ops each time.
        UnknownChoiceError: no such theme.

    Example:
        >>> import torch
        >>> model, x = torch.nn.Linear(512, 512), torch.ones(64, 512)
        >>> t = av.time(lambda: model(x).square().mean())
        >>> t
        <Time: Forward ..., backward ...: median of ... passes on cpu. ...>
        >>> av.save(t, "model.speedscope.json")
    """
    check_options(theme=theme)
    names = Names(callers_names(), anything.named(params))
    if anything.is_torch(what):
        from ..sources.pytorch.timing.measure import time_backward

        with collector_waits(), with_advice(what):
            graph: Any = graph_of(what, names, params, is_outline=True)
            return Time(Report(graph.document, time_backward(what, graph)), theme)
    is_module = callable(getattr(type(what), "named_modules", None))  # it needs inputs
    if anything.is_drawable(what) or is_module or not callable(what) or pytorch() is None:
        raise NotDrawableError.instead_of("time(f) takes a loss of PyTorch, or a function that returns one", what)
    from ..sources.pytorch.timing.measure import time_function

    own = {**names, **variables_of(what)}
    modules = [m for _, m in modules_among(Names(own, names.chosen)) if any(map(anything.is_torch, m.parameters()))]
    used = [m for _, m in modules_among(variables_of(what)) if any(map(anything.is_torch, m.parameters()))]
    model = used[0] if len(used) == 1 else params if params in modules else None
    with collector_waits():
        timing, document = time_function(what, model, modules, lambda root: graph_of(root, own, params, is_outline=True))
    return Time(Report(document, timing), theme)
