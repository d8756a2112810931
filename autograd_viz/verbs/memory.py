"""The verb memory: what autograd holds for a loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import words
from ..answers.causes.answer import formed
from ..answers.checks.ask import BY_CODE
from ..answers.sentences.text import size_text
from ..graph.storages import ACTIVATION, INPUT, PARAMETER
from ..graph.text import shape_text
from ..pictures.files.cell import cell_bundle
from ..pictures.memory.facts import Facts
from ..pictures.memory.page import page_html
from ..pictures.memory.paint import paint
from ..pictures.memory.report import Record, Report
from ..pictures.render import printable, theme_named
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.asking import unseen
from ..sources.shared.names import Names, callers_names, modules_among
from ..stepper.sentences import with_advice
from ..twin.core.backward.saved import FREED_MESSAGE
from .options import bytes_of, check_options
from .questions import question_of
from .results import Framed, Records, as_frame
from .show import graph_of

if TYPE_CHECKING:
    from ..sources.anything import LiveGraph


class Memory:
    """What autograd holds for a tensor; a notebook cell that ends in one shows it.

    Attributes:
        bytes: all blocks of memory that saved tensors lie in, each counted once.
        activations: bytes of what the forward pass made.
        parameters: bytes of parameters and buffers, which their modules hold anyway.
        inputs: bytes of what the program was given, or a variable holds.
        peak: bytes at the highest call of the backward pass: activations, gradients, and new grads of leaves.
        total: the same with what stays: parameters and buffers, inputs, optimizer state, grads of earlier passes.
        plan: with a budget, the modules to checkpoint (`paths`), their `peak` in all, and what they compute again: `work` in
            floating-point operations, `share` of the forward pass. `fits` is False if no plan is within the budget.
        code: the plan as code to paste.
        kept: a sentence for each variable that keeps graphs of earlier passes, with the line that fills it.
        svg: the picture.
    """

    def __init__(self, report: Report, theme: str) -> None:
        self.report, self.theme = report, theme
        self.bytes = report.facts.bytes()
        self.activations, self.parameters, self.inputs = map(report.facts.bytes, (ACTIVATION, PARAMETER, INPUT))
        self.peak = 0 if report.peak is None else report.peak.bytes
        self.total, self.plan, self.code, self.kept = report.total, report.plan, report.code, report.kept

    @property
    def svg(self) -> str:
        """The picture."""
        return self.svg_in("light" if self.theme == "auto" else self.theme)

    def svg_in(self, theme: str) -> str:
        """The picture in a theme."""
        return paint(self.report, theme_named(theme))

    def table(self, by: str = "tensor") -> list[Record]:
        """Records, the largest first. `by`: "tensor": each block, at the first op that saved it. "module" (with all that is
        inside it), "op", "line": their sums. "checkpoint": what one around each module would save. "call": the curve of the
        backward pass. UnknownChoiceError: there is no such table.
        """
        return self.report.table(by)

    def largest(self, count: int = 5) -> list[str]:
        """A line for each of the largest blocks: its size, what it is, and which line has saved it."""
        found = []
        for block in self.table()[:count]:
            place = f", {Path(block['file']).name}:{block['line']}" if block["line"] else ""
            found.append(f"  {size_text(block['bytes'])}  {block['name']} {shape_text(block['shape'])} {block['dtype']}{place}")
        return found

    def frame(self, by: str = "tensor") -> Framed[Records]:
        """The same as a pandas.DataFrame; as records if pandas is not installed."""
        return as_frame(self.table(by))

    def to_dict(self) -> Record:
        """All sums and tables."""
        return self.report.everything()

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), allow_nan=False) + "\n"

    def to_html(self, theme: str = "auto") -> str:
        """The picture and its tables as a page."""
        return page_html(self.report, theme)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return cell_bundle(self.svg, repr(self))

    def __repr__(self) -> str:
        return printable(f"<Memory: {self.report}>")


def memory(tensor: Any, *, budget: int | str | None = None, params: Any = None, theme: str = "auto") -> Memory:
    """Measure what autograd holds for a tensor: each saved tensor once, by its block of memory. No pass runs.

    Works for any graph that is not freed, also on the devices "meta" and fake tensors. With `record` the lines and modules are
    known; else modules are guessed.

    Args:
        tensor: the result of a forward pass, of autograd_viz or of PyTorch.
        budget: bytes, or a size such as "8 GB", that the pass may take with parameters, inputs and the state of an optimizer
            that a variable holds. The modules to checkpoint are chosen so that it does, at the least recomputation.
        params: as for `show`.
        theme: "light", "dark", "waite", or "auto": a page follows the reader's system, and a picture is light.

    Raises:
        NotDrawableError: it is not a tensor.
        RuntimeError: it does not require grad, or its saved tensors were freed; the message is PyTorch's.
        UnknownChoiceError: no such theme.
        ValueError: `budget` is not a size.

    Example:
        >>> model = av.nn.Sequential(av.nn.Linear(4, 4), av.nn.ReLU())
        >>> loss = model(av.ones(1, 4)).sum()
        >>> av.memory(loss)
        <Memory: 32 B for 2 saved tensors: 16 B activations, 16 B inputs; peak 96 B at AddmmBackward0 (0); 192 B ...>
    """
    check_options(theme=theme, budget=budget)
    limit = None if budget is None else bytes_of(budget, "budget")
    names = callers_names()
    with collector_waits():
        graph = graph_of(tensor, names, params, is_outline=True, opens=False)
        with unseen(tensor):
            has_pass = tensor.requires_grad
        if not has_pass:
            with with_advice(tensor):
                raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
        if graph.document.is_freed:
            raise RuntimeError(f"{FREED_MESSAGE.removesuffix('.')}; call av.memory(tensor) before backward()")
        known = Names(names, anything.named(params))
        facts, kept = Facts(graph.document, anything.memory_of(graph, tensor, known)), _kept(tensor, names)
        return Memory(Report(facts, limit, _model_among(known, graph), anything.is_torch(tensor), kept), theme)


def _kept(tensor: Any, names: dict[str, Any]) -> list[str]:
    """Which variables keep graphs of earlier passes, as check AV601 says it. PyTorch's passes are known under `watch`."""
    with unseen(tensor):
        causes = BY_CODE["AV601"].ask(question_of(tensor, tensor, names))
        return [formed("CAUSE", c, words.THE_LOSS) for c in causes if c.kind in ("kept_graphs", "kept_unused")]


def _model_among(known: Names, graph: LiveGraph) -> str:
    """The variable of the module whose parts the document names; "model" if none is known."""
    parts = [m.path for m in graph.document.modules if m.path]
    for name, module in modules_among(known):
        if name.isidentifier() and {*parts} <= {path for path, _ in module.named_modules()}:
            return name
    return "model"
