"""The rows of a run, and what was measured in some steps, until the host takes all of it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from time import perf_counter
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ....graph.passes import STATISTICS, TOTALS

BLOCK = 64  # steps


class Table:
    """Numbers of the current step and of complete steps that wait."""

    def __init__(self, order: Sequence[int], floats: Callable[[Sequence[Any]], Sequence[Any]] = list) -> None:
        self._row: list[int] = np.argsort(order).tolist()
        self._floats = floats
        self._parts = list[tuple[int, str, Sequence[int], Any]]()
        self._singles = dict[tuple[int, str, int], Any]()
        self._totals = list[Sequence[Any]]()

    def put(self, name: str, columns: Sequence[int], numbers: Any) -> None:
        """Numbers of a statistic in some columns: a list of floats, or one tensor."""
        self._parts.append((len(self._totals), name, columns, numbers))

    def put_one(self, name: str, column: int, number: Any) -> None:
        """A number of a statistic."""
        self._singles[len(self._totals), name, column] = number

    def one(self, name: str, column: int) -> Any:
        """What `put_one` was given in this step; None if nothing."""
        return self._singles.get((len(self._totals), name, column))

    def end(self, totals: Sequence[Any]) -> int:
        """The step is complete. Its `TOTALS`; None was not measured. Returns how many steps wait."""
        self._totals.append(totals)
        return len(self._totals)

    def take(self) -> tuple[Any, Any]:
        """The complete steps: values and whether they were measured. All rows of each statistic in turn, then the totals."""
        steps, first = len(self._totals), len(STATISTICS) * len(self._row)  # the first column of totals
        values, seen = np.zeros((steps, first + len(TOTALS)), np.float32), np.zeros((steps, first + len(TOTALS)), bool)
        with np.errstate(over="ignore"):
            for rows, columns, numbers in self._taken(steps):
                values[rows, columns] = np.array(self._floats(numbers), float).reshape(len(numbers), -1)
                seen[rows, columns] = True
            totals = [n for step in self._totals for n in step]
            values[:, first:] = np.array(self._floats(totals), float).reshape(steps, len(TOTALS))
            seen[:, first:] = np.array([n is not None for n in totals]).reshape(steps, len(TOTALS))
        self._parts = [(0, *part[1:]) for part in self._parts if part[0] == steps]
        self._singles = {(0, *cell[1:]): n for cell, n in self._singles.items() if cell[0] == steps}
        self._totals = []
        return values, seen

    def _taken(self, steps: int) -> Iterator[tuple[Any, Any, Sequence[Any]]]:
        parts = sorted((part for part in self._parts if part[0] < steps), key=itemgetter(1))
        for (name, columns), group in groupby(parts, itemgetter(1, 2)):
            ks, _, _, numbers = zip(*group, strict=True)
            yield np.array(ks)[:, None], [self._place(name, column) for column in columns], numbers
        cells = [cell for cell in self._singles if cell[0] < steps]
        if cells:
            at = np.array([(k, self._place(name, column)) for k, name, column in cells])
            yield at[:, :1], at[:, 1:], [self._singles[cell] for cell in cells]

    def _place(self, name: str, column: int) -> int:
        return STATISTICS.index(name) * len(self._row) + self._row[column]


ELSEWHERE = "elsewhere"  # a mark: an optimizer has stepped in a thread that is not watched


class Rows(NamedTuple):
    """What is measured: each module's output, then its own parameters, in the order of the model."""

    named: list[tuple[str, str, str, int]]  # path, kind, name and number of elements of each row
    order: list[int]  # the column of each row; parameters have the first columns, so that one op writes them all
    parameters: list[Any]  # by column; a shared one once
    of_parameter: dict[Any, int]  # the column of a parameter
    of_module: WeakKeyDictionary[Any, int]  # of a module's output; modules are not held: a run ends with its model

    def at(self, column: int) -> int:
        """The row of a column."""
        return self.order.index(column)


def rows_of(model: Any, size: Callable[[Any], int]) -> Rows:
    """The rows of a model of PyTorch or of ours. ValueError: it has no parameter that requires grad."""
    named, of_parameter, of_module = list[tuple[str, str, str, int]](), dict[Any, int](), WeakKeyDictionary[Any, int]()
    places = list[tuple[bool, int]]()
    for path, module in model.named_modules():
        places.append((True, len(of_module)))
        named.append((path, "output", type(module).__name__, 0))
        of_module[module] = len(of_module)
        for name, p in module._parameters.items():
            if p is not None and p.requires_grad and p not in of_parameter:
                places.append((False, len(of_parameter)))
                named.append((f"{path}.{name}".lstrip("."), "parameter", name, size(p)))
                of_parameter[p] = len(of_parameter)
    count = len(of_parameter)
    if not count:
        raise ValueError("watch(model): no parameter of this model requires grad, so no gradient will arrive")
    order = [count + k if is_output else k for is_output, k in places]
    return Rows(named, order, list(of_parameter), of_parameter, WeakKeyDictionary({m: count + k for m, k in of_module.items()}))


class Sink(Protocol):
    """Where the numbers go."""

    def add(self, values: Any, seen: Any) -> None:
        """More steps, as `Table.take` gives them."""

    def mark(self, step: int, kind: str, text: str = "") -> None:
        """Something happened at a step."""


SETTING = "setting"  # a mark: "name=value", as it was when the run began
PLAIN = (bool, int, float, str, tuple, list)


def note_settings(sink: Sink, optimizer: Any, place: int, parameters: Sequence[Any], inputs: Iterable[Any], cast: str) -> None:
    """Mark with what a model is trained, once, before an optimizer's first step: a difference of two runs often begins here.
    `place`: how many optimizers have stepped before. `inputs`: the tensors given to the model. `cast`: the dtype of autocast.
    """
    which = f" {place + 1}" if place else ""
    sink.mark(0, SETTING, f"optimizer{which}={type(optimizer).__name__}")
    for name in optimizer.param_groups[0]:
        values = [group.get(name) for group in optimizer.param_groups]
        if name not in ("params", "param_names") and all(isinstance(v, PLAIN) for v in values):
            sink.mark(0, SETTING, f"{name}{which}={', '.join(dict.fromkeys(map(str, values)))}")
    if not place:
        sink.mark(0, SETTING, f"parameters={sum(p.numel() for p in parameters):,}")
        dtypes = ", ".join(sorted({str(p.dtype).rpartition(".")[2] for p in parameters}))
        sink.mark(0, SETTING, f"dtype={dtypes}{f' under autocast to {cast}' * bool(cast)}")
        if shapes := ", ".join(str(tuple(t.shape)) for t in inputs):
            sink.mark(0, SETTING, f"input={shapes}")


class Totals:
    """The `TOTALS` of the current step, which ends when the next pass begins: all optimizers that step before belong to it."""

    def __init__(self) -> None:
        self._rates = dict[int, float]()  # by place among the optimizers of a step
        self._begins(perf_counter())

    def _begins(self, now: float) -> None:
        self.optimizers, self.passes, self._is_reached, self._began = list[Any](), 0, False, now
        # None if unknown; a tensor may still be on its device; `probe` is the loss of the probe batch
        self.loss: Any = None
        self.clip: Any = None
        self.probe: float | None = None
        self.rate: float | None = None

    def counts(self, is_own: bool) -> bool:
        """A pass has run. Does it count? One that has not reached the model counts only until one has."""
        if self._is_reached and not is_own:
            return False
        if is_own and not self._is_reached:
            self.passes, self.loss, self._is_reached = 0, None, True
        self.passes += 1
        return True

    def note_rate(self, optimizer: Any) -> str:
        """The learning rate of the first group of an optimizer, the last that has stepped. How it has changed, or ""."""
        if (rate := optimizer.param_groups[0].get("lr")) is None:
            return ""
        now, place = float(rate), len(self.optimizers)
        if place == 1:
            self.rate = now
        before, self._rates[place] = self._rates.get(place, now), now
        return f"{before:.3g} → {now:.3g}" if before != now else ""

    def end(self) -> tuple[Any, ...]:
        """The step is complete: its numbers."""
        now = perf_counter()
        numbers = (self.loss, self.clip, self.rate, self.passes, self.probe, now - self._began)
        self._begins(now)
        return numbers
