"""The rows of a run: the parameters of a model and the outputs of its modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from torch.utils.weak import WeakTensorKeyDictionary

from .run_numbers import own


class Rows(NamedTuple):
    """What is measured.

    Attributes:
        named: path, kind, name and number of elements of each row, in the order of the model: each module's output, then its
            own parameters.
        order: the column of each row. Parameters have the first columns, so that one op writes them all.
        parameters: the parameters by column; a shared one once.
        of_parameter: the column of a parameter.
        of_module: the column of a module's output; a shared module has one.
        device: of the first parameter.
    """

    named: list[tuple[str, str, str, int]]
    order: list[int]
    parameters: list[Any]
    of_parameter: Any
    of_module: dict[Any, int]
    device: Any


def rows_of(model: Any) -> Rows:
    """The rows of a model.

    Raises:
        ValueError: it has no parameter that requires grad.
    """
    named, parameters, of_parameter = list[tuple[str, str, str, int]](), list[Any](), WeakTensorKeyDictionary()
    modules, places = list[Any](), list[tuple[bool, int]]()
    for path, module in model.named_modules():
        places.append((True, len(modules)))
        named.append((path, "output", type(module).__name__, 0))
        modules.append(module)
        for name, p in module._parameters.items():
            if p is not None and p.requires_grad and p not in of_parameter:
                places.append((False, len(parameters)))
                named.append((f"{path}.{name}".lstrip("."), "parameter", name, own(p).numel()))
                of_parameter[p] = len(parameters)
                parameters.append(p)
    if not parameters:
        raise ValueError("watch(model): no parameter of this model requires grad, so no gradient will arrive")
    count = len(parameters)
    order = [count + k if is_output else k for is_output, k in places]
    return Rows(named, order, parameters, of_parameter, {m: count + k for k, m in enumerate(modules)}, parameters[0].device)


class Held(NamedTuple):
    """The parameters of a run that an optimizer holds.

    Attributes:
        total: number of all parameters that the optimizer had when it was looked at.
        parameters: those of the run.
        columns: their columns.
    """

    total: int
    parameters: Sequence[Any]
    columns: Sequence[int]


def held_by(optimizer: Any, rows: Rows) -> Held:
    """What an optimizer holds of a run."""
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    places = sorted(rows.of_parameter[p] for p in everything if p in rows.of_parameter)
    return Held(len(everything), [rows.parameters[i] for i in places], places)
