"""The verbs that set and remove stops, and pins."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

from ..graph.model import Node, Tensor
from ..graph.text import label_of
from ..graph.trace import Step
from .mover import Mover
from .stops import PLACED, SINGLE, Stop
from .targets import node_of, tensor_of


class Stopping(Mover):
    """A cursor that can be told where to stop."""

    def stop_at(self, node: Any) -> None:
        """Set a breakpoint: `run` stops before this node. `node` is as for `run_to`."""
        self.stops.add(self._placed("node", node_of(self.document, self._in_document(node))))

    def stop_on(
        self,
        *,
        nan: bool | None = None,
        zero: bool | None = None,
        sign: bool | None = None,
        above: float | None = None,
        below: float | None = None,
        grad: Any = None,
        arrival: tuple[Any, int] | None = None,
    ) -> None:
        """Let `run` stop after a step in which something happens to a gradient. False turns it off.

        Args:
            nan: it became nan or inf.
            zero: it became all zero.
            sign: it left a node with another sign than it arrived with. An array has the sign of its mean.
            above: its norm became larger than this.
            below: its norm became smaller than this.
            grad: it arrived at this tensor, given as itself, by name or by id.
            arrival: (tensor, k): it is the k-th that was sent to this tensor, which is used in several places.

        Raises:
            ValueError: a norm is negative or no number, k is not positive, or the tensor does not exist.
        """
        for kind, value in {"nan": nan, "zero": zero, "sign": sign, "above": above, "below": below}.items():
            if value is False:
                self.stops.remove(kind)
            elif value is not None:
                self.stops.add(Stop(kind, number=0 if value is True else _norm(kind, value)))
        if grad is not None:
            self.stops.add(self._placed("grad", self._end(grad)))
        if arrival is not None:
            tensor, number = arrival
            self.stops.add(self._placed("arrival", self._end(tensor), _count(number)))

    def stop_when(self, condition: Callable[[Step], Any]) -> None:
        """Let `run` stop after a step for which ``condition(step)`` is true. Recorded steps are checked now, later ones when
        they run.
        """
        self.stops.condition = condition
        self.stops.add(Stop("condition", name=getattr(condition, "__name__", type(condition).__name__)))
        self._steps[:] = map(self.stops.asked, self._steps)
        self._trace = None

    def clear_stops(self, stop: Stop | None = None) -> None:
        """Remove one of `stops`, or all."""
        self.stops.become([s for s in self.stops if stop is not None and s != stop])

    def set_stops(self, plain: Any) -> None:
        """Take over the stops that a page has set, as dicts; unknown ones are ignored."""
        if isinstance(plain, list | tuple):
            self.stops.become(stop for p in plain if isinstance(p, dict) and (stop := self._read(p)) is not None)

    def _read(self, plain: dict[str, Any]) -> Stop | None:
        kind, node, number = plain.get("kind"), plain.get("node", ""), plain.get("number", 0)
        if kind in PLACED and any(n.id == node for n in self.document.nodes) and isinstance(number, int):
            return self._placed(kind, node, number)
        if kind == "condition":
            return next((s for s in self.stops if s.kind == kind), None)
        is_number = isinstance(number, int | float) and 0 <= number < math.inf
        return Stop(kind, number=number) if kind in SINGLE and is_number else None

    def _placed(self, kind: str, node: str, number: int = 0) -> Stop:
        """A stop of a node, with a name: a breakpoint has the node's, others that of the tensor."""
        known = next(n for n in self.document.nodes if n.id == node)
        of = known.variable or next((t.id for t in self.document.tensors if t.grad_fn == node), node)
        return Stop(kind, node, number, label_of(self.document, node if kind == "node" else of))

    def _end(self, tensor: Any) -> str:
        """The node at which the gradient of a tensor arrives."""
        return node_of(self.document, tensor_of(self.document, self._in_document(tensor)))

    def id_of(self, what: Any) -> Any:
        """The id of a tensor or node, given as itself or as a variable's name; other values are returned unchanged."""
        if not isinstance(what, str):
            return getattr(what, "id", None) or self._live.id_of(what) or what
        return next((t.id for t in self.document.tensors if t.name == what), what)

    def _in_document(self, what: Any) -> Any:
        """A live tensor or node as the document's; other values are returned unchanged."""
        id = None if isinstance(what, str) else self._live.id_of(what)
        found: list[Tensor | Node] = [t for t in self.document.tensors if t.id == id]
        found += [n for n in self.document.nodes if n.id == id]
        return found[0] if found else what


def _norm(kind: str, value: Any) -> float:
    number = float(value) if isinstance(value, Real) else math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"stop_on({kind}=...) takes a norm, got {value!r:.60}")
    return number


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"stop_on(arrival=(tensor, k)) takes a count from 1, got {value!r:.60}")
    return value
