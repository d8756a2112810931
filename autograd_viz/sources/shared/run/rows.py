"""The rows of a run: the parameters of a model and the outputs of its modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

ELSEWHERE = "elsewhere"  # a mark: an optimizer has stepped in a thread that is not watched


class Rows(NamedTuple):
    """What is measured.

    Attributes:
        named: path, kind, name and number of elements of each row, in the order of the model: each module's output, then its
            own parameters.
        order: the column of each row. Parameters have the first columns, so that one op writes them all.
        parameters: the parameters by column; a shared one once.
        of_parameter: the column of a parameter.
        of_module: the column of a module's output; a shared module has one. Modules are not held: a run ends with its model.
    """

    named: list[tuple[str, str, str, int]]
    order: list[int]
    parameters: list[Any]
    of_parameter: dict[Any, int]
    of_module: WeakKeyDictionary[Any, int]

    def at(self, column: int) -> int:
        """The row of a column."""
        return self.order.index(column)


def rows_of(model: Any, size: Callable[[Any], int]) -> Rows:
    """The rows of a model of PyTorch or of ours.

    Args:
        model: a module.
        size: the number of elements of a parameter that are here.

    Raises:
        ValueError: it has no parameter that requires grad.
    """
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
