"""The verb gather: all ranks of a job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import words
from ..errors import NotDrawableError
from ..pictures.jobs.picture import picture
from ..pictures.jobs.report import Plain, Report
from ..pictures.render import printable, theme_named
from ..runtime.collector import collector_waits
from ..sources import anything
from ..sources.shared.names import callers_names
from ..stepper.sentences import with_advice
from .options import check_options
from .results import Framed, Records, Result, as_frame
from .show import graph_of


class Job(Result):
    """What all ranks of a job told; `report` has it by rank."""

    def __init__(self, parts: list[Plain], theme: str) -> None:
        super().__init__(theme)
        self.report = Report(parts)

    @property
    def title(self) -> str:
        """How many ranks."""
        return words.JOB_TITLE.format(ranks=self.report.ranks)

    @property
    def sentences(self) -> list[str]:
        """What is wrong, the worst first; else that nothing is."""
        return self.report.sentences()

    def svg_in(self, theme: str) -> str:
        """The picture in a theme: one map with what all ranks have, and DDP's buckets."""
        return picture(self.report, theme_named(theme))

    def table(self) -> list[dict[str, Any]]:
        """A record for each parameter: the norm of the local gradient on each rank, that of the mean, what is wrong."""
        return self.report.table()

    def tables(self) -> Sequence[tuple[str, Records]]:
        """It, for a page."""
        return ((words.JOB_PARAMETERS, self.table()),)

    def frame(self) -> Framed[Records]:
        """The same as a pandas.DataFrame; as records if pandas is not installed."""
        return as_frame(self.table())

    def to_json(self) -> str:
        """The sentences, the table, and what each rank told."""
        everything = {"sentences": self.sentences, "parameters": self.table(), "ranks": self.report.parts}
        return json.dumps(everything, allow_nan=False) + "\n"

    def __repr__(self) -> str:
        return printable(f"<Job of {self.report.ranks} ranks: {self}>")


def gather(input: Any, *of_the_op: Any, timeout: float = 60.0, params: Any = None, theme: str = "auto") -> Job | None:
    """``gather(loss)``: bring what every rank knows of its pass to rank 0. Call it on every rank, before `backward()`.

    Each rank runs its backward pass, without averaging, and takes it back: no grad changes. The mean over the ranks is computed
    apart. All goes through the store and the process group that are there; nothing opens a port.

    Args:
        input: this rank's loss, of PyTorch. In a pipeline, the result of this rank's stage.
        of_the_op: nothing; the arguments of PyTorch's op of the same name are refused.
        timeout: seconds to wait for another rank.
        params: names for parameters: as for `show`.
        theme: "light", "dark", or "auto": the picture is light.

    Returns:
        on rank 0 a `Job`: a picture, sentences, a table. None on the other ranks.

    Raises:
        RuntimeError: a rank is missing (the message names it), or a rank's pass cannot run.
        TypeError: there are arguments of the op.
        NotDrawableError: it is no tensor of PyTorch.
        UnknownChoiceError: no such theme.

    Example:
        >>> import torch
        >>> w = torch.ones(2, requires_grad=True)
        >>> av.gather((w * w).sum())  # under torchrun, every rank calls it
        <Job of 1 ranks: 1 ranks: each reaches the same 1 parameters, ...>
    """
    if of_the_op:
        raise TypeError("gather(loss) asks the ranks of a job; PyTorch's op of this name is autograd_viz.twin.gather")
    check_options(theme=theme, timeout=timeout)
    if not anything.is_torch(input):
        raise NotDrawableError.instead_of("gather(loss) takes a tensor of PyTorch", input)
    from ..sources.pytorch.ranks.gathering import all_here, part_of, sent

    names = callers_names()
    all_here(timeout)
    with collector_waits(), with_advice(input):
        graph: Any = graph_of(input, names, params, is_outline=True, opens=False)
        part = part_of(graph, input, timeout)
    texts = sent(json.dumps(part), timeout)
    return None if texts is None else Job([json.loads(t) for t in texts], theme)
