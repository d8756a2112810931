"""The forward ops of a compiled region, as far as they are known: from its forward graph, or from its backward graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from . import compiled

SUM = "GradientSum"  # of gradients that leave the region for one tensor
PASSING = "Passing"  # an op that is not known; it passes a gradient to several inputs as it is
ADDS = {"add", "add_"}  # ops that do so
TURNING = {"t", "transpose"}  # the rule of such an op is the op itself


class ForwardOps:
    """The known forward ops of a region, by their sequence numbers."""

    def __init__(self, node: Any, graph: Iterable[Any]) -> None:
        whole = compiled.forward_graph(node)
        self._whole = [] if whole is None else [n for n in whole.graph.nodes if n.op == "call_function"]
        known = (*self._whole, *(n for n in graph if compiled.is_forward(n)))
        # `detach` has no rule; it has the number of an op whose result is saved
        self._known = [n for n in known if compiled.number_of(n) is not None and compiled.op_name(n) not in ("", "detach")]
        self._names: dict[Any, str] = {}  # by number and function of the user's, and by number
        for n in self._known:
            self._names.setdefault((compiled.number_of(n), compiled.function_name(n)), compiled.op_name(n))
            self._names.setdefault(compiled.number_of(n), compiled.op_name(n))

    @property
    def is_whole(self) -> bool:
        """Are all forward ops known?"""
        return bool(self._whole)

    def title(self, ops: Sequence[Any]) -> str:
        """The name of the forward op of some backward ops; else of the user's function around it."""
        number = next((k for n in ops if (k := compiled.number_of(n)) is not None), None)
        function = next((f for n in ops if (f := compiled.function_name(n))), "")
        turned = compiled.op_name(ops[0]) if len(ops) == 1 else ""
        name = self._names.get((number, function)) or (turned if turned in TURNING else "")
        name = name or self._names.get(number) or function or compiled.own_name(ops[0])
        return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))

    def adds(self, after: float, before: float) -> list[Any]:
        """The additions between two numbers, each once."""
        adds = {compiled.number_of(n) or 0: n for n in self._known if compiled.op_name(n) in ADDS}
        return [n for number, n in adds.items() if after < number < before]

    def results(self) -> dict[str, int]:
        """What is certainly the result of an op: by its name in the graph, the number of the op, which has no other part."""
        count = Counter(map(compiled.number_of, self._whole))
        return {n.name: k for n in self._whole if (k := compiled.number_of(n)) is not None and count[k] == 1}
